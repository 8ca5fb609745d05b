package cli

import (
	"io"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/state/process"
	"claw/state/subagent"
)

type agentWait struct {
	Run_    string   `arg:"" name:"runid" help:"Id of the run, the first four or more characters, its task or its session." placeholder:"RUNID"`
	Timeout *float64 `help:"Wait at most so many seconds; 0 only looks. Default until it has ended." placeholder:"SEC"`
	JSON    bool     `name:"json" help:"Print {\"runId\", \"status\": ok, error, timeout or pending, \"sessionKey\", \"startedAt\", \"endedAt\", \"stopReason\", \"error\", \"livenessState\", \"providerStarted\", \"timeoutPhase\", \"terminalReply\"}."`
}

// Help shows examples.
func (agentWait) Help() string {
	return "It prints the result and exits 0; 1 when the work has failed, 124 when it has timed out, and 75 while it goes on. The end of the wait never ends the work. In JSON a timeout without endedAt is that of the wait.\n\n" +
		examples("claw agent wait 01JCZ4", "claw agent wait 01JCZ4 --timeout 60 --json")
}

// Run waits for it.
func (c *agentWait) Run(a *app) error {
	s, run, err := a.runNamed("agent wait", c.Run_)
	if err != nil {
		return err
	}
	most := time.Duration(-1)
	if c.Timeout != nil {
		most = max(0, ms(process.TimeoutMs(*c.Timeout)))
	}
	seen, err := s.Wait(a.ctx, run.ID, most)
	if err != nil {
		return a.refusedRun("agent wait", err)
	}
	failed := observed(seen)
	if c.JSON {
		if err := a.io.JSON(seen); err != nil {
			return err
		}
		if failed != nil {
			return silent(failed.code)
		}
		return nil
	}
	if failed != nil {
		return failed
	}
	_, err = io.WriteString(a.io.Out, output.Safe(endLine(seen.Reply)))
	return err
}

// observed is what was seen as an error, nil for a success.
func observed(o subagent.Observation) *failure {
	switch {
	case o.Status == "ok":
		return nil
	case o.EndedAt == nil:
		return &failure{code: exitRunning, text: "agent wait: run " + o.RunID + " is " + o.Liveness, remedy: []string{"it goes on; claw agent cancel " + o.RunID + " ends it"}}
	case o.Status == "timeout":
		return &failure{code: exitTimedOut, text: "agent wait: " + firstOf(o.Error, "it timed out")}
	}
	return &failure{code: exitFailed, text: "agent wait: " + firstOf(o.Error, "it failed")}
}
