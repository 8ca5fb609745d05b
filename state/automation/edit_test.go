package automation_test

import (
	"testing"

	"claw/state/automation"
)

// 2.12: what an edit does to the slots (openclaw 67828, 127691, 152592, 27996,
// 71603, 91944, 145722).
func TestEdit(t *testing.T) {
	base := func() automation.Automation {
		a := settled("09:00", hourly())
		a.State.ConsecutiveErrors, a.State.BackoffUntil, a.State.PacedAt = 4, day("10:40"), day("11:30")
		return a
	}
	off := func() automation.Automation {
		a := base()
		a.Enabled, a.State.AutoDisabled = false, &automation.AutoDisabled{Reason: automation.ReasonFailures}
		return a
	}
	change := func(a automation.Automation, by func(*automation.Automation)) automation.Automation {
		by(&a)
		return a
	}
	for _, tt := range []struct {
		rule     string
		old, new automation.Automation
		now      string
		rows     string
		settled  string
		moved    bool // the schedule counts as another one
		paced    bool // kept
		errors   int
	}{
		{"a name leaves the slots alone", base(), change(base(), func(a *automation.Automation) { a.Name = "x" }), "10:10", "", "09:00", false, true, 4},
		{"another way to write the expression does too", base(), change(base(), func(a *automation.Automation) { a.Schedule.Expr = " 0  *\t* * ? " }), "10:10", "", "09:00", false, true, 4},
		{"another expression: old slots are not owed", base(), change(base(), func(a *automation.Automation) { a.Schedule.Expr = "5 * * * *" }), "11:10", "10:00-11:00(2) missed edited", "11:10", true, false, 4},
		{"another zone", base(), change(base(), func(a *automation.Automation) { a.Schedule.TZ = "Asia/Kolkata" }), "09:10", "", "09:10", true, false, 4},
		{"another stagger", base(), change(base(), func(a *automation.Automation) { a.Schedule.StaggerMs = nil }), "09:10", "", "09:10", true, false, 4},
		{"after the clock was set back, nothing is decided again", base(), change(base(), func(a *automation.Automation) { a.Schedule.Expr = "5 * * * *" }), "08:40", "", "09:00", true, false, 4},
		{"a payload leaves the slots alone", base(), change(base(), func(a *automation.Automation) { a.Payload.Argv = []string{"x"} }), "10:10", "", "09:00", false, true, 4},
		{"where it is told does too", base(), change(base(), func(a *automation.Automation) { a.Delivery = &automation.Delivery{Mode: "none"} }), "10:10", "", "09:00", false, true, 4},
		{"how it overlaps, and what is made up", base(), change(base(), func(a *automation.Automation) { a.Overlap, a.Missed.Policy = "queue", "all" }), "10:10", "", "09:00", false, true, 4},
		{"a trigger script", base(), change(base(), script), "10:10", "", "09:00", false, true, 4},
		{"another kind", base(), change(base(), func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindBoot}
		}), "10:10", "10:00 missed edited", "10:10", true, false, 4},
		{"off: what was due is recorded", base(), change(base(), func(a *automation.Automation) { a.Enabled = false }), "10:10", "10:00 missed disabled", "10:10", false, false, 4},
		{"on: slots between are not owed, counters are new", off(), change(off(), func(a *automation.Automation) { a.Enabled = true }), "13:10", "", "13:10", false, false, 0},
		{"an edit while off records nothing", off(), change(off(), func(a *automation.Automation) { a.Schedule.Expr = "5 * * * *" }), "13:10", "", "13:10", true, false, 4},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, runs := automation.Edit(tt.old, tt.new, day(tt.now), zone)
			if s := shown(runs); s != tt.rows {
				t.Errorf("rows %s; want %s", s, tt.rows)
			}
			st := got.State
			if !st.Settled.Equal(day(tt.settled)) || (st.ScheduleRev > tt.old.State.ScheduleRev) != tt.moved || !st.PacedAt.IsZero() != tt.paced || st.ConsecutiveErrors != tt.errors {
				t.Errorf("%+v", st)
			}
			if got.Enabled && st.AutoDisabled != nil {
				t.Errorf("%+v", st.AutoDisabled)
			}
			if !got.CreatedAt.Equal(tt.old.CreatedAt) || !got.UpdatedAt.Equal(day(tt.now)) {
				t.Errorf("created %s, updated %s", got.CreatedAt, got.UpdatedAt)
			}
		})
	}
}

