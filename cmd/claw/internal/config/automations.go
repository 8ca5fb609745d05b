package config

import (
	"errors"
	"time"

	"claw/state/automation"
)

// Automation is what a person writes of an automation: one [[automation]]
// table, the same as JSON, or the flags of claw cron add. Empty is not written;
// TimeoutSeconds is less than 0 then.
type Automation struct {
	Key, Name, DisplayName, Description string
	Enabled                             bool

	Schedule, At, Every, Anchor, Cron  string // one of them, but for Anchor, or:
	OnExit, OnExitCwd                  string
	Stream                             []string
	StreamCwd, StreamMode, StreamMatch string
	StreamBatchMs, StreamMaxBatchBytes int64
	Watch, Glob                        string
	Recursive                          bool
	TZ                                 string
	Stagger                            time.Duration
	Exact                              bool
	PacingMin, PacingMax               time.Duration
	TriggerScript                      string
	TriggerOnce                        bool

	Command                          string // one of these five
	Argv                             []string
	Message, Reminder, Event         string
	Cwd, Input                       string
	Env                              map[string]string
	TimeoutSeconds                   int64
	NoOutputTimeoutSeconds           int64
	OutputMaxBytes                   int64
	Agent, Session, Model, Thinking  string
	Fallbacks, Tools                 []string // Tools: nil is not written, empty is none
	LightContext                     bool
	Missed, Overlap                  string
	MissedLimit                      int64
	MissedWindow                     time.Duration
	KeepAfterRun, DeleteAfterRun     bool
	DeliveryMode, DeliveryChannel    string
	DeliveryTo, DeliveryThread       string
	DeliveryAccount, DeliveryURL     string
	DeliveryBestEffort               bool
	AlertEnabled, AlertSkipped       bool
	AlertAfter, AlertCooldownSeconds int64
	AlertMode, AlertChannel, AlertTo string
	AlertAccount                     string

	at    []string  // where it stands in a file: the section, and its number from 0
	wrong []located // with keys and values of its table
}

// NewAutomation is an automation of which nothing is written yet.
func NewAutomation() Automation {
	return Automation{Enabled: true, TimeoutSeconds: -1, AlertEnabled: true}
}

// FieldError says what is wrong with an automation, and by which key.
type FieldError struct {
	Key  string // in its table; empty: the whole is meant
	Text string
	Hint string
	Err  error // what it comes from, if anything

	near string // what was probably meant
}

func (e *FieldError) Error() string { return e.Text }

// Unwrap is what it comes from.
func (e *FieldError) Unwrap() error { return e.Err }

// Remedy is the hint.
func (e *FieldError) Remedy() string { return e.Hint }

// Build is Make, and automation.Validate. The error is a *FieldError.
func (a Automation) Build(now time.Time, zone automation.Zones) (automation.Automation, error) {
	out, err := a.Make(now, zone)
	if err != nil {
		return out, err
	}
	if err := automation.Validate(out, now, zone); err != nil {
		return out, a.located(err)
	}
	return out, nil
}

// Make makes an automation of what is written. What is not written is left to
// automation.New. The error is a *FieldError.
func (a Automation) Make(now time.Time, zone automation.Zones) (automation.Automation, error) {
	out := automation.Automation{
		DeclarationKey: a.Key, Name: a.Name, DisplayName: a.DisplayName, Description: a.Description,
		AgentID: a.Agent, Enabled: a.Enabled,
		Missed:  automation.MissedRule{Policy: automation.MissedPolicy(a.Missed), Limit: int(a.MissedLimit), WindowMs: a.MissedWindow.Milliseconds()},
		Overlap: automation.Overlap(a.Overlap),
	}
	for _, step := range [...]func(*automation.Automation, time.Time, automation.Zones) error{
		a.buildSchedule, a.buildExtras, a.buildPayload, a.buildTarget, a.buildDelivery, a.buildAlert,
	} {
		if err := step(&out, now, zone); err != nil {
			return out, a.located(err)
		}
	}
	return out, nil
}

// located finds the key that an error is about.
func (a Automation) located(err error) error {
	e, ok := errors.AsType[*automation.Error](err)
	if !ok {
		return err
	}
	return &FieldError{Key: a.keyOf(e.Field), Text: e.Error(), Hint: e.Hint, Err: err}
}

// keyOf is the key that a field of an automation.Error was written under.
func (a Automation) keyOf(field string) string {
	switch field {
	case "name", "at", "every", "session", "command", "message", "missed", "overlap", "watch":
		return field
	case "time zone":
		return "tz"
	case "on-exit":
		return "onExit"
	case "schedule", "cron expression":
		for _, k := range a.schedules() {
			return k.key
		}
	case "webhook":
		return "delivery.url"
	}
	for _, k := range [...]string{"stagger", "stream", "delivery", "pacing", "trigger", "event"} {
		if k == field {
			return k
		}
	}
	return ""
}

func wrong(key, text, hint string) error { return &FieldError{Key: key, Text: text, Hint: hint} }

func (a Automation) buildExtras(out *automation.Automation, _ time.Time, _ automation.Zones) error {
	if a.PacingMin != 0 || a.PacingMax != 0 {
		out.Pacing = &automation.Pacing{MinMs: a.PacingMin.Milliseconds(), MaxMs: a.PacingMax.Milliseconds()}
	}
	switch {
	case a.TriggerScript != "":
		out.Trigger = &automation.Trigger{Script: a.TriggerScript, Once: a.TriggerOnce}
	case a.TriggerOnce:
		return wrong("trigger.once", "trigger once without a trigger script", "give the script too, or leave it out")
	}
	return nil
}

// buildTarget is the session that is asked or told.
func (a Automation) buildTarget(out *automation.Automation, _ time.Time, _ automation.Zones) error {
	if a.Session == "" {
		return nil
	}
	return target(out, a.Session)
}

func (a Automation) buildDelivery(out *automation.Automation, _ time.Time, _ automation.Zones) error {
	d := automation.Delivery{
		Mode: a.DeliveryMode, Channel: a.DeliveryChannel, To: a.DeliveryTo, ThreadID: a.DeliveryThread,
		AccountID: a.DeliveryAccount, URL: a.DeliveryURL, BestEffort: a.DeliveryBestEffort,
	}
	if d == (automation.Delivery{}) {
		return nil
	}
	if d.To != "" && d.Channel == "" {
		return wrong("delivery.to", "a recipient without a channel", "name the channel too")
	}
	out.Delivery = &d
	return nil
}

func (a Automation) buildAlert(out *automation.Automation, _ time.Time, _ automation.Zones) error {
	f := automation.FailureAlert{
		Off: !a.AlertEnabled, After: int(a.AlertAfter), CooldownMs: a.AlertCooldownSeconds * 1000, Mode: a.AlertMode,
		Channel: a.AlertChannel, To: a.AlertTo, AccountID: a.AlertAccount, IncludesSkipped: a.AlertSkipped,
	}
	if f != (automation.FailureAlert{}) {
		out.FailureAlert = &f
	}
	return nil
}
