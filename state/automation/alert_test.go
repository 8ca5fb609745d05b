package automation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// 2.13: whom an alert is for. Fields of the automation take the place of what
// is configured.
func TestAlertRule(t *testing.T) {
	configured := automation.AlertRule{After: 2, Cooldown: time.Hour, Channel: "mail", To: "ops"}
	announce := &automation.Delivery{Mode: "announce"}
	best := &automation.Delivery{Mode: "announce", BestEffort: true}
	for _, tt := range []struct {
		rule       string
		delivery   *automation.Delivery
		own        *automation.FailureAlert
		configured *automation.AlertRule
		want       automation.AlertRule
		on         bool
	}{
		{"nothing configured: the first in a row, where it announces", announce, nil, nil, automation.AlertRule{After: 1, OncePerIncident: true}, true},
		{"nothing configured, and it announces nothing", &automation.Delivery{Mode: "none"}, nil, nil, automation.AlertRule{After: 1, OncePerIncident: true}, false},
		{"nothing configured, and its webhook is told anyway", &automation.Delivery{Mode: "webhook", URL: "https://x"}, nil, nil, automation.AlertRule{After: 1, OncePerIncident: true}, false},
		{"configured", announce, nil, &configured, configured, true},
		{"configured, whatever it announces", &automation.Delivery{Mode: "none"}, nil, &configured, configured, true},
		{"off for this one", announce, &automation.FailureAlert{Off: true}, &configured, automation.AlertRule{}, false},
		{"off for this one, nothing configured", announce, &automation.FailureAlert{Off: true}, nil, automation.AlertRule{}, false},
		{"best effort takes the configured one back", best, nil, &configured, configured, false},
		{"best effort keeps its own", best, &automation.FailureAlert{After: 5}, &configured, automation.AlertRule{After: 5, Cooldown: time.Hour, Channel: "mail", To: "ops"}, true},
		{"one field", announce, &automation.FailureAlert{To: "me"}, &configured, automation.AlertRule{After: 2, Cooldown: time.Hour, Channel: "mail", To: "me"}, true},
		{
			"all fields", announce,
			&automation.FailureAlert{After: 3, CooldownMs: 60000, Mode: "webhook", Channel: "c", To: "t", AccountID: "a", IncludesSkipped: true}, &configured,
			automation.AlertRule{After: 3, Cooldown: time.Minute, IncludeSkipped: true, Mode: "webhook", Channel: "c", To: "t", AccountID: "a"},
			true,
		},
		{"its own, nothing configured, nothing announced", &automation.Delivery{Mode: "none"}, &automation.FailureAlert{After: 2}, nil, automation.AlertRule{After: 2, OncePerIncident: true}, true},
		{"its own cooldown, nothing configured: other errors are told after it", announce, &automation.FailureAlert{CooldownMs: 60000}, nil, automation.AlertRule{After: 1, Cooldown: time.Minute}, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a := hourly()
			a.Delivery, a.FailureAlert = tt.delivery, tt.own
			got, on := a.AlertRule(tt.configured)
			if got != tt.want || on != tt.on {
				t.Errorf("%+v, %v; want %+v", got, on, tt.want)
			}
		})
	}
}

