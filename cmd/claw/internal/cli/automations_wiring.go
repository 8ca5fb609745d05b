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
// the agent is says the turn, not a variable that could be left out; and where
// the turn's own is left out, the process that this runs in. It keeps agents to
// what they were given by mistake, not by force: whoever runs programs as a user
// can do what that user can.
func (a *app) actor(store *state.Store) (automation.Actor, error) {
	turn, in := a.env("TURN_ID"), a.env("PROCESS_ID")
	if turn == "" && in == "" {
		return automation.Actor{}, nil
	}
	who := automation.Actor{Agent: firstOf(a.env("AGENT"), "unknown")}
	err := store.View(func(tx *state.Tx) error {
		if turn == "" {
			var err error
			if turn, err = turnOf(tx, in); err != nil || turn == "" {
				return err
			}
		}
		row, ok, err := state.Turns.Find(tx, turn)
		if ok {
			who.Agent = firstOf(row.Rec.Agent, who.Agent)
		}
		return err
	})
	switch {
	case err != nil:
		return who, err
	case turn != "":
		who.Tools, err = agent.ToolsOf(store, turn)
	case a.env("AGENT") == "" || a.env("SESSION") == "":
		return automation.Actor{}, nil // a command of a person
	}
	return who, err // with neither: a process that a turn has started, and no tools are known
}

// turnOf is the turn that a process of claw is, if it is one; slug is its
// CLAW_PROCESS_ID.
func turnOf(tx *state.Tx, slug string) (turn string, err error) {
	rows, err := state.Processes.All(tx)
	for _, row := range rows {
		if row.Rec.Slug == slug { // the newest: slugs come again
			turn = row.Rec.TurnID
		}
	}
	return turn, err
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
