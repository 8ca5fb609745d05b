package automation_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// A clock that is set back by hours, and then to where it was or beyond it:
// what was decided is not decided again. Until then the new time counts, and
// only slots that have a row of their own are passed over.
func TestDecideAfterACorrection(t *testing.T) {
	rows := map[string]bool{}
	have := func(times ...string) {
		clear(rows)
		for _, c := range times {
			rows[automation.RunID(hourly().ID, day(c), 1)] = true
		}
	}
	for _, tt := range []struct {
		rule  string
		have  []string
		looks []string // after it was decided up to 14:00
		want  string
		next  string
	}{
		{"back, and where it was", nil, []string{"09:30", "14:20"}, "", "15:00"},
		{"back, and beyond", nil, []string{"09:30", "16:00"}, "15:00 missed coalesced, 16:00 running", "17:00"},
		{"back, and an hour before where it was", nil, []string{"09:30", "13:10"}, "", "15:00"},
		{"back, and on by hours as they pass", nil, []string{"09:30", "10:00", "11:00", "12:00"}, "12:00 running", "13:00"},
		{"back twice", nil, []string{"10:50", "07:10", "15:00"}, "15:00 running", "16:00"},
		{"back, and the new time goes on", []string{"14:00"}, []string{"09:30", "10:00"}, "10:00 running", "11:00"},
		{"back, and on to what has run", []string{"10:00", "14:00"}, []string{"09:30", "10:00"}, "", "11:00"},
		{"rows stand around those that are there", []string{"08:00", "10:00"}, []string{"07:30", "10:50"}, "09:00 missed coalesced", "11:00"},
		{"and at both ends", []string{"09:00"}, []string{"06:30", "10:30"}, "07:00-08:00(2) missed coalesced, 10:00 running", "11:00"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			have(tt.have...)
			in := input(tt.looks[0], settled("14:00", hourly(overlap(automation.OverlapAllow))))
			var got automation.Plan
			for _, clock := range tt.looks {
				in.Now, in.Recorded = day(clock), func(id string) bool { return rows[id] }
				got = automation.Decide(in)
				in = after(in, got)
			}
			if s := shown(got.Runs); s != tt.want {
				t.Errorf("%s; want %s", s, tt.want)
			}
			if s := strings.TrimSuffix(got.Next.UTC().Format("15:04:05"), ":00"); s != tt.next {
				t.Errorf("next %s; want %s", s, tt.next)
			}
		})
	}
}

// What is shown and edited before the next look knows it too.
func TestUpcomingAfterACorrection(t *testing.T) {
	in := input("09:30", settled("14:00", hourly()))
	a := automation.Decide(in).Automations[0]
	for clock, want := range map[string]string{"09:40": "10:00", "13:10": "15:00", "14:20": "15:00", "16:10": "15:00"} {
		next, _ := automation.Upcoming(a, nil, day(clock), zone)
		if got := next.UTC().Format("15:04"); got != want {
			t.Errorf("at %s the next is %s; want %s", clock, got, want)
		}
	}
	off := a
	off.Enabled = false
	for clock, want := range map[string]string{"14:20": "", "16:10": "15:00-16:00(2) missed disabled"} {
		if _, runs := automation.Edit(a, off, day(clock), zone); shown(runs) != want {
			t.Errorf("switched off at %s: %s; want %s", clock, shown(runs), want)
		}
	}
	if automation.Due(a, day("14:20"), zone) {
		t.Error("it is due again")
	}
}

// An interval that was made while the clock was ahead is not held up until then:
// its grid is the same, and begins earlier. An anchor that was to come stays.
func TestAnchorAheadOfTheClock(t *testing.T) {
	made := func(anchor string) automation.Automation {
		return settled("20:10", hourly(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: time.Hour.Milliseconds(), AnchorMs: day(anchor).UnixMilli()}
		}))
	}
	for _, tt := range []struct{ anchor, looks, want, next string }{
		{"20:10", "09:30", "", "10:10"},
		{"20:10", "09:30 10:10", "10:10 running", "11:10"},
		{"20:10", "09:30 20:10", "", "21:10"},
		{"20:10", "09:30 21:30", "21:10 running", "22:10"},
		{"22:00", "09:30", "", "22:00"},
	} {
		in := input("09:30", made(tt.anchor))
		var got automation.Plan
		for clock := range strings.FieldsSeq(tt.looks) {
			in.Now = day(clock)
			got = automation.Decide(in)
			in = after(in, got)
		}
		if s := shown(got.Runs); s != tt.want {
			t.Errorf("%s: %s; want %s", tt.looks, s, tt.want)
		}
		if s := got.Next.UTC().Format("15:04"); s != tt.next {
			t.Errorf("%s: next %s; want %s", tt.looks, s, tt.next)
		}
	}
}
