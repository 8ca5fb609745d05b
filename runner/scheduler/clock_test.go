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
