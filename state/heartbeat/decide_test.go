package heartbeat_test

import (
	"testing"
	"time"

	"claw/state/heartbeat"
)

type situation = heartbeat.Situation

// calm is a wake that nothing speaks against.
func calm(intent, source string) situation {
	return situation{Intent: intent, Source: source, Targeted: heartbeat.Carries(source), Enrolled: true, Every: 30 * time.Minute, File: heartbeat.FileContent}
}

// exec is an ended command's wake.
func exec() situation { return calm(heartbeat.IntentImmediate, heartbeat.SourceExec) }

func due() situation { return calm(heartbeat.IntentScheduled, heartbeat.SourceInterval) }

func byHand() situation { return calm(heartbeat.IntentManual, heartbeat.SourceManual) }

func queued() situation { return calm(heartbeat.IntentEvent, heartbeat.SourceCron) }

func check(t *testing.T, s situation, reason string) {
	t.Helper()
	floors := map[string]time.Duration{"requests-in-flight": time.Minute, "cron-in-progress": time.Second, "lanes-busy": time.Second}
	want := heartbeat.Decision{Run: reason == "", Reason: reason, Retryable: floors[reason] > 0, RetryAfter: floors[reason]}
	if got := heartbeat.Decide(s); got != want {
		t.Errorf("%+v, want %+v\nof %+v", got, want, s)
	}
}

// The busy matrix of spec/heartbeat-automations.md 1.6 and seed 003 section 7:
// manual and immediate pass the broad guard of the same agent, and no other.
func TestBusyMatrix(t *testing.T) {
	wakes := []struct {
		name string
		make func() situation
	}{{"scheduled", due}, {"event", queued}, {"immediate", exec}, {"manual", byHand}}
	const wait = "requests-in-flight"
	for _, c := range []struct {
		who  string
		busy heartbeat.Busy
		want [4]string // scheduled, event, immediate, manual
	}{
		{"nobody, or siblings, who never count", heartbeat.Busy{}, [4]string{"", "", "", ""}},
		{"main", heartbeat.Busy{Main: true}, [4]string{wait, wait, wait, wait}},
		{"automation", heartbeat.Busy{Automation: true}, [4]string{"cron-in-progress", "cron-in-progress", "cron-in-progress", "cron-in-progress"}},
		{"same agent", heartbeat.Busy{Agent: true}, [4]string{wait, wait, "", ""}},
		{"target", heartbeat.Busy{Target: true}, [4]string{wait, wait, wait, wait}},
		{"target, queued", heartbeat.Busy{TargetQueued: true}, [4]string{wait, wait, wait, wait}},
		{"pending reply", heartbeat.Busy{PendingReply: true}, [4]string{wait, wait, wait, wait}},
		{"isolated session", heartbeat.Busy{Isolated: true}, [4]string{wait, wait, wait, wait}},
		{"lanes, which nobody asked for", heartbeat.Busy{Lanes: true}, [4]string{"", "", "", ""}},
	} {
		for i, w := range wakes {
			t.Run(c.who+" against "+w.name, func(t *testing.T) {
				s := w.make()
				s.Busy = c.busy
				check(t, s, c.want[i])
			})
		}
	}
}

