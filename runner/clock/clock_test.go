package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"claw/runner/clock"
	"claw/runner/clock/clocktest"
)

func TestSystemIsWallTimeWithoutMonotonic(t *testing.T) {
	now := clock.New().Now()
	if now != now.Round(0) {
		t.Errorf("%v carries a monotonic reading", now)
	}
	if d := time.Since(now); d < -time.Minute || d > time.Minute {
		t.Errorf("now is %v away from now", d)
	}
}

func TestClip(t *testing.T) {
	for _, row := range []struct{ in, want time.Duration }{
		{-time.Second, 0},
		{0, 0},
		{time.Millisecond, time.Millisecond},
		{clock.Longest, 60 * time.Second},
		{30 * time.Hour, 60 * time.Second},
	} {
		if got := clock.Clip(row.in); got != row.want {
			t.Errorf("Clip(%v) = %v, want %v", row.in, got, row.want)
		}
	}
}

// A sleep of hours re-arms and ends on time.
func TestSleepAndUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.New()
		begin := time.Now()
		if err := clock.Sleep(t.Context(), c, 5*time.Hour+time.Second); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != 5*time.Hour+time.Second {
			t.Errorf("slept %v", got)
		}
		if err := clock.Until(t.Context(), c, begin.Add(6*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != 6*time.Hour {
			t.Errorf("waited until %v", got)
		}
		if err := clock.Until(t.Context(), c, begin); err != nil || time.Since(begin) != 6*time.Hour {
			t.Errorf("waited for the past: %v", err)
		}
	})
}

func TestSleepIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Minute, func() { cancel(why) })
		begin := time.Now()
		if err := clock.Sleep(ctx, clock.New(), time.Hour); err != why {
			t.Errorf("error %v", err)
		}
		if got := time.Since(begin); got != 3*time.Minute {
			t.Errorf("slept %v", got)
		}
		if err := clock.Sleep(ctx, clock.New(), 0); err != why {
			t.Errorf("a sleep of nothing hides the end: %v", err)
		}
	})
}

// waiting runs a wait and says when it has ended.
func waiting(wait func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	return done
}

// Until follows the wall clock: a step forward ends it at the next look, a
// step back prolongs it. Sleep does not care.
func TestSteps(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := clocktest.New(noon)
	until := waiting(func() error { return clock.Until(t.Context(), f, noon.Add(time.Hour)) })
	sleep := waiting(func() error { return clock.Sleep(t.Context(), f, time.Hour) })
	f.WaitArmed(2)
	f.Suspend(2 * time.Hour)
	f.Advance(clock.Longest)
	if err := <-until; err != nil {
		t.Fatal(err)
	}
	f.WaitArmed(1)
	select {
	case <-sleep:
		t.Fatal("an hour of sleep ended after a minute")
	default:
	}

	f.Step(-5 * time.Hour)
	late := waiting(func() error { return clock.Until(t.Context(), f, noon.Add(-2*time.Hour)) })
	for range 59 {
		f.WaitArmed(2)
		f.Advance(time.Minute)
	}
	if err := <-sleep; err != nil {
		t.Fatal(err)
	}
	if got := f.Elapsed(); got != time.Hour {
		t.Errorf("an hour of sleep took %v", got)
	}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
}

func TestFakeTimer(t *testing.T) {
	f := clocktest.New(time.Unix(0, 0))
	a, b := f.NewTimer(time.Second), f.NewTimer(time.Hour)
	if !b.Stop() || b.Stop() {
		t.Error("stop tells whether the timer was armed")
	}
	f.Advance(time.Second)
	if got := <-a.C(); !got.Equal(time.Unix(1, 0)) {
		t.Errorf("fired at %v", got)
	}
	b.Reset(time.Hour)
	f.Advance(clock.Longest)
	if got := <-b.C(); !got.Equal(time.Unix(61, 0)) {
		t.Errorf("a long timer fired at %v", got)
	}
	a.Reset(0)
	a.Reset(time.Second) // the tick of the first arming is never seen
	select {
	case <-a.C():
		t.Error("stale tick")
	default:
	}
}
