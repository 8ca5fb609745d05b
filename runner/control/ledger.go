package control

import (
	"cmp"
	"slices"
	"strings"

	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/task"
)

// TaskFilter narrows a list of tasks; empty fields do not.
type TaskFilter struct {
	Status   task.Status
	Runtime  task.Runtime
	Limit    int  // 0 none
	Archived bool // also what has left the ledger
}

// TaskList is the answer of `tasks list`; spec/tasks-recovery.md 1.8.
type TaskList struct {
	Count   int          `json:"count"` // of those that are shown
	Total   int          `json:"total"` // of those that pass the filter
	Runtime task.Runtime `json:"runtime,omitempty"`
	Status  task.Status  `json:"status,omitempty"`
	Tasks   []task.Task  `json:"tasks"`
}

// Tasks lists tasks, newest first, as they really are: the task of a process
// whose supervisor died is shown as lost before anybody has written it down.
func (c *Control) Tasks(f TaskFilter) (TaskList, error) {
	list := TaskList{Runtime: f.Runtime, Status: f.Status, Tasks: []task.Task{}}
	err := c.Store.View(func(tx *state.Tx) error {
		list.Tasks = list.Tasks[:0]
		rows, err := state.Tasks.All(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			t, err := c.real(tx, r.Rec)
			if err != nil {
				return err
			}
			list.Tasks = append(list.Tasks, t)
		}
		if !f.Archived {
			return nil
		}
		for r, err := range state.Tasks.Archived(tx) {
			if err != nil {
				return err
			}
			list.Tasks = append(list.Tasks, r.Rec)
		}
		return nil
	})
	list.Tasks = slices.DeleteFunc(list.Tasks, func(t task.Task) bool {
		return (f.Status != "" && t.Status != f.Status) || (f.Runtime != "" && t.Runtime != f.Runtime)
	})
	slices.SortStableFunc(list.Tasks, func(a, b task.Task) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	list.Total = len(list.Tasks)
	if f.Limit > 0 && len(list.Tasks) > f.Limit {
		list.Tasks = list.Tasks[:f.Limit]
	}
	list.Count = len(list.Tasks)
	return list, err
}

// real is t with the start of its process, which the task's own row learns only
// with the end (one transaction less for each start), and with the end, if
// that came unnoticed.
func (c *Control) real(tx *state.Tx, t task.Task) (task.Task, error) {
	if t.Status.Terminal() || t.RunID == "" {
		return t, nil
	}
	row, ok, err := state.Processes.Get(tx, t.RunID)
	if err != nil || !ok {
		return t, err
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = row.Rec.StartedAt
	}
	if !settle.Abandoned(c.Store, row.Rec) {
		return t, nil
	}
	if done, err := task.Finish(t, settle.View(c.Store, row.Rec, tx.Now())); err == nil {
		t = done
	}
	return t, nil
}

// Task finds one task: by its id, its process's ULID or slug, or a unique
// beginning of one; the newest with an equal slug is meant.
func (c *Control) Task(query string) (task.Task, error) {
	list, err := c.Tasks(TaskFilter{Archived: true})
	if err != nil {
		return task.Task{}, err
	}
	var refs []process.Ref
	for _, t := range list.Tasks {
		if t.Slug == query || strings.EqualFold(t.RunID, query) {
			return t, nil
		}
		refs = append(refs, process.Ref{ID: t.ID, Slug: t.Slug})
	}
	i, err := process.Resolve(query, refs)
	if err != nil {
		err = unresolved(err, "No task found for "+query+".")
		if r, ok := IsRefused(err); ok && r.Kind == Missing {
			r.Remedy = "claw tasks list --all shows what there is"
		}
		return task.Task{}, err
	}
	return list.Tasks[i], nil
}

// EventFilter narrows a list of events; empty fields do not.
type EventFilter struct {
	State    event.State
	Session  string
	Archived bool
}

// Events lists events, oldest first: the order in which they are shown.
func (c *Control) Events(f EventFilter) ([]event.Event, error) {
	events := []event.Event{}
	add := func(e event.Event) {
		if (f.State == "" || e.State == f.State) && (f.Session == "" || e.SessionKey == f.Session) {
			events = append(events, e)
		}
	}
	err := c.Store.View(func(tx *state.Tx) error {
		events = events[:0]
		rows, err := state.Events.All(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			add(r.Rec)
		}
		if !f.Archived {
			return nil
		}
		for r, err := range state.Events.Archived(tx) {
			if err != nil {
				return err
			}
			add(r.Rec)
		}
		return nil
	})
	slices.SortStableFunc(events, func(a, b event.Event) int { return cmp.Compare(a.ID, b.ID) })
	return events, err
}

// Output opens the output of a process that is listed or kept.
func (c *Control) Output(session string) (process.Process, *output.Reader, error) {
	p, err := c.FindKept(session, "No session found for "+session)
	if err != nil {
		return p, nil, err
	}
	out, err := output.Open(c.Store.ProcessDir(p.ID))
	if err != nil {
		return p, nil, &Refused{Kind: Missing, Err: err, Text: "The output of " + p.Slug + " is no longer kept."}
	}
	return p, out, nil
}

// Alive tells whether more output may come from process id.
func (c *Control) Alive(id string) bool {
	held, err := state.Held(settle.Lifeline(c.Store.ProcessDir(id)))
	return err == nil && held
}

// Session is the entry of p in a list.
func (c *Control) Session(p process.Process) Session { return c.session(p) }
