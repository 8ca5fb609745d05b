package automation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claw/state/automation"

	"github.com/google/go-cmp/cmp"
)

// What of a stream is told changes with an edit, and moves nothing; nor does
// another spelling.
func TestKeep(t *testing.T) {
	old := stream().Schedule
	now := old
	now.Mode, now.Match, now.BatchMs, now.MaxBatchBytes = "match", "error", 50, 2048
	if diff := cmp.Diff(now, automation.Keep(old, now)); diff != "" {
		t.Error(diff)
	}
	cron := automation.Schedule{Kind: automation.KindCron, Expr: "0  9 * * *"}
	spelt := automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * *"}
	if got := automation.Keep(cron, spelt); got.Expr != cron.Expr {
		t.Errorf("%+v", got)
	}
	moved := automation.Schedule{Kind: automation.KindCron, Expr: "0 10 * * *"}
	if got := automation.Keep(cron, moved); got.Expr != moved.Expr {
		t.Errorf("%+v", got)
	}
	a := stream(func(a *automation.Automation) { a.DeclarationKey = "k" })
	b := a
	b.Schedule = now
	next, runs, change := automation.Upsert(&a, b, day("09:10"), zone)
	if change != automation.Changed || len(runs) != 0 || next.State.ScheduleRev != a.State.ScheduleRev || next.Schedule.Match != "error" {
		t.Errorf("%s %+v", change, next)
	}
}

// Each third skip in a row would be a message of its own where a run gets
// through now and then.
func TestSkipsAreToldOnceAnHour(t *testing.T) {
	told := func(ago time.Duration, skips int) int {
		a := settled("09:00", hourly())
		a.State.ConsecutiveSkips = skips
		if ago >= 0 {
			a.State.SkipsToldAt = day("10:00").Add(-ago)
		}
		goes := run("09:00", automation.Running, func(r *automation.Run) { r.StartedAt = day("09:00") })
		p := automation.Decide(input("10:00", a, goes))
		return len(p.Notices)
	}
	for _, tt := range []struct {
		rule  string
		ago   time.Duration
		skips int
		want  int
	}{
		{"the second in a row", -1, 1, 0},
		{"the third", -1, 2, 1},
		{"the fourth", -1, 3, 0},
		{"the third, soon after it was told", 59 * time.Minute, 2, 0},
		{"the third, an hour after", time.Hour, 2, 1},
	} {
		if got := told(tt.ago, tt.skips); got != tt.want {
			t.Errorf("%s: %d messages", tt.rule, got)
		}
	}
}

// What waits out a back-off says so, and for which failure.
func TestSkippedForABackOff(t *testing.T) {
	a := settled("09:00", hourly())
	a.State.ConsecutiveErrors, a.State.LastError, a.State.ConsecutiveSkips = 4, "exit 7", 2
	waits := run("09:00", automation.Queued, func(r *automation.Run) { r.NotBefore, r.Code = day("10:30"), automation.CodeBackoff })
	p := automation.Decide(input("10:00", a, waits))
	if len(p.Notices) != 1 || !strings.Contains(p.Notices[0].Text, "10:30") || !strings.Contains(p.Notices[0].Text, "4 failures") || !strings.Contains(p.Notices[0].Text, "exit 7") {
		t.Errorf("%+v", fmt.Sprint(p.Notices))
	}
}

func TestLeastInterval(t *testing.T) {
	for ms, ok := range map[int64]bool{1: false, 999: false, 1000: true} {
		a := hourly(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: ms}
		})
		if err := automation.Validate(a, day("08:00"), zone); (err == nil) != ok {
			t.Errorf("%d ms: %v", ms, err)
		}
	}
}
