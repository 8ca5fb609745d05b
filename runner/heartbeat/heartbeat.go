package heartbeat

import (
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/state"
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

// The statuses of a planned wake.
const (
	Running  = "run"
	Skipped  = "skipped"  // not now; the reason says whether it will be looked at again
	Deferred = "deferred" // not before RetryAt
)

// Planned is one wake with the decision about it.
type Planned struct {
	Wake
	Run     bool
	Status  string    // Running, Skipped or Deferred
	Reason  string    // spec/heartbeat-automations.md 1.4, 1.6; of a run the wake's own
	Retry   bool      // of a skip: the wake stays, for what is busy will not be for ever
	RetryAt time.Time // of a deferral and of a retried skip: when to look again
	// Relay: its session has been given up. What it would show is sent to the
	// person as it is, and no agent is started.
	Relay bool
	Route string // where a reply would go, in words: "inbox", "mail:me", "nowhere (target none)"
	// Says are the events that it would show, one line each, the next first.
	Says []string
}
