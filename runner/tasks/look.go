package tasks

import (
	"os"
	"strings"
	"sync"
	"time"

	"claw/runner/agent"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/runner/poke"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
	"claw/state/task"
)

// seen is one row with what is known of it.
type seen struct {
	task     task.Task // with the start and the last output of its process, which its row learns at the end
	stored   task.Task // as it is written
	evidence task.Evidence
	upkeep   task.Upkeep
	// deserted: the row of its process says that it runs, and nobody holds its
	// life-line. Package settle writes its end.
	deserted bool
	archived bool
	surplus  bool
}

// shown is the row as a list has it.
func (s seen) shown() task.Task {
	switch s.upkeep.Act {
	case task.ActRecover, task.ActReconcile:
		return s.upkeep.After
	}
	return s.task
}

// rows is the whole ledger, looked at.
func (k *Keeper) rows(archived bool) ([]seen, error) {
	var all []seen
	err := k.Store.View(func(tx *state.Tx) error {
		all = all[:0]
		rows, err := state.Tasks.All(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			s, err := k.look(tx, r.Rec)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		if !archived {
			return nil
		}
		for r, err := range state.Tasks.Archived(tx) {
			if err != nil {
				return err
			}
			s, err := k.look(tx, r.Rec)
			if err != nil {
				return err
			}
			s.archived = true
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// look learns what is known of who carries t out, and judges it.
func (k *Keeper) look(tx *state.Tx, t task.Task) (seen, error) {
	s := seen{task: t, stored: t}
	var finished *task.Task
	var err error
	switch {
	case !t.Status.Active() && !task.Repairable(t):
	case t.External:
		s.evidence.Owner = life(t.Executor)
	case t.Kind == task.KindHook:
		err = lookHook(tx, &s)
	case t.Kind == task.KindSubagent:
		err = lookSubagent(tx, &s)
	case ofRun(t):
		err = k.lookRun(tx, &s)
	case t.RunID != "":
		finished, err = k.lookProcess(tx, &s)
	default:
		s.evidence.Owner = life(t.Executor)
	}
	if err == nil && t.Status.Active() && t.ChildSessionKey != "" {
		err = k.lookChild(tx, &s)
	}
	if err != nil {
		return s, err
	}
	s.upkeep = task.Maintain(s.task, s.evidence, k.Keep, tx.Now())
	if finished != nil && (s.upkeep.Act == task.ActRecover || s.upkeep.Act == task.ActReconcile) {
		s.upkeep.After = *finished
	}
	return s, nil
}

// ofRun tells a task whose run is a row of the ledger of runs: a turn or a
// reminder. That of an automation's command is its process.
func ofRun(t task.Task) bool { return t.Runtime == task.Cron && strings.Contains(t.RunID, "@") }

// lookRun asks the scheduler's ledger. The scheduler follows an open run to its
// end. Where the run is not known, a runner at work may know more.
func (k *Keeper) lookRun(tx *state.Tx, s *seen) error {
	row, ok, err := state.Runs.Find(tx, s.task.RunID)
	switch {
	case err != nil:
		return err
	case !ok:
		return k.unsure(s)
	case row.Rec.Status.Open():
		s.evidence.Live = true
	default:
		r := row.Rec
		s.evidence.History = &task.End{Status: task.OfRun(r.Status), At: r.EndedAt, Error: r.Error}
	}
	return nil
}

// unsure: while somebody else holds runner.lock, he may be about to start, or
// to write, what cannot be found.
func (k *Keeper) unsure(s *seen) (err error) {
	if k.Authority {
		return nil
	}
	s.evidence.Unsure, err = state.Held(poke.Lock(k.Store.Dir()))
	return err
}

// lookProcess asks the row of the process and its life-line. finished is the
// task as the end of the process makes it.
func (k *Keeper) lookProcess(tx *state.Tx, s *seen) (finished *task.Task, err error) {
	row, ok, err := state.Processes.Find(tx, s.task.RunID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, k.lookLifeline(s)
	}
	p := row.Rec
	if s.task.StartedAt.IsZero() {
		s.task.StartedAt = p.StartedAt
	}
	switch {
	case !p.Live():
		return k.finish(s, p)
	case settle.Abandoned(k.Store, p):
		s.deserted = true
		return k.finish(s, settle.View(k.Store, p, tx.Now()))
	}
	s.evidence.Live = true
	s.task.LastEventAt = k.heard(p, s.task)
	return nil, nil
}

// finish makes the end of p the record of how the task ended.
func (k *Keeper) finish(s *seen, p process.Process) (*task.Task, error) {
	done, err := task.Finish(s.task, p)
	if err != nil || !done.Status.Terminal() {
		s.evidence.Live = err == nil
		return nil, nil // it has ended otherwise, and that stands
	}
	if s.deserted {
		s.evidence.Owner = task.LifeGone
		return &done, nil
	}
	s.evidence.History = &task.End{Status: done.Status, At: done.EndedAt, Error: done.Error}
	return &done, nil
}

// lookLifeline is what is known of a process whose row is not there.
func (k *Keeper) lookLifeline(s *seen) error {
	held, err := state.Held(settle.Lifeline(k.Store.ProcessDir(s.task.RunID)))
	if err != nil {
		return err
	}
	if s.evidence.Live = held; held {
		return nil
	}
	if s.evidence.Owner = life(s.task.Executor); s.task.Runtime == task.Cron {
		return k.unsure(s)
	}
	return nil
}

// heard is when something was last heard of a running command: its output
// counts.
func (k *Keeper) heard(p process.Process, t task.Task) (at time.Time) {
	at = t.LastEventAt
	out, err := output.Open(k.Store.ProcessDir(p.ID))
	if err != nil {
		return at
	}
	defer out.Close()
	if last := out.LastAt(); last.After(at) {
		return last
	}
	return at
}

// lookChild asks the session that the work runs in. Only a running turn is
// proof for acp.
func (k *Keeper) lookChild(tx *state.Tx, s *seen) error {
	_, ok, err := state.Sessions.Get(tx, s.task.ChildSessionKey)
	if err != nil || !ok {
		return err
	}
	s.evidence.Child = task.ChildPresent
	if s.task.Runtime == task.ACP {
		held, _, err := agent.Lane(k.Store, s.task.ChildSessionKey)
		s.evidence.Live = s.evidence.Live || held
		return err
	}
	if k.Wedged == nil {
		return nil
	}
	why, err := k.Wedged(tx, s.task.ChildSessionKey)
	if why != "" {
		s.evidence.Child, s.evidence.Wedge = task.ChildWedged, why
	}
	return err
}

// life judges an executor by what this machine shows of its pid.
func life(e *task.Executor) task.Life {
	if e == nil {
		return task.LifeUnknown
	}
	_, readable := proc.Identify(os.Getpid())
	now, found := proc.Identify(e.PID)
	found = found && proc.Alive(now) // a zombie has ended
	return task.LifeOf(e, task.Seen{Host: host(), Boot: proc.Boot(), Readable: readable, Found: found, Start: now.Start})
}

// host names this machine; empty where it does not say.
var host = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/etc/machine-id")
	return strings.TrimSpace(string(id))
})
