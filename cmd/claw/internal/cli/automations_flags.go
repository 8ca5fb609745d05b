package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
)

// automationWhen are the flags that say when.
type automationWhen struct {
	At      string `help:"Once, at this time: 2026-12-01T09:00 (UTC unless --tz says otherwise), or +20m." placeholder:"TIME"`
	Every   string `help:"At this interval: 30m, 6h, 1h30m." placeholder:"INTERVAL"`
	Cron    string `help:"By a cron expression of 5, 6 (seconds first) or 7 fields, or a nickname such as @daily or @reboot." placeholder:"EXPR"`
	TZ      string `name:"tz" help:"Time zone of the schedule; default the host's, for times UTC." placeholder:"ZONE"`
	Stagger string `help:"Spread it over so long a time after the expression." placeholder:"DURATION"`
	Exact   bool   `help:"Run at the second: expressions for each full hour are spread over 5 minutes otherwise."`

	OnExit    string `name:"on-exit" help:"When this command line, which claw runs by the shell, has ended." placeholder:"COMMAND"`
	OnExitCwd string `name:"on-exit-cwd" help:"Directory of that command; default this one." placeholder:"DIR"`

	StreamCommand       string `help:"For what this command line, which claw keeps running, prints." placeholder:"COMMAND"`
	StreamCwd           string `help:"Directory of that command; default this one." placeholder:"DIR"`
	StreamMode          string `help:"Which lines of it count: line (all of them) or match." enum:",line,match" default:"" placeholder:"MODE"`
	StreamMatch         string `help:"Only lines that this regular expression fits." placeholder:"REGEX"`
	StreamBatchMs       int64  `help:"Put lines together over so many milliseconds (default 250)." placeholder:"MS"`
	StreamMaxBatchBytes int64  `help:"Put together at most so many bytes (default 16384)." placeholder:"N"`

	Watch     string `help:"When something changes in this directory." placeholder:"DIR"`
	Recursive bool   `help:"With --watch: below it too."`
	Glob      string `help:"With --watch: only files with such names, as '*.csv'." placeholder:"PATTERN"`

	PacingMin     string `help:"A run that asks for its next check gets it no sooner than this." placeholder:"DURATION"`
	PacingMax     string `help:"And no later." placeholder:"DURATION"`
	TriggerScript string `help:"Shell script that decides each time whether there is anything to do: it prints {\"fire\": true} or false." placeholder:"TEXT"`
	TriggerOnce   bool   `help:"With --trigger-script: switch it off after the first success."`
}

// automationWhat are the flags that say what.
type automationWhat struct {
	Name           string `help:"What it is called; default from what it does." placeholder:"NAME"`
	DisplayName    string `help:"What messages call it." placeholder:"TEXT"`
	DeclarationKey string `help:"Adding one with the same key again changes it, and makes no second one." placeholder:"KEY"`
	Description    string `help:"What it is for." placeholder:"TEXT"`

	Command  string `help:"Run a command line, by sh -lc." placeholder:"TEXT"`
	Message  string `help:"Ask an agent this, in a turn of its own." placeholder:"TEXT"`
	Reminder string `help:"Tell the agent's main session this, and wake it." aliases:"system-event" placeholder:"TEXT"`
	Event    string `help:"Tell the agent's main session this in its next turn." placeholder:"TEXT"`

	Cwd             string   `help:"Directory of the command; default this one." aliases:"command-cwd" placeholder:"DIR"`
	Env             []string `help:"Variable of the command; may be repeated. It is kept in the state directory." aliases:"command-env" placeholder:"NAME=VALUE" sep:"none"`
	Input           string   `help:"What the command finds on its stdin." aliases:"command-input" placeholder:"TEXT"`
	NoOutputTimeout int64    `help:"End a command that has printed nothing for so many seconds." aliases:"no-output-timeout-seconds" placeholder:"SEC"`
	OutputMaxBytes  string   `help:"Tell so much of what a command prints." placeholder:"SIZE"`

	Agent        string   `help:"Which agent; default main, else the first configured." placeholder:"NAME"`
	Session      string   `help:"Where the agent is asked: isolated (each time anew), current, session:ID or a key." placeholder:"KEY"`
	Model        string   `help:"Model, for agents whose command has {model}." placeholder:"NAME"`
	Fallbacks    []string `help:"Models that further attempts ask, in turn." aliases:"fallback" placeholder:"NAME,..."`
	Thinking     string   `help:"For agents whose command has {thinking}." placeholder:"LEVEL"`
	Tools        *string  `help:"Tools the agent may use, with commas between them; \"\" is none. Default all; from within a turn, that turn's." placeholder:"NAME,..."`
	LightContext bool     `help:"Leave out what the agent is told besides."`

	Timeout *float64 `help:"End a run after so many seconds; 0 never (default 600, of agents 3600)." aliases:"timeout-seconds" placeholder:"SEC"`
}

