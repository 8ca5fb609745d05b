package automation

import (
	"slices"
	"strings"
)

// The owners of automations; an agent's is "agent:" and its name.
const (
	Operator    = "operator" // a person
	OwnerConfig = "config"   // a table of claw.toml
)

// Actor is who makes or changes an automation. The zero value is an operator,
// who may do everything (seed 003 section 10).
type Actor struct {
	Agent string   // from within a turn of this agent; empty: an operator
	Tools []string // what that turn may use: ["*"] everything; empty is none
}

// AllTools is the list of an operator's automation that names no tools.
var AllTools = []string{everyTool}

const everyTool = "*"

// Operator tells that it is no agent.
func (x Actor) Operator() bool { return x.Agent == "" }

// Owner is what automations of x have as Owner.
func (x Actor) Owner() string {
	if x.Operator() {
		return Operator
	}
	return "agent:" + x.Agent
}

// Manages tells whether x may switch an automation on and off, start and
// remove it: an operator any, an agent its own. The error is nil or says why
// not.
func (x Actor) Manages(a Automation) *Error {
	if x.Operator() || a.Owner == x.Owner() {
		return nil
	}
	whose := "an operator's"
	switch {
	case a.Owner == OwnerConfig:
		whose = "a table of claw.toml"
	case strings.HasPrefix(a.Owner, "agent:"):
		whose = "of " + strings.TrimPrefix(a.Owner, "agent:")
	}
	return refuse("automation", a.Name, "is "+whose+", and an agent may change its own only", "make one of your own, or ask an operator")
}

// Authorise is the automation that x may make of a: with old nil a new one, else
// old after a change. Owner, and tools that are not said, are filled in
// (spec/heartbeat-automations.md 2.2 toolsAllow, seed 003 section 10).
//
// An operator's turn without a list of tools may use all. An agent starts no
// commands, neither as a payload nor as a source nor as a trigger script; it
// speaks for itself only; and what it makes may use what its own turn may, and
// after an edit no more than before.
func (x Actor) Authorise(old *Automation, a Automation) (Automation, *Error) {
	a.Owner = x.Owner()
	if old != nil {
		if err := x.Manages(*old); err != nil {
			return a, err
		}
		a.Owner, a.System = old.Owner, old.System
		if a.Owner == "" {
			a.Owner = Operator
		}
	}
	if x.Operator() {
		if a.Payload.Kind == PayloadTurn && a.Payload.ToolsAllow == nil {
			a.Payload.ToolsAllow = slices.Clone(AllTools)
		}
		return a, nil
	}
	if old == nil {
		a.System, a.Declared = false, ""
	}
	for _, check := range [...]func(Automation) *Error{x.noCommand, x.itself} {
		if err := check(a); err != nil {
			return a, err
		}
	}
	a.AgentID = x.Agent
	return x.capTools(old, a)
}

// noCommand refuses what runs a command.
func (x Actor) noCommand(a Automation) *Error {
	const hint = "use --message, and do it in that turn; or ask an operator"
	switch {
	case a.Payload.Kind == PayloadCommand:
		return refuse("command", "", "is for operators: an agent may not have commands run unattended", hint)
	case a.Schedule.Kind == KindOnExit || a.Schedule.Kind == KindStream:
		return refuse(string(a.Schedule.Kind), "", "is for operators: it runs a command, and an agent may not have commands run unattended", "use --at, --every, --cron or --watch; or ask an operator")
	case a.Trigger != nil:
		return refuse("trigger", "", "is for operators: its script is a command, and an agent may not have commands run unattended", "leave --trigger-script out; or ask an operator")
	}
	return nil
}

// itself refuses to speak for another agent.
func (x Actor) itself(a Automation) *Error {
	if a.AgentID != "" && a.AgentID != x.Agent {
		return refuse("agent", a.AgentID, "is another one: an agent may have itself asked only", "leave --agent out")
	}
	if rest, ok := cutFold(a.SessionKey, "agent:"); ok {
		if name, _, _ := strings.Cut(rest, ":"); name != x.Agent {
			return refuse("session", a.SessionKey, "is one of another agent", "leave --session out")
		}
	}
	return nil
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// capTools holds the tools within those of the turn of x, and within those that
// were stored.
func (x Actor) capTools(old *Automation, a Automation) (Automation, *Error) {
	var stored []string // nil: nothing is
	if old != nil {
		stored = old.Payload.ToolsAllow
	}
	allowed := append([]string{}, x.Tools...)
	if stored != nil {
		allowed = both(stored, allowed)
	}
	if a.Payload.ToolsAllow == nil {
		if a.Payload.Kind == PayloadTurn || stored != nil || !slices.Contains(allowed, everyTool) {
			a.Payload.ToolsAllow = allowed
		}
		return a, nil
	}
	for _, tool := range a.Payload.ToolsAllow {
		if !covers(allowed, tool) {
			return a, refuse("tool", tool, "is more than this turn or the automation may use, and an agent may not widen that", "write "+toolsFlag(allowed)+", or ask an operator")
		}
	}
	return a, nil
}

func covers(allowed []string, tool string) bool {
	return slices.Contains(allowed, everyTool) || slices.Contains(allowed, tool)
}

// both is what two lists allow; never nil.
func both(a, b []string) []string {
	out := []string{}
	for _, tool := range a {
		if covers(b, tool) {
			out = append(out, tool)
		}
	}
	if slices.Contains(a, everyTool) && !slices.Contains(b, everyTool) {
		return append([]string{}, b...)
	}
	return out
}

func toolsFlag(tools []string) string {
	if len(tools) == 0 {
		return `--tools ""`
	}
	return "--tools " + strings.Join(tools, ",")
}
