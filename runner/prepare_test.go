package runner_test

import (
	"slices"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
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

// Commands are claimed a moment before they are due, 20 ms and 2 ms for each of
// them, and are started by the instant; until then no pass disturbs them,
// whatever happens.
func TestClaimsAhead(t *testing.T) {
	h := newHouse(t)
	due := noon.Add(30 * time.Minute)
	h.script.Next = func(now time.Time) time.Time {
		if now.Before(due) {
			return due
		}
		return time.Time{}
	}
	h.script.Prepare = func(time.Time) int { return 15 }
	var claimed []time.Time
	h.script.Ahead = func(at time.Time) scheduler.Work {
		h.mu.Lock()
		defer h.mu.Unlock()
		claimed = append(claimed, h.clock.Now())
		return scheduler.Work{Start: []automation.Run{{ID: "one"}, {ID: "two"}}}
	}
	started := make(chan time.Time, 1)
	var ids []string
	h.script.StartAt = func(at time.Time, runs []automation.Run) {
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		started <- at
	}
	count := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(claimed)
	}
	h.start()
	h.until("the first pass", func() bool { return h.get(&h.passes) >= 1 })
	h.settle()
	before := func(d time.Duration) {
		h.clock.Advance(due.Add(-d).Sub(h.clock.Now()))
		h.clock.WaitArmed(1)
	}
	before(500 * time.Millisecond)
	h.clock.WaitArmed(1)
	before(51 * time.Millisecond)
	if n := count(); n != 0 {
		t.Errorf("claimed %d times 51 ms before", n)
	}
	before(50 * time.Millisecond)
	h.until("it has claimed", func() bool { return count() == 1 })
	if at := <-started; !at.Equal(due) || !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("%v are started at %v, due is %v", ids, at, due)
	}
	passes := h.get(&h.passes)
	h.bell.c <- struct{}{}
	before(10 * time.Millisecond)
	if n := h.get(&h.passes); n != passes {
		t.Errorf("%d passes before it is due", n-passes)
	}
	before(0)
	h.until("a pass when it is due", func() bool { return h.get(&h.passes) > passes })
	if n := count(); n != 1 {
		t.Errorf("it has claimed %d times", n)
	}
	h.finish()
}
