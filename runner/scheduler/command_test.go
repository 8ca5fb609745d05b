package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/task"
)

func TestACommandRunsAtItsSlot(t *testing.T) {
	w := newWorld(t)
	a := w.add("backup", "1m", sh(`echo "$CLAW_AUTOMATION $CLAW_RUN_ID $CLAW_SLOT" >> ran; pwd >> where`))
	if work := w.pass(); len(work.Start) != 0 || !work.Next.Equal(noon.Add(time.Minute)) {
		t.Fatalf("before its time: %+v", work)
	}
	w.clock.Advance(time.Minute)
	w.pass()
	w.settle()
	w.tells("12:01 succeeded")
	if got, want := strings.Join(w.lines("ran"), " "), "backup "+a.ID+"@20481202T120100Z 2048-12-02T12:01:00Z"; got != want {
		t.Errorf("the command saw %q, want %q", got, want)
	}
	if got := strings.Join(w.lines("where"), " "); got != w.dir {
		t.Errorf("it ran in %q", got)
	}
	tasks := w.tasks()
	if len(tasks) != 1 || tasks[0].Runtime != task.Cron || tasks[0].NotifyPolicy != task.Silent || tasks[0].Status != task.Succeeded || tasks[0].SourceID != a.ID {
		t.Errorf("tasks %+v", tasks)
	}
	if len(w.events()) != 0 {
		t.Errorf("its end is nobody's event: %+v", w.events())
	}
}

func TestNothingDueReadsTheAgendaOnly(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1h", nil)
	w.pass()
	before := w.position()
	for range 3 {
		w.clock.Advance(time.Minute)
		if work := w.pass(); !work.Next.Equal(noon.Add(time.Hour)) {
			t.Errorf("next %v", work.Next)
		}
	}
	if w.position() != before {
		t.Error("a quiet pass has written something")
	}
	agenda := all(w, state.Agendas)
	if len(agenda) != 1 || !agenda[0].Quiet(w.clock.Now()) {
		t.Errorf("agenda %+v", agenda)
	}
}

func (w *world) position() (n int64) {
	w.Store.View(func(tx *state.Tx) error {
		n = tx.Position()
		return nil
	})
	return n
}

func TestHowACommandEnds(t *testing.T) {
	second := 1
	for _, tt := range []struct {
		name   string
		argv   []string
		limit  *int
		status automation.Status
		error  string
	}{
		{"success", []string{"true"}, nil, automation.Succeeded, ""},
		{"an exit code with the last line", []string{"sh", "-c", "echo one; echo locked >&2; exit 2"}, nil, automation.Failed, "exit 2: locked"},
		{"a signal", []string{"sh", "-c", "kill -9 $$"}, nil, automation.Failed, "signal SIGKILL"},
		{"its time is over", []string{"sleep", "60"}, &second, automation.TimedOut, "it was ended after 1s"},
		{"there is no such program", []string{"/nonexistent/program"}, nil, automation.Failed, "it could not be started: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("job", "1m", func(a *automation.Automation) {
				a.Payload.Argv, a.Payload.TimeoutSeconds = tt.argv, tt.limit
			})
			w.clock.Advance(time.Minute)
			w.pass()
			w.settle()
			runs := w.runs()
			if len(runs) == 0 || runs[0].Status != tt.status || !strings.HasPrefix(runs[0].Error, tt.error) {
				t.Errorf("runs %+v", runs)
			}
		})
	}
}

// The claim is taken back when provably nothing was started, and only then.
func TestAClaimWithoutAProcess(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1m", sh("echo x >> ran"))
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil || len(work.Start) != 1 {
		t.Fatalf("%+v, %v", work, err)
	}
	// the program that claimed it is gone; another one looks
	w.clock.Advance(time.Second)
	w.pass()
	w.settle()
	w.tells("12:01 succeeded")
	if n := len(w.lines("ran")); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	if r := w.runs()[0]; r.Requeued != 1 {
		t.Errorf("run %+v", r)
	}
}

func TestAClaimThatIsBeingStartedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1m", nil)
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Pass(t.Context(), func(id string) bool { return id == work.Start[0].ID })
	if err != nil || len(again.Start) != 0 {
		t.Errorf("claimed twice: %+v, %v", again, err)
	}
	if err := w.Start(t.Context(), work.Start[0]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.tells("12:01 succeeded")
}

// A claim of before the machine went down may have been carried out: the
// process's row need not have reached the disk.
func TestAClaimOfAnotherBoot(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1m", sh("echo x >> ran"))
	w.clock.Advance(time.Minute)
	if _, err := w.Pass(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	w.change(func(r *automation.Run) { r.Owner.Boot = "another" })
	w.settle()
	w.tells("12:01 interrupted")
	if n := len(w.lines("ran")); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

// change edits the only run.
func (w *world) change(edit func(r *automation.Run)) {
	w.t.Helper()
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		rows, err := state.Runs.All(tx)
		if err != nil || len(rows) != 1 {
			w.t.Fatalf("%d runs, %v", len(rows), err)
		}
		edit(&rows[0].Rec)
		return state.Runs.Put(tx, rows[0].ID, rows[0].Rev, rows[0].Rec)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		overlap automation.Overlap
		want    string
	}{
		{automation.OverlapSkip, "12:01 succeeded, 12:02 skipped"},
		{automation.OverlapQueue, "12:01 succeeded, 12:02 succeeded"},
		{automation.OverlapReplace, "12:01 replaced, 12:02 succeeded"},
		{automation.OverlapAllow, "12:01 succeeded, 12:02 succeeded"},
	} {
		t.Run(string(tt.overlap), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("job", "1m", func(a *automation.Automation) {
				sh(`echo begun >> begun; while test ! -f go && test $(wc -l < begun) -lt 2; do sleep 0.02; done`)(a)
				a.Overlap = tt.overlap
			})
			w.clock.Advance(time.Minute)
			w.pass()
			w.until("it runs", func() bool { return len(w.lines("begun")) == 1 })
			w.clock.Advance(time.Minute)
			w.pass()
			if tt.overlap == automation.OverlapQueue || tt.overlap == automation.OverlapSkip {
				w.write("go")
			}
			w.settle()
			w.settle()
			w.settle()
			w.tells(tt.want)
		})
	}
}

