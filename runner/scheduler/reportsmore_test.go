package scheduler_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/control"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/session"
	"claw/state/statetest"
)

// Rows 24 and 28 to 41 of the public reports, see TestReports.
func TestReportsMore(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *world){
		"openclaw 13508, 75964: a job waits for the lane that it holds itself, or is ok and nobody was told": ownLane,
		"openclaw 6814: a temporary file brings deleted jobs back":                                           temporaryFile,
		"openclaw 37605: a job that was added just before a power cut is lost":                               addedBeforeACut,
		"openclaw 72849: jobs without an id share their state":                                               ownState,
		"openclaw 86451: each boot adds the same job again":                                                  declaredAgain,
		"openclaw 131491, 50092: a late result is dropped without a word":                                    lateResult,
		"openclaw 137215, 111387: a retry while the timed-out original lives":                                deadBeforeRetry,
		"openclaw 85888: the retry of a daily job waits for a day":                                           retryOfDaily,
		"openclaw 99709, 104518: an unrelated edit restarts the watched command":                             watchedCommand,
		"openclaw 9084, 12671: what was due while the laptop slept is not run":                               laptopSlept,
		"openclaw 60495: an interrupted run is not to be seen":                                               interruptedRun,
		"openclaw 82106: deleteAfterRun is ignored for an interval":                                          deleteEvery,
		"openclaw 73644: nobody asked for what was missed":                                                   skipMissed,
		"openclaw 30351: the next time is in a past year":                                                    pastYear,
		"openclaw 51594, 51587: the wrong expressions are spread":                                            spread,
		"openclaw 18880: a removed job's reminder is told":                                                   removedReminder,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t))
		})
	}
}

