package scheduler

import (
	"context"
	"errors"
	"time"

	"claw/runner/control"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
)

// Start carries a claimed run out. It returns once a command has started, and
// when a turn has ended; then the run has ended with it. When ctx ends a turn
// goes on under its supervisor, and a later pass finds it.
//
// An error is one of the state directory. What could not be started is the end
// of the run, and no error.
func (s *Scheduler) Start(ctx context.Context, r automation.Run) error {
	a, ok, err := s.find(r.AutomationID)
	switch {
	case err != nil:
		return err
	case !ok:
		return s.conclude(r, automation.End{Status: automation.Skipped, Code: automation.CodeRemoved, Error: "the automation was removed before it began"})
	case r.Owner.CheckID != "":
		return s.check(ctx, a, r)
	case a.Payload.Kind == automation.PayloadTurn:
		return s.turn(ctx, a, r)
	}
	return s.commands(ctx, []claimed{{a, r}})
}

func (s *Scheduler) find(id string) (a automation.Automation, ok bool, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		var row state.Row[automation.Automation]
		row, ok, err = state.Automations.Get(tx, id)
		a = row.Rec
		return err
	})
	return a, ok, err
}

// conclude ends a run that nothing carries out any more.
func (s *Scheduler) conclude(r automation.Run, end automation.End) error {
	return s.Store.Update(context.Background(), func(tx *state.Tx) error {
		_, err := s.finish(tx, r, outcome{end: end})
		return err
	})
}

// exec is the command of an automation as exec -b would start it: nobody is
// told of its end but through the run, and it leaves the list with its end.
func (s *Scheduler) exec(a automation.Automation, r automation.Run) control.Exec {
	p := a.Payload
	dir := p.Cwd
	if dir == "" {
		dir = s.Cwd
	}
	most := s.MaxOutput
	if p.OutputMaxBytes > 0 {
		most = process.OutputCap.Clamp(p.OutputMaxBytes)
	}
	return control.Exec{
		Argv: p.Argv, Workdir: dir, Env: environment(a, r), Name: a.Name, Agent: s.agent(a), Stdin: supervisor.StdinNull,
		TimeoutMs: int64((p.Timeout() + time.Millisecond - 1) / time.Millisecond), MaxOutput: most, TTLMs: 1,
		NoOutputTimeoutMs: max(0, int64(p.NoOutputTimeoutSeconds)*1000),
		PathPrepend:       s.PathPrepend, OnLoss: s.OnLoss, Retain: s.Retain, Wake: s.WakeOnExit, Background: true,
		Environ: s.Environ, Cwd: s.Cwd,
	}
}

// environment tells a command which run it is. A run by hand has no slot; one
// that a source has set off has the kind of that instead.
func environment(a automation.Automation, r automation.Run) []string {
	env := []string{"CLAW_AUTOMATION=" + a.Name, "CLAW_RUN_ID=" + r.ID}
	for name, value := range a.Payload.Env {
		env = append(env, name+"="+value)
	}
	if kind := a.Schedule.Kind; !kind.Timed() && !r.Manual {
		env = append(env, "CLAW_TRIGGER="+string(kind))
	}
	if !r.Slot.IsZero() {
		env = append(env, "CLAW_SLOT="+r.Slot.UTC().Format(time.RFC3339))
	}
	return env
}

// Stop ends what carries a run out, TERM first, because a later slot takes its
// place. It does not wait for the end. Doing it again does no harm.
func (s *Scheduler) Stop(r automation.Run) error {
	id, err := s.processOf(r)
	if err != nil || id == "" {
		return err
	}
	_, err = supervisor.Call(s.Store.ProcessDir(id), supervisor.Ask{Op: supervisor.OpKill})
	if errors.Is(err, supervisor.ErrNoSupervisor) {
		return nil // it has just ended
	}
	return err
}

// processOf is the process of a run; empty when there is none yet.
func (s *Scheduler) processOf(r automation.Run) (id string, err error) {
	if r.Owner == nil || r.Owner.TurnID == "" {
		if r.Owner != nil {
			id = r.Owner.ProcessID + r.Owner.CheckID // one of the two
		}
		return id, nil
	}
	err = s.Store.View(func(tx *state.Tx) error {
		row, _, err := state.Turns.Get(tx, r.Owner.TurnID)
		id = row.Rec.ProcessID
		return err
	})
	return id, err
}
