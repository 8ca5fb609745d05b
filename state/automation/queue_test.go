package automation_test

import (
	"testing"
	"time"

	"claw/state/automation"
)

// What becomes of runs that wait.
func TestQueued(t *testing.T) {
	old := func(r *automation.Run) { r.ScheduleRev = 7 }
	later := func(clock string) func(*automation.Run) {
		return func(r *automation.Run) { r.NotBefore = day(clock) }
	}
	for _, tt := range []struct {
		rule string
		in   automation.Input
		want string
	}{
		{"its time has come", input("09:10", settled("09:00", hourly()), run("09:00", automation.Queued, later("09:10"))), "09:00 running"},
		{"its time has not come", input("09:09:59", settled("09:00", hourly()), run("09:00", automation.Queued, later("09:10"))), ""},
		{"the clock was set back: it waits no longer", input("08:50", settled("09:00", hourly()), run("09:00", automation.Queued, later("09:10"))), "09:00 running"},
		{"the schedule was changed (openclaw 91944)", input("09:10", settled("09:00", hourly()), run("09:00", automation.Queued, old)), "09:00 skipped edited"},
		{"switched off", input("09:10", settled("09:00", hourly(func(a *automation.Automation) { a.Enabled = false })), run("09:00", automation.Queued)), "09:00 skipped disabled"},
		{"removed", automation.Input{Now: day("09:10"), Runs: []automation.Run{run("09:00", automation.Queued)}, Zone: zone}, "09:00 skipped removed"},
		{"two hours without a turn, missed=skip", input("11:00:01", settled("11:00", hourly(policy(automation.MissedSkip, 0, 0))), run("09:00", automation.Queued)), "09:00 missed stuck"},
		{"two hours without a turn, missed=once", input("11:00:01", settled("11:00", hourly()), run("09:00", automation.Queued)), "09:00 running"},
		{"past its window", input("11:00:01", settled("11:00", hourly(policy(automation.MissedOnce, 0, time.Hour))), run("09:00", automation.Queued)), "09:00 missed window"},
		{"past its window, but made up and spread within it", input("10:00:05", settled("10:00", hourly(policy(automation.MissedOnce, 0, time.Hour))), run("09:00", automation.Queued, later("10:00:05"))), "09:00 running"},
		{"by hand, although it is off", input("09:10", settled("09:00", hourly(func(a *automation.Automation) { a.Enabled = false })), run("09:00", automation.Queued, func(r *automation.Run) { r.Manual, r.Slot = true, time.Time{} })), "hand running"},
		{"of a trigger that is off by now (on-exit)", input("09:10", settled("09:00", hourly(func(a *automation.Automation) {
			a.Enabled, a.Schedule = false, automation.Schedule{Kind: automation.KindOnExit, Command: "x"}
		})), run("09:00", automation.Queued, func(r *automation.Run) { r.Slot = time.Time{} })), "hand running"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := shown(automation.Decide(tt.in).Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

// 2.9: runs whose owners died (openclaw 18120, 17554, 60495).
func TestRunning(t *testing.T) {
	future := func(r *automation.Run) { r.StartedAt = day("14:00") }
	requeued := func(r *automation.Run) { r.Requeued = 3 }
	for _, tt := range []struct {
		rule string
		now  string
		life automation.Life
		run  automation.Run
		want string
	}{
		{"alive, for however long", "23:00", automation.Alive, run("09:00", automation.Running), ""},
		{"dead", "09:10", automation.Dead, run("09:00", automation.Running), "09:00 interrupted interrupted"},
		{"unclear", "11:00", automation.Unclear, run("09:00", automation.Running), ""},
		{"unclear for two hours", "11:00:01", automation.Unclear, run("09:00", automation.Running), "09:00 unknown stuck"},
		{"begun in the future by two hours", "11:00", automation.Unclear, run("09:00", automation.Running, future), "09:00 unknown stuck"},
		{"provably not begun: it is started again", "09:10", automation.NotBegun, run("09:00", automation.Running), "09:00 running not-begun"},
		{"not begun, too often", "09:10", automation.NotBegun, run("09:00", automation.Running, requeued), "09:00 interrupted interrupted"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			in := input(tt.now, settled("23:30", hourly()), tt.run)
			in.Automations[0].State.Settled = day(tt.now)
			in.Life = func(automation.Run) automation.Life { return tt.life }
			if got := shown(automation.Decide(in).Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
	t.Run("an interrupted run counts as an error, and is not repeated by itself", func(t *testing.T) {
		in := input("09:10", settled("09:00", hourly()), run("09:00", automation.Running))
		in.Life = func(automation.Run) automation.Life { return automation.Dead }
		p := automation.Decide(in)
		if st := p.Automations[0].State; st.ConsecutiveErrors != 1 || st.LastStatus != automation.Interrupted || len(p.Start) != 0 {
			t.Errorf("%+v, %s", st, shown(p.Start))
		}
	})
	t.Run("a one-shot that was interrupted is kept, and off (openclaw 11612)", func(t *testing.T) {
		in := input("09:10", settled("09:00", oneShot("09:00", func(a *automation.Automation) { a.DeleteAfterRun = true })), run("09:00", automation.Running))
		in.Life = func(automation.Run) automation.Life { return automation.Dead }
		p := automation.Decide(in)
		if len(p.Deleted) != 0 || len(p.Automations) != 1 || p.Automations[0].Enabled || len(p.Start) != 0 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("of an automation that is gone, only the run is written", func(t *testing.T) {
		in := automation.Input{Now: day("09:10"), Runs: []automation.Run{run("09:00", automation.Running)}, Zone: zone}
		in.Life = func(automation.Run) automation.Life { return automation.Dead }
		p := automation.Decide(in)
		if shown(p.Runs) != "09:00 interrupted interrupted" || len(p.Automations) != 0 {
			t.Errorf("%+v", p)
		}
	})
}
