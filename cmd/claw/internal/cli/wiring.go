package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/prompts"
	"claw/runner"
	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/hook"
	"claw/runner/poke"
	"claw/runner/retention"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
)

// runner is everything that turns, deliveries and heartbeats need, by the
// configuration as it is now. stdout is what the channel stdout writes to; nil
// where there is no foreground.
func (a *app) runner(stdout io.Writer) (*runner.Runner, error) {
	cfg, store, err := a.opened()
	if err != nil {
		return nil, err
	}
	places, err := config.Paths(a.getenv)
	if err != nil {
		return nil, err
	}
	environ := poke.Outside(a.environ)
	retain := retainOf(cfg)
	post := a.post(cfg, store, stdout)
	cwd, _ := os.Getwd()
	turns := &agent.Turns{
		Store: store, Clock: a.clock, Agent: func(name string) agent.Agent { return agentOf(cfg, name) },
		Environ: environ, Cwd: cwd, Retain: retain, MaxOutput: cfg.Tools.Exec.MaxOutput, WakeOnExit: cfg.Wake.OnExit,
		OnLoss: cfg.Tools.Exec.OnSupervisorLoss,
	}
	engine := &heartbeat.Engine{
		Store: store, Clock: a.clock, Turns: turns, Post: post, Prompts: prompts.Load(filepath.Join(places.ConfigDir, "prompts")),
		Settings: func(name string) heartbeat.Settings { return heartbeatOf(cfg, name) },
		Agents:   cfg.AgentNames(), ConfigDir: places.ConfigDir, Environ: environ,
		CronEnabled: cfg.Cron.Enabled, Seed: machineSeed(a.getenv("HOME"), cwd),
	}
	cron, err := a.scheduler(cfg, store, post)
	if err != nil {
		return nil, err
	}
	cron.Turns, cron.Cwd = turns, homeOr(a.getenv("HOME"), cwd)
	calm := func() *scheduler.Scheduler {
		s, err := a.scheduler(cfg, store, post)
		if err != nil {
			return nil
		}
		s.Turns, s.Cwd, s.Enabled = cron.Turns, cron.Cwd, false
		return s
	}
	hooks, subs := a.hooks(cfg, store, turns, post), a.subagents(cfg, store, turns)
	turns.OnEnd = func(tx *state.Tx, t *session.Turn, reply string) error {
		switch {
		case t.RunID != "":
			return cron.TurnEnded(tx, t, reply)
		case t.Kind == session.KindHook:
			return hooks.TurnEnded(tx, t, reply)
		case t.Kind == session.KindSubagent, t.Kind == session.KindComplete:
			return subs.TurnEnded(tx, t, reply)
		}
		return engine.End(tx, t, reply)
	}
	turns.OnOver = engine.Over
	return &runner.Runner{
		Store: store, Clock: a.clock, Turns: turns, Heartbeat: engine, Scheduler: cron, Hooks: hooks, Subagents: subs, Post: post, Retain: retain, OnLoss: cfg.Tools.Exec.OnSupervisorLoss,
		Calm: calm, NoSafeMode: cfg.Runner.SafeMode == "off", InhibitSleep: cfg.Runner.InhibitSleep,
	}, nil
}

// scheduler is what looks after automations; without Turns it starts no agent.
func (a *app) scheduler(cfg *config.Config, store *state.Store, post *deliver.Post) (*scheduler.Scheduler, error) {
	actor, err := a.actor(store)
	if err != nil {
		return nil, err
	}
	zones := scheduler.Zones()
	return &scheduler.Scheduler{
		Store: store, Clock: a.clock, Post: post, Enabled: cfg.Cron.Enabled,
		MaxTurns: int(cfg.Cron.MaxConcurrentRuns), KeepHTTP: cfg.Hooks.Enabled, MaxCommands: int(cfg.Cron.MaxConcurrentCommands),
		SkipMissed: cfg.Cron.SkipMissedJobs, Retry: retryOf(cfg), Alerts: alertsOf(cfg),
		Declared: declaredOf(cfg, a.now(), zones), Actor: actor, Session: a.env("SESSION"), SessionRetention: cfg.Cron.SessionRetention,
		Agents: cfg.AgentNames(), Zone: zones, Environ: poke.Outside(a.environ), PathPrepend: cfg.Tools.Exec.PathPrepend,
		MaxOutput: cfg.Tools.Exec.MaxOutput, Retain: retainOf(cfg), OnLoss: cfg.Tools.Exec.OnSupervisorLoss, WakeOnExit: cfg.Wake.OnExit,
	}, nil
}

