package tasks

import (
	"context"
	"errors"

	"claw/runner/control"
	"claw/runner/poke"
	"claw/runner/settle"
	"claw/state"
	"claw/state/task"
)

// Modes of a Report.
const (
	ModePreview = "preview"
	ModeApply   = "apply"
)

// Report is what maintenance would do or has done; spec/tasks-recovery.md 1.7.
type Report struct {
	Mode        string              `json:"mode"`
	Maintenance Maintenance         `json:"maintenance"`
	Tasks       task.Summary        `json:"tasks"`       // afterwards; of a preview, as it would be
	AuditBefore task.FindingSummary `json:"auditBefore"` // tasks and flows together
	AuditAfter  task.FindingSummary `json:"auditAfter"`
	Changes     []Change            `json:"changes"`
	// FlowChanges are those of flows.
	FlowChanges []FlowChange `json:"flowChanges"`
	// Retained are the tasks that have not ended and are left alone, with why.
	Retained []Retained `json:"retained"`
}

// Maintenance counts what was done, by kind of record.
type Maintenance struct {
	Tasks     Counts     `json:"tasks"`
	TaskFlows FlowCounts `json:"taskFlows"`
}

// Counts counts tasks.
type Counts struct {
	Reconciled     int `json:"reconciled"`     // lost
	Recovered      int `json:"recovered"`      // how they ended was on record
	CleanupStamped int `json:"cleanupStamped"` // it was not written how long they are kept
	Pruned         int `json:"pruned"`         // past their time
	Normalised     int `json:"normalised"`     // their times could not be
}

// FlowCounts counts flows.
type FlowCounts struct {
	Reconciled int `json:"reconciled"`
	Pruned     int `json:"pruned"`
}

// Change is one row that maintenance changes.
type Change struct {
	TaskID string      `json:"taskId"`
	Name   string      `json:"name"` // as on the command line
	Act    task.Act    `json:"act"`
	Code   task.Code   `json:"code,omitempty"`
	From   task.Status `json:"from"`
	To     task.Status `json:"to,omitempty"` // empty: it is gone
}

// Retained is one task that has not ended.
type Retained struct {
	TaskID string    `json:"taskId"`
	Name   string    `json:"name"`
	Code   task.Code `json:"code"`
}

// Maintain finds what is not as it should be in the ledger and its archive:
// tasks that nobody carries out any more, ends that are on record, rows that
// are past their time. With apply it writes that down, else nothing. Both
// judge with the same function. What is left to do is the same whoever has
// begun it.
func (k *Keeper) Maintain(ctx context.Context, apply bool) (Report, error) {
	plan, err := k.survey()
	if err != nil {
		return Report{}, err
	}
	ties, err := k.ties(after(plan), true)
	if err != nil {
		return Report{}, err // who ties what together is not known: nothing is touched
	}
	r := k.report(plan, ties)
	if !apply {
		return r, nil
	}
	r.Mode, r.Changes, r.FlowChanges = ModeApply, []Change{}, []FlowChange{}
	if r.Changes, err = k.carry(ctx, plan); err != nil {
		return r, err
	}
	if r.FlowChanges, err = k.tie(ctx, ties); err != nil {
		return r, err
	}
	left, err := k.survey()
	if err != nil {
		return r, err
	}
	if ties, err = k.ties(after(left), true); err != nil {
		return r, err
	}
	done := k.report(left, ties)
	r.count()
	r.Tasks, r.AuditAfter, r.Retained = task.Summarise(stored(left)), done.AuditBefore, done.Retained
	return r, nil
}

// Sweep is Maintain for a runner and for ticks: it looks at the ledgers only,
// not at the archive, and makes no report. What is to be removed one day is
// still in the ledger, or goes with the day of its archive.
func (k *Keeper) Sweep(ctx context.Context) ([]Change, error) {
	plan, err := k.rows(false)
	if err != nil {
		return nil, err
	}
	done, err := k.carry(ctx, plan)
	if err != nil {
		return done, err
	}
	ties, err := k.ties(after(plan), false)
	if err == nil {
		_, err = k.tie(ctx, ties)
	}
	return done, err
}

// survey looks at every row, with what is surplus.
func (k *Keeper) survey() ([]seen, error) {
	plan, err := k.rows(true)
	if err != nil {
		return nil, err
	}
	for _, i := range task.Surplus(stored(plan)) {
		plan[i].surplus = true
		if plan[i].upkeep.Act != task.ActPrune {
			plan[i].upkeep = task.Upkeep{Act: task.ActPrune, After: plan[i].stored}
		}
	}
	return plan, nil
}

func stored(rows []seen) []task.Task {
	all := make([]task.Task, len(rows))
	for i, s := range rows {
		all[i] = s.stored
	}
	return all
}

