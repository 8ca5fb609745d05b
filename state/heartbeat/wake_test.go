package heartbeat_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/delivery"
	"claw/state/heartbeat"
)

// spec/heartbeat-automations.md 1.4: RETRY 0 < INTERVAL 1 < DEFAULT 2 < ACTION 3.
func TestPriority(t *testing.T) {
	for _, c := range []struct {
		w    heartbeat.Wake
		want int
	}{
		{heartbeat.Wake{Source: "retry", Intent: "event"}, 0},
		{heartbeat.Wake{Reason: " retry "}, 0},
		{heartbeat.Wake{Source: "interval", Intent: "scheduled"}, 1},
		{heartbeat.Wake{Source: "cron", Reason: "cron:job", Intent: "event"}, 2},
		{heartbeat.Wake{Source: "hook", Intent: "event"}, 2},
		{heartbeat.Wake{}, 2},
		{heartbeat.Wake{Source: "exec-event", Intent: "immediate"}, 3},
		{heartbeat.Wake{Source: "retry", Intent: "manual"}, 3},
	} {
		if got := c.w.Priority(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.w, got, c.want)
		}
	}
}

func TestCoalesce(t *testing.T) {
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	inbox, mail := delivery.Route{Channel: "inbox"}, delivery.Route{Channel: "mail"}
	type wake = heartbeat.Wake
	for _, c := range []struct {
		rule string
		in   []wake
		want []wake
	}{
		{"nothing", nil, nil},
		{"a blank reason has a name", []wake{{Agent: "a", Reason: " "}}, []wake{{Agent: "a", Reason: "requested"}}},
		{
			"one for each session of each agent",
			[]wake{{Agent: "a", SessionKey: "s", Reason: "x", At: at(1)}, {Agent: "a", Reason: "x", At: at(2)}, {Agent: "b", SessionKey: "s", Reason: "x", At: at(3)}},
			[]wake{{Agent: "a", SessionKey: "s", Reason: "x", At: at(1)}, {Agent: "a", Reason: "x", At: at(2)}, {Agent: "b", SessionKey: "s", Reason: "x", At: at(3)}},
		},
		{
			"the higher wins, when it is newer",
			[]wake{{Agent: "a", Source: "interval", Reason: "interval", At: at(1)}, {Agent: "a", Source: "exec-event", Reason: "exec-event", Intent: "immediate", At: at(2)}},
			[]wake{{Agent: "a", Source: "exec-event", Reason: "exec-event", Intent: "immediate", At: at(2)}},
		},
		{
			"and when it is older",
			[]wake{{Agent: "a", Source: "manual", Reason: "manual", Intent: "manual", At: at(1)}, {Agent: "a", Source: "retry", Reason: "retry", Route: mail, At: at(2)}},
			[]wake{{Agent: "a", Source: "manual", Reason: "manual", Intent: "manual", At: at(1)}},
		},
		{
			"of equals the newest, in whatever order they come",
			[]wake{{Agent: "a", Reason: "second", At: at(2)}, {Agent: "a", Reason: "first", At: at(1)}},
			[]wake{{Agent: "a", Reason: "second", At: at(2)}},
		},
		{
			"an older route is taken over",
			[]wake{{Agent: "a", Reason: "x", Route: inbox, At: at(1)}, {Agent: "a", Reason: "y", At: at(2)}},
			[]wake{{Agent: "a", Reason: "y", Route: inbox, At: at(2)}},
		},
		{
			"unless there is a newer one",
			[]wake{{Agent: "a", Reason: "x", Route: inbox, At: at(1)}, {Agent: "a", Reason: "y", Route: mail, At: at(2)}},
			[]wake{{Agent: "a", Reason: "y", Route: mail, At: at(2)}},
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			before := append([]wake(nil), c.in...)
			if diff := cmp.Diff(c.want, heartbeat.Coalesce(c.in)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, c.in); diff != "" {
				t.Errorf("the pending ones were changed: %s", diff)
			}
		})
	}
}

func TestTimer(t *testing.T) {
	const window = 250 * time.Millisecond
	normal := heartbeat.Timer{}.Arm(noon, window, false)
	retry := heartbeat.Timer{}.Arm(noon, time.Minute, true)
	for _, c := range []struct {
		rule string
		got  heartbeat.Timer
		want heartbeat.Timer
	}{
		{"the first", normal, heartbeat.Timer{At: noon.Add(window)}},
		{"an earlier one is kept", normal.Arm(noon.Add(100*time.Millisecond), window, false), normal},
		{"a new one that is earlier comes first", normal.Arm(noon, 0, false), heartbeat.Timer{At: noon}},
		{"a retry is a floor", retry, heartbeat.Timer{At: noon.Add(time.Minute), Retry: true}},
		{"that no wake makes earlier", retry.Arm(noon.Add(time.Second), 0, false), retry},
		{"nor another retry", retry.Arm(noon.Add(time.Second), time.Second, true), retry},
		{"a retry does not put off what is due before", normal.Arm(noon, time.Minute, true), normal},
	} {
		if !c.got.At.Equal(c.want.At) || c.got.Retry != c.want.Retry {
			t.Errorf("%s: %+v, want %+v", c.rule, c.got, c.want)
		}
	}
	if heartbeat.CoalesceDelay("exec-event") != 0 || heartbeat.CoalesceDelay("cron") != window {
		t.Error("completions wait for nothing, others for 250 ms")
	}
}

// Retry floors: spec/heartbeat-automations.md 1.4, after #40611 and #137155
// (report 20).
func TestRetryAfter(t *testing.T) {
	for reason, want := range map[string]time.Duration{
		"requests-in-flight": time.Minute, "cron-in-progress": time.Second, "lanes-busy": time.Second,
		"disabled": 0, "quiet-hours": 0, "empty-heartbeat-file": 0, "no-tasks-due": 0, "alerts-disabled": 0, "no-route": 0, "": 0,
	} {
		if got, ok := heartbeat.RetryAfter(reason); got != want || ok != (want > 0) {
			t.Errorf("%s: %v, %t", reason, got, ok)
		}
	}
}

func TestCarries(t *testing.T) {
	for source, want := range map[string]bool{
		"": false, "interval": false, "manual": false, "retry": false,
		"exec-event": true, "cron": true, "hook": true, "background-task": true, "background-task-blocked": true, "notifications-event": true, "session-state": true, "other": true,
	} {
		if got := heartbeat.Carries(source); got != want {
			t.Errorf("%q: %t", source, got)
		}
	}
}
