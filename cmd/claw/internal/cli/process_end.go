package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"claw/runner/control"
	"claw/state/process"
)

type processKill struct{ who }

// Help shows examples.
func (processKill) Help() string {
	return examples("claw process kill tide-orbit", "claw process kill --last && claw process wait --last")
}

// Run asks for the end.
func (c *processKill) Run(a *app) error { return c.end(a, "kill", (*control.Control).Kill) }

type processClear struct{ who }

// Help shows examples.
func (processClear) Help() string {
	return examples("claw process clear tide-orbit", "claw process clear --last")
}

// Run clears.
func (c *processClear) Run(a *app) error { return c.end(a, "clear", (*control.Control).Clear) }

type processRemove struct{ who }

// Help shows examples.
func (processRemove) Help() string {
	return examples("claw process remove tide-orbit", "claw process remove --last")
}

// Run removes.
func (c *processRemove) Run(a *app) error { return c.end(a, "remove", (*control.Control).Remove) }

func (w who) end(a *app, name string, act func(*control.Control, context.Context, string) (control.Result, error)) error {
	ctl, session, err := w.acting(a, name)
	if err != nil {
		return err
	}
	r, err := act(ctl, a.ctx, session)
	return a.answer(r, err, w.JSON)
}

type processWait struct {
	IDs       []string `arg:"" optional:"" help:"Their ids, or the first four or more characters." placeholder:"ID"`
	Last      bool     `help:"The one that was started last."`
	Timeout   float64  `help:"Give up after so many seconds and exit 75; 0 never does." placeholder:"SEC"`
	Agent     string   `help:"Look among the processes of this agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	AllAgents bool     `help:"Look among the processes of all agents."`
	JSON      bool     `name:"json" help:"Print how it ended as one JSON object a line."`
}

// Help shows examples.
func (processWait) Help() string {
	return "With several ids it waits for all of them; the exit code is that of the first that did not succeed.\n\n" +
		examples("claw process wait tide-orbit && ./deploy.sh", "claw process wait --last --timeout 60; echo $?")
}

// Run waits.
func (c *processWait) Run(a *app) error {
	ids := c.IDs
	switch {
	case c.Last && len(ids) > 0:
		return usagef("process wait: --last and an id exclude each other")
	case c.Last:
		ids = []string{control.Last}
	case len(ids) == 0:
		return usagef("process wait: which one? sessionId is required for this action.", "claw process list shows their ids", "claw process wait --last takes the newest")
	}
	ctl, err := a.control(c.Agent, c.AllAgents)
	if err != nil {
		return err
	}
	code := 0
	until := a.clock.Elapsed() + time.Duration(c.Timeout*float64(time.Second))
	for _, id := range ids {
		got, err := c.one(a, ctl, id, until)
		if err != nil {
			return err
		}
		if code == 0 {
			code = got
		}
	}
	return silent(code)
}

// one waits for one process within what is left of the time.
func (c *processWait) one(a *app, ctl *control.Control, id string, until time.Duration) (int, error) {
	var left time.Duration
	if c.Timeout > 0 {
		left = max(until-a.clock.Elapsed(), time.Millisecond)
	}
	p, err := ctl.Wait(a.ctx, id, left)
	if errors.Is(err, control.ErrStillRunning) {
		if !c.JSON {
			a.io.Say(fmt.Sprintf("%s is still running after %s", p.Slug, process.HumanDuration(a.now().Sub(p.CreatedAt))),
				"follow:  claw process log "+p.Slug+" --follow")
		}
		return exitRunning, nil
	}
	if err != nil {
		return 0, a.refused(err, c.JSON)
	}
	if c.JSON {
		if err := a.io.JSON(ctl.Session(p)); err != nil {
			return 0, err
		}
	} else if reason := shortReason(p); reason != "" && p.Exit.Reason != process.ReasonExit {
		a.io.Note(p.Slug + ": " + reason)
	}
	return process.ExitCode(p), nil
}
