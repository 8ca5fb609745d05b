package config

import (
	"maps"
	"slices"
	"time"
)

// Config is everything a person can set, with defaults filled in.
// Times are in the unit their name ends in; sizes are bytes.
type Config struct {
	Tools    Tools
	State    State
	Wake     Wake
	Runner   Runner
	Cron     Cron
	Hooks    Hooks
	Agents   Agents
	Channels Channels
	// Automations are the [[automation]] tables as they are written; Declared
	// makes automations of them.
	Automations []Automation

	// Warnings are what was accepted but is not what was written: clamped
	// numbers, ignored environment integers.
	Warnings []Warning

	file    string    // the file that was looked for; "" when there is nowhere to look
	doc     *document // nil without a file
	origins []origin  // only what is not a default
}

// Tools is [tools].
type Tools struct {
	Exec Exec
	Deny []string // tools an agent may not use; "process" makes exec synchronous
}

// Denies tells whether a tool is switched off.
func (t Tools) Denies(tool string) bool { return slices.Contains(t.Deny, tool) }

// Exec is [tools.exec]; spec/exec-process.md 6 and 1.1.
type Exec struct {
	BackgroundMs             int64    // yield window, 10…120000, clamped
	TimeoutSeconds           int64    // whole life of a command; 0 no limit
	CleanupMs                int64    // how long a finished process stays listed, 60000…10800000, clamped
	NotifyOnExit             bool     // the end of a background process is an event
	NotifyOnExitEmptySuccess bool     // so is a success without output
	PathPrepend              []string // absolute directories put in front of PATH
	MaxOutput                int64    // bytes of output kept on disk for one process
	MaxOutputChars           int64    // characters one log or result shows, 1000…200000
	PendingMaxOutputChars    int64    // characters one poll shows of a stream, never above MaxOutputChars
	InputWaitIdleMs          int64    // silence after which an open process counts as waiting for input
	OnSupervisorLoss         string   // "leave" or "kill"
	Host                     string   // "auto" or "gateway", which are the same without a sandbox
}

// State is [state].
type State struct {
	OutputBudget  int64 // bytes of kept output of finished processes, oldest go first
	RetentionDays int64 // days a finished task and its output are kept
	UnsafeFs      bool  // work on a file system whose locks cannot be trusted
}

// Wake is [wake].
type Wake struct {
	OnExit string // "auto", "runner" or "off"; design.md section 4
}

// Runner is [runner].
type Runner struct {
	InhibitSleep string // "auto" or "off": the machine stays awake while something runs
	SafeMode     string // "auto" or "off"; spec/tasks-recovery.md 4.11
}

// Cron is [cron].
type Cron struct {
	Enabled               bool  // false, or CLAW_SKIP_CRON=1, stops everything that runs by the clock
	MaxConcurrentRuns     int64 // turns of agents
	MaxConcurrentCommands int64 // 0 no limit
	SkipMissedJobs        bool
	Retry                 Retry
	FailureAlert          Alert
	WebhookToken          string
	WebhookTokenFile      string        // absolute
	WebhookAllowPrivate   bool          // addresses of this machine and of private networks too
	SessionRetention      time.Duration // 0 for ever
}

// Retry is [cron.retry]; spec/heartbeat-automations.md 2.8.
type Retry struct {
	MaxAttempts    int64
	BackoffSeconds []int64
	RetryOn        []string
}

// Alert is [cron.failureAlert]; spec/heartbeat-automations.md 2.13. It counts
// when any key of it is set.
type Alert struct {
	Enabled         bool
	After           int64
	CooldownSeconds int64
	Mode            string
	Channel         string
	To, AccountID   string
	IncludeSkipped  bool
}

// Hooks is [hooks], the receiver of webhooks.
type Hooks struct {
	Enabled   bool
	Listen    string // "127.0.0.1:PORT" or "unix:PATH"
	Path      string // base path, never "/"
	TokenFile string // absolute path of the file with the bearer token
	Public    bool   // listen also where others than this machine can reach it
	Agent     string // asked where nobody is named; empty: main, or the first
	// ChooseKey: whoever posts may name a session that begins with one of
	// Prefixes.
	ChooseKey bool
	Prefixes  []string
	Presets   []string
	Mappings  []HookMapping // in the order of the file
	// Tools are those of turns that come from outside; nil: nothing is said.
	Tools []string
	// IdempotencyWindow is how long the key of a dispatch is known after its end.
	IdempotencyWindow time.Duration
}

// Agents is [agents]: Defaults is what an agent that is not named gets, and
// every entry has the defaults already merged under it, key by key.
type Agents struct {
	Defaults Agent
	Entries  map[string]Agent
}

// Names lists the configured agents, sorted.
func (a Agents) Names() []string { return slices.Sorted(maps.Keys(a.Entries)) }

