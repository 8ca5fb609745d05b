package resume

import (
	"context"
	"strconv"

	"claw/state/session"
)

// Retry makes the next attempt at what was cut off in a session at once, within
// its budget, and returns what became of it. The error is a *session.Rejection
// when there is nothing to continue, or nobody may continue it, and a
// *agent.BusyError while a turn runs in the session.
func (r *Recoverer) Retry(ctx context.Context, key string) (Done, error) {
	it, ok, err := r.Find(r.Clock.Now(), key)
	if err != nil {
		return Done{}, err
	}
	if !ok {
		return Done{}, nothing("retry")
	}
	if it.stale {
		if err := r.release(ctx, it); err != nil {
			return Done{}, err
		}
	}
	err = r.move(ctx, it, nil, func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Retry(r.Clock.Now()) })
	if err != nil {
		return Done{}, err
	}
	if it, _, err = r.Find(r.Clock.Now(), key); err != nil || !it.Due {
		return Done{What: it.Why}, err
	}
	return r.do(ctx, it)
}

// Dismiss ends the cycle of a session without running anything. The person who
// does so is told of events of which nobody knows what was done about them, as
// with every cycle. Where a cycle was given up, or is about to be, it stays so:
// *session.Rejection.
func (r *Recoverer) Dismiss(ctx context.Context, key string) error {
	it, ok, err := r.Find(r.Clock.Now(), key)
	if err != nil {
		return err
	}
	if !ok {
		return nothing("dismiss")
	}
	if it.stale {
		if err := r.release(ctx, it); err != nil {
			return err
		}
	}
	return r.end(ctx, it, func(c session.Cycle) (session.Cycle, *session.Rejection) {
		return c.Dismiss(r.Clock.Now())
	})
}

func nothing(command string) error {
	return &session.Rejection{Command: command, Code: session.ConflictNotInterrupted}
}

// attempts is "1 attempt", "3 attempts".
func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return strconv.Itoa(n) + " attempts"
}

// attemptOf is "2 of 3".
func attemptOf(n int) string { return strconv.Itoa(n) + " of " + strconv.Itoa(session.Budget) }
