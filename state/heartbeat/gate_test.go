package heartbeat_test

import (
	"testing"
	"time"

	"claw/state/heartbeat"
)

// ago are starts so many seconds before noon.
func ago(seconds ...int) (starts []time.Time) {
	for _, s := range seconds {
		starts = append(starts, noon.Add(-time.Duration(s)*time.Second))
	}
	return starts
}

// spec/heartbeat-automations.md 1.4, cooldown; exec-process.md 4.4; report 22.
func TestGate(t *testing.T) {
	const (
		scheduled, event, immediate, manual, task = heartbeat.IntentScheduled, heartbeat.IntentEvent, heartbeat.IntentImmediate, heartbeat.IntentManual, heartbeat.IntentTask
	)
	soon := noon.Add(10 * time.Minute)
	flood := ago(55, 40, 30, 20, 10)
	for _, c := range []struct {
		rule   string
		intent string
		due    time.Time
		starts []time.Time
		reason string
		retry  time.Time
	}{
		{"scheduled, not due", scheduled, soon, nil, "not-due", soon},
		{"scheduled, due", scheduled, noon, ago(5), "", time.Time{}},
		{"scheduled, never set", scheduled, time.Time{}, nil, "", time.Time{}},

		{"event of an agent that has never run", event, soon, nil, "", time.Time{}},
		{"event, not due", event, soon, ago(600), "not-due", soon},
		{"event, due, just started", event, noon, ago(29), "min-spacing", noon.Add(time.Second)},
		{"event, due, 30 s ago", event, noon, ago(30), "", time.Time{}},
		{"event, not due is said before spacing", event, soon, ago(1), "not-due", soon},

		{"immediate waits for no cadence and no spacing", immediate, soon, ago(1), "", time.Time{}},
		{"manual neither", manual, soon, ago(1), "", time.Time{}},
		{"task waits for spacing", task, soon, ago(10), "min-spacing", noon.Add(20 * time.Second)},
		{"task waits for no cadence", task, soon, ago(600), "", time.Time{}},
		{"task, never run", task, soon, nil, "", time.Time{}},

		{"flood: scheduled", scheduled, noon, flood, "flood", noon.Add(5 * time.Second)},
		{"flood: event", event, noon, flood, "flood", noon.Add(5 * time.Second)},
		{"flood: immediate", immediate, soon, flood, "flood", noon.Add(5 * time.Second)},
		{"flood: task", task, soon, flood, "flood", noon.Add(5 * time.Second)},
		{"flood: manual is exempt", manual, noon, flood, "", time.Time{}},
		{"flood of six lasts for the newest five", immediate, soon, ago(58, 55, 40, 30, 20, 10), "flood", noon.Add(5 * time.Second)},
		{"four are none", immediate, soon, ago(55, 40, 30, 20), "", time.Time{}},
		{"five in 60 s exactly are none", immediate, soon, ago(60, 40, 30, 20, 10), "", time.Time{}},
		{"starts of a clock that was put back do not count", immediate, soon, ago(-10, -20, -30, -40, -50), "", time.Time{}},
		{"nor do they space", event, noon, ago(-10), "", time.Time{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := heartbeat.Gate(heartbeat.Monitor{NextDue: c.due, Starts: c.starts}, c.intent, noon)
			if got.Deferred != (c.reason != "") || got.Reason != c.reason || !got.RetryAt.Equal(c.retry) {
				t.Errorf("%+v, want %q until %v", got, c.reason, c.retry)
			}
			if want := c.reason != "" && c.reason != "not-due" && !c.due.After(noon); got.Advance != want {
				t.Errorf("advance is %t", got.Advance)
			}
		})
	}
}

// A deferral is over when it says so, not later.
func TestGateOpensAtRetryAt(t *testing.T) {
	for _, m := range []heartbeat.Monitor{
		{NextDue: noon.Add(time.Minute), Starts: ago(600)},
		{Starts: ago(10)},
		{Starts: ago(59, 50, 40, 30, 20, 10)},
	} {
		d := heartbeat.Gate(m, heartbeat.IntentTask, noon)
		if m.NextDue.After(noon) {
			d = heartbeat.Gate(m, heartbeat.IntentScheduled, noon)
		}
		if !d.Deferred || !d.RetryAt.After(noon) {
			t.Fatalf("%+v", d)
		}
		if before := heartbeat.Gate(m, heartbeat.IntentEvent, d.RetryAt.Add(-1)); !before.Deferred {
			t.Errorf("%s is over too early", d.Reason)
		}
		if after := heartbeat.Gate(m, heartbeat.IntentImmediate, d.RetryAt); after.Deferred {
			t.Errorf("%s is not over", d.Reason)
		}
	}
}

func TestStartedKeepsSix(t *testing.T) {
	var starts []time.Time
	for i := range 9 {
		starts = heartbeat.Started(starts, noon.Add(time.Duration(i)*time.Second))
	}
	if len(starts) != 6 || !starts[0].Equal(noon.Add(3*time.Second)) || !starts[5].Equal(noon.Add(8*time.Second)) {
		t.Errorf("%v", starts)
	}
}
