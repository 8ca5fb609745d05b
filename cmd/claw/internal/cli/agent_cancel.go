package cli

import (
	"claw/runner/subagents"
	"claw/state/subagent"
)

type agentCancel struct {
	Run_ string `arg:"" name:"runid" help:"Id of the run, the first four or more characters, its task or its session." placeholder:"RUNID"`
	JSON bool   `name:"json" help:"Print {\"runId\", \"cancelled\", \"reason\"}."`
}

// Help shows examples.
func (agentCancel) Help() string {
	return "What waits never begins; an agent at work gets TERM, and KILL five seconds later. What has ended by itself keeps its end, and the answer is 4. An agent may end what it has asked for, a person everything.\n\n" +
		examples("claw agent cancel 01JCZ4", "claw agent cancel 01JCZ4 --json")
}

// cancelAnswer is the answer as JSON.
type cancelAnswer struct {
	RunID     string `json:"runId"`
	Cancelled bool   `json:"cancelled"`
	Reason    string `json:"reason,omitempty"`
}

// Run ends it.
func (c *agentCancel) Run(a *app) error {
	s, run, err := a.runNamed("agent cancel", c.Run_)
	if err != nil {
		return err
	}
	had := run.Ended()
	pending := false
	if !had {
		if run, pending, err = s.Cancel(a.ctx, run.ID, subagents.DefaultPatience); err != nil {
			return a.refusedRun("agent cancel", err)
		}
		if err := a.wake(); err != nil {
			a.io.Note("nobody could be told of it: " + err.Error())
		}
	}
	answer := cancelAnswer{RunID: run.ID, Cancelled: !had && run.Ended() && run.Reason == subagent.Killed}
	f := &failure{code: exitRefused, text: "agent cancel: run " + run.ID + " has ended already: " + string(subagents.StatusOf(run))}
	switch {
	case answer.Cancelled:
		f = nil
	case pending:
		f.code, f.text = exitRunning, "agent cancel: run "+run.ID+" was told to end, and has not ended yet"
	}
	if f != nil {
		answer.Reason = f.text[len("agent cancel: "):]
	}
	switch {
	case c.JSON:
		if err := a.io.JSON(answer); err != nil || f == nil {
			return err
		}
		return silent(f.code)
	case f != nil:
		return f
	}
	a.io.Note("cancelled run " + run.ID)
	return nil
}
