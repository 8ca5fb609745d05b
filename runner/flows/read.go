package flows

import (
	"encoding/json"

	"claw/state"
	"claw/state/flow"
	"claw/state/task"
)

// Entry is a flow as it really is, for reading: without a revision, for what was
// only read gives no right to write (spec/tasks-recovery.md 3.2).
type Entry struct {
	flow.Flow
	Revision *int64       `json:"revision,omitempty"` // of an operator's list only
	Tasks    []task.Task  `json:"tasks"`              // that are linked and still kept, newest first
	Summary  task.Summary `json:"taskSummary"`
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Status     flow.Status
	Controller string
	Limit      int  // 0 none
	Archived   bool // also what has left the ledger
}

// List is the answer of a list; spec/tasks-recovery.md 3.7.
type List struct {
	Count  int          `json:"count"` // of those that are shown
	Total  int          `json:"total"` // of those that pass the filter
	Status *flow.Status `json:"status"`
	Flows  []Entry      `json:"flows"`
	Counts flow.Counts  `json:"-"` // of all that were looked at
}

// Get is the record of a flow, with the revision that a change names. The error
// is a *control.Refused.
func (b *Book) Get(token string) (f flow.Flow, err error) {
	err = b.Store.View(func(tx *state.Tx) error {
		row, err := b.find(tx, token)
		f = row.Rec
		return err
	})
	return f, err
}

// List lists the flows, newest first.
func (b *Book) List(f Filter) (List, error) {
	list := List{Flows: []Entry{}}
	if f.Status != "" {
		list.Status = &f.Status
	}
	err := b.Store.View(func(tx *state.Tx) error {
		rows, err := b.rows(tx, f.Archived)
		if err != nil || len(rows) == 0 {
			return err
		}
		linked, err := b.linked(tx)
		if err != nil {
			return err
		}
		entries := b.entries(tx, rows, linked)
		list.Counts = flow.Count(flowsOf(entries))
		list.Flows = list.Flows[:0]
		for _, e := range entries {
			if (f.Status == "" || e.Status == f.Status) && (f.Controller == "" || e.ControllerID == f.Controller) {
				list.Flows = append(list.Flows, e)
			}
		}
		return nil
	})
	list.Total = len(list.Flows)
	if f.Limit > 0 && len(list.Flows) > f.Limit {
		list.Flows = list.Flows[:f.Limit]
	}
	list.Count = len(list.Flows)
	return list, err
}

func (b *Book) entries(tx *state.Tx, rows []state.Row[flow.Flow], linked map[string][]task.Task) []Entry {
	all := recs(rows)
	flow.Sort(all)
	out := make([]Entry, len(all))
	for i, f := range all {
		out[i] = b.entry(tx, f, linked[f.ID])
	}
	return out
}

func (b *Book) entry(tx *state.Tx, f flow.Flow, linked []task.Task) Entry {
	e := Entry{Flow: flow.View(f, linked, tx.Now()), Tasks: linked, Summary: task.Summarise(linked)}
	if linked == nil {
		e.Tasks = []task.Task{}
	}
	if b.All {
		revision := f.Revision
		e.Revision = &revision
	}
	return e
}

func flowsOf(entries []Entry) []flow.Flow {
	all := make([]flow.Flow, len(entries))
	for i, e := range entries {
		all[i] = e.Flow
	}
	return all
}

// Show is the flow that a token means, with its tasks. The error is a
// *control.Refused.
func (b *Book) Show(token string) (e Entry, err error) {
	err = b.Store.View(func(tx *state.Tx) error {
		row, err := b.find(tx, token)
		if err != nil {
			return err
		}
		linked, err := b.linked(tx)
		e = b.entry(tx, row.Rec, linked[row.ID])
		return err
	})
	return e, err
}

// Latest is the newest flow that has not ended, else the newest; of one
// controller, unless that is empty. The error is a *control.Refused when there is
// none.
func (b *Book) Latest(controller string) (Entry, error) {
	list, err := b.List(Filter{Controller: controller, Archived: true})
	if err != nil {
		return Entry{}, err
	}
	i := flow.Latest(flowsOf(list.Flows))
	if i < 0 {
		return Entry{}, unresolved(orWords(controller, b.Owner), nil)
	}
	return list.Flows[i], nil
}

func orWords(controller, owner string) string {
	if controller != "" {
		return "controller " + controller
	}
	return owner
}

// linked are the tasks that are part of flows, as they really are, by flow, newest
// first. Those in the archive count: the cost of that is only paid where there
// are flows.
func (b *Book) linked(tx *state.Tx) (map[string][]task.Task, error) {
	rows, err := tasksOf(tx)
	if err != nil {
		return nil, err
	}
	for i, t := range rows {
		if b.Shown == nil {
			break
		}
		if rows[i], err = b.Shown(tx, t); err != nil {
			return nil, err
		}
	}
	return byFlow(rows), nil
}

// tasksOf are the tasks that are part of a flow.
func tasksOf(tx *state.Tx) ([]task.Task, error) {
	live, err := state.Tasks.All(tx)
	if err != nil {
		return nil, err
	}
	var all []task.Task
	for _, r := range live {
		if r.Rec.ParentFlowID != "" {
			all = append(all, r.Rec)
		}
	}
	for r, err := range state.Tasks.Archived(tx) {
		if err != nil {
			return nil, err
		}
		if r.Rec.ParentFlowID != "" {
			all = append(all, r.Rec)
		}
	}
	return all, nil
}

func byFlow(rows []task.Task) map[string][]task.Task {
	all := map[string][]task.Task{}
	for _, t := range rows {
		all[t.ParentFlowID] = append(all[t.ParentFlowID], t)
	}
	for _, linked := range all {
		task.SortNewest(linked)
	}
	return all
}

// MarshalJSON is the flow with what is beside it, in one object.
func (e Entry) MarshalJSON() ([]byte, error) {
	type view flow.Flow // without the methods
	return json.Marshal(struct {
		view
		Revision *int64       `json:"revision,omitempty"`
		Tasks    []task.Task  `json:"tasks"`
		Summary  task.Summary `json:"taskSummary"`
	}{view(e.Flow), e.Revision, e.Tasks, e.Summary})
}
