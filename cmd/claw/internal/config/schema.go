package config

import "strings"

// kind is what a value must be and how it is written.
type kind int

const (
	whole    kind = iota // *int64
	seconds              // *int64; zero or less is no limit, capped at what a 32-bit millisecond timer holds
	size                 // *int64 bytes; "64MiB" or a number of bytes
	boolean              // *bool
	text                 // *string
	choice               // *string, one of rule.oneOf
	choices              // *[]string, each one of rule.oneOf
	path                 // *string, absolute or ~/…
	paths                // *[]string, each absolute or ~/…
	every                // *time.Duration; "30m", a bare number is minutes, zero or less disables
	clock                // *string, HH:MM
	clockEnd             // *string, HH:MM or 24:00
	argv                 // *[]string, the first is the program
	argvs                // *[][]string, one argv or a list of them
	environ              // *map[string]string
	list                 // *[]string, any strings
	wholes               // *[]int64
	span                 // *time.Duration; "30m", must be one; 0 is not set
	keep                 // *time.Duration; "24h", or false for ever
	secret               // *string that is not shown
)

// rule is what is allowed for one key.
type rule struct {
	name     string // relative to the table the field list belongs to
	kind     kind
	min, max int64    // whole and size; both zero: any value
	clamp    bool     // out of range is moved to the bound, with a warning, instead of refused
	oneOf    []string // choice, choices
	later    []string // known values that claw does not have: refused by name
	help     string
}

// field is a rule and the place its value goes to, a pointer of the kind's type.
type field[T any] struct {
	rule
	at func(*T) any
}

