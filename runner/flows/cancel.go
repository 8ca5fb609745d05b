package flows

import (
	"context"
	"errors"

	"claw/state"
	"claw/state/flow"
	"claw/state/task"
)

// Cancelled is the answer to a wish to cancel a flow. Cancelled means that
// nothing of it goes on.
type Cancelled struct {
	Found     bool                `json:"found"`
	Cancelled bool                `json:"cancelled"`
	Code      flow.Code           `json:"code,omitempty"`
	Reason    string              `json:"reason,omitempty"`
	Flow      *flow.Flow          `json:"flow,omitempty"` // as it is now
	Tasks     []task.CancelResult `json:"tasks,omitempty"`
}

// Cancel writes the wish down, ends each child that is active, and closes the
// flow when none is left (spec/tasks-recovery.md 3.6). A child that is still
// active leaves the wish, which is final. A mirrored flow has its task ended, and
// follows it. expect is the revision that was seen; nil: any. A refusal is in the
// answer, and no error.
func (b *Book) Cancel(ctx context.Context, token string, c flow.Change) (Cancelled, error) {
	f, refused, err := b.want(ctx, token, c)
	if err != nil || refused.Reason != "" {
		return refused, err
	}
	answer := Cancelled{Found: true}
	active, err := b.children(f.ID)
	if err != nil {
		return answer, err
	}
	var failed error
	for _, t := range active {
		r, err := b.End(ctx, t.ID)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		answer.Tasks = append(answer.Tasks, r)
	}
	if ctx.Err() != nil {
		return answer, errors.Join(failed, ctx.Err())
	}
	err = b.closed(ctx, f.ID, &answer)
	return answer, errors.Join(failed, err)
}

// want writes the wish. refused has a reason when there is nothing to be done.
func (b *Book) want(ctx context.Context, token string, c flow.Change) (f flow.Flow, refused Cancelled, err error) {
	c.Op = flow.RequestCancel
	f, err = b.Get(token)
	if isMissing(err) {
		return f, Cancelled{Code: flow.CodeNotFound, Reason: flow.ReasonNoFlow}, nil
	}
	if err != nil {
		return f, refused, err
	}
	if f.Terminal() {
		return f, Cancelled{Found: true, Code: flow.CodeTerminal, Reason: flow.AlreadyReason(f), Flow: &f}, nil
	}
	if f.SyncMode == flow.Mirrored {
		return f, refused, nil
	}
	r, err := b.Change(ctx, f.ID, c)
	if err != nil || !r.Applied {
		reason := flow.ReasonMeanwhile
		if r.Code == flow.CodeTerminal {
			reason = flow.AlreadyReason(*r.Current)
		}
		return f, Cancelled{Found: true, Code: r.Code, Reason: reason, Flow: r.Current}, err
	}
	return *r.Flow, refused, nil
}

// children are the active tasks of a flow.
func (b *Book) children(id string) (active []task.Task, err error) {
	err = b.Store.View(func(tx *state.Tx) error {
		active = active[:0]
		all, err := live(tx, id)
		for _, t := range all {
			if t.Status.Active() {
				active = append(active, t)
			}
		}
		return err
	})
	return active, err
}

// closed closes the flow if nothing of it goes on, and says how it stands.
func (b *Book) closed(ctx context.Context, id string, answer *Cancelled) error {
	return b.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Flows.Find(tx, id)
		if err != nil || !ok {
			return err
		}
		f := row.Rec
		children, err := live(tx, id)
		if err != nil {
			return err
		}
		active := flow.Active(children)
		if f.SyncMode == flow.Managed && f.Cancelling() && active == 0 {
			f = flow.Close(f, tx.Now())
			err = state.Flows.Put(tx, row.ID, row.Rev, f)
		}
		answer.Flow, answer.Cancelled = &f, f.Status == flow.Cancelled
		switch {
		case answer.Cancelled:
			answer.Code, answer.Reason = "", ""
		case f.Terminal():
			answer.Code, answer.Reason = flow.CodeTerminal, flow.AlreadyReason(f)
		case active > 0:
			answer.Reason = flow.ReasonStillActive
		}
		return err
	})
}

// live are the tasks of a flow that are in the ledger: among them are all that
// are active.
func live(tx *state.Tx, id string) ([]task.Task, error) {
	rows, err := state.Tasks.All(tx)
	if err != nil {
		return nil, err
	}
	var all []task.Task
	for _, r := range rows {
		if r.Rec.ParentFlowID == id {
			all = append(all, r.Rec)
		}
	}
	return all, nil
}
