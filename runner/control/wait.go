package control

import (
	"context"
	"errors"
	"time"

	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// Wait returns the final row of a process once it has ended. It sleeps in the
// kernel on the life-line, so that it wakes with the end. After timeout (0:
// never) the error is ErrStillRunning.
func (c *Control) Wait(ctx context.Context, session string, timeout time.Duration) (process.Process, error) {
	p, err := c.FindKept(session, "No session found for "+session)
	if err != nil || !p.Live() {
		return p, errors.Join(err, c.Settle(ctx))
	}
	waiting := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	err = state.LockShared(waiting, settle.Lifeline(c.Store.ProcessDir(p.ID)))
	if waiting.Err() != nil && ctx.Err() == nil {
		return p, ErrStillRunning
	}
	if err != nil {
		return p, err
	}
	if err := c.Settle(ctx); err != nil {
		return p, err
	}
	return c.ended(p)
}

// ErrStillRunning: the time given to Wait is over and the command is not.
var ErrStillRunning = errors.New("still running")

// ended reads the row again; a process that was removed while it was waited
// for has its row still.
func (c *Control) ended(p process.Process) (process.Process, error) {
	id := p.ID
	err := c.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Processes.Find(tx, id)
		if err != nil {
			return err
		}
		if !ok || row.Rec.Live() {
			return errNotEnded
		}
		p = row.Rec
		return nil
	})
	return p, err
}
