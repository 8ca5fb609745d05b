package automation

import "time"

// Automation is one row of ledgers/automations.jsonl: a schedule or trigger
// with a payload (spec/heartbeat-automations.md 2.1).
type Automation struct {
	ID             string `json:"id"`
	DeclarationKey string `json:"declarationKey,omitempty"` // unique; adding it again is an edit
	Name           string `json:"name"`
	DisplayName    string `json:"displayName,omitempty"`
	Description    string `json:"description,omitempty"`
	AgentID        string `json:"agentId,omitempty"`
	SessionKey     string `json:"sessionKey,omitempty"`
	Owner          string `json:"owner,omitempty"`    // who made it: "operator", "config" (claw.toml), or agent:NAME
	Declared       string `json:"declared,omitempty"` // digest of the [[automation]] table it was made from; empty: by hand
	System         bool   `json:"system,omitempty"`
	Enabled        bool   `json:"enabled"`

	DeleteAfterRun bool      `json:"deleteAfterRun,omitempty"` // one-shots and on-exit only
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`

	Schedule Schedule `json:"schedule"`
	Pacing   *Pacing  `json:"pacing,omitempty"`
	Trigger  *Trigger `json:"trigger,omitempty"`

	SessionTarget string        `json:"sessionTarget,omitempty"` // main, isolated, current or session:ID
	WakeMode      string        `json:"wakeMode,omitempty"`      // now or next-heartbeat
	Payload       Payload       `json:"payload"`
	Delivery      *Delivery     `json:"delivery,omitempty"`
	FailureAlert  *FailureAlert `json:"failureAlert,omitempty"`

	Missed  MissedRule `json:"missed,omitzero"`
	Overlap Overlap    `json:"overlap,omitempty"` // empty: skip

	State State `json:"state"`
}

// Kind is what makes an automation run.
type Kind string

// The kinds of schedules. The first three have slots, the others are sources.
const (
	KindAt     Kind = "at"
	KindEvery  Kind = "every"
	KindCron   Kind = "cron"
	KindOnExit Kind = "on-exit"
	KindStream Kind = "stream"
	KindWatch  Kind = "watch"
	KindBoot   Kind = "boot" // once after each boot of the machine: @reboot
)

// Timed tells a kind that has slots.
func (k Kind) Timed() bool { return k == KindAt || k == KindEvery || k == KindCron }

// Schedule is when, or upon what, an automation runs.
type Schedule struct {
	Kind Kind `json:"kind"`

	At time.Time `json:"at,omitzero"` // at

	EveryMs  int64 `json:"everyMs,omitempty"`  // every
	AnchorMs int64 `json:"anchorMs,omitempty"` // every: a slot of its grid, Unix milliseconds; 0: the time of creation

	Expr      string `json:"expr,omitempty"`      // cron
	TZ        string `json:"tz,omitempty"`        // cron; empty: the zone of the host
	StaggerMs *int64 `json:"staggerMs,omitempty"` // cron; nil: the default for the expression, 0: exact

	Command string `json:"command,omitempty"` // on-exit
	Cwd     string `json:"cwd,omitempty"`     // on-exit, stream

	Argv          []string `json:"argv,omitempty"`          // stream
	Mode          string   `json:"mode,omitempty"`          // stream: line or match
	Match         string   `json:"match,omitempty"`         // stream, with mode match
	BatchMs       int64    `json:"batchMs,omitempty"`       // stream: 50 to 5000, 250
	MaxBatchBytes int64    `json:"maxBatchBytes,omitempty"` // stream: 1024 to 65536, 16384

	Dir       string `json:"dir,omitempty"`       // watch; absolute
	Recursive bool   `json:"recursive,omitempty"` // watch: what is below Dir too
	Glob      string `json:"glob,omitempty"`      // watch: only names like this, as path.Match has it
}

// Pacing bounds the next check that a run may ask for.
type Pacing struct {
	MinMs int64 `json:"min,omitempty"`
	MaxMs int64 `json:"max,omitempty"` // 0: no bound
}

// Trigger is a script that decides whether the payload runs.
type Trigger struct {
	Script string `json:"script"`
	Once   bool   `json:"once,omitempty"`
}

// PayloadKind is what an automation does.
type PayloadKind string

// The kinds of payloads.
const (
	PayloadEvent   PayloadKind = "systemEvent"
	PayloadTurn    PayloadKind = "agentTurn"
	PayloadCommand PayloadKind = "command"
)

// Payload is what an automation does; the fields beside Kind are those of its
// kind.
type Payload struct {
	Kind PayloadKind `json:"kind"`

	Text string `json:"text,omitempty"` // systemEvent

	Message      string   `json:"message,omitempty"` // agentTurn
	Model        string   `json:"model,omitempty"`
	Fallbacks    []string `json:"fallbacks,omitempty"`
	Thinking     string   `json:"thinking,omitempty"`
	LightContext bool     `json:"lightContext,omitempty"`
	// Tools an agent may use: ["*"] of an operator, a list of an agent, which
	// no agent can widen; nil: nothing is said, empty: none. See Actor.
	ToolsAllow []string `json:"toolsAllow,omitzero"`

	Argv                   []string          `json:"argv,omitempty"` // command
	Cwd                    string            `json:"cwd,omitempty"`
	Env                    map[string]string `json:"env,omitempty"`
	Input                  string            `json:"input,omitempty"`
	NoOutputTimeoutSeconds int               `json:"noOutputTimeoutSeconds,omitempty"`
	OutputMaxBytes         int64             `json:"outputMaxBytes,omitempty"`

	TimeoutSeconds *int `json:"timeoutSeconds,omitempty"` // nil: the default of the kind; 0 and less: none
}

// Timeout is how long a run may take; 0 is for ever (2.7).
func (p Payload) Timeout() time.Duration {
	switch {
	case p.TimeoutSeconds != nil:
		return max(0, time.Duration(*p.TimeoutSeconds)*time.Second)
	case p.Kind == PayloadTurn:
		return time.Hour
	}
	return 10 * time.Minute
}

// ModelFor is the model that an attempt asks, counted from 1: Model first, then
// the Fallbacks in turn, of which the last repeats. Empty is the agent's own.
func (p Payload) ModelFor(attempt int) string {
	if attempt <= 1 || len(p.Fallbacks) == 0 {
		return p.Model
	}
	return p.Fallbacks[min(attempt-1, len(p.Fallbacks))-1]
}

// Delivery is where a result goes (2.13).
type Delivery struct {
	Mode       string `json:"mode"` // none, announce or webhook
	Channel    string `json:"channel,omitempty"`
	To         string `json:"to,omitempty"`
	ThreadID   string `json:"threadId,omitempty"`
	AccountID  string `json:"accountId,omitempty"`
	URL        string `json:"url,omitempty"`
	BestEffort bool   `json:"bestEffort,omitempty"`
}

// FailureAlert overrides what is configured for failures of all automations.
type FailureAlert struct {
	Off             bool   `json:"off,omitempty"`
	After           int    `json:"after,omitempty"`
	CooldownMs      int64  `json:"cooldownMs,omitempty"`
	Mode            string `json:"mode,omitempty"`
	Channel         string `json:"channel,omitempty"`
	To              string `json:"to,omitempty"`
	AccountID       string `json:"accountId,omitempty"`
	IncludesSkipped bool   `json:"includeSkipped,omitempty"`
}

// MissedPolicy is what becomes of slots that were not run at their time.
type MissedPolicy string

// Skip records them, once runs the latest for all of them, all runs each.
const (
	MissedSkip MissedPolicy = "skip"
	MissedOnce MissedPolicy = "once"
	MissedAll  MissedPolicy = "all"
)

// MissedRule is the policy with its bounds.
type MissedRule struct {
	Policy   MissedPolicy `json:"policy,omitempty"`   // empty: by payload, see Automation.MissedPolicy
	Limit    int          `json:"limit,omitempty"`    // of all: the latest so many; 0: DefaultMissedLimit
	WindowMs int64        `json:"windowMs,omitempty"` // what is older is not made up; 0: however old
}

// DefaultMissedLimit is how many missed slots the policy all makes up.
const DefaultMissedLimit = 10

// Overlap is what becomes of a slot while an earlier run has not ended.
type Overlap string

// Skip records the slot, queue has it wait, replace stops the earlier run,
// allow runs both.
const (
	OverlapSkip    Overlap = "skip"
	OverlapQueue   Overlap = "queue"
	OverlapReplace Overlap = "replace"
	OverlapAllow   Overlap = "allow"
)

// State is what the scheduler knows about an automation.
type State struct {
	Settled     time.Time `json:"settledAt"`             // every slot up to here has been decided
	ScheduleRev int       `json:"scheduleRev,omitempty"` // grows with every change of the schedule
	Decided     time.Time `json:"decidedAt,omitzero"`    // what Settled was before a clock that is set back by hours; zero: it was not

	PacedAt      time.Time `json:"pacedNextRunAt,omitzero"` // the next check that a run asked for
	BackoffUntil time.Time `json:"backoffUntil,omitzero"`   // after failures: no slot runs before

	LastRunAt      time.Time `json:"lastRunAt,omitzero"` // its start
	LastEndAt      time.Time `json:"lastEndAt,omitzero"`
	LastStatus     Status    `json:"lastStatus,omitempty"`
	LastError      string    `json:"lastError,omitempty"`
	LastCategory   Category  `json:"lastErrorReason,omitempty"`
	LastDurationMs int64     `json:"lastDurationMs,omitempty"`

	ConsecutiveErrors int `json:"consecutiveErrors,omitempty"`
	ConsecutiveSkips  int `json:"consecutiveSkipped,omitempty"`

	SkipsToldAt time.Time `json:"skipsToldAt,omitzero"` // when a person was last told that it is skipped all the time

	ScheduleErrors  int       `json:"scheduleErrorCount,omitempty"`
	ScheduleError   string    `json:"scheduleError,omitempty"`
	ScheduleErrorAt time.Time `json:"scheduleErrorAt,omitzero"`

	LastDelivery      DeliveryStatus `json:"lastDeliveryStatus,omitempty"`
	LastDeliveryError string         `json:"lastDeliveryError,omitempty"`
	AlertedAt         time.Time      `json:"lastFailureAlertAt,omitzero"`
	Incident          string         `json:"failureAlertIncident,omitempty"` // the signature of what was alerted last; empty: all is well

	Quiet        int       `json:"triggerQuiet,omitempty"` // how often in a row the trigger script had nothing to do
	CheckedAt    time.Time `json:"triggerCheckedAt,omitzero"`
	TriggerState string    `json:"triggerState,omitempty"` // what the script wants to be given again; JSON, at most 16 KiB
	TriggerRev   int       `json:"triggerRev,omitempty"`   // grows with every change of the script

	AutoDisabled *AutoDisabled `json:"autoDisabled,omitempty"`
}

// AutoDisabled says why the scheduler switched an automation off.
type AutoDisabled struct {
	Reason string    `json:"reason"` // one of the Reasons of Finish, StreamEnded, OnExitEnded and Watched
	At     time.Time `json:"at"`
	Errors int       `json:"consecutiveErrors,omitempty"`
}

// MissedPolicy is the policy that counts: once for one-shots, commands and
// reminders, skip for agent turns, which are not replayed after a restart
// (seed 003 section 8).
func (a Automation) MissedPolicy() MissedPolicy {
	switch {
	case a.Missed.Policy != "":
		return a.Missed.Policy
	case a.Payload.Kind == PayloadTurn && a.Schedule.Kind != KindAt:
		return MissedSkip
	}
	return MissedOnce
}

// OverlapPolicy is the policy that counts: skip; but queue for one-shots, which
// have no other slot: a run by hand must not use it up (openclaw 83538).
func (a Automation) OverlapPolicy() Overlap {
	switch {
	case a.Overlap != "":
		return a.Overlap
	case a.Schedule.Kind == KindAt:
		return OverlapQueue
	}
	return OverlapSkip
}

// held tells what is not made up while the machine still comes up: turns of
// agents, and reminders that wake one at once (2.10).
func (a Automation) held() bool {
	return a.Payload.Kind == PayloadTurn || a.Payload.Kind == PayloadEvent && a.WakeMode != "next-heartbeat"
}
