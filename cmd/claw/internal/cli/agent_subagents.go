package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/agent"
	"claw/runner/subagents"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
)

// subagents is what looks after the work that is given to agents.
func (a *app) subagents(cfg *config.Config, store *state.Store, turns *agent.Turns) *subagents.Service {
	names := cfg.AgentNames()
	return &subagents.Service{
		Store: store, Clock: a.clock, Turns: turns, Policy: func(name string) subagents.Policy { return policyOf(cfg, name) },
		Known: func(name string) bool { return name == "main" || slices.Contains(names, name) },
	}
}

func policyOf(cfg *config.Config, name string) subagents.Policy {
	e := cfg.Agent(name)
	l := e.Subagents
	return subagents.Policy{
		Limits: subagent.Limits{
			Depth: int(l.MaxSpawnDepth), Children: int(l.MaxChildrenPerAgent), Concurrent: int(l.MaxConcurrent),
			Archive: time.Duration(l.ArchiveAfterMinutes) * time.Minute,
		},
		Override: e.AllowModelOverride, Allowed: e.AllowedModels, Tools: l.Tools, ToolFree: agentOf(cfg, name).ToolFree(),
	}
}

// asked reads the message of what is given to an agent, and finds who carries
// it out and who asks.
func (a *app) asked(command, typed string) (message string, s *subagents.Service, who subagents.Caller, err error) {
	if message, err = a.messageOf(command, typed); err != nil {
		return "", nil, who, err
	}
	if err := a.admitted(command); err != nil {
		return "", nil, who, err
	}
	r, err := a.runner(nil)
	if err != nil {
		return "", nil, who, err
	}
	who, err = a.caller(r.Store)
	return message, r.Subagents, who, err
}

// runNamed finds work that was given to an agent, as far as it is the caller's.
func (a *app) runNamed(command, query string) (*subagents.Service, subagent.Run, error) {
	r, err := a.runner(nil)
	if err != nil {
		return nil, subagent.Run{}, err
	}
	who, err := a.caller(r.Store)
	if err != nil {
		return nil, subagent.Run{}, err
	}
	run, err := r.Subagents.Find(query, who)
	if err != nil {
		err = a.refusedRun(command, err)
	}
	return r.Subagents, run, err
}

// caller is who asks: the turn within which this is, as the ledger has it, or a
// person. What the environment says of a turn that nobody knows gives no tools.
func (a *app) caller(store *state.Store) (subagents.Caller, error) {
	who, err := a.actor(store)
	if err != nil || who.Agent == "" {
		return subagents.Caller{}, err
	}
	c := subagents.Caller{Agent: who.Agent, Session: a.env("SESSION"), TurnID: a.env("TURN_ID"), Tools: who.Tools}
	if c.Tools == nil {
		c.Tools = []string{}
	}
	err = store.View(func(tx *state.Tx) error {
		if c.TurnID == "" {
			var err error
			if c.TurnID, err = turnOf(tx, a.env("PROCESS_ID")); err != nil {
				return err
			}
		}
		row, ok, err := state.Turns.Find(tx, c.TurnID)
		if ok {
			c.Session = row.Rec.SessionKey
		}
		return err
	})
	if c.Session == "" {
		c.Session = session.Main(c.Agent)
	}
	return c, err
}

// messageOf is a message as it was given: - reads it from stdin.
func (a *app) messageOf(command, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.stdin, maxText+1)) // more than a turn takes, to say how much it is
	switch {
	case err != nil:
		return "", err
	case len(raw) > maxText:
		return "", refusedTurn(command, &agent.TooLongError{Bytes: len(raw), More: true})
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

// refusedRun gives an error of runner/subagents its words and its exit code.
func (a *app) refusedRun(command string, err error) error {
	no, refused := errors.AsType[*subagent.Refusal](err)
	missing, isMissing := errors.AsType[*subagents.MissingError](err)
	unknown, isUnknown := errors.AsType[*subagents.MissingAgentError](err)
	toolful, isToolful := errors.AsType[*subagents.NoToolFreeError](err)
	switch {
	case refused:
		return &failure{code: codeOfRunRefusal(no.Code), text: command + ": " + no.Text, remedy: remedyOf(err), err: err}
	case isMissing:
		return &failure{code: exitNotFound, text: command + ": " + missing.Error(), err: err, remedy: []string{"claw tasks list --runtime subagent shows them"}}
	case isUnknown:
		cfg, cfgErr := a.config()
		if cfgErr != nil {
			return cfgErr
		}
		return noAgent(command, unknown.Agent, cfg.AgentNames())
	case isToolful:
		return &failure{code: exitRefused, text: command + ": " + toolful.Error(), err: err, remedy: remedyOf(err)}
	case errors.Is(err, agent.ErrNoAgent):
		return &failure{code: exitRefused, text: command + ": no agent is configured", err: err, remedy: a.configuringAgents()}
	}
	return err
}

// codeOfRunRefusal is the exit code of a refusal: what was asked for wrongly is usage.
func codeOfRunRefusal(c subagent.Code) int {
	switch c {
	case subagent.NotRequester, subagent.ModelNotAllowed, subagent.ModelUnlisted, subagent.TooDeep, subagent.TooMany, subagent.NotYours,
		subagent.CoreTool, subagent.ForeignTool:
		return exitRefused
	}
	return exitUsage
}

// mayRemove refuses an agent to take away a session that it has not made by giving
// somebody work.
func (a *app) mayRemove(turns *agent.Turns, key string) error {
	who, err := a.caller(turns.Store)
	if err != nil {
		return err
	}
	of := &subagents.Service{Store: turns.Store, Clock: a.clock, Turns: turns}
	own, err := of.OwnsSession(key, who)
	if err != nil || own {
		return err
	}
	return &failure{code: exitRefused, text: "sessions rm: session " + key + " was not made by work that " + who.Session + " has given to an agent", remedy: []string{"a person may take every session out of the list"}}
}