// Every skip of spec/heartbeat-automations.md 1.6, and what passes it.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		rule string
		of   situation
		edit func(*situation)
		want string
	}{
		{"1 stops the cadence", due(), func(s *situation) { s.Disabled = true }, "disabled"},
		{"1 stops completions", exec(), func(s *situation) { s.Disabled = true }, "disabled"},
		{"1 stops a wake by hand", byHand(), func(s *situation) { s.Disabled = true }, "disabled"},

		{"2 not enrolled", due(), func(s *situation) { s.Enrolled = false }, "disabled"},
		{"2 not enrolled, by hand", byHand(), func(s *situation) { s.Enrolled = false }, "disabled"},
		{"2 a completion reaches an agent without heartbeats", exec(), func(s *situation) { s.Enrolled = false }, ""},
		{"2 an event that waits does not", queued(), func(s *situation) { s.Enrolled = false }, "disabled"},

		{"3 no interval", due(), func(s *situation) { s.Every = 0 }, "disabled"},
		{"3 no interval, by hand", byHand(), func(s *situation) { s.Every = 0 }, "disabled"},
		{"3 a completion needs none (#41406, #62505)", exec(), func(s *situation) { s.Every = 0 }, ""},
		{"3 an event for a named session neither", queued(), func(s *situation) { s.Every = 0 }, ""},
		{"3 one for nobody does", queued(), func(s *situation) { s.Every, s.Targeted = 0, false }, "disabled"},
		{"3 cron is off", due(), func(s *situation) { s.MonitorOff = true }, "disabled"},
		{"3 cron is off, by hand", byHand(), func(s *situation) { s.MonitorOff = true }, ""},
		{"3 cron is off, an event", queued(), func(s *situation) { s.MonitorOff = true }, ""},

		{"4 quiet hours", due(), func(s *situation) { s.Outside = true }, "quiet-hours"},
		{"4 quiet hours, by hand", byHand(), func(s *situation) { s.Outside = true }, "quiet-hours"},
		{"4 quiet hours, an event that waits", queued(), func(s *situation) { s.Outside = true }, "quiet-hours"},
		{"4 a completion at night", exec(), func(s *situation) { s.Outside = true }, ""},
		{"4 a cron wake at night (#67397, report 19)", calm("immediate", "cron"), func(s *situation) { s.Outside = true }, ""},
		{"4 an event sent for now, at night", calm("immediate", "other"), func(s *situation) { s.Outside = true }, ""},
		{"4 an immediate wake that names nobody", exec(), func(s *situation) { s.Outside, s.Targeted = true, false }, "quiet-hours"},
		{"4 an immediate wake with nothing to say", calm("immediate", "interval"), func(s *situation) { s.Outside, s.Targeted = true, true }, "quiet-hours"},

		{"7 lanes, asked for", due(), func(s *situation) { s.SkipWhenBusy, s.Busy.Lanes = true, true }, "lanes-busy"},
		{"7 by hand too", byHand(), func(s *situation) { s.SkipWhenBusy, s.Busy.Lanes = true, true }, "lanes-busy"},

		{"10 an empty file", due(), func(s *situation) { s.File = heartbeat.FileEmpty }, "empty-heartbeat-file"},
		{"10 an empty file, by hand", byHand(), func(s *situation) { s.File = heartbeat.FileEmpty }, "empty-heartbeat-file"},
		{"10 no file", due(), func(s *situation) { s.File = heartbeat.FileMissing }, ""},
		{"10 a completion (#2217, report 23)", exec(), func(s *situation) { s.File = heartbeat.FileEmpty }, ""},
		{"10 a reminder", queued(), func(s *situation) { s.File = heartbeat.FileEmpty }, ""},
		{"10 a hook", calm("event", "hook"), func(s *situation) { s.File = heartbeat.FileEmpty }, ""},
		{"10 a background task", calm("event", "background-task"), func(s *situation) { s.File = heartbeat.FileEmpty }, ""},
		{"10 events that wait", due(), func(s *situation) { s.File, s.Events = heartbeat.FileEmpty, true }, ""},
		{"10 checks", due(), func(s *situation) { s.File, s.Checks = heartbeat.FileEmpty, true }, ""},

		{"13 no task is due", due(), func(s *situation) { s.HasTasks = true }, "no-tasks-due"},
		{"13 one is", due(), func(s *situation) { s.HasTasks, s.TasksDue = true, true }, ""},
		{"13 by hand", byHand(), func(s *situation) { s.HasTasks = true }, "no-tasks-due"},
		{"13 a completion", exec(), func(s *situation) { s.HasTasks = true }, ""},
		{"13 events that wait", due(), func(s *situation) { s.HasTasks, s.Events = true, true }, ""},

		{"15 nothing is shown", due(), func(s *situation) { s.Hidden = true }, "alerts-disabled"},
		{"15 by hand", byHand(), func(s *situation) { s.Hidden = true }, "alerts-disabled"},
		{"15 a completion is for the agent first (design.md 7)", exec(), func(s *situation) { s.Hidden = true }, ""},
		{"15b no route", due(), func(s *situation) { s.NoRoute = true }, "no-route"},
		{"15b a completion", exec(), func(s *situation) { s.NoRoute = true }, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.edit(&c.of)
			check(t, c.of, c.want)
		})
	}
}

// The order: with everything against it, taking the first reason away shows
// the next one.
func TestDecideOrder(t *testing.T) {
	s := situation{
		Intent: heartbeat.IntentScheduled, Source: heartbeat.SourceInterval, Disabled: true, MonitorOff: true, Outside: true, SkipWhenBusy: true,
		Busy: heartbeat.Busy{Main: true, Automation: true, Lanes: true, Agent: true, PendingReply: true, Target: true, TargetQueued: true, Isolated: true},
		File: heartbeat.FileEmpty, HasTasks: true, Hidden: true, NoRoute: true,
	}
	for _, step := range []struct {
		want string
		lift func()
	}{
		{"disabled", func() { s.Disabled = false }},
		{"disabled", func() { s.Enrolled = true }},
		{"disabled", func() { s.Every = time.Hour }},
		{"disabled", func() { s.MonitorOff = false }},
		{"quiet-hours", func() { s.Outside = false }},
		{"requests-in-flight", func() { s.Busy.Main = false }},
		{"cron-in-progress", func() { s.Busy.Automation = false }},
		{"lanes-busy", func() { s.Busy.Lanes = false }},
		{"requests-in-flight", func() { s.Busy.Agent = false }},
		{"requests-in-flight", func() { s.Busy.PendingReply = false }},
		{"empty-heartbeat-file", func() { s.File = heartbeat.FileContent }},
		{"requests-in-flight", func() { s.Busy.Target = false }},
		{"requests-in-flight", func() { s.Busy.TargetQueued = false }},
		{"no-tasks-due", func() { s.TasksDue = true }},
		{"requests-in-flight", func() { s.Busy.Isolated = false }},
		{"alerts-disabled", func() { s.Hidden = false }},
		{"no-route", func() { s.NoRoute = false }},
		{"", func() {}},
	} {
		check(t, s, step.want)
		step.lift()
	}
}