// report is the preview of a plan.
func (k *Keeper) report(plan []seen, ties ties) Report {
	r := Report{Mode: ModePreview, Changes: []Change{}, FlowChanges: ties.changes(), Retained: []Retained{}}
	before, after := k.auditTies(ties)
	var left []task.Task
	for _, s := range plan {
		before = append(before, k.audit(s, s.stored)...)
		c, changes := s.change()
		if changes {
			r.Changes = append(r.Changes, c)
		}
		if c.Act == task.ActPrune {
			continue
		}
		next := s.task
		if changes {
			next = s.upkeep.After
		}
		if next.Status.Active() {
			r.Retained = append(r.Retained, Retained{TaskID: next.ID, Name: task.Name(next), Code: s.upkeep.Code})
		}
		left = append(left, next)
		after = append(after, k.audit(s, next)...)
	}
	r.count()
	r.Tasks = task.Summarise(left)
	r.AuditBefore = task.SummariseFindings(before, findCodes())
	r.AuditAfter = task.SummariseFindings(after, findCodes())
	return r
}

func (k *Keeper) audit(s seen, t task.Task) []task.Finding {
	if t.Status.Active() && s.evidence.Live && s.task.LastEventAt.After(t.LastEventAt) {
		t.LastEventAt = s.task.LastEventAt
	}
	return task.Audit(t, task.Known{Live: s.evidence.Live, Keep: k.Keep}, k.Clock.Now())
}

func (s seen) change() (Change, bool) {
	u := s.upkeep
	c := Change{TaskID: s.stored.ID, Name: task.Name(s.stored), Act: u.Act, From: s.stored.Status}
	if u.Act == task.ActRecover || u.Act == task.ActReconcile {
		c.Code = u.Code
	}
	if u.Act != task.ActPrune {
		c.To = u.After.Status
	}
	return c, u.Act != task.ActNone
}

func (r *Report) count() {
	var n Counts
	for _, c := range r.Changes {
		switch c.Act {
		case task.ActReconcile:
			n.Reconciled++
		case task.ActRecover:
			n.Recovered++
		case task.ActStamp:
			n.CleanupStamped++
		case task.ActPrune:
			n.Pruned++
		case task.ActOrder:
			n.Normalised++
		}
	}
	r.Maintenance = Maintenance{Tasks: n, TaskFlows: countFlows(r.FlowChanges)}
}

// batch is how many rows one transaction changes: others want the lock too.
const batch = 25

// carry writes a plan down, and returns what it really did.
func (k *Keeper) carry(ctx context.Context, plan []seen) ([]Change, error) {
	done := []Change{}
	var todo []seen
	deserted := map[string]Change{}
	for _, s := range plan {
		switch c, changes := s.change(); {
		case changes && s.deserted:
			deserted[c.TaskID] = c
		case changes:
			todo = append(todo, s)
		}
	}
	if len(deserted) > 0 {
		settled, err := control.Settle(ctx, k.Store, k.Clock, k.OnLoss)
		for _, p := range settled {
			if c, ok := deserted[p.TaskID]; ok {
				done = append(done, c)
			}
		}
		if err != nil {
			return done, err
		}
	}
	told := len(done) > 0
	for len(todo) > 0 {
		n := min(batch, len(todo))
		changes, queued, err := k.write(ctx, todo[:n])
		done, told = append(done, changes...), told || queued
		if err != nil {
			return done, err
		}
		todo = todo[n:]
	}
	if !told {
		return done, nil
	}
	return done, k.poke()
}

func (k *Keeper) poke() error { return poke.Act(k.Store.Dir(), k.Wake, k.Environ) }

// write changes some rows in one transaction, each as it is judged now. told:
// somebody is to be told of one.
func (k *Keeper) write(ctx context.Context, todo []seen) (done []Change, told bool, err error) {
	err = k.Store.Update(ctx, func(tx *state.Tx) error {
		done, told = nil, false
		for _, planned := range todo {
			c, queued, err := k.writeOne(tx, planned)
			if err != nil {
				return err
			}
			told = told || queued
			if c.Act != task.ActNone {
				done = append(done, c)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, state.ErrNotDurable) {
		return nil, false, err
	}
	return done, told, err
}

func (k *Keeper) writeOne(tx *state.Tx, planned seen) (c Change, told bool, err error) {
	row, ok, err := state.Tasks.Find(tx, planned.stored.ID)
	if err != nil || !ok {
		return Change{}, false, err
	}
	s, err := k.look(tx, row.Rec)
	if err != nil || s.deserted {
		return Change{}, false, err // package settle writes it, the next time
	}
	if planned.surplus && row.Rec.Status.Terminal() {
		s.upkeep = task.Upkeep{Act: task.ActPrune, After: row.Rec}
	}
	c, changes := s.change()
	if !changes {
		return Change{}, false, nil
	}
	if c.Act == task.ActPrune {
		return c, false, state.Tasks.Delete(tx, row.ID, row.Rev)
	}
	next := s.upkeep.After
	if c.Act == task.ActReconcile {
		if told, err = tell(tx, &next); err != nil {
			return c, false, err
		}
	}
	if err = state.Tasks.Put(tx, row.ID, row.Rev, next); err != nil {
		return c, told, err
	}
	return c, told, settle.Follow(tx, next)
}