// Agent is [agents.NAME]; design.md section 5.
type Agent struct {
	Command        []string          // argv; empty is the embedded agent
	Recover        []string          // argv for recovered turns; empty is Command
	Complete       []string          // argv for what is asked without tools; empty is Command
	Model          string            // fills {model}
	TimeoutSeconds int64             // one turn; 0 no limit
	Env            map[string]string // over the inherited environment; agent over defaults
	Workdir        string            // absolute; empty is the caller's
	Context        string            // "prompt" or "transcript"
	UserTimezone   string            // IANA name; empty is the machine's
	BeforeAgentRun [][]string        // argvs that may block a turn
	// AllowModelOverride and AllowedModels are what this agent may ask of others.
	AllowModelOverride bool
	AllowedModels      []string
	Subagents          Subagents
	Heartbeat          Heartbeat
	HasHeartbeat       bool // the block is written here, not only inherited: it decides who is enrolled
}

// Subagents is the subagents block of an agent; spec/tasks-recovery.md 6.5.
type Subagents struct {
	MaxSpawnDepth       int64
	MaxChildrenPerAgent int64
	MaxConcurrent       int64
	ArchiveAfterMinutes int64    // 0: never
	Tools               []string // what those that work as this agent may use; nil: all
}

// Heartbeat is the heartbeat block of an agent; spec/heartbeat-automations.md 1.1.
type Heartbeat struct {
	Every           time.Duration // 0 disabled
	Target          string        // "none", "last" or a channel
	To              string
	AccountID       string
	Session         string // "main" or a session key
	Model           string
	Prompt          string // empty is the embedded prompt
	AckMaxChars     int64
	IsolatedSession bool
	LightContext    bool
	SkipWhenBusy    bool
	TimeoutSeconds  int64 // 0: the agent's, else min(600, Every)
	Gate            bool  // start the agent only when a check or an event has something to say
	ActiveHours     ActiveHours
}

// ActiveHours is a window of the day, Start inclusive, End exclusive; both
// empty is always. A malformed bound is a warning and counts as empty (fail
// open, spec 1.5).
type ActiveHours struct {
	Start, End string // "HH:MM", End also "24:00"
	Timezone   string // empty or "user", "local", or an IANA name
}

// Channels is [channels]. Defaults stand in [channels.defaults].
type Channels struct {
	Default   string // where an alert goes that has nowhere else to go
	Heartbeat Visibility
	Entries   map[string]Channel
}

// Names lists the configured channels, sorted.
func (c Channels) Names() []string { return slices.Sorted(maps.Keys(c.Entries)) }

// Channel is [channels.NAME]; design.md section 5.
type Channel struct {
	Type           string            // "command" or a built-in
	Command        []string          // argv that gets the text on stdin
	Reconcile      []string          // argv that answers sent, not_sent or unresolved
	Failure        string            // what other exit codes mean: "not_sent" or "unknown"
	To             string            // recipient when a delivery names none
	URL            string            // for type webhook
	TimeoutSeconds int64             // one attempt
	Env            map[string]string // over the inherited environment
	Heartbeat      Visibility        // defaults already merged under it
	Accounts       map[string]Account
}

// Account is [channels.NAME.accounts.ID]; the channel is merged under it.
type Account struct {
	To        string
	Heartbeat Visibility
}

// Visibility says what of a heartbeat is shown on a channel.
type Visibility struct {
	ShowOk, ShowAlerts, UseIndicator bool
}

// defaults is the only place that knows a default value; Keys prints it.
func defaults() *Config {
	return &Config{
		Tools: Tools{Exec: Exec{
			BackgroundMs:          10_000,
			TimeoutSeconds:        1800,
			CleanupMs:             1_800_000,
			NotifyOnExit:          true,
			MaxOutput:             64 << 20,
			MaxOutputChars:        200_000,
			PendingMaxOutputChars: 30_000,
			InputWaitIdleMs:       15_000,
			OnSupervisorLoss:      "leave",
			Host:                  "auto",
		}},
		State:  State{OutputBudget: 2 << 30, RetentionDays: 7},
		Wake:   Wake{OnExit: "auto"},
		Runner: Runner{InhibitSleep: "auto", SafeMode: "auto"},
		Cron: Cron{
			Enabled: true, MaxConcurrentRuns: 1, SessionRetention: 24 * time.Hour,
			Retry: Retry{MaxAttempts: 3}, FailureAlert: Alert{Enabled: true, After: 2, CooldownSeconds: 3600, Mode: "announce"},
		},
		Hooks:    Hooks{Path: "/hooks", IdempotencyWindow: 5 * time.Minute},
		Agents:   Agents{Defaults: defaultAgent()},
		Channels: Channels{Default: "inbox", Heartbeat: defaultVisibility()},
	}
}

func defaultAgent() Agent {
	return Agent{
		TimeoutSeconds: 600,
		Context:        "prompt",
		Heartbeat: Heartbeat{
			Every:       30 * time.Minute,
			Target:      "last",
			Session:     "main",
			AckMaxChars: 300,
		},
		Subagents: Subagents{MaxSpawnDepth: 1, MaxChildrenPerAgent: 5, MaxConcurrent: 8, ArchiveAfterMinutes: 60},
	}
}

func defaultChannel() Channel {
	return Channel{Failure: "not_sent", TimeoutSeconds: 30, Heartbeat: defaultVisibility()}
}

func defaultVisibility() Visibility {
	return Visibility{ShowAlerts: true, UseIndicator: true}
}
