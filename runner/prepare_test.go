package runner_test

import (
	"testing"
	"time"
)

// What automations have due next is prepared for half a second before, once,
// although the runner rests by then, and its pass comes on time.
func TestPreparesForWhatIsDue(t *testing.T) {
	h := newHouse(t)
	due := noon.Add(30 * time.Minute)
	var prepared []time.Time // when, by the clock
	h.script.Next = func(now time.Time) time.Time {
		if now.Before(due) {
			return due
		}
		return time.Time{}
	}
	h.script.Prepare = func(at time.Time) int {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !at.Equal(due) {
			t.Errorf("it prepares for %v, due is %v", at, due)
		}
		prepared = append(prepared, h.clock.Now())
		return 0
	}
	count := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(prepared)
	}
	h.start()
	h.until("the first pass", func() bool { return h.get(&h.passes) >= 1 })
	h.settle()
	passes := h.get(&h.passes)
	before := func(d time.Duration) { // lets the clock read so much before it is due
		h.clock.Advance(due.Add(-d).Sub(h.clock.Now()))
		h.clock.WaitArmed(1)
	}
	before(time.Second)
	if n := count(); n != 0 {
		t.Errorf("it has prepared %d times a second before", n)
	}
	before(500 * time.Millisecond)
	h.until("it has prepared", func() bool { return count() == 1 })
	h.clock.WaitArmed(1)
	before(100 * time.Millisecond)
	if n := h.get(&h.passes); n != passes {
		t.Errorf("%d passes before it is due", n-passes)
	}
	before(0)
	h.until("its pass", func() bool { return h.get(&h.passes) > passes })
	h.clock.WaitArmed(1)
	if n := count(); n != 1 {
		t.Errorf("it has prepared %d times", n)
	}
	h.finish()
}
