package settle

import (
	"claw/state"
	"claw/state/flow"
	"claw/state/task"
)

// Follow does to the flow of t what follows from t as it has just been written in
// this transaction: a mirrored flow follows its latest task, and a managed one
// that was to be cancelled is closed with the end of its last active child
// (spec/tasks-recovery.md 3.5, 3.6). A task without a flow costs nothing.
// Whoever writes a task's status calls it.
func Follow(tx *state.Tx, t task.Task) error {
	if t.ParentFlowID == "" {
		return nil
	}
	row, ok, err := state.Flows.Find(tx, t.ParentFlowID)
	if err != nil || !ok || flow.Check(row.Rec) != nil {
		return err
	}
	rows, err := state.Tasks.All(tx)
	if err != nil {
		return err
	}
	all := make([]task.Task, len(rows))
	for i, r := range rows {
		all[i] = r.Rec
	}
	next := follow(row.Rec, flow.Of(all, row.ID), t)
	if next.Revision == row.Rec.Revision {
		return nil
	}
	return state.Flows.Put(tx, row.ID, row.Rev, next)
}

func follow(f flow.Flow, children []task.Task, t task.Task) flow.Flow {
	switch last, ok := flow.LatestTask(children); {
	case f.SyncMode == flow.Mirrored && ok && last.ID == t.ID:
		f, _ = flow.Sync(f, t)
	case f.SyncMode == flow.Managed && f.Cancelling() && t.Status.Terminal() && flow.Active(children) == 0:
		f = flow.Close(f, t.EndedAt)
	}
	return f
}
