package scheduler_test

import (
	"testing"
	"time"
)

// A tick that has gone on for long begins no more slots; the next one does, and
// none is lost on the way.
func TestNoSlots(t *testing.T) {
	w := newWorld(t)
	w.add("job", "1m", nil)
	w.pass()
	w.NoSlots = true
	w.clock.Advance(90 * time.Second)
	for range 3 {
		if work := w.pass(); len(work.Start) > 0 || !work.Next.IsZero() {
			t.Fatalf("%+v", work)
		}
	}
	w.tells("")
	w.byHand("job")
	w.settle()
	if n := len(w.runs()); n != 1 {
		t.Errorf("%d runs, one was started by hand", n)
	}
	w.NoSlots = false
	w.pass()
	w.settle()
	if n := len(w.runs()); n != 2 {
		t.Errorf("%d runs; want the slot too", n)
	}
}
