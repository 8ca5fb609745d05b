package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
)

// near is a world in which commands are due in a minute and have spares.
func near(t *testing.T, commands int) (w *world, due time.Time) {
	w = newWorld(t)
	w.Spares = new(scheduler.Spares)
	t.Cleanup(w.Spares.Close)
	for i := range commands {
		w.add(fmt.Sprint("job", i), "1m", sh("echo ran >> "+w.dir+"/lines"))
	}
	due = w.clock.Now().Add(time.Minute)
	if n, err := w.Prepare(due); err != nil || n != commands {
		t.Fatalf("%d commands are due, %v", n, err)
	}
	return w, due
}

func (w *world) ahead(at time.Time) []automation.Run {
	w.t.Helper()
	work, err := w.PassAhead(w.t.Context(), at, nobody)
	if err != nil {
		w.t.Fatal(err)
	}
	return work.Start
}

// Commands are claimed before they are due, start when they are, and are not
// claimed again by any pass before, at or after that instant.
func TestClaimedAhead(t *testing.T) {
	w, due := near(t, 20)
	waiting := w.Spares.IDs()
	w.clock.Advance(59800 * time.Millisecond)
	runs := w.ahead(due)
	if len(runs) != 20 {
		t.Fatalf("%d claims", len(runs))
	}
	mine := map[string]bool{}
	for _, r := range runs {
		mine[r.ID] = true
		if r.Status != automation.Running || !r.Slot.Equal(due) || !r.StartedAt.Equal(due) || !slices.Contains(waiting, r.Owner.ProcessID) {
			t.Errorf("claimed %+v", r)
		}
	}
	atWork := func(id string) bool { return mine[id] }
	none := func(when string) {
		t.Helper()
		if work, err := w.Pass(t.Context(), atWork); err != nil || len(work.Start)+len(work.Ended)+len(work.Stop) > 0 || !work.Next.Equal(due.Add(time.Minute)) {
			t.Errorf("%s: %+v, %v", when, work, err)
		}
	}
	none("before it is due")
	done := make(chan error, 1)
	go func() { done <- w.StartAt(t.Context(), due, runs) }()
	w.until("all is ready", func() bool {
		ps := w.processes()
		return len(ps) == 20 && !slices.ContainsFunc(ps, func(p process.Process) bool { return p.Phase != process.Starting })
	})
	w.clock.WaitArmed(1)
	if n := len(w.lines("lines")); n != 0 {
		t.Errorf("%d commands ran before they were due", n)
	}
	w.clock.Advance(due.Sub(w.clock.Now()))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	none("when it is due")
	w.settle()
	if n := len(w.lines("lines")); n != 20 {
		t.Errorf("%d commands have run", n)
	}
	for _, r := range w.runs() {
		if !mine[r.ID] || r.Status != automation.Succeeded {
			t.Errorf("%+v", r)
		}
	}
	if left := w.Spares.IDs(); len(left) != 0 {
		t.Errorf("%v still wait", left)
	}
}

// What is more than the start of commands waits for its instant, and so does
// everything when something has happened meanwhile; nothing is written then.
func TestNotClaimedAhead(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		change func(t *testing.T, w *world, due time.Time)
	}{
		{"a reminder is due as well", func(_ *testing.T, w *world, _ time.Time) {
			w.add("told", "1m", reminds)
		}},
		{"a turn is due as well", func(_ *testing.T, w *world, _ time.Time) {
			w.add("asked", "1m", func(a *automation.Automation) {
				a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "what is new"}
			})
		}},
		{"an earlier run still goes on, so that one is to be skipped", func(t *testing.T, w *world, _ time.Time) {
			if _, _, err := w.Run(t.Context(), "job0", scheduler.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			if work, err := w.Pass(t.Context(), nobody); err != nil || len(work.Start) != 1 { // claimed, and nobody has begun
				t.Fatalf("%+v, %v", work, err)
			}
		}},
		{"nobody is to start anything", func(_ *testing.T, w *world, _ time.Time) { w.NoSlots = true }},
		{"automations are switched off", func(_ *testing.T, w *world, _ time.Time) { w.Enabled = false }},
		{"there is no place for spares", func(_ *testing.T, w *world, _ time.Time) { w.Spares = nil }},
		{"nothing is due", func(_ *testing.T, w *world, due time.Time) {
			for _, a := range w.autos() {
				if _, _, err := w.Enable(w.t.Context(), a.Name, false); err != nil {
					w.t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w, due := near(t, 2)
			spares := w.Spares
			tt.change(t, w, due)
			w.clock.Advance(59800 * time.Millisecond)
			before, waiting := w.position(), spares.IDs()
			if runs := w.ahead(due); len(runs) != 0 {
				t.Errorf("%d claims", len(runs))
			}
			if w.position() != before || !slices.Equal(spares.IDs(), waiting) {
				t.Error("it left something")
			}
		})
	}
}