// automationHow are the flags that say how, and what becomes of the result.
type automationHow struct {
	Missed       string `help:"What becomes of times that passed while nothing was at work: skip, once or all." enum:",skip,once,all" default:"" placeholder:"POLICY"`
	MissedLimit  int64  `help:"With --missed all, at most so many (default 10)." placeholder:"N"`
	MissedWindow string `help:"What is later than this is not made up." placeholder:"DURATION"`
	Overlap      string `help:"While a run goes on: skip, queue (default of --at), replace or allow." enum:",skip,queue,replace,allow" default:"" placeholder:"POLICY"`

	Announce   string `help:"Send what comes of it there; default where the agent was last spoken to, else the default channel." placeholder:"CHANNEL[:TO]"`
	ThreadID   string `name:"thread-id" help:"Thread on that channel." placeholder:"ID"`
	Account    string `help:"Account on that channel." placeholder:"ID"`
	Webhook    string `help:"Post the finished run there; with --announce, besides." placeholder:"URL"`
	NoDeliver  bool   `help:"Send nothing; the runs are on record."`
	BestEffort bool   `help:"A message that cannot be delivered is no failure." aliases:"best-effort-deliver"`

	KeepAfterRun   bool `help:"Keep a one-shot when it has run, switched off."`
	DeleteAfterRun bool `help:"With --on-exit: take it away when it has run. One-shots go by themselves."`

	FailureAlert          *bool  `help:"Tell a person of failures." negatable:""`
	FailureAlertAfter     int64  `help:"After so many in a row." placeholder:"N"`
	FailureAlertCooldown  string `help:"Not again for so long." placeholder:"DURATION"`
	FailureAlertMode      string `help:"How: announce or webhook." enum:",announce,webhook" default:"" placeholder:"MODE"`
	FailureAlertChannel   string `help:"Where." placeholder:"CHANNEL[:TO]"`
	FailureAlertTo        string `help:"Recipient there." placeholder:"TO"`
	FailureAlertAccountID string `name:"failure-alert-account-id" help:"Account there." placeholder:"ID"`
	FailureAlertSkipped   bool   `name:"failure-alert-include-skipped" help:"Runs that were skipped count too."`
}

// automationFlags are those that claw cron add and edit share.
type automationFlags struct {
	automationWhen
	automationWhat
	automationHow
}

// typed are the flags with the words that stand beside them.
type typed struct {
	*automationFlags
	command string   // "add" or "edit"
	when    string   // the positional schedule
	argv    []string // behind --
}

func (t typed) refuse(text string, remedy ...string) error {
	return usagef("automations "+t.command+": "+text, remedy...)
}

