package scheduler

import (
	"context"
	"errors"
	"os"

	"claw/runner/agent"
	"claw/runner/internal/failpoint"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
)

// together is how many commands are started by one transaction. All of them
// wait for it and for one another's programs to be found.
const together = 16

// Groups are the claimed runs of w in their order, as they are to be given to
// StartAll: commands some at a time, everything else alone.
func (w Work) Groups() [][]automation.Run {
	var groups [][]automation.Run
	open := -1 // the group that takes more commands
	for _, r := range w.Start {
		command := r.Owner.ProcessID != "" && r.Owner.CheckID == ""
		if command && open >= 0 && len(groups[open]) < together {
			groups[open] = append(groups[open], r)
			continue
		}
		if groups = append(groups, []automation.Run{r}); command {
			open = len(groups) - 1
		}
	}
	return groups
}

// StartAll is Start for one of the Groups.
func (s *Scheduler) StartAll(ctx context.Context, runs []automation.Run) error {
	commands, others, err := s.commandsOf(runs)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range others {
		errs = append(errs, s.Start(ctx, r))
	}
	if len(commands) > 0 {
		errs = append(errs, s.commands(ctx, commands))
	}
	return errors.Join(errs...)
}

// commandsOf are those runs that are a command, with their automations, and the
// others. The ledger is read once for all of them.
func (s *Scheduler) commandsOf(runs []automation.Run) (commands []claimed, others []automation.Run, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		commands, others = nil, nil
		for _, r := range runs {
			row, ok, err := state.Automations.Get(tx, r.AutomationID)
			if err != nil {
				return err
			}
			if ok && row.Rec.Payload.Kind == automation.PayloadCommand && r.Owner.ProcessID != "" && r.Owner.CheckID == "" {
				commands = append(commands, claimed{row.Rec, r})
			} else {
				others = append(others, r)
			}
		}
		return nil
	})
	return commands, others, err
}

// claimed is a run that is to be started.
type claimed struct {
	a automation.Automation
	r automation.Run
}

// commands starts commands under the ULIDs of their claims.
func (s *Scheduler) commands(ctx context.Context, all []claimed) error {
	leave := s.enter()
	defer leave()
	if ctx.Err() != nil {
		return nil // the claims are taken back
	}
	failpoint.Hit("run-starting")
	l := s.ready(all)
	supervisor.LaunchAll(ctx, s.Store, l.list)
	return s.launched(ctx, l)
}

// launch are commands that are started together. Those that could not be made
// ready are in failed.
type launch struct {
	list   []*supervisor.Launching
	runs   []automation.Run // of list
	stdins []*os.File
	failed []misfire
}

type misfire struct {
	run automation.Run
	err error
}

func (l *launch) add(more *launch) {
	l.list, l.runs = append(l.list, more.list...), append(l.runs, more.runs...)
	l.stdins, l.failed = append(l.stdins, more.stdins...), append(l.failed, more.failed...)
}

// ready finds out what to run and has supervisors for it; launched must follow.
func (s *Scheduler) ready(all []claimed) *launch {
	l := &launch{}
	for _, c := range all {
		one, stdin, err := s.prepared(c)
		if stdin != nil {
			l.stdins = append(l.stdins, stdin)
		}
		if err != nil {
			l.failed = append(l.failed, misfire{c.r, err})
			continue
		}
		l.list, l.runs = append(l.list, one), append(l.runs, c.r)
	}
	return l
}

// launched lets go of commands that have been started, and ends the runs of
// those that could not be.
func (s *Scheduler) launched(ctx context.Context, l *launch) error {
	for _, f := range l.stdins {
		f.Close()
	}
	failed := l.failed
	for i, one := range l.list {
		err := one.Err
		if err == nil {
			failpoint.Hit("run-started")
			err = one.Handle.Close()
		}
		if err != nil {
			failed = append(failed, misfire{l.runs[i], err})
		}
	}
	var errs []error
	for _, f := range failed {
		errs = append(errs, s.couldNotStart(ctx, f.run, f.err))
	}
	return errors.Join(errs...)
}

// couldNotStart ends a run whose command could not be started.
func (s *Scheduler) couldNotStart(ctx context.Context, r automation.Run, why error) error {
	begun, err := s.known(r.Owner.ProcessID)
	if begun || err != nil || ctx.Err() != nil {
		return err // its row says what became of it, or there is none
	}
	return s.conclude(r, automation.End{Status: automation.Failed, Category: automation.Other, Error: "it could not be started: " + why.Error()})
}

// prepared finds out what to run and has a supervisor for it. stdin is to be
// closed once it has been launched; nil when there is none.
func (s *Scheduler) prepared(c claimed) (l *supervisor.Launching, stdin *os.File, err error) {
	ex := s.exec(c.a, c.r)
	if input := c.a.Stdin(c.r); input != "" {
		if stdin, err = agent.Stdin(s.Store, input); err != nil {
			return nil, nil, err
		}
		ex.Stdin, ex.Caller = supervisor.StdinCaller, stdin
	}
	req, err := ex.Request()
	if err != nil {
		return nil, stdin, err
	}
	req.Row.RunID = c.r.ID
	spare, err := s.spare(c.r.Owner.ProcessID)
	return &supervisor.Launching{Spare: spare, Request: req, Synced: true}, stdin, err
}
