package tasks

import (
	"context"

	"claw/runner/subagents"
	"claw/state"
	"claw/state/subagent"
	"claw/state/task"
)

// lookSubagent asks the ledger of what was given to agents. Whoever holds
// runner.lock follows an open run to its end.
func lookSubagent(tx *state.Tx, s *seen) error {
	row, ok, err := state.Subagents.Find(tx, s.task.RunID)
	if err != nil || !ok {
		return err
	}
	r := row.Rec
	if !r.Ended() {
		s.evidence.Live = true
		return nil
	}
	s.evidence.History = &task.End{Status: subagents.StatusOf(r), At: r.EndedAt, Error: r.Error}
	return nil
}

// endSubagent ends a run with all that it has given to others. False: it is no run,
// or has ended.
func (k *Keeper) endSubagent(ctx context.Context, t task.Task) (done bool, err error) {
	if t.Kind != task.KindSubagent || t.External || t.Status.Terminal() {
		return false, nil
	}
	var r subagent.Run
	known := false
	err = k.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, t.RunID)
		r, known = row.Rec, ok && !row.Rec.Ended()
		return err
	})
	if err != nil || !known {
		return false, err
	}
	patience := k.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	s := &subagents.Service{Store: k.Store, Clock: k.Clock, Turns: k.Turns}
	if _, _, err := s.Cancel(ctx, r.ID, patience); err != nil {
		return false, err
	}
	return true, k.poke()
}
