package flows

import (
	"context"
	"errors"

	"claw/runner/control"
	"claw/state"
	"claw/state/flow"
)

// Result is the answer to a change; spec/tasks-recovery.md 3.3.
type Result struct {
	Applied bool       `json:"applied"`
	Flow    *flow.Flow `json:"flow,omitempty"` // after it
	Code    flow.Code  `json:"code,omitempty"` // why not
	Current *flow.Flow `json:"current,omitempty"`
	Error   string     `json:"error,omitempty"` // of CodePersist and CodeUnknown
}

// Change applies one operation to a flow of the owner. A refusal is a Result, and
// no error. With CodePersist and CodeUnknown the error is there as well: the
// ledger took nothing, or may have. Else it is a *flow.InputError or a
// *control.Refused about the token.
func (b *Book) Change(ctx context.Context, token string, c flow.Change) (Result, error) {
	var before, after flow.Flow
	err := b.Store.Update(ctx, func(tx *state.Tx) error {
		row, err := b.find(tx, token)
		if err != nil {
			return err
		}
		before = row.Rec
		if after, err = flow.Apply(row.Rec, c, tx.Now()); err != nil || after.Revision == before.Revision {
			return err
		}
		return state.Flows.Put(tx, row.ID, row.Rev, after)
	})
	return resultOf(after, err)
}

// resultOf is what became of a change.
func resultOf(after flow.Flow, err error) (Result, error) {
	if err == nil {
		return Result{Applied: true, Flow: &after}, nil
	}
	if no, ok := errors.AsType[*flow.Rejection](err); ok {
		return Result{Code: no.Code, Current: &no.Flow}, nil
	}
	if no, ok := control.IsRefused(err); ok {
		if no.Kind == control.Missing {
			return Result{Code: flow.CodeNotFound}, err
		}
		return Result{}, err
	}
	if _, ok := errors.AsType[*flow.InputError](err); ok {
		return Result{}, err
	}
	r := Result{Code: flow.CodePersist, Error: err.Error()}
	if errors.Is(err, state.ErrNotDurable) {
		r.Code = flow.CodeUnknown
	}
	return r, err
}
