package supervisor

import (
	"time"

	"claw/runner/internal/proc"
)

// termination is one TERM, grace, KILL in progress; the work is done by
// proc.Terminate in its own goroutine.
type termination struct {
	done    chan struct{}
	over    bool
	endedAt time.Time
}

// terminate begins the end of the command's group and of every descendant
// that can be proved to be its own.
func (s *supervisor) terminate() *termination {
	t := &termination{done: make(chan struct{})}
	target := proc.Target{Root: s.root, Reaper: proc.Self(), Ungrouped: s.ungrouped}
	go func() {
		defer rescue(s)
		proc.Terminate(target, grace)
		close(t.done)
	}()
	return t
}

// doneChan is nil, and so never ready, when nothing is being terminated or
// its end has been seen.
func (t *termination) doneChan() <-chan struct{} {
	if t == nil || t.over {
		return nil
	}
	return t.done
}

func (t *termination) finished() { t.over, t.endedAt = true, time.Now() }

// alarm is a timer that is set to an instant and never runs longer than a
// minute, so that a suspended machine is noticed soon after it wakes
// (pains B22). An early ring is harmless: the loop looks at the clock again.
type alarm struct {
	timer *time.Timer
	c     <-chan time.Time
}

const longestSleep = time.Minute

func newAlarm() *alarm {
	t := time.NewTimer(longestSleep)
	t.Stop()
	return &alarm{timer: t, c: t.C}
}

// set arms the alarm; the zero time disarms it.
func (a *alarm) set(at time.Time) {
	if at.IsZero() {
		a.timer.Stop()
		return
	}
	a.timer.Reset(max(0, min(time.Until(at), longestSleep)))
}

func (a *alarm) stop() { a.timer.Stop() }
