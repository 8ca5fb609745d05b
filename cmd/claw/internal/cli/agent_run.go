package cli

import (
	"errors"
	"time"

	"claw/runner/poke"
	"claw/state"
	"claw/state/process"
	"claw/state/subagent"
)

type agentRun struct {
	Agent              string   `help:"The agent that is to do it." placeholder:"NAME"`
	Message            string   `help:"What is to be done; - reads it from stdin." placeholder:"TEXT"`
	Label              string   `help:"What it is called where it is told of." placeholder:"TEXT"`
	System             string   `name:"extra-system-prompt" help:"What the agent is told before the message." placeholder:"TEXT"`
	Model              string   `help:"The model; within a turn only with allowModelOverride, and of allowedModels." placeholder:"NAME"`
	Thinking           string   `help:"How much it is to think, for {thinking} in its argv." placeholder:"LEVEL"`
	ToolsAlsoAllow     []string `name:"tools-also-allow" help:"A tool of the caller's that it may use besides subagents.tools; may be repeated." placeholder:"TOOL" sep:"none"`
	DisableTools       bool     `name:"disable-tools" help:"It may use no tools."`
	PromptMode         string   `name:"prompt-mode" help:"minimal: no more prompt than the task; $$CLAW_PROMPT_MODE tells the agent." placeholder:"MODE"`
	CompletionDelivery string   `name:"completion-delivery" help:"current-requester: tell whoever is spoken to in this turn of the end." placeholder:"WHOM"`
	Cleanup            string   `help:"What becomes of its conversation at the end: keep (the default) or delete, which puts it aside at once." placeholder:"HOW"`
	Timeout            *float64 `help:"Seconds it may take; 0 no limit. Default the agent's timeoutSeconds." placeholder:"SEC"`
}

// Help shows examples.
func (agentRun) Help() string {
	return "The work is done in a conversation of its own, also when whoever asked has gone. Prints {\"runId\", \"sessionKey\"} when it is written down. Within a turn it may use no more tools than that turn, and whom to tell is taken from the turn, not from arguments.\n\n" +
		examples("claw agent run --agent main --message 'read the log of tonight'", "git diff | claw agent run --agent main --label review --message -")
}

// launched is the answer.
type launched struct {
	RunID      string `json:"runId"`
	SessionKey string `json:"sessionKey"`
}

// Run writes it down, and has somebody carry it out.
func (c *agentRun) Run(a *app) error {
	ask := subagent.Ask{
		Kind: subagent.Detached, Agent: c.Agent, Label: c.Label, System: c.System, Model: c.Model, Thinking: c.Thinking, AlsoAllow: c.ToolsAlsoAllow,
		NoTools: c.DisableTools, PromptMode: c.PromptMode, Delivery: c.CompletionDelivery, Cleanup: subagent.Cleanup(c.Cleanup), Timeout: timeoutOf(c.Timeout),
	}
	message, s, who, err := a.asked("agent run", c.Message)
	if err != nil {
		return err
	}
	ask.Message = message
	run, err := s.Accept(a.ctx, ask, who)
	if errors.Is(err, state.ErrNotDurable) {
		return &failure{code: exitState, text: "agent run: " + err.Error(), err: err, remedy: []string{"it may have been written: claw tasks list --runtime subagent shows it"}}
	}
	if err != nil {
		return a.refusedRun("agent run", err)
	}
	// Whoever calls this wants it done, whatever is said about exits.
	if err := poke.Act(s.Store.Dir(), poke.Auto, a.environ); err != nil {
		a.io.Note("nobody could be told of it: " + err.Error())
	}
	return a.io.JSON(launched{run.ID, run.SessionKey})
}

// timeoutOf is --timeout: nil is the agent's, 0 no limit.
func timeoutOf(seconds *float64) (d time.Duration) {
	if seconds == nil {
		return 0
	}
	if d = ms(process.TimeoutMs(*seconds)); d == 0 {
		d = -1
	}
	return d
}
