package control

import (
	"context"
	"errors"
	"os"

	"claw/runner/settle"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/process"
)

// Kill asks for the end of a process and all that belongs to it: TERM, five
// seconds, KILL. It answers at once; the end comes later
// (spec/exec-process.md 2.8). What a finished or lost process left behind can
// be ended in the same way.
func (c *Control) Kill(ctx context.Context, session string) (Result, error) {
	if err := c.Settle(ctx); err != nil {
		return Result{}, err
	}
	p, err := c.Find(session, "No active session found for "+session)
	switch {
	case err != nil:
		return Result{}, err
	case !p.Live() && len(settle.Survivors(p)) > 0:
		return c.killLeftover(ctx, p)
	case !p.Live():
		return Result{}, missing("No active session found for " + p.Slug)
	}
	if _, err := c.call(p, supervisor.Ask{Op: supervisor.OpKill}); err != nil {
		return Result{}, err
	}
	d := details(p)
	d.Status = process.StatusCompleted
	return Result{Text: "Termination requested for session " + p.Slug + ".", Details: d}, nil
}

func (c *Control) killLeftover(ctx context.Context, p process.Process) (Result, error) {
	if left := settle.EndLeftover(ctx, c.Clock, p); len(left) > 0 {
		return Result{}, denied("Session " + p.Slug + " left processes behind that could not be ended.")
	}
	d := details(p)
	d.Status = process.StatusCompleted
	return Result{Text: "Ended what session " + p.Slug + " had left behind.", Details: d}, nil
}

// Clear takes a finished process out of the list. A queued completion event
// stays.
func (c *Control) Clear(ctx context.Context, session string) (Result, error) {
	absent := "No finished session found for " + session
	if err := c.Settle(ctx); err != nil {
		return Result{}, err
	}
	p, err := c.Find(session, absent)
	if refused, ok := IsRefused(err); ok && refused.Kind == Denied {
		err = missing(absent)
	}
	if err == nil && p.Live() {
		err = missing(absent)
	}
	if err != nil {
		return Result{}, err
	}
	err = c.mark(ctx, p.ID, func(tx *state.Tx, q *process.Process) error {
		q.Cleared = true
		return nil
	})
	d := details(p)
	d.Status = process.StatusCompleted
	return Result{Text: "Cleared session " + p.Slug + ".", Details: d}, err
}

// Remove ends a running process and takes it out of sight at once, with its
// completion event; a finished one is taken out together with its output.
func (c *Control) Remove(ctx context.Context, session string) (Result, error) {
	if err := c.Settle(ctx); err != nil {
		return Result{}, err
	}
	p, err := c.Find(session, "No session found for "+session)
	if err != nil {
		return Result{}, err
	}
	text, live := "Removed session "+p.Slug+".", p.Live()
	if live {
		text = "Removed session " + p.Slug + " (termination requested)."
	}
	err = c.mark(ctx, p.ID, func(tx *state.Tx, q *process.Process) error {
		q.Removed = true
		return settle.Retire(tx, *q)
	})
	if err != nil {
		return Result{}, err
	}
	if err := c.dispose(p, live); err != nil {
		return Result{}, err
	}
	d := details(p)
	d.Status = process.StatusCompleted
	return Result{Text: text, Details: d}, nil
}

// dispose comes after the row says removed, so that no death in between
// leaves a visible row without output.
func (c *Control) dispose(p process.Process, live bool) error {
	if !live {
		return os.RemoveAll(c.Store.ProcessDir(p.ID))
	}
	_, err := c.call(p, supervisor.Ask{Op: supervisor.OpKill})
	if refused, ok := IsRefused(err); ok && refused.Kind == Denied {
		return nil // it is ending by itself
	}
	return err
}

// mark changes one row that is still visible.
func (c *Control) mark(ctx context.Context, id string, change func(*state.Tx, *process.Process) error) error {
	return c.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, id)
		if err != nil {
			return err
		}
		if !ok || row.Rec.Removed {
			return missing("No session found for " + id)
		}
		if err := change(tx, &row.Rec); err != nil {
			return err
		}
		return state.Processes.Put(tx, id, row.Rev, row.Rec)
	})
}

var errNotEnded = errors.New("it has not ended")
