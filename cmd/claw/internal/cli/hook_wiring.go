package cli

import (
	"slices"

	"claw/cmd/claw/internal/config"
	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/hook"
	"claw/state"
	"claw/state/external"
)

// hooks is what sees to what comes from outside.
func (a *app) hooks(cfg *config.Config, store *state.Store, turns *agent.Turns, post *deliver.Post) *hook.Dispatcher {
	names := cfg.AgentNames()
	window := min(max(cfg.Hooks.IdempotencyWindow, external.MinKeyWindow), external.MaxKeyWindow)
	return &hook.Dispatcher{
		Store: store, Clock: a.clock, Turns: turns, Post: post, Max: int(cfg.Cron.MaxConcurrentRuns), KeepHTTP: cfg.Hooks.Enabled,
		Window: window, Retention: cfg.Cron.SessionRetention, Tools: cfg.Hooks.Tools, Known: func(name string) bool { return name == "main" || slices.Contains(names, name) },
	}
}
