package tasks

import (
	"errors"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/control"
	"claw/state"
	"claw/state/process"
	"claw/state/task"
)

// Keeper looks after the tasks of one state directory.
type Keeper struct {
	Store *state.Store
	Clock clock.Clock
	// Turns ends the turns of automations and children that are cancelled; only
	// Cancel needs it.
	Turns *agent.Turns
	// Keep is how long whatever belongs to a task is kept; see task.Expires.
	Keep   time.Duration
	OnLoss string // tools.exec.onSupervisorLoss
	// Wake and Environ have a tick tell what Cancel and Maintain have queued,
	// see poke.Act; an empty Wake does not.
	Wake    string
	Environ []string
	// Patience is how long Cancel waits for the end of what it has told to end;
	// 0: DefaultPatience.
	Patience time.Duration
	// Authority: this program holds runner.lock, so that there is no other one
	// that may know more of an automation's run.
	Authority bool
	// Wedged says why nothing will go on in a child's session any more; empty:
	// it may. Nil: no session is wedged.
	Wedged func(tx *state.Tx, sessionKey string) (why string, err error)
}

// Filter narrows a list of tasks; empty fields do not.
type Filter struct {
	Status   task.Status
	Runtime  task.Runtime
	Limit    int  // 0 none
	Archived bool // also what has left the ledger
}

// List is the answer of `tasks list`; spec/tasks-recovery.md 1.7. A filter that
// was not given is null.
type List struct {
	Count   int           `json:"count"` // of those that are shown
	Total   int           `json:"total"` // of those that pass the filter
	Runtime *task.Runtime `json:"runtime"`
	Status  *task.Status  `json:"status"`
	Tasks   []task.Task   `json:"tasks"`
	// Summary counts all that were looked at, whatever the filter.
	Summary task.Summary `json:"-"`
}

// List lists tasks, newest first, as they really are: one whose owner is gone
// is shown as lost before anybody has written it down. Nothing is written.
func (k *Keeper) List(f Filter) (List, error) {
	list := List{Tasks: []task.Task{}}
	if f.Runtime != "" {
		list.Runtime = &f.Runtime
	}
	if f.Status != "" {
		list.Status = &f.Status
	}
	rows, err := k.rows(f.Archived)
	if err != nil {
		return list, err
	}
	all := make([]task.Task, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.shown())
	}
	list.Summary = task.Summarise(all)
	for _, t := range all {
		if (f.Status == "" || t.Status == f.Status) && (f.Runtime == "" || t.Runtime == f.Runtime) {
			list.Tasks = append(list.Tasks, t)
		}
	}
	task.SortNewest(list.Tasks)
	list.Total = len(list.Tasks)
	if f.Limit > 0 && len(list.Tasks) > f.Limit {
		list.Tasks = list.Tasks[:f.Limit]
	}
	list.Count = len(list.Tasks)
	return list, nil
}

// Find is the task that a person means, see task.Lookup, as it really is. The
// error is a *control.Refused. The archive is read only for what the ledger
// does not name whole.
func (k *Keeper) Find(query string) (task.Task, error) {
	live, err := k.List(Filter{})
	if err != nil {
		return task.Task{}, err
	}
	if i := task.Exact(live.Tasks, query); i >= 0 {
		return live.Tasks[i], nil
	}
	all, err := k.List(Filter{Archived: true})
	if err != nil {
		return task.Task{}, err
	}
	i, err := task.Lookup(all.Tasks, query)
	if err != nil {
		return task.Task{}, unresolved(query, err)
	}
	return all.Tasks[i], nil
}

func unresolved(query string, err error) error {
	r := &control.Refused{Kind: control.Missing, Text: "No task found for " + query + ".", Err: err}
	if many, ok := errors.AsType[*process.AmbiguousError](err); ok {
		r.Kind, r.Text, r.Remedy = control.Invalid, many.Error(), many.Remedy()
	}
	if missing, ok := errors.AsType[*process.NotFoundError](err); ok {
		r.Remedy = missing.Remedy()
	}
	return r
}