// onto puts what was typed in its place; what was not stays.
func (t typed) onto(a *app, s *scheduler.Scheduler, to *config.Automation) error {
	for _, step := range [...]func() error{
		func() error { return t.ontoWhen(to) },
		func() error { return t.ontoSource(to) },
		func() error { return notOwnState(s, t.Watch, to.Watch) },
		func() error { return t.ontoWhat(to) },
		func() error { return t.knownAgent(a) },
		func() error { return t.ontoCommand(to) },
		func() error { return t.ontoHow(to) },
		func() error { return t.ontoDelivery(s, to) },
		func() error { return t.ontoAlert(s, to) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// said is a flag that is one of several, and what was typed behind it.
type said struct{ flag, value string }

func sayings(all ...said) (out []said) {
	for _, s := range all {
		if s.value != "" {
			out = append(out, s)
		}
	}
	return out
}

// several lists what exclude one another, as they were typed.
func several(all []said) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = strings.TrimSpace(s.flag + " " + fmt.Sprintf("%q", s.value))
	}
	return strings.Join(words, ", ")
}

const oneSchedule = `one of "0 9 * * 1-5", --at +20m, --every 6h, --cron '0 9 * * 1-5', --on-exit, --stream-command and --watch`

func (t typed) ontoWhen(to *config.Automation) error {
	given := sayings(said{"", t.when}, said{"--at", t.At}, said{"--every", t.Every}, said{"--cron", t.Cron},
		said{"--on-exit", t.OnExit}, said{"--stream-command", t.StreamCommand}, said{"--watch", t.Watch})
	switch {
	case len(given) > 1:
		return t.refuse(fmt.Sprintf("there are %d schedules: %s", len(given), several(given)), oneSchedule)
	case len(given) == 1:
		to.ClearSchedule(t.Cron != "" && !isReboot(t.Cron))
		to.Schedule, to.At, to.Every, to.Cron, to.OnExit = t.when, t.At, t.Every, t.Cron, t.OnExit
		if isReboot(t.Cron) {
			to.Schedule, to.Cron = t.Cron, ""
		}
	case !to.HasSchedule():
		return t.refuse("no schedule is given", oneSchedule)
	}
	set(&to.TZ, t.TZ)
	if err := t.ontoSpread(to); err != nil {
		return err
	}
	return t.durations(duration{"--pacing-min", t.PacingMin, &to.PacingMin}, duration{"--pacing-max", t.PacingMax, &to.PacingMax})
}

// ontoSpread is --stagger and --exact, which is a stagger of nothing.
func (t typed) ontoSpread(to *config.Automation) error {
	none := strings.TrimRight(t.Stagger, "msh") == "0"
	switch {
	case t.Exact && t.Stagger != "" && !none:
		return t.refuse("--exact and --stagger exclude one another", "leave one of them out")
	case t.Exact || none:
		to.Exact, to.Stagger = true, 0
		return nil
	case t.Stagger != "":
		to.Exact = false
	}
	return t.durations(duration{"--stagger", t.Stagger, &to.Stagger})
}

func isReboot(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "@reboot") }

// set stores what was typed, if anything was.
func set[T comparable](to *T, value T) {
	var none T
	if value != none {
		*to = value
	}
}

// duration is a flag that takes one, and where it goes.
type duration struct {
	flag, value string
	to          *time.Duration
}

func (t typed) durations(all ...duration) error {
	for _, d := range all {
		if d.value == "" {
			continue
		}
		every, err := automation.ParseEvery(d.value)
		if err != nil {
			return t.refuse(fmt.Sprintf("%s %q is no duration", d.flag, d.value), "write 30s, 5m or 6h")
		}
		*d.to = time.Duration(every.EveryMs) * time.Millisecond
	}
	return nil
}

