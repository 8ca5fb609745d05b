package tasks_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/runner/control"
	"claw/runner/internal/proc"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/delivery"
	"claw/state/flow"
	"claw/state/task"
)

const owner = "agent:main:main"

// outside is work that claw did not start.
func (w *world) outside(x task.Task) task.Task {
	w.t.Helper()
	if x.Task == "" {
		x.Task = "import the mail"
	}
	if x.OwnerKey == "" {
		x.OwnerKey = owner
	}
	if x.Status == "" {
		x.Status = task.Running
	}
	if x.Runtime == "" {
		x.Runtime = task.CLI
	}
	row, _, err := w.Create(w.t.Context(), x)
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

func kindOf(err error) control.Kind {
	r, ok := control.IsRefused(err)
	if !ok {
		return control.Kind(255)
	}
	return r.Kind
}

// sleeper is a program that somebody else has started.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// TestCapture: host and start identity of the process that is named, never claw's
// own (seed 004, spec/tasks-recovery.md 1.13).
func TestCapture(t *testing.T) {
	cmd := sleeper(t)
	e, err := tasks.Capture(cmd.Process.Pid)
	want, ok := proc.Identify(cmd.Process.Pid)
	if err != nil || !ok || e.Identity != want || e.PID != cmd.Process.Pid || e.Start == 0 {
		t.Errorf("%+v, %v, want %+v", e, err, want)
	}
	for name, pid := range map[string]int{"claw itself": os.Getpid(), "none": 0, "negative": -1} {
		if e, err := tasks.Capture(pid); e != nil || kindOf(err) != control.Invalid {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	cmd.Process.Kill()
	for deadline := time.Now().Add(time.Minute); proc.Alive(want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not die")
		}
	}
	if _, err := tasks.Capture(cmd.Process.Pid); kindOf(err) != control.Missing { // a zombie has ended
		t.Errorf("a zombie: %v", err)
	}
	cmd.Wait()
	if _, err := tasks.Capture(cmd.Process.Pid); kindOf(err) != control.Missing {
		t.Errorf("a dead one: %v", err)
	}
}

// TestCreated: defaults, and what is refused without a write.
func TestCreated(t *testing.T) {
	w := newWorld(t)
	x := w.outside(task.Task{})
	if got, _ := w.get(x.ID); got != x || !x.External || x.NotifyPolicy != task.DoneOnly || x.DeliveryStatus != task.DeliveryPending || x.ScopeKind != task.ScopeSession || !x.StartedAt.Equal(noon) || x.ParentFlowID != "" {
		t.Errorf("%+v", x)
	}
	if q := w.outside(task.Task{Status: task.Queued}); !q.StartedAt.IsZero() || q.Status != task.Queued {
		t.Errorf("queued: %+v", q)
	}
	p := w.command("tide-orbit", true)
	before := w.position()
	for _, tt := range []struct {
		name string
		x    task.Task
		want control.Kind
	}{
		{"an automation's", task.Task{Runtime: task.Cron, Task: "x"}, control.Invalid},
		{"without words", task.Task{Runtime: task.CLI, Task: " "}, control.Invalid},
		{"a run with a path", task.Task{Runtime: task.CLI, Task: "x", RunID: "../../x"}, control.Invalid},
		{"a run of a slot", task.Task{Runtime: task.CLI, Task: "x", RunID: "daily@1"}, control.Invalid},
		{"a long run", task.Task{Runtime: task.CLI, Task: "x", RunID: strings.Repeat("x", 201)}, control.Invalid},
		{"a process of claw", task.Task{Runtime: task.CLI, Task: "x", RunID: p.ID}, control.Denied},
		{"without an owner", task.Task{Runtime: task.CLI, Task: "x", ScopeKind: task.ScopeSession}, control.Invalid},
	} {
		if tt.x.OwnerKey = owner; tt.x.ScopeKind != "" {
			tt.x.OwnerKey = ""
		}
		if _, made, err := w.Create(t.Context(), tt.x); made || kindOf(err) != tt.want {
			t.Errorf("%s: %v, %v", tt.name, made, err)
		}
	}
	if w.position() != before {
		t.Error("a refusal has written")
	}
}

// TestCreatedTwice: one run is one task; blanks are filled, and nothing else
// (spec/tasks-recovery.md 1.3).
func TestCreatedTwice(t *testing.T) {
	w := newWorld(t)
	first := w.outside(task.Task{RunID: "job-17", Label: "gpu", NotifyPolicy: task.Silent})
	more := first
	more.SourceID, more.NotifyPolicy, more.Kind = "laptop", task.StateChanges, "train"
	again, made, err := w.Create(t.Context(), more)
	if err != nil || made || again.ID != first.ID || again.SourceID != "laptop" || again.Kind != "train" || again.NotifyPolicy != task.StateChanges || again.CreatedAt != first.CreatedAt {
		t.Errorf("%+v, %v, %v", again, made, err)
	}
	if got, _ := w.get(first.ID); got != again {
		t.Errorf("what is written is %+v", got)
	}
	for name, x := range map[string]task.Task{
		"another owner": {RunID: "job-17", Label: "gpu", OwnerKey: "agent:other:main"},
		"other words":   {RunID: "job-17", Label: "gpu", Task: "something else"},
		"no run":        {Label: "gpu"},
	} {
		if y := w.outside(x); y.ID == first.ID {
			t.Errorf("%s: the same task", name)
		}
	}
	acp := w.outside(task.Task{Runtime: task.ACP, RunID: "r", Label: "a"})
	if y := w.outside(task.Task{Runtime: task.ACP, RunID: "r", Label: "b", Task: "in other words"}); y.ID != acp.ID || y.Label != "a" {
		t.Errorf("two who watch one run of acp: %+v", y)
	}
}

// TestLifeOutside: verifiably gone is settled at once, alive is left alone however
// long, and without an identity there is the grace, which progress renews.
func TestLifeOutside(t *testing.T) {
	const grace = 5 * time.Minute
	w := newWorld(t)
	cmd := sleeper(t)
	e, err := tasks.Capture(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	alive := w.outside(task.Task{RunID: "a", Executor: e})
	nobody := w.outside(task.Task{RunID: "b"})
	bare := w.outside(task.Task{Status: task.Queued})
	elsewhere := w.outside(task.Task{RunID: "c", Executor: foreign()})
	w.clock.Advance(grace - time.Second)
	for _, x := range []task.Task{alive, nobody, bare, elsewhere} {
		if s := w.status(x.ID); s != x.Status {
			t.Errorf("%s is %s before the grace is over", x.RunID, s)
		}
	}
	if _, err := w.Progress(t.Context(), nobody.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Second)
	want := map[string]task.Status{alive.ID: task.Running, nobody.ID: task.Running, bare.ID: task.Lost, elsewhere.ID: task.Lost}
	for id, s := range want {
		if got := w.status(id); got != s {
			t.Errorf("%s is shown as %s, want %s", id, got, s)
		}
	}
	cmd.Process.Kill() // a zombie now: nobody has waited for it
	for deadline := time.Now().Add(time.Minute); w.status(alive.ID) == task.Running; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its executor is gone, and it is shown as running")
		}
	}
	r := w.maintain(true)
	got, _ := w.get(alive.ID)
	if got.Status != task.Lost || got.Error != task.OwnerGoneError || r.Maintenance.Tasks.Reconciled != 3 {
		t.Errorf("%+v, %+v", got, r.Maintenance)
	}
	if _, err := w.Finish(t.Context(), alive.ID, task.End{Status: task.Succeeded}); kindOf(err) != control.Denied {
		t.Errorf("a late success: %v", err)
	}
	if texts := w.events(owner); len(texts) != 3 {
		t.Errorf("told: %q", texts)
	}
}

// TestProgressAndFinish: who asked is told as the policy says, once.
func TestProgressAndFinish(t *testing.T) {
	w := newWorld(t)
	quiet, loud := w.outside(task.Task{RunID: "quiet"}), w.outside(task.Task{RunID: "loud", NotifyPolicy: task.StateChanges, Status: task.Queued})
	tick := func() { w.clock.Advance(time.Second) }
	for _, x := range []task.Task{quiet, loud} {
		tick()
		got, err := w.Progress(t.Context(), x.RunID, "40 of\n100")
		if err != nil || got.ProgressSummary != "40 of 100" || got.Status != task.Running || got.LastEventAt != w.clock.Now() || got.StartedAt.IsZero() {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if texts := w.events(owner); len(texts) != 1 || texts[0] != "Background task update: import the mail (run loud). 40 of 100" {
		t.Errorf("told %q", texts)
	}
	tick()
	if _, err := w.Progress(t.Context(), loud.ID, ""); err != nil || len(w.events(owner)) != 1 {
		t.Errorf("without words somebody is told: %v", err)
	}
	tick()
	done, err := w.Finish(t.Context(), quiet.ID, task.End{Status: task.Succeeded, Summary: "100 files"})
	if err != nil || done.Status != task.Succeeded || done.EndedAt != w.clock.Now() || done.CleanupAfter != w.clock.Now().Add(week) || done.DeliveryStatus != task.DeliverySessionQueued {
		t.Errorf("%+v, %v", done, err)
	}
	before := len(w.events(owner))
	for _, end := range []task.End{{Status: task.Succeeded}, {Status: task.Failed, Error: "a success that was none"}} {
		if _, err := w.Finish(t.Context(), quiet.ID, end); err != nil {
			t.Errorf("%+v: %v", end, err)
		}
	}
	if _, err := w.Finish(t.Context(), quiet.ID, task.End{Status: task.Succeeded}); kindOf(err) != control.Denied {
		t.Errorf("a failure that was none: %v", err)
	}
	if _, err := w.Progress(t.Context(), quiet.ID, "more"); kindOf(err) != control.Denied {
		t.Errorf("progress of what has ended: %v", err)
	}
	if after := len(w.events(owner)); after != before {
		t.Errorf("it was told %d times more", after-before)
	}
	if _, err := w.Finish(t.Context(), w.command("tide-orbit", true).TaskID, task.End{Status: task.Failed}); kindOf(err) != control.Denied {
		t.Errorf("a command of claw: %v", err)
	}
	if _, err := w.Progress(t.Context(), "nothing", ""); kindOf(err) != control.Missing {
		t.Errorf("no such task: %v", err)
	}
}

// TestToldDirectly: with a channel the message is a delivery, with the keys of
// spec/tasks-recovery.md 2.3.
func TestToldDirectly(t *testing.T) {
	w := newWorld(t)
	x := w.outside(task.Task{RunID: "r", NotifyPolicy: task.StateChanges, RequesterOrigin: delivery.Route{Channel: "inbox"}})
	w.clock.Advance(time.Second)
	if _, err := w.Progress(t.Context(), x.ID, "half"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context(), x.ID, task.End{Status: task.Failed, Error: "disk"}); err != nil {
		t.Fatal(err)
	}
	var keys []string
	err := w.Store.View(func(tx *state.Tx) error {
		rows, err := state.Deliveries.All(tx)
		for _, r := range rows {
			keys = append(keys, r.Rec.IdempotencyKey[:strings.Index(r.Rec.IdempotencyKey, ":")])
		}
		return err
	})
	if err != nil || strings.Join(keys, " ") != "task-event task-terminal" && strings.Join(keys, " ") != "task-terminal task-event" || len(w.events(owner)) != 0 {
		t.Errorf("%q, %v, events %q", keys, err, w.events(owner))
	}
}

// TestCancelOutside: claw does not end what it did not start, and a row that
// nobody carries out can be cancelled (118358, 149025, 61610).
func TestCancelOutside(t *testing.T) {
	w := newWorld(t)
	cmd := sleeper(t)
	e, err := tasks.Capture(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	x, row := w.outside(task.Task{RunID: "a", Executor: e}), w.outside(task.Task{RunID: "b"})
	r, err := w.Cancel(t.Context(), x.ID)
	if err != nil || r.Cancelled || r.Reason != task.ReasonMirror || !proc.Alive(e.Identity) {
		t.Errorf("%+v, %v", r, err)
	}
	if got, _ := w.get(x.ID); cmp.Diff(x, got) != "" {
		t.Errorf("it was changed: %s", cmp.Diff(x, got))
	}
	if r, err := w.Cancel(t.Context(), row.ID); err != nil || !r.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFlowsAreKept: audit and maintenance count flows, a preview says what apply
// does, apply does it once; a mirrored flow follows a task that is lost (92285), a
// flow to be cancelled is closed, what is old is removed.
func TestFlowsAreKept(t *testing.T) {
	w := newWorld(t)
	x := w.outside(task.Task{Runtime: task.Subagent, RunID: "r", ChildSessionKey: "agent:main:subagent:1"})
	if x.ParentFlowID == "" {
		t.Fatal("a subagent's task has no flow of its own")
	}
	put := func(id string, change func(f *flow.Flow)) {
		f, err := flow.New(flow.Flow{OwnerKey: owner, ControllerID: "c", Goal: "g", Status: flow.Running}, id, noon)
		if err != nil {
			t.Fatal(err)
		}
		change(&f)
		w.update(func(tx *state.Tx) error { return state.Flows.Add(tx, id, f) })
	}
	put("01CLOSING", func(f *flow.Flow) { f.CancelRequestedAt = noon })
	put("01OLD", func(f *flow.Flow) {
		f.Status, f.EndedAt = flow.Failed, noon.Add(-week)
		f.CreatedAt, f.UpdatedAt = f.EndedAt, f.EndedAt
	})
	put("01QUIET", func(*flow.Flow) {})
	child := w.outside(task.Task{RunID: "s", Executor: gone(), ParentFlowID: "01PARENT"})
	put("01PARENT", func(f *flow.Flow) { f.CancelRequestedAt = noon })
	w.clock.Advance(30 * time.Minute)
	audit, err := w.Audit(tasks.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]int{}
	for _, f := range audit.Findings {
		if f.Kind == flow.KindFlow {
			codes[f.Token+" "+f.Code]++
			if f.Flow == nil || f.Hint == "" {
				t.Errorf("%+v", f)
			}
		}
	}
	for _, want := range []string{"01CLOSING cancel_stuck", "01QUIET stale_running", "01QUIET missing_linked_tasks", "01PARENT cancel_stuck"} {
		if codes[want] != 1 {
			t.Errorf("%s is found %d times: %v", want, codes[want], codes)
		}
	}
	s := audit.Summary
	if s.TaskFlows.Total == 0 || s.Combined.Total != s.Total+s.TaskFlows.Total || s.Combined.Errors != s.Errors+s.TaskFlows.Errors || audit.Count != s.Combined.Total {
		t.Errorf("%+v", s)
	}
	preview := w.maintain(false)
	if n := preview.Maintenance.TaskFlows; n != (tasks.FlowCounts{Reconciled: 3, Pruned: 1}) {
		t.Errorf("preview: %+v, %+v", n, preview.FlowChanges)
	}
	applied := w.maintain(true)
	if applied.Maintenance != preview.Maintenance {
		t.Errorf("applied %+v, previewed %+v", applied.Maintenance, preview.Maintenance)
	}
	if again := w.maintain(true); again.Maintenance != (tasks.Maintenance{}) {
		t.Errorf("again: %+v", again.Maintenance)
	}
	want := map[string]flow.Status{x.ParentFlowID: flow.Lost, "01CLOSING": flow.Cancelled, "01PARENT": flow.Cancelled, "01QUIET": flow.Running, "01OLD": ""}
	err = w.Store.View(func(tx *state.Tx) error {
		for id, s := range want {
			row, ok, err := state.Flows.Find(tx, id)
			if err != nil {
				return err
			}
			if ok != (s != "") || row.Rec.Status != s || ok && id != "01QUIET" && row.Rec.Revision != 1 {
				t.Errorf("%s: %v, %+v", id, ok, row.Rec)
			}
		}
		return nil
	})
	if got, _ := w.get(child.ID); err != nil || got.Status != task.Lost {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestSweepClosesFlows: a tick does it too.
func TestSweepClosesFlows(t *testing.T) {
	w := newWorld(t)
	x := w.outside(task.Task{Runtime: task.ACP, RunID: "r"})
	f, _ := flow.New(flow.Flow{OwnerKey: owner, ControllerID: "c", Goal: "g"}, "01CLOSING", noon)
	f.CancelRequestedAt = noon
	w.update(func(tx *state.Tx) error { return state.Flows.Add(tx, f.ID, f) })
	w.clock.Advance(time.Hour)
	for range 2 {
		if _, err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err := w.Store.View(func(tx *state.Tx) error {
		for id, want := range map[string]flow.Status{f.ID: flow.Cancelled, x.ParentFlowID: flow.Lost} {
			row, _, err := state.Flows.Get(tx, id)
			if err != nil || row.Rec.Status != want || row.Rec.Revision != 1 {
				t.Errorf("%s: %+v, %v", id, row.Rec, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLedgerOfFlowsGone: the audit says so, and maintenance touches nothing.
func TestLedgerOfFlowsGone(t *testing.T) {
	w := newWorld(t)
	w.outside(task.Task{RunID: "r", Executor: gone()})
	f, _ := flow.New(flow.Flow{OwnerKey: owner, ControllerID: "c", Goal: "g"}, "01FLOW", noon)
	w.update(func(tx *state.Tx) error { return state.Flows.Add(tx, f.ID, f) })
	if err := w.Store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	ledger := w.dir + "/ledgers/flows.jsonl"
	kept, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(ledger); err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(w.dir, state.Options{Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	k := keeper(store, w.clock)
	audit, err := k.Audit(tasks.AuditFilter{Code: flow.FindRestore})
	if err != nil || audit.FilteredCount != 1 || audit.Findings[0].Severity != task.SeverityError {
		t.Errorf("%+v, %v", audit, err)
	}
	if r, err := k.Maintain(t.Context(), true); err == nil {
		t.Errorf("maintenance went on: %+v", r)
	}
	if err := os.WriteFile(ledger, kept, 0o600); err != nil {
		t.Fatal(err)
	}
}
