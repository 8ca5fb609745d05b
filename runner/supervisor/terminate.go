package supervisor

import (
	"context"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
)

// termination is one TERM, grace, KILL in progress; the work is done by
// proc.Terminate in its own goroutine.
type termination struct {
	done    chan struct{}
	over    bool
	endedAt time.Duration
}

// terminate begins the end of the command's group and of every descendant
// that can be proved to be its own.
func (s *supervisor) terminate() *termination {
	t := &termination{done: make(chan struct{})}
	target, changed := s.target(), s.reaper.Changed()
	go func() {
		defer rescue(s)
		timing := proc.Timing{Grace: proc.DefaultGrace, Settle: proc.DefaultSettle}
		proc.Terminate(context.Background(), s.clock, target, timing, changed)
		close(t.done)
	}()
	return t
}

func (t *termination) pending() bool { return t != nil && !t.over }

// doneChan is nil, and so never ready, when nothing is being terminated or
// its end has been seen.
func (t *termination) doneChan() <-chan struct{} {
	if !t.pending() {
		return nil
	}
	return t.done
}

// alarm is a timer that is set to an instant of the monotonic clock. The
// clock never arms it for more than a minute; an early ring is harmless, the
// loop looks at the clock again.
type alarm struct {
	clock clock.Clock
	timer clock.Timer
}

func newAlarm(c clock.Clock) *alarm {
	t := c.NewTimer(clock.Longest)
	t.Stop()
	return &alarm{clock: c, timer: t}
}

// set arms the alarm; 0 disarms it.
func (a *alarm) set(at time.Duration) {
	if at == 0 {
		a.timer.Stop()
		return
	}
	a.timer.Reset(max(0, at-a.clock.Elapsed()))
}

func (a *alarm) stop() { a.timer.Stop() }