// 2.4: an edit keeps the anchor, a new interval gets a new one.
func TestEditKeepsTheAnchor(t *testing.T) {
	a := hourly(func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600000}
	})
	same := a
	same.Name, same.Schedule.AnchorMs = "x", 0
	if got, _ := automation.Edit(a, same, day("09:10"), zone); got.Schedule.AnchorMs != day("08:30").UnixMilli() || got.State.ScheduleRev != 0 {
		t.Errorf("%+v", got)
	}
	other := a
	other.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 1800000}
	if got, _ := automation.Edit(a, other, day("09:10"), zone); got.Schedule.AnchorMs != day("09:10").UnixMilli() || got.State.ScheduleRev != 1 {
		t.Errorf("%+v", got)
	}
}

// A one-shot that is set to a time just past fires at once, as a new one.
func TestEditOneShot(t *testing.T) {
	a := oneShot("17:00")
	b := a
	b.Schedule.At = day("09:09:30")
	got, _ := automation.Edit(a, b, day("09:10"), zone)
	if s, want := shown(automation.Decide(input("09:10", got)).Runs), "09:09:30 running"; s != want {
		t.Errorf("%s; want %s", s, want)
	}
}

// What of a source restarts it, and what does not (openclaw 99709, 104518).
func TestSameSchedule(t *testing.T) {
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		by   func(*automation.Schedule)
		same bool
	}{
		{"nothing", onExit(), func(*automation.Schedule) {}, true},
		{"another command", onExit(), func(s *automation.Schedule) { s.Command = "x" }, false},
		{"another directory to run in", onExit(), func(s *automation.Schedule) { s.Cwd = "/x" }, false},
		{"another argv", stream(), func(s *automation.Schedule) { s.Argv = []string{"tail", "-f log"} }, false},
		{"what of a stream is told", stream(), func(s *automation.Schedule) { s.Mode, s.Match = "match", "x" }, true},
		{"how it is batched", stream(), func(s *automation.Schedule) { s.BatchMs, s.MaxBatchBytes = 50, 1024 }, true},
		{"another directory to watch", watch(), func(s *automation.Schedule) { s.Dir = "/x" }, false},
		{"what is below it", watch(), func(s *automation.Schedule) { s.Recursive = true }, false},
		{"other names", watch(), func(s *automation.Schedule) { s.Glob = "*.csv" }, false},
		{"the zone a time was written in", automation.Automation{Schedule: automation.Schedule{Kind: automation.KindAt, At: at(t, "2026-12-01T08:00:00Z")}}, func(s *automation.Schedule) { s.TZ = "Europe/Berlin" }, true},
		{"another kind", atBoot(), func(s *automation.Schedule) { s.Kind = automation.KindWatch }, false},
	} {
		s := tt.a.Schedule
		tt.by(&s)
		if got := automation.SameSchedule(tt.a.Schedule, s); got != tt.same {
			t.Errorf("%s: the same %v", tt.rule, got)
		}
	}
}

func TestUpcoming(t *testing.T) {
	paced := hourly()
	paced.State.PacedAt = day("11:20")
	backoff := hourly()
	backoff.State.BackoffUntil = day("09:25")
	off := hourly(func(a *automation.Automation) { a.Enabled = false })
	waits := run("09:00", automation.Queued, func(r *automation.Run) { r.NotBefore = day("09:12") })
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		open []automation.Run
		want string
	}{
		{"the next slot", settled("09:00", hourly()), nil, "10:00"},
		{"one that has come due", hourly(), nil, "09:00"},
		{"one that waits", settled("09:00", hourly()), []automation.Run{waits}, "09:12"},
		{"what the last run asked for", paced, nil, "11:20"},
		{"after a back-off", backoff, nil, "09:25"},
		{"off", off, nil, ""},
		{"off, but started by hand", off, []automation.Run{waits}, "09:12"},
		{"done", settled("09:00", oneShot("09:00")), nil, ""},
		{"a schedule that cannot be computed (openclaw 66019)", hourly(func(a *automation.Automation) { a.Schedule.TZ = "Mars/Olympus" }), nil, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, ok := automation.Upcoming(tt.a, tt.open, day("09:10"), zone)
			if ok != (tt.want != "") || ok && !got.Equal(day(tt.want)) {
				t.Errorf("%s, %v", got, ok)
			}
		})
	}
}
