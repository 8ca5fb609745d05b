package config

import (
	"strings"
	"time"

	"claw/state/automation"
	"claw/state/process"
)

// payloads are those that are written.
func (a Automation) payloads() []given {
	return written(given{"command", a.Command}, given{"argv", strings.Join(a.Argv, " ")}, given{"message", a.Message},
		given{"reminder", a.Reminder}, given{"event", a.Event})
}

// HasPayload tells that one is written.
func (a Automation) HasPayload() bool { return len(a.payloads()) > 0 }

// Commands tells that what is written to do is a command.
func (a Automation) Commands() bool { return a.Command != "" || len(a.Argv) > 0 }

// ClearPayload takes away what is done, for something else. What belongs to
// commands stays if that is one too, and what belongs to messages; the tools of
// an agent stay as long as it is an agent's.
func (a *Automation) ClearPayload(next automation.PayloadKind) {
	command, turn := a.Commands(), a.Message != ""
	a.Command, a.Argv, a.Message, a.Reminder, a.Event = "", nil, "", "", ""
	if !command || next != automation.PayloadCommand {
		a.Cwd, a.Env, a.Input, a.NoOutputTimeoutSeconds, a.OutputMaxBytes = "", nil, "", 0, 0
	}
	if !turn || next != automation.PayloadTurn {
		a.Model, a.Thinking, a.Fallbacks, a.LightContext = "", "", nil, false
	}
	if command || next == automation.PayloadCommand {
		a.Tools = nil // else it stays limited: what an agent has made may use no more
	}
	if next == automation.PayloadEvent || !command && !turn {
		a.Session, a.DeliveryMode, a.TimeoutSeconds = "", "", -1
	}
}

func (a Automation) buildPayload(out *automation.Automation, _ time.Time, _ automation.Zones) error {
	keys := a.payloads()
	if len(keys) != 1 {
		return oneOf("nothing is given to do", "things to do", keys, "command, argv, message, reminder and event")
	}
	p := &out.Payload
	switch keys[0].key {
	case "command":
		p.Kind, p.Argv = automation.PayloadCommand, []string{"sh", "-lc", a.Command}
	case "argv":
		p.Kind, p.Argv = automation.PayloadCommand, a.Argv
	case "message":
		p.Kind, p.Message = automation.PayloadTurn, a.Message
	case "reminder":
		p.Kind, p.Text, out.WakeMode = automation.PayloadEvent, a.Reminder, "now"
	case "event":
		p.Kind, p.Text, out.WakeMode = automation.PayloadEvent, a.Event, "next-heartbeat"
	}
	p.Cwd, p.Env, p.Input = a.Cwd, a.Env, a.Input
	p.NoOutputTimeoutSeconds, p.OutputMaxBytes = int(a.NoOutputTimeoutSeconds), a.OutputMaxBytes
	p.Model, p.Fallbacks, p.Thinking, p.ToolsAllow, p.LightContext = a.Model, a.Fallbacks, a.Thinking, a.Tools, a.LightContext
	if a.TimeoutSeconds >= 0 {
		n := int(a.TimeoutSeconds)
		p.TimeoutSeconds = &n
	}
	for name := range a.Env {
		if err := process.CheckEnv([]string{name + "="}); err != nil {
			return wrong("env", err.Error(), "set it in the command itself: env "+name+"=... program")
		}
	}
	return a.foreignTo(p.Kind)
}

// foreignTo refuses what means nothing with a kind of payload.
func (a Automation) foreignTo(kind automation.PayloadKind) error {
	for _, f := range [...]struct {
		key  string
		set  bool
		kind automation.PayloadKind
		of   string
	}{
		{"cwd", a.Cwd != "", automation.PayloadCommand, "command"},
		{"env", len(a.Env) > 0, automation.PayloadCommand, "command"},
		{"input", a.Input != "", automation.PayloadCommand, "command"},
		{"noOutputTimeoutSeconds", a.NoOutputTimeoutSeconds != 0, automation.PayloadCommand, "command"},
		{"outputMaxBytes", a.OutputMaxBytes != 0, automation.PayloadCommand, "command"},
		{"model", a.Model != "", automation.PayloadTurn, "message"},
		{"fallbacks", len(a.Fallbacks) > 0, automation.PayloadTurn, "message"},
		{"thinking", a.Thinking != "", automation.PayloadTurn, "message"},
		{"lightContext", a.LightContext, automation.PayloadTurn, "message"},
	} {
		if f.set && f.kind != kind {
			return wrong(f.key, f.key+" means nothing without a "+f.of, "leave it out")
		}
	}
	if kind == automation.PayloadCommand && a.Tools != nil {
		return wrong("tools", "tools means nothing with a command", "leave it out")
	}
	if kind == automation.PayloadEvent && a.TimeoutSeconds >= 0 {
		return wrong("timeoutSeconds", "timeoutSeconds means nothing with a reminder or an event", "leave it out")
	}
	return nil
}