func find[T any](fields []field[T], name string) *field[T] {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// below lists the next word of every key under a table, once, in the order of
// the schema. prefix is "" or ends in a dot.
func below[T any](fields []field[T], prefix string) (names []string) {
	for i := range fields {
		rest, ok := strings.CutPrefix(fields[i].name, prefix)
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(rest, ".")
		if len(names) == 0 || names[len(names)-1] != word {
			names = append(names, word)
		}
	}
	return names
}

// timerSeconds is the longest life a 32-bit millisecond timer can hold, about
// 24.8 days (spec/exec-process.md 1.1).
const timerSeconds = 2147483

// rootFields are the keys outside [agents] and [channels].
var rootFields = []field[Config]{
	{rule{
		name: "tools.deny", kind: choices, oneOf: []string{"process"},
		help: `Tools that agents may not use. With "process" every exec runs to its end, and says so when it was asked not to.`,
	}, func(c *Config) any { return &c.Tools.Deny }},
	{rule{
		name: "tools.exec.backgroundMs", kind: whole, min: 10, max: 120_000, clamp: true,
		help: "Milliseconds an exec waits for its command before it goes on in the background. Set here, it also holds outside an agent's turn.",
	}, func(c *Config) any { return &c.Tools.Exec.BackgroundMs }},
	{rule{
		name: "tools.exec.timeoutSeconds", kind: seconds,
		help: "Seconds a command may live, from its start, also in the background.",
	}, func(c *Config) any { return &c.Tools.Exec.TimeoutSeconds }},
	{rule{
		name: "tools.exec.cleanupMs", kind: whole, min: 60_000, max: 10_800_000, clamp: true,
		help: "Milliseconds a finished process stays in process list.",
	}, func(c *Config) any { return &c.Tools.Exec.CleanupMs }},
	{rule{
		name: "tools.exec.notifyOnExit", kind: boolean,
		help: "The end of a background process is an event that wakes its session.",
	}, func(c *Config) any { return &c.Tools.Exec.NotifyOnExit }},
	{rule{
		name: "tools.exec.notifyOnExitEmptySuccess", kind: boolean,
		help: "A success without any output is an event too.",
	}, func(c *Config) any { return &c.Tools.Exec.NotifyOnExitEmptySuccess }},
	{rule{
		name: "tools.exec.pathPrepend", kind: paths,
		help: "Directories put in front of PATH for commands.",
	}, func(c *Config) any { return &c.Tools.Exec.PathPrepend }},
	{rule{
		name: "tools.exec.maxOutput", kind: size, min: 64 << 10, max: 1 << 50,
		help: "Output of one process kept on disk, head and tail; what lies between is counted and dropped.",
	}, func(c *Config) any { return &c.Tools.Exec.MaxOutput }},
	{rule{
		name: "tools.exec.maxOutputChars", kind: whole, min: 1000, max: 200_000,
		help: "Characters of output that one log or result shows.",
	}, func(c *Config) any { return &c.Tools.Exec.MaxOutputChars }},
	{rule{
		name: "tools.exec.pendingMaxOutputChars", kind: whole, min: 1000, max: 200_000,
		help: "Characters of unread output of a stream that one poll shows; never more than maxOutputChars.",
	}, func(c *Config) any { return &c.Tools.Exec.PendingMaxOutputChars }},
	{rule{
		name: "tools.exec.inputWaitIdleMs", kind: whole, min: 1000, max: 600_000,
		help: "Milliseconds of silence after which a process with open input counts as waiting for it.",
	}, func(c *Config) any { return &c.Tools.Exec.InputWaitIdleMs }},
	{rule{
		name: "tools.exec.onSupervisorLoss", kind: choice, oneOf: []string{"leave", "kill"},
		help: "What happens to a command whose supervisor died: it is left alone and listed, or ended.",
	}, func(c *Config) any { return &c.Tools.Exec.OnSupervisorLoss }},
	{rule{
		name: "tools.exec.host", kind: choice, oneOf: []string{"auto", "gateway"}, later: []string{"node", "sandbox"},
		help: "Where commands run. Both values are this machine.",
	}, func(c *Config) any { return &c.Tools.Exec.Host }},
	{rule{
		name: "state.outputBudget", kind: size, min: 1 << 20, max: 1 << 50,
		help: "Output of all finished processes kept on disk; the oldest goes first.",
	}, func(c *Config) any { return &c.State.OutputBudget }},
	{rule{
		name: "state.retentionDays", kind: whole, min: 1, max: 3650,
		help: "Days a finished task and its output are kept.",
	}, func(c *Config) any { return &c.State.RetentionDays }},
	{rule{
		name: "state.unsafeFs", kind: boolean,
		help: "Accept a state directory on a network file system, whose locks cannot be trusted.",
	}, func(c *Config) any { return &c.State.UnsafeFs }},
	{rule{
		name: "wake.onExit", kind: choice, oneOf: []string{"auto", "runner", "off"},
		help: "Who acts when a background process ends: its supervisor starts one tick, the runner does it, or the next tick.",
	}, func(c *Config) any { return &c.Wake.OnExit }},
	{rule{
		name: "runner.inhibitSleep", kind: choice, oneOf: []string{"auto", "off"},
		help: "Whether the runner keeps the machine from going to sleep while turns or commands run, by systemd-inhibit or caffeinate where there is one.",
	}, func(c *Config) any { return &c.Runner.InhibitSleep }},
	{rule{
		name: "runner.safeMode", kind: choice, oneOf: []string{"auto", "off"},
		help: "Whether nothing begins by itself for five minutes after a runner has died three times within five minutes.",
	}, func(c *Config) any { return &c.Runner.SafeMode }},
	{rule{
		name: "cron.enabled", kind: boolean,
		help: "Run automations and scheduled heartbeats. Events and manual runs work either way.",
	}, func(c *Config) any { return &c.Cron.Enabled }},
	{rule{
		name: "cron.maxConcurrentRuns", kind: whole, min: 1, max: 64,
		help: "Agents that automations may ask at the same time.",
	}, func(c *Config) any { return &c.Cron.MaxConcurrentRuns }},
	{rule{
		name: "cron.maxConcurrentCommands", kind: whole, min: 0, max: 100_000,
		help: "Commands of automations that may run at the same time; 0 is no limit.",
	}, func(c *Config) any { return &c.Cron.MaxConcurrentCommands }},
	{rule{
		name: "cron.skipMissedJobs", kind: boolean,
		help: "Make up no time that passed while nothing was at work, whatever an automation says; only what was to run once runs late.",
	}, func(c *Config) any { return &c.Cron.SkipMissedJobs }},
	{rule{
		name: "cron.retry.maxAttempts", kind: whole, min: 0, max: 100,
		help: "Further attempts after a failure that may pass by itself.",
	}, func(c *Config) any { return &c.Cron.Retry.MaxAttempts }},
	{rule{
		name: "cron.retry.backoffSeconds", kind: wholes, min: 1, max: timerSeconds,
		help: "Seconds before the first of them, the second and so on; the last one repeats. When absent 30, 60, 300, 900, 3600.",
	}, func(c *Config) any { return &c.Cron.Retry.BackoffSeconds }},
	{rule{
		name: "cron.retry.retryOn", kind: choices, oneOf: []string{"rate_limit", "overloaded", "network", "timeout", "server_error"},
		help: "Failures that are tried again; all of these when absent.",
	}, func(c *Config) any { return &c.Cron.Retry.RetryOn }},
	{rule{
		name: "cron.failureAlert.enabled", kind: boolean,
		help: "Whether a person is told of failures of automations. Without any key of failureAlert, the first in a row is told where the results go.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.Enabled }},
	{rule{
		name: "cron.failureAlert.after", kind: whole, min: 1, max: 1000,
		help: "After so many failures in a row.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.After }},
	{rule{
		name: "cron.failureAlert.cooldownSeconds", kind: whole, min: 0, max: timerSeconds,
		help: "Not again for so many seconds.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.CooldownSeconds }},
	{rule{
		name: "cron.failureAlert.mode", kind: choice, oneOf: []string{"announce", "webhook"},
		help: "Whether it is sent on a channel, or posted.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.Mode }},
	{rule{
		name: "cron.failureAlert.channel", kind: text,
		help: "Where; the automation's own way when absent.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.Channel }},
	{rule{
		name: "cron.failureAlert.to", kind: text,
		help: "Recipient there.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.To }},
	{rule{
		name: "cron.failureAlert.accountId", kind: text,
		help: "Account there.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.AccountID }},
	{rule{
		name: "cron.failureAlert.includeSkipped", kind: boolean,
		help: "Runs that were skipped count too.",
	}, func(c *Config) any { return &c.Cron.FailureAlert.IncludeSkipped }},
	{rule{
		name: "cron.webhookToken", kind: secret,
		help: "Bearer token with which finished runs are posted.",
	}, func(c *Config) any { return &c.Cron.WebhookToken }},
	{rule{
		name: "cron.webhookTokenFile", kind: path,
		help: "File that holds that token, read whenever one is posted.",
	}, func(c *Config) any { return &c.Cron.WebhookTokenFile }},
	{rule{
		name: "cron.webhookAllowPrivate", kind: boolean,
		help: "Post finished runs also to this machine and to private networks.",
	}, func(c *Config) any { return &c.Cron.WebhookAllowPrivate }},
	{rule{
		name: "cron.sessionRetention", kind: keep,
		help: "How long the session of an automation that was removed is kept, and that of a hook in which nothing happens.",
	}, func(c *Config) any { return &c.Cron.SessionRetention }},
	{rule{
		name: "hooks.enabled", kind: boolean,
		help: "Let the runner listen for webhooks.",
	}, func(c *Config) any { return &c.Hooks.Enabled }},
	{rule{
		name: "hooks.listen", kind: text,
		help: "Where to listen: 127.0.0.1:PORT or unix:PATH.",
	}, func(c *Config) any { return &c.Hooks.Listen }},
	{rule{
		name: "hooks.path", kind: text,
		help: "Base path of the webhooks; not /.",
	}, func(c *Config) any { return &c.Hooks.Path }},
	{rule{
		name: "hooks.tokenFile", kind: path,
		help: "File that holds the bearer token.",
	}, func(c *Config) any { return &c.Hooks.TokenFile }},
	{rule{
		name: "hooks.public", kind: boolean,
		help: "Listen also on an address that others than this machine can reach. There is no TLS: put a proxy in front.",
	}, func(c *Config) any { return &c.Hooks.Public }},
	{rule{
		name: "hooks.agent", kind: text,
		help: "The agent that is asked where a webhook names none; main, or else the first, when absent.",
	}, func(c *Config) any { return &c.Hooks.Agent }},
	{rule{
		name: "hooks.allowRequestSessionKey", kind: boolean,
		help: "Whether whoever posts a webhook may name the session.",
	}, func(c *Config) any { return &c.Hooks.ChooseKey }},
	{rule{
		name: "hooks.allowedSessionKeyPrefixes", kind: list,
		help: "How a session must begin that is named so; hook: when absent.",
	}, func(c *Config) any { return &c.Hooks.Prefixes }},
	{rule{
		name: "hooks.presets", kind: choices, oneOf: []string{"gmail"},
		help: "Mappings that claw knows, behind those of [hooks.mappings]: gmail takes what gog and Pub/Sub post to PATH/gmail.",
	}, func(c *Config) any { return &c.Hooks.Presets }},
	{rule{
		name: "hooks.tools", kind: list,
		help: "Tools that agents may use for what comes from outside; all when absent, none when empty.",
	}, func(c *Config) any { return &c.Hooks.Tools }},
	{rule{
		name: "hooks.idempotencyWindow", kind: span,
		help: "How long after its end the same request under the same key is still taken for a repetition; at most 24h.",
	}, func(c *Config) any { return &c.Hooks.IdempotencyWindow }},
}

// foreign are the seeds' keys that claw does not have, and what to do instead.
// A name covers everything below it.
var foreign = []struct{ name, remedy string }{
	{"tools.exec.timeoutSec", "renamed: use timeoutSeconds"},
	{"tools.exec.timeout", "use timeoutSeconds"},
	{"tools.exec.node", "claw runs commands on this machine only; remove it"},
	{"tools.exec.mode", "claw has no approvals; remove it"},
	{"tools.exec.security", "claw has no approvals; remove it"},
	{"tools.exec.ask", "claw has no approvals; remove it"},
	{"tools.exec.safeBins", "claw has no approvals; remove it"},
	{"tools.exec.strictInlineEval", "claw has no approvals; remove it"},
	{"tools.exec.approvalRunningNoticeMs", "claw has no approvals; remove it"},
	{"tools.elevated", "claw has no sandbox to leave; remove it"},
	{"tools.loopDetection", "claw does not have it yet; remove it"},
	{"heartbeat.includeReasoning", "an agent of claw answers with one reply; remove it"},
	{"heartbeat.suppressToolErrorWarnings", "an agent of claw answers with one reply; remove it"},
	{"heartbeat.directPolicy", "claw's channels do not tell direct messages apart; remove it"},
}

// foreignRemedy finds a key of the seeds by its name relative to its table.
func foreignRemedy(name string) (remedy string, ok bool) {
	for _, f := range foreign {
		if f.name == name {
			return f.remedy, true
		}
	}
	return "", false
}
