package crash_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"claw/runner"
	"claw/state"
	"claw/state/automation"
	"claw/state/flow"
	"claw/state/session"
	"claw/state/task"
)

// TestReconcileEveryKind: a directory that was left with one of everything that
// Reconcile looks for. Report and repair name the same, what was named becomes
// what was said, a second repair finds nothing and writes nothing, and what is a
// person's to decide stays (issue 5, section 2).
func TestReconcileEveryKind(t *testing.T) {
	s := newScene(t)
	s.Scheduler = s.cron()
	want, said := s.leaveOneOfEach()

	begun := s.position()
	for _, mode := range []runner.Mode{runner.OnlyReport, runner.OnlyReport, runner.Repair} {
		if got := s.position(); got != begun {
			t.Errorf("reports have written %d transactions", got-begun)
		}
		if got := s.reconciled(mode); !slices.Equal(got, want) {
			t.Errorf("mode %d:\n%q\nwant\n%q", mode, got, want)
		}
	}
	said()

	s.after(time.Minute) // somebody is told of the ends
	over := s.position()
	for _, mode := range []runner.Mode{runner.OnlyReport, runner.Repair, runner.OnlyReport} {
		if got := s.reconciled(mode); !slices.Equal(got, want[len(want)-1:]) {
			t.Errorf("afterwards, mode %d: %q", mode, got)
		}
	}
	if got := s.position(); got != over {
		t.Errorf("a second repair has written %d transactions", got-over)
	}
}

// position grows with each transaction.
func (s *scene) position() (n int64) {
	s.Helper()
	s.ok(s.Store.View(func(tx *state.Tx) error { n = tx.Position(); return nil }))
	return n
}

// reconciled is what Reconcile names, in its order.
func (s *scene) reconciled(mode runner.Mode) (named []string) {
	s.Helper()
	found, err := s.Reconcile(context.Background(), s.clock.Now(), mode)
	s.ok(err)
	say := func(format string, args ...any) { named = append(named, fmt.Sprintf(format, args...)) }
	for _, p := range found.Ledgers {
		say("ledger %s", p.Path)
	}
	for _, p := range found.Processes {
		say("process %s", p.ID)
	}
	for _, l := range found.Turns {
		say("turn %s will be %s", l.Turn.ID, l.Finish.Status)
	}
	for _, r := range found.Runs {
		say("run %s is %s", r.ID, r.Status)
	}
	for _, c := range found.Tasks {
		say("task %s: %s, %s to %s", c.TaskID, c.Act, c.From, c.To)
	}
	for _, f := range found.Flows {
		say("flow %s: %s, %s to %s", f.FlowID, f.Act, f.From, f.To)
	}
	for _, it := range found.Cycles {
		say("session %s is %s: %s, due %t", it.SessionKey, it.State, it.Step, it.Due)
	}
	for _, d := range found.Deliveries {
		say("message %s", d.ID)
	}
	return named
}

// leaveOneOfEach leaves what crashes leave. want is what is to be found, and said
// checks what has become of it.
func (s *scene) leaveOneOfEach() (want []string, said func()) {
	s.Helper()
	ctx := context.Background()
	// A run of an automation, whose command died with its supervisor.
	a, _, err := s.Scheduler.Add(ctx, automation.Automation{
		Name: "job", Enabled: true, Schedule: automation.Schedule{Kind: automation.KindAt, At: s.clock.Now().Add(time.Minute)},
		Payload: automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}},
	})
	s.ok(err)
	s.wait(time.Minute)
	work, err := s.Scheduler.Pass(ctx, func(string) bool { return false })
	if s.ok(err); len(work.Start) != 1 {
		s.Fatalf("the slot of %s was not claimed: %+v", a.Name, work)
	}
	run := work.Start[0]
	s.ok(s.beginRun(run))
	// A task that nobody carries out, of a flow that is to be cancelled.
	f := s.flow("ship")
	child := s.work(&f, task.Subagent)
	s.change(f.ID, flow.Change{Op: flow.RequestCancel})
	s.wait(time.Hour)
	// A command whose supervisor has died.
	proc := s.command("amber-reef")
	// A message of which nobody knows whether it arrived.
	message := s.strand("errand-one")
	// A turn that was cut off.
	s.ok(s.cutOff(func() error { return s.ask("errand-two") }), s.lose("errand-two"))
	open, err := s.open()
	s.ok(err)
	turn := open[0].ID
	lost := func(processID string) string {
		rows := s.now().tasks
		i := slices.IndexFunc(rows, func(t task.Task) bool { return t.RunID == processID })
		return "task " + rows[i].ID + ": reconciled, running to lost"
	}

	want = []string{
		"process " + run.Owner.ProcessID,
		"process " + proc,
		"process " + open[0].Rec.ProcessID,
		"turn " + turn + " will be lost",
		lost(run.Owner.ProcessID),
		"task " + child.ID + ": reconciled, running to lost",
		lost(proc),
		"flow " + f.ID + ": reconciled, queued to cancelled",
		"session " + mainKey + " is recoverable: continue, due true",
		"message " + message,
	}
	return want, func() {
		r := s.now()
		if got := r.runs[0]; len(r.runs) != 1 || got.ID != run.ID || got.Status != automation.Interrupted {
			s.Errorf("the runs are %+v", r.runs)
		}
		for _, t := range r.tasks {
			if t.Status != task.Lost {
				s.Errorf("task %s is %s", t.ID, t.Status)
			}
		}
		for _, t := range r.turns {
			if t.ID == turn && t.Status != session.TurnLost {
				s.Errorf("the turn is %s", t.Status)
			}
		}
		if got := s.get(f.ID); got.Status != flow.Cancelled {
			s.Errorf("the flow is %s", got.Status)
		}
	}
}