// The agent's turn goes on in the session that the reminder is for.
func ownLane(t *testing.T, w *world) {
	w.add("oven", "1m", reminder("look at the oven", "now"))
	key := session.Main("main")
	err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
		turn := session.Turn{ID: "01TURN", DispatchID: "01TURN", Attempt: 1, SessionKey: key, Agent: "main", Status: session.TurnRunning, CreatedAt: tx.Now()}
		if err := state.Turns.Add(tx, turn.ID, turn); err != nil {
			return err
		}
		return state.Sessions.Put(tx, key, 0, session.Session{Key: key, Agent: "main", Status: session.Running, CreatedAt: tx.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	w.pass() // would wait for ever, or for two minutes
	w.tells("12:01 succeeded")
	if e := w.events(); len(e) != 1 || e[0].State != event.Queued {
		t.Errorf("nobody will be told: %+v", e)
	}
}

func temporaryFile(t *testing.T, w *world) {
	w.add("gone", "1m", nil)
	w.add("stays", "1m", nil)
	ledger := filepath.Join(w.Store.Dir(), "ledgers", "automations.jsonl")
	if err := w.Store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(ledger)
	if err != nil || !strings.Contains(string(old), `"gone"`) {
		t.Fatalf("%q, %v", old, err)
	}
	if _, err := w.Remove(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ledger + ".tmp", ledger + ".new", filepath.Join(filepath.Dir(ledger), "automations.123.jsonl.tmp")} {
		if err := os.WriteFile(name, old, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(name) // the check at the end tells of them
	}
	w.again()
	if a := w.autos(); len(a) != 1 || a[0].Name != "stays" {
		t.Errorf("%+v", a)
	}
	w.clock.Advance(time.Minute)
	w.starts(1, "of what is left")
}

// What Add has promised is there, whenever the power fails.
func addedBeforeACut(t *testing.T, _ *world) {
	promised := false
	clock := newWorld(t).clock
	statetest.Crash(t, func(fs state.FS, dir string) error {
		promised = false
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		if _, _, err := w.Add(t.Context(), everyMinute("job", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})); err != nil {
			return err
		}
		promised = true
		return nil
	}, func(dir string) error {
		w, err := at(t, clock, dir, state.OS())
		if err != nil {
			return err
		}
		defer w.Store.Close()
		if n := len(w.autos()); promised && n != 1 || n > 1 {
			t.Errorf("%d automations", n)
		}
		return nil
	})
}

func ownState(t *testing.T, w *world) {
	a, b := w.add("one", "1m", sh("exit 3")), w.add("two", "2m", nil)
	if a.ID == "" || a.ID == b.ID {
		t.Fatalf("ids %q and %q", a.ID, b.ID)
	}
	w.clock.Advance(time.Minute)
	w.pass()
	w.settle()
	for _, x := range w.autos() {
		if failed := x.State.LastStatus == automation.Failed; failed != (x.ID == a.ID) {
			t.Errorf("%s: %+v", x.Name, x.State)
		}
	}
}

func declaredAgain(t *testing.T, w *world) {
	job := everyMinute("job", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
	job.DeclarationKey = "boot:job"
	var changes []automation.Change
	for i := range 4 {
		w.again()
		if i == 3 {
			job.Description = "changed"
		}
		_, change, err := w.Add(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, change)
		w.clock.Advance(time.Minute)
		w.starts(1, "one job, one run")
	}
	if want := []automation.Change{automation.Added, automation.Unchanged, automation.Unchanged, automation.Changed}; !slices.Equal(changes, want) {
		t.Errorf("%v, want %v", changes, want)
	}
	w.tells("12:01 succeeded, 12:02 succeeded, 12:03 succeeded, 12:04 succeeded")
}

func lateResult(t *testing.T, w *world) {
	announced := func(a *automation.Automation) {
		sh("echo a result")(a)
		a.Delivery, a.Missed.Policy = &automation.Delivery{Mode: "announce"}, automation.MissedOnce
	}
	w.made("late", cronIn("UTC", "0 13 * * *"), announced)
	w.at("2048-12-02T13:00:00Z")
	w.pass()
	w.until("it has ended", func() bool {
		_, err := control.Settle(t.Context(), w.Store, clock.New(), "")
		return err == nil && w.live() == 0
	})
	w.at("2048-12-02T16:00:01Z") // 3 h 1 s after its slot that is written down
	w.pass()
	r := w.runs()[0]
	if r.Status != automation.Succeeded || r.Delivery != automation.NotDelivered || !strings.Contains(r.DeliveryError, "3 hours after its slot") {
		t.Errorf("%+v", r)
	}
	for _, d := range w.sent() { // kept for whoever asks, and not sent by itself
		if d.State != "failed" && d.State != "dismissed" {
			t.Errorf("%+v", d)
		}
	}
	w.at("2048-12-03T13:00:00Z")
	w.pass()
	w.settle()
	if r = w.runs()[1]; r.DeliveryID == "" || r.Delivery == automation.NotDelivered {
		t.Errorf("in time: %+v", r)
	}
}

func deadBeforeRetry(t *testing.T, w *world) {
	second := 1
	w.add("job", "24h", func(a *automation.Automation) {
		sh(`if test -f pid; then kill -0 $(cat pid) 2>/dev/null && echo alive > found || echo dead > found; exit 0; fi
trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done`)(a)
		a.Payload.TimeoutSeconds = &second
	})
	w.clock.Advance(24 * time.Hour)
	w.pass()
	w.until("it is tried again", func() bool {
		w.clock.Advance(time.Minute) // however much time passes, not while it lives
		w.pass()
		return len(w.lines("found")) > 0
	})
	w.settle()
	if got := w.lines("found"); !slices.Equal(got, []string{"dead"}) {
		t.Errorf("at the second attempt the first was %v", got)
	}
	if runs := w.runs(); len(runs) < 2 || runs[0].Status != automation.TimedOut || runs[1].Attempt != 2 || runs[1].Status != automation.Succeeded {
		t.Errorf("runs %+v", runs)
	}
}

func retryOfDaily(t *testing.T, w *world) {
	w.made("daily", cronIn("UTC", "0 13 * * *"), sh("test -f again && exit 0; touch again; exit 75"))
	w.clock.Advance(time.Hour)
	w.pass()
	w.settle()
	failed := w.runs()[0]
	w.clock.Advance(29*time.Second - w.clock.Now().Sub(failed.EndedAt))
	w.starts(0, "29 s after it failed")
	w.clock.Advance(time.Second)
	w.starts(1, "30 s after it failed")
	w.tells("13:00 failed, 13:00 succeeded")
}

func watchedCommand(t *testing.T, w *world) {
	w.made("build", automation.Schedule{Kind: automation.KindOnExit, Command: "echo x >> begun; sleep 600"}, nil)
	look := func() scheduler.Work {
		t.Helper()
		work := w.pass()
		for _, src := range work.Begin {
			if err := w.StartSource(t.Context(), src); err != nil {
				t.Fatal(err)
			}
		}
		for _, src := range work.Quit {
			if err := w.StopSource(t.Context(), src); err != nil {
				t.Fatal(err)
			}
		}
		return work
	}
	look()
	w.until("it runs", func() bool { return len(w.lines("begun")) == 1 })
	for _, change := range []func(){
		func() {
			w.edits("build", func(a *automation.Automation) { a.Description = "x" })
		},
		func() {
			w.edits("build", func(a *automation.Automation) { a.Payload.Argv = []string{"false"} })
		},
		func() { w.add("another", "1h", nil) },
		w.again,
	} {
		change()
		w.clock.Advance(time.Minute)
		for range 3 {
			if work := look(); len(work.Begin)+len(work.Quit) > 0 {
				t.Errorf("begun %+v, ended %+v", work.Begin, work.Quit)
			}
		}
	}
	w.edits("build", func(a *automation.Automation) { a.Schedule.Command = "echo y >> begun; sleep 600" })
	w.until("the new command runs in its place", func() bool { look(); return strings.Join(w.lines("begun"), "") == "xy" })
	if _, err := w.Remove(t.Context(), "build"); err != nil {
		t.Fatal(err)
	}
	w.until("nothing runs any more", func() bool { look(); return w.live() == 0 })
	if n := len(w.runs()); n != 0 {
		t.Errorf("it fired: %s", w.story())
	}
}

// live is how many processes have not ended.
func (w *world) live() (n int) {
	for _, p := range w.processes() {
		n += map[bool]int{true: 1}[p.Live()]
	}
	return n
}

func laptopSlept(t *testing.T, w *world) {
	for i := range 3 {
		w.made("job"+strconv.Itoa(i), cronIn("UTC", "*/10 * * * *"), nil)
	}
	w.pass()
	timer := w.clock.NewTimer(5 * time.Hour)
	w.clock.Suspend(8 * time.Hour)
	w.clock.Advance(time.Minute)
	select { // whoever waits looks at the clock again within a minute
	case <-timer.C():
	default:
		t.Error("a timer waits for longer than a minute")
	}
	w.starts(3, "awake again")
	for range 9 {
		w.clock.Advance(time.Minute)
		w.plays()
	}
	ran := map[string]int{}
	for _, r := range w.runs() {
		if r.Status == automation.Succeeded {
			ran[r.Name]++
		}
	}
	for name, n := range ran { // 20:00 stands for the night, 20:10 is a new one
		if n != 2 {
			t.Errorf("%s ran %d times: %s", name, n, w.story())
		}
	}
}

func interruptedRun(t *testing.T, w *world) {
	w.made("job", cronIn("UTC", "0 13 * * *"), nil)
	w.clock.Advance(time.Hour)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if err := begin(w, work.Start[0]); err != nil {
		t.Fatal(err)
	}
	w.again()
	w.settle() // its supervisor is found dead, and of another boot
	a, r := w.autos()[0], w.runs()[0]
	if r.Status != automation.Interrupted || r.Error == "" || a.State.ConsecutiveErrors != 1 || a.State.LastStatus != automation.Interrupted || a.State.LastError == "" {
		t.Errorf("run %+v, state %+v", r, a.State)
	}
	w.clock.Advance(time.Hour)
	w.starts(0, "what nobody knows is not repeated")
}

func deleteEvery(t *testing.T, w *world) {
	a := everyMinute("job", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
	a.DeleteAfterRun = true
	if _, _, err := w.Add(t.Context(), a); err == nil || !strings.Contains(err.Error(), "delete") {
		t.Errorf("it is accepted: %v", err)
	}
}

func skipMissed(t *testing.T, w *world) {
	w.SkipMissed = true
	w.made("daily", cronIn("UTC", "0 13 * * *"), nil)
	w.made("all", cronIn("UTC", "0 13 * * *"), func(a *automation.Automation) { a.Missed.Policy = automation.MissedAll })
	w.made("once", once(noon.Add(time.Hour)), nil)
	w.clock.Advance(30 * time.Hour)
	w.starts(1, "the one-shot only")
	for _, r := range w.runs() {
		if want := map[string]automation.Status{"once": automation.Succeeded}[r.Name]; r.Status != want && (want != "" || r.Status != automation.Missed) {
			t.Errorf("%+v", r)
		}
	}
	if n := len(w.runs()); n != 3 {
		t.Errorf("%d records: %s", n, w.story())
	}
}

func pastYear(t *testing.T, w *world) {
	w.at("2048-12-31T10:00:00Z") // in half of the world it is the next year within the day
	for i, zone := range []string{"Pacific/Kiritimati", "Asia/Tokyo", "Europe/London", "America/New_York", "Pacific/Niue"} {
		for j, expr := range []string{"0 0 1 1 *", "59 23 31 12 *", "30 4 29 2 *", "0 12 * jan mon#1"} {
			name := "job-" + strconv.Itoa(i) + "-" + strconv.Itoa(j)
			w.made(name, cronIn(zone, expr), nil)
			if next := w.next(name); !next.After(w.clock.Now()) {
				t.Errorf("%s in %s: next %v", expr, zone, next)
			}
		}
	}
	w.starts(0, "nothing is due")
	if next := w.next("job-4-2"); next.Format("2006-01-02") != "2052-02-29" {
		t.Errorf("the next leap day is %v", next)
	}
}

func spread(t *testing.T, _ *world) {
	for expr, want := range map[string]time.Duration{
		"0 * * * *": 5 * time.Minute, "0 */2 * * *": 5 * time.Minute, "0 9,*/6 * * *": 5 * time.Minute, "0 0 * * * *": 5 * time.Minute,
		"0 7 * * *": 0, "0,30 * * * *": 0, "*/15 * * * *": 0, "00 * * * *": 0, "0 9-17 * * *": 0, "0 8,20 * * *": 0, "30 0 * * * *": 0, "* * * * *": 0,
	} {
		if got := (automation.Schedule{Kind: automation.KindCron, Expr: expr}).Stagger(); got != want {
			t.Errorf("%s is spread over %v, want %v", expr, got, want)
		}
	}
}

func removedReminder(t *testing.T, w *world) {
	w.add("oven", "1m", reminder("look at the oven", "now"))
	w.add("tea", "1m", reminder("look at the tea", "now"))
	w.clock.Advance(time.Minute)
	w.pass()
	if _, err := w.Remove(t.Context(), "oven"); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.events() {
		if queued := e.State == event.Queued; queued != (e.Text == "look at the tea") {
			t.Errorf("%+v", e)
		}
	}
	if n := len(w.events()); n != 2 {
		t.Errorf("%d events", n)
	}
}
