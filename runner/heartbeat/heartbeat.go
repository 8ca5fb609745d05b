package heartbeat

import (
	"context"
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/state"
	"claw/state/session"
)

// Settings are one agent's heartbeat as configured;
// spec/heartbeat-automations.md 1.1.
type Settings struct {
	Agent           string
	Enrolled        bool
	Every           time.Duration // 0 disabled
	Target          string
	To              string
	AccountID       string
	Session         string // "main" or a key
	Model           string
	Prompt          string
	AckMaxChars     int
	IsolatedSession bool
	LightContext    bool
	SkipWhenBusy    bool
	Timeout         time.Duration
	Gate            bool
	Start, End      string // active hours
	Zone            string // as written: "", user, local or an IANA name
	UserZone        string
	Workdir         string // where HEARTBEAT.md is looked for, besides the configuration directory
	Embedded        bool   // the agent has no argv: builtin answers
	// Visibility of one channel's heartbeats: channel, then account.
	Visible func(channel, account string) Visibility
}

// Visibility is what a channel shows of heartbeats.
type Visibility struct{ Ok, Alerts, Indicator bool }

// Engine wakes sessions.
type Engine struct {
	Store       *state.Store
	Clock       clock.Clock
	Turns       *agent.Turns
	Post        *deliver.Post
	Prompts     *prompts.Set
	Settings    func(agent string) Settings
	Agents      []string // configured; ["main"] when none is
	ConfigDir   string   // heartbeat.d/ and HEARTBEAT.md are here
	Environ     []string
	CronEnabled bool
	Seed        string // stable identity of this machine, for phases
}

// Wake is one session that wants attention.
type Wake struct {
	Agent      string
	SessionKey string
	Source     string // interval, manual, exec-event, cron, hook, background-task, …
	Reason     string // "requested" when empty
	Intent     string // scheduled, event, immediate, manual
	Due        time.Time
	Events     int // queued that it would show
}

// Plan is what there is to do now, and when to look again. Skips and deferrals
// say why; nothing is written. It is what tick --dry-run prints and what Do
// carries out.
type Plan struct {
	Wakes []Planned
	Next  time.Time // zero: nothing is foreseen
}

// Planned is one wake with the decision about it.
type Planned struct {
	Wake
	Run     bool
	Status  string    // "run", "skipped" or "deferred"
	Reason  string    // spec/heartbeat-automations.md 1.4, 1.6
	RetryAt time.Time // of a deferral
	Route   string    // where a reply would go, in words
}

// Converge writes the monitor rows that configuration asks for. Without a
// difference nothing is written.
func (e *Engine) Converge(ctx context.Context) error { return nil }

// Plan decides; extra are wakes by hand.
func (e *Engine) Plan(now time.Time, extra ...Wake) (Plan, error) { return Plan{}, nil }

// Do carries out one planned wake: records the skip, or runs the turn. It is
// called in a goroutine of its own for each agent.
func (e *Engine) Do(ctx context.Context, w Planned) (session.Turn, error) {
	return session.Turn{}, nil
}

// End is Turns.OnEnd: what follows from the end of a turn.
func (e *Engine) End(tx *state.Tx, t *session.Turn, reply string) error { return nil }