// A failure is told once; ten in a row switch the automation off, with a
// notice that says how to switch it on again.
func TestAutoDisable(t *testing.T) {
	w := newWorld(t)
	w.add("report", "2h", func(a *automation.Automation) {
		sh("echo broken >&2; exit 3")(a)
		a.Delivery = &automation.Delivery{Mode: "announce"}
	})
	for range 10 {
		w.clock.Advance(2 * time.Hour)
		w.pass()
		w.settle()
	}
	a := w.autos()[0]
	if a.Enabled || a.State.AutoDisabled == nil || a.State.AutoDisabled.Reason != automation.ReasonFailures || a.State.ConsecutiveErrors != 10 {
		t.Errorf("after ten failures: %+v", a.State)
	}
	sent := w.sent()
	if len(sent) != 2 {
		t.Fatalf("messages %+v", sent)
	}
	if sent[0].Title != "report failed (exit 3)" || !strings.Contains(sent[0].Text, "broken") || sent[0].Route.Channel != "inbox" {
		t.Errorf("the first failure: %+v", sent[0])
	}
	if !strings.Contains(sent[1].Text, "claw cron enable report") {
		t.Errorf("the notice: %+v", sent[1])
	}
	w.clock.Advance(2 * time.Hour)
	w.settle()
	if n := len(w.runs()); n != 10 {
		t.Errorf("%d runs", n)
	}
	if _, changed, err := w.Enable(t.Context(), "report", true); !changed || err != nil {
		t.Error(changed, err)
	}
	if st := w.autos()[0].State; st.ConsecutiveErrors != 0 || st.AutoDisabled != nil {
		t.Errorf("enabled again: %+v", st)
	}
}

// What came due while the tenth failure went on has a record too.
func TestAutoDisableLeavesNoGap(t *testing.T) {
	w := newWorld(t)
	w.add("report", "2h", sh("exit 3"))
	for range 9 {
		w.clock.Advance(2 * time.Hour)
		w.pass()
		w.settle()
	}
	w.clock.Advance(2 * time.Hour)
	w.pass() // the tenth is started
	w.clock.Advance(5 * time.Hour)
	w.settle()
	a := w.autos()[0]
	if a.Enabled || a.State.AutoDisabled == nil {
		t.Fatalf("after ten failures: %+v", a.State)
	}
	slots, owed := 0, 0
	for _, r := range w.runs() {
		slots += max(r.Count, 1)
		if r.Status == automation.Missed && r.Code == automation.CodeDisabled {
			owed += max(r.Count, 1)
		}
	}
	if slots != 12 || owed != 2 {
		t.Errorf("%d of 12 slots have a record, %d of 2 say that it was switched off: %+v", slots, owed, w.runs())
	}
}

func TestWhatASuccessSays(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"its output", "echo all fine", "all fine"},
		{"its stderr, when that is all", "echo a warning >&2", "a warning"},
		{"both, with their names", "echo out; echo err >&2", "stdout:\nout\n\nstderr:\nerr"},
		{"nothing", "true", ""},
		{"nothing to reply", "echo NO_REPLY", ""},
		{"all is well", "echo HEARTBEAT_OK", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("job", "1m", func(a *automation.Automation) {
				sh(tt.script)(a)
				a.Delivery = &automation.Delivery{Mode: "announce"}
			})
			w.clock.Advance(time.Minute)
			w.pass()
			w.settle()
			body := ""
			for _, d := range w.sent() {
				body += d.Body
			}
			if body != tt.want {
				t.Errorf("told %q, want %q", body, tt.want)
			}
			if r := w.runs()[0]; (r.DeliveryID != "") != (tt.want != "") {
				t.Errorf("run %+v", r)
			}
		})
	}
}

func TestByHand(t *testing.T) {
	w := newWorld(t)
	w.Enabled = false // cron.enabled = false stops the clock only
	w.add("job", "1m", sh("echo x >> ran"))
	w.clock.Advance(10 * time.Minute)
	w.settle()
	w.tells("")
	if _, _, err := w.Run(t.Context(), "job", scheduler.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if r, why, err := w.Run(t.Context(), "job", scheduler.RunOptions{}); why != automation.CodeRunning || r.Status != automation.Queued || err != nil {
		t.Errorf("a second one while the first has not ended: %v %q %v", r, why, err)
	}
	w.pass()
	w.settle()
	w.tells("by hand succeeded")

	w.Enabled = true
	w.settle()
	w.settle()
	w.tells("12:01-12:09 missed, by hand succeeded, 12:10 succeeded")
}

func TestRemove(t *testing.T) {
	w := newWorld(t)
	w.add("job", "1m", sh("echo x >> ran"))
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), "job"); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context(), work.Start[0]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.tells("12:01 skipped")
	if _, err := w.Find("job"); !refused(err, func(r *scheduler.Refused) bool { return r.Missing }) {
		t.Errorf("%v", err)
	}
}
