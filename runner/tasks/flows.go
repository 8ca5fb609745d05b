package tasks

import (
	"context"
	"slices"

	"claw/runner/flows"
	"claw/state"
	"claw/state/flow"
	"claw/state/task"
)

// FlowChange is one flow that maintenance changes.
type FlowChange struct {
	FlowID string      `json:"flowId"`
	Act    flow.Act    `json:"act"`
	From   flow.Status `json:"from"`
	To     flow.Status `json:"to,omitempty"` // empty: it is gone
}

// ties are the flows, each with its tasks and what is to be done with it.
type ties []tied

type tied struct {
	flow   flow.Flow
	linked []task.Task
	upkeep flow.Upkeep
}

// ties looks at the flows. rows are the tasks as they will be when the plan for
// them is carried out.
func (k *Keeper) ties(rows []task.Task, archived bool) (ties, error) {
	all, _, err := flows.Kept(k.Store, archived)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	now := k.Clock.Now()
	out := make(ties, len(all))
	for i, f := range all {
		linked := flow.Of(rows, f.ID)
		out[i] = tied{f, linked, flow.Maintain(f, linked, k.Keep, now)}
	}
	return out, nil
}

// after are the tasks of a plan when it is carried out.
func after(plan []seen) []task.Task {
	all := make([]task.Task, 0, len(plan))
	for _, s := range plan {
		switch c, changes := s.change(); {
		case changes && c.Act == task.ActPrune:
		case changes:
			all = append(all, s.upkeep.After)
		default:
			all = append(all, s.stored)
		}
	}
	return all
}

// shown are tasks as a list shows them.
func shown(rows []seen) []task.Task {
	all := make([]task.Task, len(rows))
	for i, s := range rows {
		all[i] = s.shown()
	}
	return all
}

// changes is what is to be done with flows.
func (all ties) changes() []FlowChange {
	out := []FlowChange{}
	for _, t := range all {
		if t.upkeep.Act != flow.ActNone {
			out = append(out, changeOf(t.flow, t.upkeep.Act, t.upkeep.After))
		}
	}
	return out
}

func changeOf(before flow.Flow, act flow.Act, after flow.Flow) FlowChange {
	c := FlowChange{FlowID: before.ID, Act: act, From: before.Status}
	if act != flow.ActPrune {
		c.To = after.Status
	}
	return c
}

// tie carries out what is to be done with flows, and returns what became of it.
// Some of it has been done with their tasks.
func (k *Keeper) tie(ctx context.Context, all ties) ([]FlowChange, error) {
	var ids []string
	for _, t := range all {
		if t.upkeep.Act != flow.ActNone {
			ids = append(ids, t.flow.ID)
		}
	}
	out := []FlowChange{}
	if len(ids) == 0 {
		return out, nil
	}
	done, err := flows.Maintain(ctx, k.Store, ids, k.Keep)
	for _, d := range done {
		out = append(out, changeOf(d.Before, d.Act, d.After))
	}
	if err != nil {
		return out, err
	}
	return out, k.Store.View(func(tx *state.Tx) error {
		for _, t := range all {
			if t.upkeep.Act != flow.ActReconcile || slices.ContainsFunc(out, func(c FlowChange) bool { return c.FlowID == t.flow.ID }) {
				continue
			}
			row, ok, err := state.Flows.Find(tx, t.flow.ID)
			if err != nil {
				return err
			}
			if ok && row.Rec.Status == t.upkeep.After.Status {
				out = append(out, changeOf(t.flow, t.upkeep.Act, row.Rec))
			}
		}
		return nil
	})
}

func countFlows(changes []FlowChange) (n FlowCounts) {
	for _, c := range changes {
		if c.Act == flow.ActPrune {
			n.Pruned++
		} else {
			n.Reconciled++
		}
	}
	return n
}

// auditTies is what there is to find about flows as they are written, and after
// the maintenance.
func (k *Keeper) auditTies(all ties) (before, after []task.Finding) {
	for _, t := range all {
		before = append(before, k.auditFlow(t.flow, t.linked)...)
		if t.upkeep.Act != flow.ActPrune {
			after = append(after, k.auditFlow(t.upkeep.After, t.linked)...)
		}
	}
	return before, after
}

// auditFlows is what there is to find about all flows; that their ledger cannot
// be read is a finding.
func (k *Keeper) auditFlows(rows []task.Task) (found []task.Finding) {
	all, bad, err := flows.Kept(k.Store, true)
	if err != nil {
		bad = append(bad, err)
	}
	for _, why := range bad {
		found = append(found, findingOf(flow.RestoreFailed(why)))
	}
	for _, f := range all {
		found = append(found, k.auditFlow(f, flow.Of(rows, f.ID))...)
	}
	return found
}

func (k *Keeper) auditFlow(f flow.Flow, linked []task.Task) (found []task.Finding) {
	if last, ok := flow.LatestTask(linked); ok && f.SyncMode == flow.Mirrored && !f.Terminal() && task.Reference(last).After(f.UpdatedAt) {
		f.UpdatedAt = task.Reference(last) // what is heard of its task is not written into it
	}
	for _, x := range flow.Audit(f, linked, k.Clock.Now()) {
		found = append(found, findingOf(x))
	}
	return found
}

// findingOf is a finding about a flow beside those about tasks.
func findingOf(x flow.Finding) task.Finding {
	out := task.Finding{Kind: flow.KindFlow, Severity: x.Severity, Code: x.Code, Detail: x.Detail, Token: x.Flow.ID, Hint: x.Hint, Status: task.Status(x.Flow.Status)}
	ms := x.Age.Milliseconds()
	out.AgeMs = &ms
	if x.Flow.ID != "" {
		out.Flow = &x.Flow
	}
	return out
}

// findCodes are those of tasks and of flows.
func findCodes() []string {
	codes := task.FindCodes()
	for _, c := range flow.FindCodes() {
		if !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
	}
	return codes
}

// FindCodes are the codes of an audit.
func FindCodes() []string { return findCodes() }

// Shown is a task as it really is, see flows.Book.
func (k *Keeper) Shown(tx *state.Tx, t task.Task) (task.Task, error) {
	s, err := k.look(tx, t)
	return s.shown(), err
}
