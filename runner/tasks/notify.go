package tasks

import (
	"context"

	"claw/state"
	"claw/state/task"
)

// Notify gives the task that query means another notify policy, and returns it.
// Nothing is written when it has that one already. The error is a
// *control.Refused.
func (k *Keeper) Notify(ctx context.Context, query string, policy task.NotifyPolicy) (task.Task, error) {
	t, err := k.Find(query)
	if err != nil || t.NotifyPolicy == policy {
		return t, err
	}
	err = k.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Tasks.Find(tx, t.ID)
		if err != nil {
			return err
		}
		if !ok {
			return unresolved(query, nil)
		}
		t = task.SetPolicy(row.Rec, policy, tx.Now())
		return state.Tasks.Put(tx, row.ID, row.Rev, t)
	})
	return t, err
}
