package scheduler

import (
	"context"
	"errors"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/failpoint"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
)

// PassAhead is Pass for an instant that is near, when all that has to be done
// then is to start commands, and no more than have spares: their slots are
// claimed before they are due, so that nothing has to be written when they are.
// Whatever else there is to do, or has happened meanwhile, is left to the Pass at
// that instant, and nothing is written.
//
// The caller must give what is claimed to StartAt at once. Should it die, what has
// not begun is claimed anew like any other claim.
func (s *Scheduler) PassAhead(ctx context.Context, at time.Time, atWork func(runID string) bool) (Work, error) {
	if s.Spares == nil || !s.Enabled || s.NoSlots {
		return Work{}, nil
	}
	sh, _, err := s.peek(at, atWork)
	if err != nil || sh == nil || !sh.startsOnly() || len(sh.plan.Start) > MaxSpares || !s.converged(sh.agenda.Rec) {
		return Work{}, err
	}
	w := Work{}
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		s.Spares.back(w.spares)
		w = Work{}
		if tx.Position() != sh.position {
			return errMoved
		}
		return s.carry(tx, sh, sh.plan, &w)
	}, state.Relaxed())
	switch {
	case err == nil:
		failpoint.Hit("run-claimed")
		return w, nil
	case errors.Is(err, errMoved):
		err = nil
	}
	s.Spares.back(w.spares)
	return Work{}, err
}

// errMoved: something was written after it was looked at.
var errMoved = errors.New("the ledgers have changed")

// StartAt is StartAll for what PassAhead has claimed: everything is made ready,
// and at the instant the commands start together.
func (s *Scheduler) StartAt(ctx context.Context, at time.Time, runs []automation.Run) error {
	due := s.Clock.Elapsed() + at.Sub(s.Clock.Now())
	commands, others, err := s.commandsOf(runs)
	if err != nil {
		return err
	}
	all := &launch{}
	for len(commands) > 0 {
		n := min(together, len(commands))
		leave := s.enter()
		failpoint.Hit("run-starting")
		group := s.ready(commands[:n])
		supervisor.ClaimAll(ctx, s.Store, group.list)
		all.add(group)
		leave()
		commands = commands[n:]
	}
	if wait := due - s.Clock.Elapsed(); wait > 0 {
		clock.Sleep(context.WithoutCancel(ctx), s.Clock, wait)
	}
	supervisor.StartAll(s.Store, all.list)
	err = s.launched(ctx, all)
	for _, r := range others {
		err = errors.Join(err, s.Start(ctx, r))
	}
	return err
}
