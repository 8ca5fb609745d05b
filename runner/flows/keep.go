package flows

import (
	"context"
	"errors"
	"strings"
	"time"

	"claw/state"
	"claw/state/flow"
	"claw/state/task"
	"claw/state/ulid"
)

// Mirror gives a task that is about to be added, and that mirrors, a flow of its
// own; the caller writes the task in the same transaction
// (spec/tasks-recovery.md 3.5). Whoever adds tasks of acp or of subagents calls
// it.
func Mirror(tx *state.Tx, t *task.Task) error {
	if !flow.Mirrors(*t) {
		return nil
	}
	f := flow.FromTask(*t, ulid.New(tx.Now()))
	t.ParentFlowID = f.ID
	return state.Flows.Add(tx, f.ID, f)
}

// Kept is the whole ledger of flows, and what of it could not be read.
func Kept(store *state.Store, archived bool) (all []flow.Flow, bad []error, err error) {
	err = store.View(func(tx *state.Tx) error {
		all, bad = nil, nil
		rows, err := everything(tx, archived)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := flow.Check(r.Rec); err != nil {
				bad = append(bad, errors.New(r.ID+": "+err.Error()))
				continue
			}
			all = append(all, r.Rec)
		}
		for _, p := range tx.Problems() {
			if strings.HasPrefix(p.Path, "ledgers/"+state.Flows.Name()+".") {
				bad = append(bad, errors.New(p.Why))
			}
		}
		return nil
	})
	return all, bad, err
}

// Done is what became of one flow.
type Done struct {
	Before flow.Flow
	Act    flow.Act
	After  flow.Flow
}

// batch is how many flows one transaction changes: others want the lock too.
const batch = 25

// Maintain does to the flows named what maintenance does to each as it is judged
// now, with the tasks that are linked, the archive included. It returns what it
// really did.
func Maintain(ctx context.Context, store *state.Store, ids []string, keep time.Duration) (done []Done, err error) {
	for len(ids) > 0 {
		n := min(batch, len(ids))
		var some []Done
		err := store.Update(ctx, func(tx *state.Tx) (err error) {
			some, err = maintain(tx, ids[:n], keep)
			return err
		})
		if err != nil && !errors.Is(err, state.ErrNotDurable) {
			return done, err
		}
		if done = append(done, some...); err != nil {
			return done, err
		}
		ids = ids[n:]
	}
	return done, nil
}

func maintain(tx *state.Tx, ids []string, keep time.Duration) (done []Done, err error) {
	rows, err := tasksOf(tx)
	if err != nil {
		return nil, err
	}
	linked := byFlow(rows)
	for _, id := range ids {
		row, ok, err := state.Flows.Find(tx, id)
		if err != nil {
			return nil, err
		}
		if !ok || flow.Check(row.Rec) != nil {
			continue
		}
		u := flow.Maintain(row.Rec, linked[id], keep, tx.Now())
		switch u.Act {
		case flow.ActNone:
			continue
		case flow.ActPrune:
			err = state.Flows.Delete(tx, row.ID, row.Rev)
		default:
			err = state.Flows.Put(tx, row.ID, row.Rev, u.After)
		}
		if err != nil {
			return nil, err
		}
		done = append(done, Done{row.Rec, u.Act, u.After})
	}
	return done, nil
}
