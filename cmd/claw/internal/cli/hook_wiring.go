package cli

import (
	"slices"

	"claw/cmd/claw/internal/config"
	"claw/runner"
	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/hook"
	"claw/state"
	"claw/state/external"
	"claw/state/session"
)

// hooks is what sees to what comes from outside.
func (a *app) hooks(cfg *config.Config, store *state.Store, turns *agent.Turns, post *deliver.Post) *hook.Dispatcher {
	names := cfg.AgentNames()
	window := min(max(cfg.Hooks.IdempotencyWindow, external.MinKeyWindow), external.MaxKeyWindow)
	return &hook.Dispatcher{
		Store: store, Clock: a.clock, Turns: turns, Post: post, Max: int(cfg.Cron.MaxConcurrentRuns), KeepHTTP: cfg.Hooks.Enabled,
		Window: window, Retention: cfg.Cron.SessionRetention, Tools: a.hookTools(cfg, store), Known: func(name string) bool { return name == "main" || slices.Contains(names, name) },
		Held: func() string { return a.turnsHeld(store) },
	}
}

// turnsHeld is why no turn begins by itself now; empty: they do, or nobody knows.
func (a *app) turnsHeld(store *state.Store) string {
	st, err := runner.Look(store.Dir())
	if err != nil {
		return ""
	}
	return a.modeHolds(st).why
}

// hookTools are what may be used for what comes from outside: no more than the
// turn might in which claw is asked, if it is in one.
func (a *app) hookTools(cfg *config.Config, store *state.Store) []string {
	who, err := a.actor(store)
	switch {
	case err != nil:
		return []string{} // nobody knows
	case who.Agent == "":
		return cfg.Hooks.Tools
	}
	return session.Narrow(cfg.Hooks.Tools, append([]string{}, who.Tools...))
}
