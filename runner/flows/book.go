package flows

import (
	"context"
	"errors"
	"strings"

	"claw/runner/control"
	"claw/state"
	"claw/state/flow"
	"claw/state/process"
	"claw/state/task"
	"claw/state/ulid"
)

// Book is the ledger of flows as one owner has it.
type Book struct {
	Store *state.Store
	// Owner is the session whose flows exist; empty only with All: an operator,
	// who sees those of all.
	Owner string
	All   bool
	// Shown is a task as it really is, see tasks.Keeper; nil: as it is written.
	Shown func(tx *state.Tx, t task.Task) (task.Task, error)
	// End ends a task, see tasks.Keeper.Cancel; only Cancel needs it.
	End func(ctx context.Context, taskID string) (task.CancelResult, error)
}

// ErrCreate is what Create says when the ledger took nothing: the cause is
// beside it. spec/tasks-recovery.md 3.3, word for word.
//
//lint:ignore ST1005 the text is the seeds'
var ErrCreate = errors.New("TaskFlow persistence failed.")

// Create writes a new managed flow of the owner, see flow.New. The error is a
// *flow.InputError, one that matches ErrCreate with its cause, or one that
// matches state.ErrNotDurable: then it may be there.
func (b *Book) Create(ctx context.Context, f flow.Flow) (flow.Flow, error) {
	if b.Owner != "" {
		f.OwnerKey = b.Owner
	}
	var made flow.Flow
	err := b.Store.Update(ctx, func(tx *state.Tx) (err error) {
		if made, err = flow.New(f, ulid.New(tx.Now()), tx.Now()); err != nil {
			return err
		}
		return state.Flows.Add(tx, made.ID, made)
	})
	switch _, wrong := errors.AsType[*flow.InputError](err); {
	case err == nil:
		return made, nil
	case wrong:
		return flow.Flow{}, err
	case errors.Is(err, state.ErrNotDurable):
		return made, err
	}
	return flow.Flow{}, &createError{err}
}

type createError struct{ cause error }

func (e *createError) Error() string        { return ErrCreate.Error() + " " + e.cause.Error() }
func (e *createError) Unwrap() error        { return e.cause }
func (e *createError) Is(target error) bool { return target == ErrCreate }

// TryCreate is Create, but nil where the ledger took nothing.
func (b *Book) TryCreate(ctx context.Context, f flow.Flow) (*flow.Flow, error) {
	made, err := b.Create(ctx, f)
	if errors.Is(err, ErrCreate) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &made, nil
}

// mine tells a flow that exists for this owner.
func (b *Book) mine(f flow.Flow) bool { return b.All || f.OwnerKey == b.Owner && b.Owner != "" }

// find is the row that a token means, see flow.Lookup: an id is looked for in the
// archive too. The error is a *control.Refused when there is none for this owner.
func (b *Book) find(tx *state.Tx, token string) (state.Row[flow.Flow], error) {
	token = strings.TrimSpace(token)
	if row, ok, err := state.Flows.Find(tx, strings.ToUpper(token)); err != nil || ok && b.mine(row.Rec) {
		if err == nil {
			err = flow.Check(row.Rec)
		}
		return row, err
	}
	rows, err := b.rows(tx, true)
	if err != nil {
		return state.Row[flow.Flow]{}, err
	}
	i, err := flow.Lookup(recs(rows), token)
	if err != nil {
		return state.Row[flow.Flow]{}, unresolved(token, err)
	}
	return rows[i], nil
}

// rows are the flows that exist for this owner.
func (b *Book) rows(tx *state.Tx, archived bool) ([]state.Row[flow.Flow], error) {
	all, err := ledger(tx, archived)
	if err != nil {
		return nil, err
	}
	mine := all[:0]
	for _, r := range all {
		if b.mine(r.Rec) {
			mine = append(mine, r)
		}
	}
	return mine, nil
}

// ledger is the ledger, and its archive. A row with a word that is not known
// stays out: it comes from a newer claw.
func ledger(tx *state.Tx, archived bool) ([]state.Row[flow.Flow], error) {
	all, err := everything(tx, archived)
	return known(all), err
}

func everything(tx *state.Tx, archived bool) ([]state.Row[flow.Flow], error) {
	all, err := state.Flows.All(tx)
	if err != nil || !archived {
		return all, err
	}
	for r, err := range state.Flows.Archived(tx) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func known(rows []state.Row[flow.Flow]) []state.Row[flow.Flow] {
	kept := rows[:0]
	for _, r := range rows {
		if flow.Check(r.Rec) == nil {
			kept = append(kept, r)
		}
	}
	return kept
}

func recs(rows []state.Row[flow.Flow]) []flow.Flow {
	all := make([]flow.Flow, len(rows))
	for i, r := range rows {
		all[i] = r.Rec
	}
	return all
}

func unresolved(token string, err error) error {
	r := &control.Refused{Kind: control.Missing, Text: "No flow found for " + token + ".", Err: err}
	if many, ok := errors.AsType[*process.AmbiguousError](err); ok {
		r.Kind, r.Text, r.Remedy = control.Invalid, many.Error(), many.Remedy()
	}
	if missing, ok := errors.AsType[*process.NotFoundError](err); ok {
		r.Remedy = missing.Remedy()
	}
	return r
}
