package automation_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// good is one that is valid in every way.
func good() automation.Automation {
	return automation.Automation{
		Name: "backup", Enabled: true,
		Schedule: automation.Schedule{Kind: automation.KindCron, Expr: "30 2 * * *", TZ: "Europe/Berlin"},
		Payload:  automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"make"}},
	}
}

// spec/heartbeat-automations.md 2.2 and 2.3.
func TestValidate(t *testing.T) {
	now := at(t, "2026-11-30T12:00:00Z")
	negative, once := int64(-1), automation.Trigger{Script: "x"}
	set := func(change func(*automation.Automation)) automation.Automation {
		a := good()
		change(&a)
		return a
	}
	schedule := func(s automation.Schedule) automation.Automation {
		return set(func(a *automation.Automation) { a.Schedule = s })
	}
	payload := func(p automation.Payload, target string) automation.Automation {
		return set(func(a *automation.Automation) { a.Payload, a.SessionTarget = p, target })
	}
	event := automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
	turn := automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	for _, tt := range []struct {
		rule    string
		a       automation.Automation
		refused string
	}{
		{"a good one", good(), ""},
		{"blank name", set(func(a *automation.Automation) { a.Name = " " }), "name is blank"},
		{"a name of 200 characters", set(func(a *automation.Automation) { a.Name = strings.Repeat("ü", 200) }), ""},
		{"a longer one", set(func(a *automation.Automation) { a.Name = strings.Repeat("ü", 201) }), "201 characters"},
		{"a name with a line end", set(func(a *automation.Automation) { a.Name = "a\nb" }), "control character"},
		{"a name that paints", set(func(a *automation.Automation) { a.Name = "a\x1b[31mb" }), "control character"},
		{"a name that is no text", set(func(a *automation.Automation) { a.Name = "a\xff" }), "control character"},
		{"an id that is a path", set(func(a *automation.Automation) { a.ID = "a/b" }), "id"},
		{"at in 60 s past", schedule(automation.Schedule{Kind: automation.KindAt, At: now.Add(-time.Minute)}), ""},
		{"at further past", schedule(automation.Schedule{Kind: automation.KindAt, At: now.Add(-61 * time.Second)}), "is in the past"},
		{"at ten years ahead", schedule(automation.Schedule{Kind: automation.KindAt, At: now.AddDate(10, 0, 0)}), ""},
		{"at further ahead", schedule(automation.Schedule{Kind: automation.KindAt, At: now.AddDate(11, 0, 0)}), "more than 10 years"},
		{"at nothing", schedule(automation.Schedule{Kind: automation.KindAt}), "has no time"},
		{"every 0", schedule(automation.Schedule{Kind: automation.KindEvery}), "not between 1 s"},
		{"every in a zone", schedule(automation.Schedule{Kind: automation.KindEvery, EveryMs: 1000, TZ: "UTC"}), "means nothing with every"},
		{"on-exit in a zone", schedule(automation.Schedule{Kind: automation.KindOnExit, Command: "x", TZ: "UTC"}), "means nothing with on-exit"},
		{"a time in a zone", schedule(automation.Schedule{Kind: automation.KindAt, At: now, TZ: "Europe/Berlin"}), ""},
		{"on-exit of nothing", schedule(automation.Schedule{Kind: automation.KindOnExit}), "names no command"},
		{"stagger of every", schedule(automation.Schedule{Kind: automation.KindEvery, EveryMs: 1000, StaggerMs: &negative}), "stagger"},
		{"negative stagger", schedule(automation.Schedule{Kind: automation.KindCron, Expr: "* * * * *", StaggerMs: &negative}), "stagger"},
		{"unknown zone", schedule(automation.Schedule{Kind: automation.KindCron, Expr: "* * * * *", TZ: "Mars/Olympus"}), "is not known here"},
		{"an expression that never matches", schedule(automation.Schedule{Kind: automation.KindCron, Expr: "0 0 30 2 *"}), "no upcoming run time and would never fire"},
		{"a year that is over", schedule(automation.Schedule{Kind: automation.KindCron, Expr: "0 0 0 1 1 * 2026"}), "no upcoming run time and would never fire"},
		{"no kind", schedule(automation.Schedule{}), "no known kind"},
		{"watch of nothing", schedule(automation.Schedule{Kind: automation.KindWatch}), "names no directory"},
		{"a stream with a command", schedule(automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail"}}), "cannot start a command"},
		{"a stream of nothing", schedule(automation.Schedule{Kind: automation.KindStream}), "has no command"},
		{"an empty event", payload(automation.Payload{Kind: automation.PayloadEvent, Text: " "}, ""), "has no text"},
		{"an empty message", payload(automation.Payload{Kind: automation.PayloadTurn}, ""), "is blank"},
		{"an empty command", payload(automation.Payload{Kind: automation.PayloadCommand}, ""), "is empty"},
		{"no payload", payload(automation.Payload{}, ""), "no known kind"},
		{"main takes events", payload(event, "main"), ""},
		{"main takes no turns", payload(turn, "main"), "takes events only"},
		{"isolated takes turns", payload(turn, "isolated"), ""},
		{"isolated takes no events", payload(event, "isolated"), "takes no events"},
		{"a named session", payload(turn, "session:notes"), ""},
		{"a blank session", payload(turn, "session: "), "blank id"},
		{"a session that is a path", payload(turn, "session:a/b"), "blank id"},
		{"no such target", payload(turn, "elsewhere"), "is none of"},
		{"announce for main", set(func(a *automation.Automation) {
			a.Payload, a.SessionTarget, a.Delivery = event, "main", &automation.Delivery{Mode: "announce"}
		}), "not for events of the main session"},
		{"webhook for main", set(func(a *automation.Automation) {
			a.Payload, a.SessionTarget, a.Delivery = event, "main", &automation.Delivery{Mode: "webhook", URL: "https://x"}
		}), ""},
		{"a webhook to a file", set(func(a *automation.Automation) {
			a.Delivery = &automation.Delivery{Mode: "webhook", URL: "file:///x"}
		}), "no http or https"},
		{"an unknown delivery", set(func(a *automation.Automation) { a.Delivery = &automation.Delivery{Mode: "pigeon"} }), "is none of"},
		{"an unknown wake mode", set(func(a *automation.Automation) { a.WakeMode = "later" }), "neither now nor"},
		{"delete after run of cron (openclaw 82106)", set(func(a *automation.Automation) { a.DeleteAfterRun = true }), "run once"},
		{"pacing of at", set(func(a *automation.Automation) {
			a.Schedule, a.Pacing = automation.Schedule{Kind: automation.KindAt, At: now}, &automation.Pacing{}
		}), "for every and cron"},
		{"pacing the wrong way round", set(func(a *automation.Automation) { a.Pacing = &automation.Pacing{MinMs: 2, MaxMs: 1} }), "wrong way round"},
		{"a trigger of a daily one", set(func(a *automation.Automation) { a.Trigger = &once }), ""},
		{"a trigger every 29 s", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindEvery, EveryMs: 29000}
		}), "every 30 s"},
		{"a trigger at two seconds of a minute", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindCron, Expr: "0,10 * * * * *"}
		}), "every 30 s"},
		{"a trigger of at", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindAt, At: now}
		}), "not for at, which runs once"},
		{"every a negative time", schedule(automation.Schedule{Kind: automation.KindEvery, EveryMs: -1}), "not between 1 s"},
		{"current takes turns", payload(turn, "current"), ""},
		{"current takes no events", payload(event, "current"), "takes no events"},
		{"a named session takes commands", set(func(a *automation.Automation) { a.SessionTarget = "session:notes" }), ""},
		{"a trigger every 30 s", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindEvery, EveryMs: 30000}
		}), ""},
		{"a trigger of on-exit", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindOnExit, Command: "x"}
		}), "not for on-exit, which runs once"},
		{"a trigger of a watch", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindWatch, Dir: "/in"}
		}), ""},
		{"a trigger of @reboot", set(func(a *automation.Automation) {
			a.Trigger, a.Schedule = &once, automation.Schedule{Kind: automation.KindBoot}
		}), ""},
		{"a trigger of nothing", set(func(a *automation.Automation) { a.Trigger = &automation.Trigger{Script: " "} }), "has no script"},
		{"@reboot", schedule(automation.Schedule{Kind: automation.KindBoot}), ""},
		{"@reboot in a zone", schedule(automation.Schedule{Kind: automation.KindBoot, TZ: "UTC"}), "means nothing with @reboot"},
		{"delete after run of @reboot", set(func(a *automation.Automation) {
			a.DeleteAfterRun, a.Schedule = true, automation.Schedule{Kind: automation.KindBoot}
		}), "run once"},
		{"delete after run of on-exit", set(func(a *automation.Automation) {
			a.DeleteAfterRun, a.Schedule = true, automation.Schedule{Kind: automation.KindOnExit, Command: "x"}
		}), ""},
		{"a watch", schedule(automation.Schedule{Kind: automation.KindWatch, Dir: "/in", Recursive: true, Glob: "*.csv"}), ""},
		{"a watch of a directory beside somewhere", schedule(automation.Schedule{Kind: automation.KindWatch, Dir: "in"}), "is not a whole path"},
		{"a watch of a directory with NUL", schedule(automation.Schedule{Kind: automation.KindWatch, Dir: "/in\x00"}), "NUL"},
		{"a glob that is none", schedule(automation.Schedule{Kind: automation.KindWatch, Dir: "/in", Glob: "[a"}), "is no pattern"},
		{"a glob without a watch", schedule(automation.Schedule{Kind: automation.KindCron, Expr: "* * * * *", Glob: "*"}), "belong to --watch"},
		{"recursive without a watch", schedule(automation.Schedule{Kind: automation.KindBoot, Recursive: true}), "belong to --watch"},
		{"a directory without a watch", schedule(automation.Schedule{Kind: automation.KindEvery, EveryMs: 1000, Dir: "/in"}), "trigger of its own"},
		{"batches without a stream", schedule(automation.Schedule{Kind: automation.KindEvery, EveryMs: 1000, BatchMs: 250}), "how a command is listened to"},
		{"an alert", set(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{After: 3, CooldownMs: 1000} }), ""},
		{"an alert by pigeon", set(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{Mode: "pigeon"} }), "neither announce nor webhook"},
		{"an alert to a webhook that is none", set(func(a *automation.Automation) {
			a.FailureAlert = &automation.FailureAlert{Mode: "webhook", To: "ops"}
		}), "no http or https"},
		{"an alert to a webhook", set(func(a *automation.Automation) {
			a.FailureAlert = &automation.FailureAlert{Mode: "webhook", To: "https://example.org/x"}
		}), ""},
		{"an alert after less than nothing", set(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{After: -1} }), "negative"},
		{"an alert that is off, and not", set(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{Off: true, After: 2} }), "is off, and says when"},
		{"no alerts", set(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{Off: true} }), ""},
		{"a webhook beside announce", set(func(a *automation.Automation) {
			a.Delivery = &automation.Delivery{Mode: "announce", URL: "https://example.org"}
		}), ""},
		{"a webhook beside announce that is none", set(func(a *automation.Automation) {
			a.Delivery = &automation.Delivery{Mode: "announce", URL: "example.org"}
		}), "no http or https"},
		{"a webhook without an address", set(func(a *automation.Automation) { a.Delivery = &automation.Delivery{Mode: "webhook"} }), "no http or https"},
		{"a webhook without a host", set(func(a *automation.Automation) {
			a.Delivery = &automation.Delivery{Mode: "webhook", URL: "https:///x"}
		}), "no http or https"},
		{"a webhook in capitals", set(func(a *automation.Automation) {
			a.Delivery = &automation.Delivery{Mode: "webhook", URL: "HTTPS://EXAMPLE.ORG"}
		}), ""},
		{"a negative no-output timeout", set(func(a *automation.Automation) { a.Payload.NoOutputTimeoutSeconds = -1 }), "is negative"},
		{"a negative output limit", set(func(a *automation.Automation) { a.Payload.OutputMaxBytes = -1 }), "is negative"},
		{"unknown missed", set(func(a *automation.Automation) { a.Missed.Policy = "some" }), "skip, once and all"},
		{"unknown overlap", set(func(a *automation.Automation) { a.Overlap = "maybe" }), "skip, queue, replace and allow"},
		{"negative limit", set(func(a *automation.Automation) { a.Missed.Limit = -1 }), "out of range"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			err := automation.Validate(tt.a, now, zone)
			if tt.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e, ok := err.(*automation.Error); !ok || !strings.Contains(e.Error(), tt.refused) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Stream bounds of 3.5.
func TestValidateStream(t *testing.T) {
	for _, tt := range []struct {
		change  func(*automation.Schedule)
		refused string
	}{
		{func(*automation.Schedule) {}, ""},
		{func(s *automation.Schedule) { s.Mode, s.Match = "match", "ERROR" }, ""},
		{func(s *automation.Schedule) { s.Match = "ERROR" }, "belong together"},
		{func(s *automation.Schedule) { s.Mode = "match" }, "belong together"},
		{func(s *automation.Schedule) { s.Mode = "page" }, "neither line nor match"},
		{func(s *automation.Schedule) { s.BatchMs = 49 }, "50 and 5000"},
		{func(s *automation.Schedule) { s.BatchMs = 5001 }, "50 and 5000"},
		{func(s *automation.Schedule) { s.MaxBatchBytes = 1023 }, "1024 and 65536"},
		{func(s *automation.Schedule) { s.MaxBatchBytes = 65537 }, "1024 and 65536"},
		{func(s *automation.Schedule) { s.BatchMs, s.MaxBatchBytes = 5000, 65536 }, ""},
		{func(s *automation.Schedule) { s.BatchMs, s.MaxBatchBytes = 50, 1024 }, ""},
		{func(s *automation.Schedule) { s.Mode, s.Match = "match", "ERROR(" }, "no regular expression"},
		{func(s *automation.Schedule) { s.Argv = []string{""} }, "has no command"},
		{func(s *automation.Schedule) { s.Mode = "line" }, ""},
	} {
		a := good()
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
		a.Schedule = automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail", "-f", "log"}}
		tt.change(&a.Schedule)
		err := automation.Validate(a, time.Time{}, zone)
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%+v: %v", a.Schedule, err)
		}
	}
}

