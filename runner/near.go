package runner

import (
	"context"
	"time"

	"claw/runner/scheduler"
)

// What automations have due next is seen to before its time, so that nothing but
// the start itself is left for the instant: supervisors boot (prepare), and the
// slots are claimed and on the disk (claimAhead).

// lead is how long before something is due it is prepared for: some dozen
// supervisors boot in that time.
const lead = 500 * time.Millisecond

// claimLead is how long before its instant the start of n commands is claimed:
// a few waits for the disk, and what each of them needs to be made ready.
func claimLead(n int) time.Duration {
	return min(20*time.Millisecond+time.Duration(n)*2*time.Millisecond, lead/2)
}

// nears tells that what automations have due next is near, and not here yet.
func (l *life) nears() bool {
	in := l.shift.cronNext.Sub(l.Clock.Now())
	return !l.shift.cronNext.IsZero() && in > 0 && in <= lead
}

// prepare gets ready for what is due soon, once. What goes wrong is said by the
// pass that follows.
func (l *life) prepare() {
	s := l.shift
	if !l.nears() || l.prepared.Equal(s.cronNext) || s.stuck != nil {
		return
	}
	l.prepared, l.claimAt = s.cronNext, time.Time{}
	l.stir()
	if s.r == nil && l.load(false) != nil {
		return
	}
	s.see()
	n, err := s.r.work(s.mode).prepare(s.cronNext)
	if err == nil && n > 0 && n <= scheduler.MaxSpares {
		l.claimAt = s.cronNext.Add(-claimLead(n))
	}
}

// claimAhead claims what is due in a moment, if that is commands and nothing
// else. A runner that is to end claims nothing more.
func (l *life) claimAhead(ctx context.Context) {
	s := l.shift
	if l.claimAt.IsZero() || l.Clock.Now().Before(l.claimAt) {
		return
	}
	l.claimAt = time.Time{}
	if l.nears() && l.prepared.Equal(s.cronNext) && s.stuck == nil && s.r != nil && l.order.IsZero() {
		if at := s.cronNext; s.claimAhead(ctx, at) {
			l.hushed = at
		}
	}
}

// hush is how long no pass is made because commands are about to start, which
// have been claimed: it would take the machine from them.
func (l *life) hush() time.Duration {
	if l.hushed.IsZero() {
		return 0
	}
	wait := l.hushed.Sub(l.Clock.Now())
	if wait <= 0 || wait > lead { // it is time, or the clock was set back
		l.hushed, wait = time.Time{}, 0
	}
	return wait
}

// nearest is when to see to what is due next; zero: that has been done, or
// nothing is due.
func (l *life) nearest() time.Time {
	switch at := l.shift.cronNext; {
	case !at.After(l.Clock.Now()):
		return time.Time{}
	case !at.Equal(l.prepared):
		return at.Add(-lead)
	}
	return l.claimAt
}

// claimAhead claims the commands that are due at an instant and lets them start
// then, beside the passes. What cannot be claimed now is left to the pass of that
// instant, and so is an error.
func (s *shift) claimAhead(ctx context.Context, at time.Time) (claimed bool) {
	w := s.r.work(s.mode)
	work, err := w.ahead(ctx, at, func(id string) bool { return s.runs[id] })
	if err != nil || len(work.Start) == 0 {
		return false
	}
	s.cronNext = work.Next
	s.carry(work.Start, func() error { return w.startAt(s.turns, at, work.Start) })
	return true
}
