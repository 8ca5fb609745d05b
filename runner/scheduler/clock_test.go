package scheduler_test

import (
	"testing"
	"time"

	"claw/state"
	"claw/state/automation"
)

// A clock that was set back by more than three hours is a correction: the new
// time counts. What had its run already has no second one, although its record
// has long moved to the archive.
func TestAClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.add("job", "10m", nil)
	once := func() (started int) {
		w.clock.Advance(10 * time.Minute)
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range work.Start {
			if err := begin(w, r); err != nil {
				t.Fatal(err)
			}
			if err := conclude(w, r.Owner.ProcessID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Pass(t.Context(), nobody); err != nil {
			t.Fatal(err)
		}
		return len(work.Start)
	}
	for range 36 {
		if n := once(); n != 1 {
			t.Fatalf("%d starts", n)
		}
	}
	if err := w.Store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if live := len(all(w, state.Runs)); live >= 20 {
		t.Fatalf("%d runs have stayed in the ledger", live)
	}
	w.clock.Step(-4 * time.Hour)
	for range 24 {
		if n := once(); n != 0 {
			t.Fatalf("at %v a slot was run again", w.clock.Now())
		}
	}
	if n := once(); n != 1 {
		t.Errorf("%d starts when new time has come", n)
	}
	for _, r := range w.runs() {
		if r.Status != automation.Succeeded {
			t.Errorf("run %+v", r)
		}
	}
	if n := len(w.runs()); n != 37 {
		t.Errorf("%d runs, want 37", n)
	}
}

// A clock that was wrong for a while, by hours, and is right again (a machine
// that comes up with its clock in another zone, until the network is there):
// what was decided before stays so, also what has moved to the archive, and each
// slot keeps the one row it has.
func TestAClockThatWasWrongForAWhile(t *testing.T) {
	w := newWorld(t)
	w.add("all", "10m", func(a *automation.Automation) { a.Missed.Policy = automation.MissedAll })
	w.add("once", "10m", nil)
	w.add("skip", "10m", func(a *automation.Automation) { a.Missed.Policy = automation.MissedSkip })
	for range 36 {
		w.clock.Advance(10 * time.Minute)
		w.pass()
		w.settle()
	}
	if err := w.Store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(w.runs())
	for _, step := range []time.Duration{4 * time.Hour, 400 * 24 * time.Hour} {
		w.clock.Step(-step)
		if work := w.pass(); len(work.Start) != 0 {
			t.Errorf("%v back: %d starts", step, len(work.Start))
		}
		w.clock.Step(step)
		if work := w.pass(); len(work.Start) != 0 {
			t.Errorf("%v back and forward again: %d starts", step, len(work.Start))
		}
		if n := len(w.runs()); n != before {
			t.Errorf("%v back and forward again: %d rows, want %d", step, n, before)
		}
	}
	w.clock.Step(-4 * time.Hour)
	w.pass()
	w.clock.Step(4*time.Hour + 10*time.Minute)
	work := w.pass()
	w.settle()
	if n := len(w.runs()) - before; n != 3 || len(work.Start) != 3 {
		t.Errorf("%d new rows and %d starts for the 3 slots that have come since", n, len(work.Start))
	}
}

// With the switch for all off, and on again, the slots in between are missed.
func TestPaused(t *testing.T) {
	w := newWorld(t)
	w.add("job", "1h", nil)
	w.pass()
	w.Enabled = false
	w.clock.Advance(5*time.Hour + time.Minute)
	if work := w.pass(); len(work.Start) != 0 || !work.Next.IsZero() {
		t.Errorf("paused: %+v", work)
	}
	w.tells("")
	w.Enabled = true
	w.pass()
	w.settle()
	w.tells("13:00-16:00 missed, 17:00 succeeded")
}
