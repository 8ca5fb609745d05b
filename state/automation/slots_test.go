package automation_test

import (
	"testing"
	"time"

	"claw/state/automation"
)

func at(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// rfc writes an instant for comparison.
func rfc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.999Z07:00")
}

func slots(t testing.TB, a automation.Automation) automation.Slots {
	t.Helper()
	s, err := a.Slots(zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spec/heartbeat-automations.md 2.6, the vectors.
func TestOffset(t *testing.T) {
	for _, tt := range []struct {
		id          string
		in300, in60 int64
	}{
		{"job-1", 47897, 47897},
		{"job-2", 162183, 42183},
		{"daily-report", 122429, 2429},
		{"00000000-0000-4000-8000-000000000001", 258548, 18548},
		{"a", 226610, 46610},
	} {
		if got := automation.Offset(tt.id, 5*time.Minute).Milliseconds(); got != tt.in300 {
			t.Errorf("%s in 300 s: %d, not %d", tt.id, got, tt.in300)
		}
		if got := automation.Offset(tt.id, time.Minute).Milliseconds(); got != tt.in60 {
			t.Errorf("%s in 60 s: %d, not %d", tt.id, got, tt.in60)
		}
	}
	for _, window := range []time.Duration{0, time.Millisecond, -time.Minute} {
		if got := automation.Offset("job-1", window); got != 0 {
			t.Errorf("window %s: %s", window, got)
		}
	}
}

// 2.6, the exact rule (PR 51594, openclaw 51587).
func TestDefaultStagger(t *testing.T) {
	for expr, want := range map[string]bool{
		"0 * * * *": true, "0 */2 * * *": true, "0 */2,5 * * *": true, "0 5,* * * *": true, "0 0 * * * *": true, "0 0 */3 * * *": true,
		"0 7 * * *": false, "0,30 * * * *": false, "*/15 * * * *": false, "00 * * * *": false, "0 7,9 * * *": false,
		"0 8-18 * * *": false, "5 0 * * * *": false, "0 0 7 * * *": false, "@hourly": false, "* * * * *": false,
	} {
		s := automation.Schedule{Kind: automation.KindCron, Expr: expr}
		if got := s.Stagger() == automation.DefaultStagger; got != want {
			t.Errorf("%q: %v", expr, got)
		}
		if s.Stagger() != 0 && s.Stagger() != automation.DefaultStagger {
			t.Errorf("%q: %s", expr, s.Stagger())
		}
	}
	set := int64(30000)
	if got := (automation.Schedule{Kind: automation.KindCron, Expr: "0 7 * * *", StaggerMs: &set}).Stagger(); got != 30*time.Second {
		t.Errorf("set: %s", got)
	}
	exact := int64(0)
	if got := (automation.Schedule{Kind: automation.KindCron, Expr: "0 * * * *", StaggerMs: &exact}).Stagger(); got != 0 {
		t.Errorf("exact: %s", got)
	}
}

func TestStaggeredSlots(t *testing.T) {
	s := slots(t, automation.Automation{ID: "job-1", Schedule: automation.Schedule{Kind: automation.KindCron, Expr: "0 * * * *"}})
	for _, tt := range []struct{ after, next string }{
		{"2026-11-30T09:00:00Z", "2026-11-30T09:00:47.897Z"},
		{"2026-11-30T09:00:47.896Z", "2026-11-30T09:00:47.897Z"},
		{"2026-11-30T09:00:47.897Z", "2026-11-30T10:00:47.897Z"},
		{"2026-11-30T09:00:48Z", "2026-11-30T10:00:47.897Z"},
	} {
		got, ok := s.Next(at(t, tt.after))
		if !ok || rfc(got) != tt.next {
			t.Errorf("after %s: %s, not %s", tt.after, rfc(got), tt.next)
		}
		if back, ok := s.Previous(got.Add(1)); !ok || !back.Equal(got) {
			t.Errorf("Previous of just after %s: %s", rfc(got), rfc(back))
		}
	}
}

// 2.4: strictly after, on the grid of the anchor whatever happens between
// (openclaw 14761, 1972, 7022).
func TestEvery(t *testing.T) {
	anchor := at(t, "2026-11-30T09:00:00.250Z")
	a := automation.Automation{Schedule: automation.Schedule{Kind: automation.KindEvery, EveryMs: 6 * 3600 * 1000, AnchorMs: anchor.UnixMilli()}}
	s := slots(t, a)
	for _, tt := range []struct{ rule, when, next, previous string }{
		{"before the anchor", "2026-11-30T08:00:00Z", "2026-11-30T09:00:00.25Z", ""},
		{"on the anchor", "2026-11-30T09:00:00.25Z", "2026-11-30T15:00:00.25Z", ""},
		{"just before a slot", "2026-11-30T15:00:00.249Z", "2026-11-30T15:00:00.25Z", "2026-11-30T09:00:00.25Z"},
		{"on a slot, the next one", "2026-11-30T15:00:00.25Z", "2026-11-30T21:00:00.25Z", "2026-11-30T09:00:00.25Z"},
		{"just after a slot", "2026-11-30T15:00:00.251Z", "2026-11-30T21:00:00.25Z", "2026-11-30T15:00:00.25Z"},
		{"after a year", "2027-11-30T16:00:00Z", "2027-11-30T21:00:00.25Z", "2027-11-30T15:00:00.25Z"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			next, _ := s.Next(at(t, tt.when))
			previous, ok := s.Previous(at(t, tt.when))
			if !ok {
				previous = time.Time{}
			}
			if rfc(next.UTC()) != tt.next || !previous.IsZero() && rfc(previous.UTC()) != tt.previous || ok != (tt.previous != "") {
				t.Errorf("next %s, previous %s %v", rfc(next.UTC()), rfc(previous.UTC()), ok)
			}
		})
	}
}

func TestSchedulesThatCannotBeComputed(t *testing.T) {
	for _, s := range []automation.Schedule{
		{Kind: automation.KindEvery},
		{Kind: automation.KindEvery, EveryMs: -5},
		{Kind: automation.KindEvery, EveryMs: 1000, AnchorMs: -1},
		{Kind: automation.KindEvery, EveryMs: 1 << 62},
		{Kind: automation.KindCron, Expr: "nonsense"},
		{Kind: automation.KindCron, Expr: "* * * * *", TZ: "Mars/Olympus"},
	} {
		_, err := automation.Automation{Schedule: s}.Slots(zone)
		if e, ok := err.(*automation.Error); !ok || e.Why == "" {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestWords(t *testing.T) {
	exact := int64(0)
	for _, tt := range []struct {
		s    automation.Schedule
		want string
	}{
		{automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * 1-5", TZ: "Europe/Berlin"}, "every weekday at 09:00 Europe/Berlin"},
		{automation.Schedule{Kind: automation.KindCron, Expr: "0 * * * *"}, "every hour UTC, 47.897s later"},
		{automation.Schedule{Kind: automation.KindCron, Expr: "0 * * * *", StaggerMs: &exact}, "every hour UTC"},
		{automation.Schedule{Kind: automation.KindEvery, EveryMs: 6 * 3600 * 1000}, "every 6h"},
		{automation.Schedule{Kind: automation.KindEvery, EveryMs: 90 * 1000}, "every 1m30s"},
		{automation.Schedule{Kind: automation.KindEvery, EveryMs: 90 * 60 * 1000}, "every 1h30m"},
		{automation.Schedule{Kind: automation.KindAt, At: at(t, "2026-12-01T09:00:00+01:00")}, "at 2026-12-01 08:00:00 UTC"},
		{automation.Schedule{Kind: automation.KindAt, At: at(t, "2026-12-01T08:00:00Z"), TZ: "Europe/Berlin"}, "at 2026-12-01 09:00:00 CET"},
		{automation.Schedule{Kind: automation.KindOnExit, Command: "make"}, ""},
	} {
		if got := slots(t, automation.Automation{ID: "job-1", Schedule: tt.s}).Words(time.UTC); got != tt.want {
			t.Errorf("%q, not %q", got, tt.want)
		}
	}
	gap := slots(t, automation.Automation{Schedule: automation.Schedule{Kind: automation.KindCron, Expr: "30 2 * * *", TZ: "America/New_York"}})
	slot, _ := gap.Next(at(t, "2026-03-08T00:00:00-05:00"))
	if got := gap.Effect(slot); got != "02:30 does not exist that day; runs when the clock jumps" {
		t.Errorf("%q", got)
	}
}

func TestRunID(t *testing.T) {
	for _, tt := range []struct {
		slot    string
		attempt int
		want    string
	}{
		{"2026-11-30T09:00:00Z", 1, "job@20261130T090000Z"},
		{"2026-11-30T10:00:00+01:00", 1, "job@20261130T090000Z"},
		{"2026-11-30T09:00:47.897Z", 2, "job@20261130T090047.897Z#2"},
	} {
		if got := automation.RunID("job", at(t, tt.slot), tt.attempt); got != tt.want {
			t.Errorf("%s, not %s", got, tt.want)
		}
	}
}
