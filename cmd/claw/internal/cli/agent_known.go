package cli

import (
	"fmt"
	"slices"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

// meantAgent is heartbeatAgent for a command that acts on that agent or tells
// of it: a name that nobody has given to an agent is refused.
func (a *app) meantAgent(command, flag string) (string, error) {
	name, err := a.heartbeatAgent(flag)
	if err != nil {
		return "", err
	}
	return name, a.checkAgent(command, name)
}

// checkAgent is the rule of all commands: an agent is one that is configured,
// or main, or one that has a session. A name that was mistyped would otherwise
// get rows of its own, and what was meant for the agent would wait for ever.
func (a *app) checkAgent(command, name string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	names := cfg.AgentNames()
	if name == "main" || slices.Contains(names, name) {
		return nil
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	has, err := hasSession(store, name)
	if err != nil || has {
		return err
	}
	return noAgent(command, name, names)
}

// hasSession tells an agent that is not configured, and was spoken to.
func hasSession(store *state.Store, name string) (has bool, err error) {
	turns := &agent.Turns{Store: store}
	all, err := turns.Sessions("")
	return slices.ContainsFunc(all, func(s agent.Seen) bool {
		k, _ := session.Parse(s.Key)
		return firstOf(k.Agent, s.Agent) == name
	}), err
}

// noAgent refuses a name: exit 3, with the one that was probably meant.
func noAgent(command, name string, names []string) error {
	text := fmt.Sprintf("%s: there is no agent %q", command, name)
	if near := config.Nearest(name, names); near != "" {
		text += "; did you mean " + near + "?"
	}
	return &failure{code: exitNotFound, text: text, remedy: []string{"configured: " + strings.Join(names, ", ")}}
}
