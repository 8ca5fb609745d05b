package cli

import (
	"math"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/agent"
	"claw/state"
	"claw/state/automation"
)

// actor is who makes and changes automations: inside an agent's turn that
// agent, with what the turn may use, else an operator (seed 003 section 10). Who
// the agent is says the turn, not a variable that could be left out.
func (a *app) actor(store *state.Store) (automation.Actor, error) {
	turn := a.env("TURN_ID")
	if turn == "" {
		return automation.Actor{}, nil
	}
	who := automation.Actor{Agent: firstOf(a.env("AGENT"), "unknown")}
	err := store.View(func(tx *state.Tx) error {
		row, ok, err := state.Turns.Find(tx, turn)
		if ok {
			who.Agent = firstOf(row.Rec.Agent, who.Agent)
		}
		return err
	})
	if err == nil {
		who.Tools, err = agent.ToolsOf(store, turn)
	}
	return who, err
}

func retryOf(cfg *config.Config) automation.Retry {
	r := cfg.Cron.Retry
	out := automation.Retry{MaxAttempts: int(r.MaxAttempts)}
	if out.MaxAttempts == 0 {
		out.MaxAttempts = -1 // 0 is the default there
	}
	for _, s := range r.BackoffSeconds {
		out.Backoff = append(out.Backoff, time.Duration(s)*time.Second)
	}
	for _, c := range r.RetryOn {
		out.On = append(out.On, automation.Category(c))
	}
	return out
}

// alertsOf is cron.failureAlert, nil when nothing of it is set. Switched off,
// no number of failures is enough; an automation may say another one.
func alertsOf(cfg *config.Config) *automation.AlertRule {
	f, any := cfg.Cron.FailureAlert, false
	for _, key := range [...]string{"enabled", "after", "cooldownSeconds", "mode", "channel", "to", "accountId", "includeSkipped"} {
		any = any || cfg.IsSet("cron.failureAlert."+key)
	}
	if !any {
		return nil
	}
	rule := &automation.AlertRule{
		After: int(f.After), Cooldown: time.Duration(f.CooldownSeconds) * time.Second, IncludeSkipped: f.IncludeSkipped,
		Mode: f.Mode, Channel: f.Channel, To: f.To, AccountID: f.AccountID,
	}
	if !f.Enabled {
		rule.After, rule.IncludeSkipped = math.MaxInt32, false
	}
	return rule
}

// declaredOf are the [[automation]] tables. One that is wrong stays among them
// under its key, so that what it has made stays as it is; it is refused with
// what is wrong where its schedule would be.
func declaredOf(cfg *config.Config, now time.Time, zone automation.Zones) []automation.Automation {
	tables := cfg.Declared(now, zone)
	out := make([]automation.Automation, len(tables))
	for i, t := range tables {
		if out[i] = t.Automation; t.Problem != nil {
			out[i].Schedule = automation.Schedule{Kind: automation.Kind(t.Problem.Error())}
		}
	}
	return out
}
