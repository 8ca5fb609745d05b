package flows

import (
	"context"
	"errors"

	"claw/runner/control"
	"claw/state"
	"claw/state/flow"
	"claw/state/task"
)

// Link is a wish to make a task that exists part of a flow.
type Link struct {
	Claim  flow.Claim
	Expect *int64 // the revision that was seen; nil: any
	Label  string // a name for it; empty: it keeps its own
}

// errRefused ends a transaction in which nothing is to be written.
var errRefused = errors.New("refused")

// RunTask links a task that exists already, and launches nothing: the task is
// read, and judged as it really is, within the transaction that links it
// (spec/tasks-recovery.md 3.4). The flow's own record is not written. A refusal
// is in the answer, and no error; with LinkPersist the error is there as well.
func (b *Book) RunTask(ctx context.Context, token string, l Link) (flow.Linked, error) {
	var answer flow.Linked
	err := b.Store.Update(ctx, func(tx *state.Tx) (err error) {
		if answer, err = b.link(tx, token, l); err == nil && !answer.Created {
			return errRefused
		}
		return err
	})
	switch {
	case err == nil, errors.Is(err, errRefused):
		return answer, nil
	case isMissing(err):
		return flow.Linked{Code: flow.LinkNoFlow, Reason: flow.ReasonNoFlow}, nil
	}
	if _, wrong := control.IsRefused(err); wrong {
		return flow.Linked{}, err
	}
	return flow.Linked{Found: answer.Found, Code: flow.LinkPersist, Reason: flow.ReasonPersist}, err
}

func isMissing(err error) bool {
	no, ok := control.IsRefused(err)
	return ok && no.Kind == control.Missing
}

func (b *Book) link(tx *state.Tx, token string, l Link) (flow.Linked, error) {
	row, err := b.find(tx, token)
	if err != nil {
		return flow.Linked{}, err
	}
	answer := flow.Linked{Found: true, Flow: &row.Rec}
	if answer.Code, answer.Reason = flow.Accepts(row.Rec, l.Expect); answer.Code != "" {
		return answer, nil
	}
	backing, found, err := b.backing(tx, row.Rec, l.Claim)
	if err != nil {
		return answer, err
	}
	if !found {
		answer.Code, answer.Reason = flow.LinkNoBacking, flow.ReasonNoBacking
		return answer, nil
	}
	t := backing.Rec
	seen := t
	if b.Shown != nil {
		if seen, err = b.Shown(tx, t); err != nil {
			return answer, err
		}
	}
	answer.Task = &seen
	mirror, err := mirrorOf(tx, t)
	if err != nil {
		return answer, err
	}
	if mirror.ID != "" && mirror.ID != row.ID && seen.Status.Active() {
		seen.ParentFlowID = "" // a flow that only repeats it gives way to the one that it becomes part of
	} else {
		mirror.ID = ""
	}
	if answer.Code, answer.Reason = flow.CanLink(row.Rec, seen); answer.Code != "" {
		seen.ParentFlowID = t.ParentFlowID
		return answer, nil
	}
	answer.Created = true
	before := t
	t.ParentFlowID = row.ID
	if l.Label != "" {
		t.Label = l.Label
	}
	seen.ParentFlowID, seen.Label = t.ParentFlowID, t.Label
	if t == before {
		return answer, nil // it is linked already
	}
	if mirror.ID != "" {
		if err := state.Flows.Delete(tx, mirror.ID, mirror.Rev); err != nil {
			return answer, err
		}
	}
	return answer, state.Tasks.Put(tx, backing.ID, backing.Rev, t)
}

// mirrorOf is the flow that only repeats t, and no other task; without an id: there
// is none.
func mirrorOf(tx *state.Tx, t task.Task) (state.Row[flow.Flow], error) {
	if t.ParentFlowID == "" {
		return state.Row[flow.Flow]{}, nil
	}
	row, ok, err := state.Flows.Get(tx, t.ParentFlowID)
	if err != nil || !ok || row.Rec.SyncMode != flow.Mirrored {
		return state.Row[flow.Flow]{}, err
	}
	rows, err := state.Tasks.All(tx)
	for _, r := range rows {
		if r.Rec.ParentFlowID == row.ID && r.Rec.ID != t.ID {
			return state.Row[flow.Flow]{}, err
		}
	}
	return row, err
}

// backing is the row of the work that a claim is about. A task of another owner
// is found when it is named by its id, so that the answer can say why not; the
// run of another owner is not this owner's work.
func (b *Book) backing(tx *state.Tx, f flow.Flow, c flow.Claim) (state.Row[task.Task], bool, error) {
	rows, err := state.Tasks.All(tx)
	if err != nil {
		return state.Row[task.Task]{}, false, err
	}
	if c.TaskID != "" {
		row, ok, err := state.Tasks.Find(tx, c.TaskID)
		if err != nil || !ok {
			return row, false, err
		}
		return row, flow.Backing([]task.Task{row.Rec}, c) == 0, nil
	}
	var own []task.Task
	var at []int
	for i, r := range rows {
		if r.Rec.OwnerKey == f.OwnerKey {
			own, at = append(own, r.Rec), append(at, i)
		}
	}
	if i := flow.Backing(own, c); i >= 0 {
		return rows[at[i]], true, nil
	}
	return state.Row[task.Task]{}, false, nil
}