// homeOr is where commands run that say no directory: as with cron, at home.
func homeOr(home, cwd string) string {
	if home != "" {
		return home
	}
	return cwd
}

// post is what sends messages. stdout is as in runner.
func (a *app) post(cfg *config.Config, store *state.Store, stdout io.Writer) *deliver.Post {
	return &deliver.Post{
		Store: store, Clock: a.clock, Channels: channelsOf(cfg), Default: cfg.Channels.Default, Environ: poke.Outside(a.environ), Stdout: stdout,
		Hook: deliver.Hook{Token: cfg.Cron.WebhookToken, TokenFile: cfg.Cron.WebhookTokenFile, AllowPrivate: cfg.Cron.WebhookAllowPrivate},
		OnEnd: func(tx *state.Tx, d delivery.Delivery) error {
			return errors.Join(scheduler.Delivered(tx, d), hook.Delivered(tx, d))
		},
	}
}

// brief lets the heap grow before anything of it is collected: most ticks live
// for some milliseconds, and long queues pass through them.
func (a *app) brief() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}

func retainOf(cfg *config.Config) retention.Policy {
	return retention.Policy{Budget: cfg.State.OutputBudget, Keep: time.Duration(cfg.State.RetentionDays) * 24 * time.Hour}
}

func agentOf(cfg *config.Config, name string) agent.Agent {
	e := cfg.Agent(name)
	return agent.Agent{
		Name: name, Command: e.Command, Recover: e.Recover, Complete: e.Complete, Model: e.Model, Timeout: time.Duration(e.TimeoutSeconds) * time.Second,
		Env: e.Env, Workdir: e.Workdir, Context: e.Context, Hooks: e.BeforeAgentRun, AckMaxChars: int(e.Heartbeat.AckMaxChars),
	}
}

func channelsOf(cfg *config.Config) map[string]deliver.Channel {
	all := make(map[string]deliver.Channel, len(cfg.Channels.Entries))
	for name, c := range cfg.Channels.Entries {
		accounts := make(map[string]deliver.Account, len(c.Accounts))
		for id, account := range c.Accounts {
			accounts[id] = deliver.Account{To: account.To}
		}
		failure := c.Failure
		if !cfg.IsSet("channels." + name + ".failure") {
			failure = "" // what is usual for the type
		}
		all[name] = deliver.Channel{
			Name: name, Type: c.Type, Command: c.Command, Reconcile: c.Reconcile, Failure: failure, To: c.To, URL: c.URL,
			Timeout: time.Duration(c.TimeoutSeconds) * time.Second, Env: c.Env, Accounts: accounts,
		}
	}
	return all
}

func heartbeatOf(cfg *config.Config, name string) heartbeat.Settings {
	e := cfg.Agent(name)
	h := e.Heartbeat
	return heartbeat.Settings{
		Agent: name, Enrolled: cfg.Enrolled(name), Every: h.Every, Target: h.Target, To: h.To, AccountID: h.AccountID, Session: h.Session,
		Model: h.Model, Prompt: h.Prompt, AckMaxChars: int(h.AckMaxChars), IsolatedSession: h.IsolatedSession, LightContext: h.LightContext,
		SkipWhenBusy: h.SkipWhenBusy, Timeout: cfg.HeartbeatTimeout(name), Gate: h.Gate,
		Start: h.ActiveHours.Start, End: h.ActiveHours.End, Zone: h.ActiveHours.Timezone, UserZone: e.UserTimezone,
		Workdir: e.Workdir, Embedded: len(e.Command) == 0,
		Visible: func(channel, account string) heartbeat.Visibility {
			v := cfg.Channels.Visibility(channel, account)
			return heartbeat.Visibility{Ok: v.ShowOk, Alerts: v.ShowAlerts, Indicator: v.UseIndicator}
		},
	}
}

// machineSeed is what spreads the phases of heartbeats: the machine's id, else
// where claw runs.
func machineSeed(home, cwd string) string {
	if id, err := os.ReadFile("/etc/machine-id"); err == nil && len(id) > 1 {
		return string(id[:len(id)-1])
	}
	return home + "\x00" + cwd
}
