package tasks

import (
	"context"

	"claw/runner/settle"
	"claw/state"
	"claw/state/external"
	"claw/state/task"
)

// lookHook asks the ledger of what was asked for from outside. Whoever holds
// runner.lock follows an open dispatch to its end.
func lookHook(tx *state.Tx, s *seen) error {
	row, ok, err := state.Dispatches.Find(tx, s.task.RunID)
	if err != nil || !ok {
		return err
	}
	d := row.Rec
	if !d.Status.Ended() {
		s.evidence.Live = true
		return nil
	}
	s.evidence.History = &task.End{Status: task.OfHook(d.Status), At: d.EndedAt, Error: d.Error}
	return nil
}

// ofHook is the turn of a dispatch. One that waits is held by nobody: it does
// not begin once its task has ended.
func ofHook(tx *state.Tx, t task.Task) (hold, error) {
	row, ok, err := state.Dispatches.Get(tx, t.RunID)
	if err != nil || !ok || row.Rec.Status != external.Running {
		return hold{}, err
	}
	turn, ok, err := state.Turns.Get(tx, row.Rec.TurnID)
	return ofTurn(turn.Rec, ok), err
}

// withdraw ends the task of a dispatch that has not begun, and the dispatch with
// it. False: it is none of these, or has begun by now.
func (k *Keeper) withdraw(ctx context.Context, t task.Task) (done bool, err error) {
	if t.Kind != task.KindHook || t.External || t.Status.Terminal() {
		return false, nil
	}
	err = k.Store.Update(ctx, func(tx *state.Tx) error {
		done = false
		row, ok, err := state.Dispatches.Get(tx, t.RunID)
		if err != nil || !ok {
			return err
		}
		d, refused := external.Refuse(row.Rec, external.ReasonWithdrawn, "", tx.Now())
		if !refused {
			return nil
		}
		of, ok, err := state.Tasks.Get(tx, t.ID)
		if err != nil || !ok {
			return err
		}
		after, err := task.Cancel(of.Rec, "", tx.Now())
		if err != nil {
			return err
		}
		if err := state.Tasks.Put(tx, of.ID, of.Rev, after); err != nil {
			return err
		}
		done = true
		if err := settle.Follow(tx, after); err != nil {
			return err
		}
		return state.Dispatches.Put(tx, row.ID, row.Rev, d)
	})
	return done, err
}

// outcome is how a task stands that has just been ended.
func (k *Keeper) outcome(t task.Task, err error) (task.CancelResult, error) {
	if err == nil {
		t, err = k.Find(t.ID)
	}
	if err != nil {
		return task.CancelResult{}, err
	}
	return task.CancelOutcome(t), nil
}