// Defaults of 2.1 and 2.2.
func TestNew(t *testing.T) {
	now := at(t, "2026-11-30T12:00:00.123456Z")
	event := good()
	event.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
	a := automation.New(event, now)
	if a.SessionTarget != "main" || a.WakeMode != "now" || a.Delivery.Mode != "none" {
		t.Errorf("event: %+v", a)
	}
	every := good()
	every.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 60000}
	every.Delivery = &automation.Delivery{To: "me"}
	a = automation.New(every, now)
	if a.SessionTarget != "isolated" || a.Delivery.Mode != "announce" || a.Delivery.To != "me" || every.Delivery.Mode != "" {
		t.Errorf("command: %+v", a)
	}
	if want := now.Truncate(time.Millisecond); a.Schedule.AnchorMs != want.UnixMilli() || !a.State.Settled.Equal(want) {
		t.Errorf("anchor %d, settled %s", a.Schedule.AnchorMs, a.State.Settled)
	}
	for p, want := range map[automation.PayloadKind]time.Duration{automation.PayloadTurn: time.Hour, automation.PayloadCommand: 10 * time.Minute} {
		if got := (automation.Payload{Kind: p}).Timeout(); got != want {
			t.Errorf("timeout of %s: %s", p, got)
		}
	}
	turn := good()
	turn.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	if a = automation.New(turn, now); a.SessionTarget != "isolated" || a.Delivery.Mode != "announce" || a.WakeMode != "now" {
		t.Errorf("turn: %+v", a)
	}
	forEver := -1
	if got := (automation.Payload{TimeoutSeconds: &forEver}).Timeout(); got != 0 {
		t.Errorf("less than nothing is no timeout: %s", got)
	}
	none, five := 0, 5
	if got := (automation.Payload{TimeoutSeconds: &none}).Timeout(); got != 0 {
		t.Errorf("no timeout: %s", got)
	}
	if got := (automation.Payload{TimeoutSeconds: &five}).Timeout(); got != 5*time.Second {
		t.Errorf("five seconds: %s", got)
	}
}