// ontoSource is what runs an automation besides the clock.
func (t typed) ontoSource(to *config.Automation) error {
	onExitCwd, streamCwd := t.OnExitCwd, t.StreamCwd
	if t.OnExit != "" {
		set(&onExitCwd, firstOf(onExitCwd, "."))
	}
	if t.StreamCommand != "" {
		to.Stream = []string{"sh", "-lc", t.StreamCommand}
		set(&streamCwd, firstOf(streamCwd, "."))
	}
	set(&to.StreamMode, t.StreamMode)
	set(&to.StreamMatch, t.StreamMatch)
	set(&to.StreamBatchMs, t.StreamBatchMs)
	set(&to.StreamMaxBatchBytes, t.StreamMaxBatchBytes)
	set(&to.Recursive, t.Recursive)
	set(&to.Glob, t.Glob)
	set(&to.TriggerScript, t.TriggerScript)
	set(&to.TriggerOnce, t.TriggerOnce)
	for _, d := range [...]struct {
		flag, value string
		to          *string
	}{{"--on-exit-cwd", onExitCwd, &to.OnExitCwd}, {"--stream-cwd", streamCwd, &to.StreamCwd}, {"--watch", t.Watch, &to.Watch}} {
		if err := t.dir(d.flag, d.value, d.to); err != nil {
			return err
		}
	}
	return nil
}

// notOwnState refuses to watch what claw itself writes, which each run would
// change. typed is how the directory was written; empty: it was not.
func notOwnState(s *scheduler.Scheduler, typed, dir string) error {
	if typed == "" {
		return nil
	}
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil //nolint:nilerr // it is not there
	}
	own, err := filepath.EvalSymlinks(s.Store.Dir())
	if err != nil || at != own && !strings.HasPrefix(at, own+string(filepath.Separator)) {
		return nil //nolint:nilerr // there is no state yet
	}
	return &config.FieldError{Key: "watch", Text: fmt.Sprintf("watch %q is where claw keeps its state, and each run writes there", typed), Hint: "watch another directory"}
}

// dir stores a directory that was typed, absolute; one that is not there is
// refused.
func (t typed) dir(flag, value string, to *string) error {
	if value == "" {
		return nil
	}
	full, err := filepath.Abs(value)
	if err != nil {
		return err
	}
	if info, err := os.Stat(full); err != nil || !info.IsDir() {
		return t.refuse(fmt.Sprintf("%s %q is no directory", flag, value), "name one that exists")
	}
	*to = full
	return nil
}

const onePayload = "a program and its arguments behind --, or one of --command, --message, --reminder and --event"

func (t typed) ontoWhat(to *config.Automation) error {
	given := sayings(said{"--", strings.Join(t.argv, " ")}, said{"--command", t.Command}, said{"--message", t.Message}, said{"--reminder", t.Reminder}, said{"--event", t.Event})
	switch {
	case len(given) > 1:
		return t.refuse(fmt.Sprintf("there are %d things to do: %s", len(given), several(given)), onePayload)
	case len(given) == 1:
		to.ClearPayload(t.kind())
		to.Command, to.Argv, to.Message, to.Reminder, to.Event = t.Command, t.argv, t.Message, t.Reminder, t.Event
	case !to.HasPayload():
		return t.refuse("nothing is given to do", onePayload)
	}
	set(&to.Name, strings.TrimSpace(t.Name))
	set(&to.DisplayName, t.DisplayName)
	set(&to.Key, t.DeclarationKey)
	set(&to.Description, t.Description)
	set(&to.Agent, t.Agent)
	set(&to.Session, t.Session)
	set(&to.Model, t.Model)
	set(&to.Thinking, t.Thinking)
	set(&to.LightContext, t.LightContext)
	if len(t.Fallbacks) > 0 {
		to.Fallbacks = t.Fallbacks
	}
	if t.Tools != nil {
		to.Tools = strings.FieldsFunc(*t.Tools, func(r rune) bool { return r == ',' || r == ' ' })
		if to.Tools == nil {
			to.Tools = []string{}
		}
	}
	return nil
}

// kind is what the payload is that was typed.
func (t typed) kind() automation.PayloadKind {
	switch {
	case t.Message != "":
		return automation.PayloadTurn
	case t.Reminder != "" || t.Event != "":
		return automation.PayloadEvent
	}
	return automation.PayloadCommand
}

