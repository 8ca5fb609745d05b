package cli

import (
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/cron"
)

// In a list the part of a schedule that is left when the column is narrow is the
// one that tells it from others.
func TestBriefSchedule(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		s     automation.Schedule
		words string
		want  string
	}{
		{automation.Schedule{Kind: automation.KindAt, At: now.Add(2 * time.Hour)}, "", "at 1 Dec 12:00"},
		{automation.Schedule{Kind: automation.KindAt, At: now.Add(7 * time.Hour), TZ: "America/New_York"}, "", "at 1 Dec 12:00 EST"},
		{automation.Schedule{Kind: automation.KindAt, At: now.AddDate(1, 0, 0)}, "", "at 1 Dec 2027 10:00"},
		{automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * 1-5"}, "every weekday at 09:00", "weekdays 09:00"},
		{automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * 1-5", TZ: "Not/There"}, "as it is", "as it is"},
		{automation.Schedule{Kind: automation.KindWatch, Dir: "/home/u/in"}, "when /home/u/in changes (*.csv)", "when ~/in changes (*.csv)"},
		{automation.Schedule{Kind: automation.KindWatch, Dir: "/home/user/in"}, "when /home/user/in changes", "when /home/user/in changes"},
		{automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600_000}, "every 1h", "every 1h"},
	} {
		e := scheduler.Entry{Automation: automation.Automation{Schedule: tt.s}, Words: tt.words}
		if got := briefSchedule(e, now, "/home/u"); got != tt.want {
			t.Errorf("%+v: %q; want %q", tt.s, got, tt.want)
		}
	}
}

// What the clocks do to a time stands beside it, or below it where the line
// would be too long.
func TestNextFits(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	s, err := cron.Parse("30 2 * * *")
	if err != nil {
		t.Fatal(err)
	}
	var times []upcoming
	for at := time.Date(2026, 3, 7, 0, 0, 0, 0, zone); len(times) < 3; {
		at, _ = s.Next(at, zone)
		times = append(times, upcoming{at.In(zone), s.Effect(at, zone)})
	}
	text := nextText("every day at 02:30", times, true)
	for line := range strings.Lines(text) {
		if len(line) > columns+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if !strings.Contains(text, "Sun  8 Mar 2026 03:00 EDT\n      02:30 does not exist that day; runs when the clock jumps\n") {
		t.Error(text)
	}
}