// 2.13: after so many in a row, one alert for an incident, the cooldown,
// success closes. A row is the ends of one automation in turn: "09:00 fail no
// route", "09:30 ok", "skip busy", "hand fail x"; those with ! are alerted.
func TestAlert(t *testing.T) {
	unconfigured := automation.AlertRule{After: 1, OncePerIncident: true}
	second := automation.AlertRule{After: 2, Cooldown: time.Hour}
	for _, tt := range []struct {
		rule string
		by   automation.AlertRule
		ends string
	}{
		{"the first in a row, then no more", unconfigured, "09:00! fail a; 09:01 fail a; 09:02 fail b; 12:00 fail c"},
		{"again after a success", unconfigured, "09:00! fail a; 09:01 ok; 09:02! fail a"},
		{"a skip is no success", unconfigured, "09:00! fail a; 09:01 skip busy; 09:02 fail a"},
		{"by hand: always, and it changes nothing", unconfigured, "09:00! hand fail a; 09:01! fail a; 09:02! hand fail a; 09:03 hand ok; 09:04 fail a"},
		{"a run that was stopped on purpose is none", unconfigured, "09:00 cancel; 09:01 replace; 09:02! unknown; 09:03 fail a"},
		{"the second in a row", second, "09:00 fail a; 09:01! fail a; 09:02 fail a; 15:00 fail a"},
		{"two, but not in a row", second, "09:00 fail a; 09:01 ok; 09:02 fail a; 09:03 ok"},
		{"another error waits for the cooldown", second, "09:00 fail a; 09:01! fail a; 09:30 fail b; 10:00 fail b; 10:01! fail b"},
		{"a new incident waits for it too", second, "09:00 fail a; 09:01! fail a; 09:02 ok; 09:03 fail a; 09:04 fail a; 10:01! fail a; 10:02 fail a"},
		{"numbers make no other error", second, "09:00 fail port 8080; 09:01! fail port 8080; 11:00 fail port 9090"},
		{"words do", second, "09:00 fail a; 09:01! fail a; 11:00! fail no such host"},
		{"skips are not counted", second, "09:00 skip x; 09:01 skip x; 09:02 skip x"},
		{"skips are counted", automation.AlertRule{After: 2, IncludeSkipped: true}, "09:00 skip x; 09:01! skip x; 09:02 skip x; 09:03 fail a; 09:04! fail a"},
		{"after 0 is after 1", automation.AlertRule{}, "09:00! fail a"},
		{"no cooldown: another error at once", automation.AlertRule{After: 1}, "09:00! fail a; 09:01! fail b; 09:02 fail b"},
		{"a clock that was set back does not keep it quiet", second, "12:00 fail a; 12:01! fail a; 09:00! fail b"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a := hourly()
			var got []string
			for i, step := range strings.Split(tt.ends, "; ") {
				clock, what, _ := strings.Cut(strings.Replace(step, "!", "", 1), " ")
				r, end := ending(fmt.Sprint(i), clock, what)
				f := automation.Finish(a, r, end, automation.Retry{MaxAttempts: -1}, zone)
				a = f.Automation
				var tell bool
				a.State, tell = automation.Alert(a, f.Run, tt.by, day(clock))
				if tell {
					clock += "!"
				}
				got = append(got, clock+" "+what)
			}
			if s := strings.Join(got, "; "); s != tt.ends {
				t.Errorf("%s\nwant %s", s, tt.ends)
			}
		})
	}
}

// ending is a run and its end, from words.
func ending(id, clock, what string) (automation.Run, automation.End) {
	r := automation.Run{ID: id, AutomationID: "job", Status: automation.Running, StartedAt: day(clock), Slot: day(clock), Attempt: 1}
	what, r.Manual = strings.CutPrefix(what, "hand ")
	verb, text, _ := strings.Cut(what, " ")
	end := automation.End{At: day(clock), Error: text}
	switch verb {
	case "ok":
		end.Status = automation.Succeeded
	case "fail":
		end.Status, end.Category = automation.Failed, automation.Other
	case "skip":
		end.Status, end.Code = automation.Skipped, automation.CodeOverlap
	case "cancel":
		end.Status = automation.Cancelled
	case "replace":
		end.Status, r.StoppedAt = automation.Failed, day(clock)
	case "unknown":
		end.Status = automation.Unknown
	default:
		panic(what)
	}
	return r, end
}

func TestIncident(t *testing.T) {
	for _, tt := range []struct {
		run  automation.Run
		want string
	}{
		{automation.Run{Status: automation.Failed, Category: automation.Network, Error: "exit 7: connect to 10.0.0.1 port 443 after 2003 ms"}, "network: exit #: connect to #.#.#.# port # after # ms"},
		{automation.Run{Status: automation.Failed, Category: automation.Other, Error: "  a\t\n b "}, "unknown: a b"},
		{automation.Run{Status: automation.Failed, Category: automation.Other, Error: "/tmp/x9Yz_1/out: pid 4711"}, "unknown: /tmp/#/out: pid #"},
		{automation.Run{Status: automation.Interrupted, Error: "who carried it out died"}, "interrupted: who carried it out died"},
		{automation.Run{Status: automation.Skipped, Why: "the run of 2026-11-30T09:00:00Z was still going"}, "skipped: the run of #-#-#:#:# was still going"},
		{automation.Run{Status: automation.Failed, Category: automation.Other}, "unknown:"},
		{automation.Run{Status: automation.Failed, Category: automation.Other, Error: strings.Repeat("ä", 200)}, "unknown: " + strings.Repeat("ä", 55)},
	} {
		if got := automation.Incident(tt.run); strings.TrimSpace(got) != tt.want {
			t.Errorf("%q; want %q", got, tt.want)
		}
	}
}

// 2.8: enabling clears what was alerted with the counters.
func TestEnablingEndsTheIncident(t *testing.T) {
	off := hourly(func(a *automation.Automation) { a.Enabled = false })
	off.State.Incident, off.State.AlertedAt = "unknown: a", day("09:00")
	on := off
	on.Enabled = true
	got, _ := automation.Edit(off, on, day("09:10"), zone)
	if got.State.Incident != "" || !got.State.AlertedAt.IsZero() {
		t.Errorf("%+v", got.State)
	}
}