func (t typed) ontoCommand(to *config.Automation) error {
	set(&to.Input, t.Input)
	set(&to.NoOutputTimeoutSeconds, t.NoOutputTimeout)
	if err := t.dir("--cwd", t.Cwd, &to.Cwd); err != nil {
		return err
	}
	if t.OutputMaxBytes != "" {
		n, err := process.ParseSize(t.OutputMaxBytes)
		if err != nil || n < 1 {
			return t.refuse(fmt.Sprintf("--output-max-bytes %q is not a size", t.OutputMaxBytes), "write 4096 or 64KiB")
		}
		to.OutputMaxBytes = n
	}
	if t.Timeout != nil {
		if *t.Timeout < 0 {
			return t.refuse(fmt.Sprintf("--timeout %v is less than nothing", *t.Timeout), "0 is no limit")
		}
		to.TimeoutSeconds = int64(*t.Timeout + 0.999)
	}
	return t.environment(to)
}

func (t typed) environment(to *config.Automation) error {
	for _, kv := range t.Env {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok:
			return t.refuse(fmt.Sprintf("--env %q has no =", kv), "--env NAME=VALUE")
		case strings.TrimSpace(name) == "":
			return t.refuse(fmt.Sprintf("--env %q has no name before its =", kv), "--env NAME=VALUE")
		}
		if err := process.CheckEnv([]string{kv}); err != nil {
			return t.refuse(fmt.Sprintf("--env %q: %v", kv, err), "take another name, of letters, digits and _", "-- env "+kv+" PROGRAM sets it for that program")
		}
		if to.Env == nil {
			to.Env = map[string]string{}
		}
		to.Env[name] = value
	}
	return nil
}

func (t typed) ontoHow(to *config.Automation) error {
	if set(&to.Missed, t.Missed); t.Missed != "" && t.Missed != "all" {
		to.MissedLimit = 0 // of all
	}
	switch {
	case t.MissedLimit != 0 && to.Missed != "all":
		return t.refuse("--missed-limit says nothing without --missed all", "give that too, or leave it out")
	case t.MissedWindow != "" && to.Missed == "skip":
		return t.refuse("--missed-window says nothing with --missed skip, which makes nothing up", "leave one of them out")
	}
	set(&to.MissedLimit, t.MissedLimit)
	set(&to.Overlap, t.Overlap)
	if t.KeepAfterRun && t.DeleteAfterRun {
		return t.refuse("--keep-after-run and --delete-after-run exclude one another", "leave one of them out")
	}
	once := runsOnce(to)
	// What was said of an earlier schedule means nothing for another one.
	to.KeepAfterRun = to.KeepAfterRun && once
	to.DeleteAfterRun = to.DeleteAfterRun && to.OnExit != ""
	switch {
	case t.KeepAfterRun && !once && to.OnExit == "":
		return t.refuse("--keep-after-run says nothing of what runs again and again", "leave it out: only what runs once goes by itself")
	case t.KeepAfterRun && once:
		to.KeepAfterRun = true
	case t.KeepAfterRun:
		to.DeleteAfterRun = false
	case t.DeleteAfterRun && once:
		to.KeepAfterRun = false
	case t.DeleteAfterRun:
		to.DeleteAfterRun = true
	}
	return t.durations(duration{"--missed-window", t.MissedWindow, &to.MissedWindow})
}

// runsOnce tells a one-shot, also one that is written as the schedule alone.
func runsOnce(to *config.Automation) bool {
	words := strings.Fields(to.Schedule)
	return to.At != "" || len(words) > 0 && len(words) < 3 && !strings.HasPrefix(words[0], "@") && !strings.EqualFold(words[0], "every")
}

// knownAgent refuses an agent that is not there, as other commands do.
func (t typed) knownAgent(a *app) error {
	if t.Agent == "" {
		return nil
	}
	return a.checkAgent("automations "+t.command, t.Agent)
}
