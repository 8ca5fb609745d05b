// Package clock is the only place of claw that asks the time.
//
// Two readings are kept apart. The wall clock (Now) is for meaning: what is
// written in a ledger and shown to a person. It can jump in either direction.
// The monotonic reading (Elapsed) is for waiting: deadlines, grace periods,
// idle times. It never goes back. While the machine sleeps it stands still on
// Linux and on macOS, so a timeout counts the time the command could run.
//
// No timer is armed for longer than Longest: a timer that sleeps through a
// clock step or a suspend is noticed after a minute at the latest, because
// Until reads the wall clock again each time (design.md 3.6, pains B22).
package clock

import (
	"context"
	"time"
)

// Longest is the longest time any single timer is armed for.
const Longest = 60 * time.Second

// Clock gives the time. System is the real one; clocktest has one that can be
// stepped by hand.
type Clock interface {
	// Now is the wall clock, without a monotonic reading: two values of Now
	// compare as a person would compare them.
	Now() time.Time
	// Elapsed is the monotonic time since an arbitrary moment before the first
	// call; only differences mean anything.
	Elapsed() time.Duration
	// NewTimer arms a timer that fires once after d, or after Longest if d is
	// longer: whoever waits for a moment must look at the clock again.
	NewTimer(d time.Duration) Timer
}

// Timer fires once on C unless it is stopped first. As with time.Timer since
// Go 1.23, no value of an earlier arming is received after Stop or Reset.
type Timer interface {
	C() <-chan time.Time
	Stop() bool
	Reset(d time.Duration)
}

// System is the clock of the machine.
type System struct{ origin time.Time }

// New returns the clock of the machine, whose Elapsed counts from now.
func New() System { return System{origin: time.Now()} }

// Now returns the wall clock.
func (System) Now() time.Time { return time.Now().Round(0) }

// Elapsed returns the monotonic time since New.
func (s System) Elapsed() time.Duration { return time.Since(s.origin) }

// NewTimer arms a timer for at most Longest.
func (System) NewTimer(d time.Duration) Timer {
	return sysTimer{time.NewTimer(Clip(d))}
}

type sysTimer struct{ t *time.Timer }

func (t sysTimer) C() <-chan time.Time   { return t.t.C }
func (t sysTimer) Stop() bool            { return t.t.Stop() }
func (t sysTimer) Reset(d time.Duration) { t.t.Reset(Clip(d)) }

// Clip bounds a waiting time to [0, Longest].
func Clip(d time.Duration) time.Duration { return max(0, min(d, Longest)) }

// Sleep waits for d of monotonic time, or returns the cause why ctx ended.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	end := c.Elapsed() + d
	return wait(ctx, c, func() time.Duration { return end - c.Elapsed() })
}

// Until waits until the wall clock reads at or later, or returns the cause why
// ctx ended. A step of the wall clock is noticed within Longest.
func Until(ctx context.Context, c Clock, at time.Time) error {
	return wait(ctx, c, func() time.Duration { return at.Sub(c.Now()) })
}

// wait re-arms one timer until left says that nothing is left.
func wait(ctx context.Context, c Clock, left func() time.Duration) error {
	d := left()
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := c.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C():
		}
		if d = left(); d <= 0 {
			return nil
		}
		t.Reset(d)
	}
}
