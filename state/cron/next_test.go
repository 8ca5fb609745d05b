package cron_test

import (
	"testing"
	"time"

	"claw/state/cron"
)

// rfc writes instants for comparison.
func rfc(t time.Time) string { return t.Format("2006-01-02T15:04:05Z07:00") }

// Every change of the clocks of spec/heartbeat-automations.md 2.5 and pains
// B21, by the rule of design.md 7: occurrences from an instant on.
func TestChangesOfTheClocks(t *testing.T) {
	for _, tt := range []struct {
		rule, expr, zone, from string
		want                   []string
	}{
		{"New York: a time in the gap runs once at its end", "30 2 * * *", "America/New_York", "2026-03-07T00:00:00-05:00", []string{"2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"New York: 02:00 is in the gap too (robfig/cron 541)", "0 2 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"New York: times in one gap are one occurrence", "0,15,59 2 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"New York: the end of the gap has its own time", "0 2,3 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00", "2026-03-09T03:00:00-04:00"}},
		{"New York: seconds in the gap", "*/20 30 2 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00", "2026-03-09T02:30:20-04:00"}},
		{"New York: every hour follows real time in the gap", "30 * * * *", "America/New_York", "2026-03-08T01:00:00-05:00", []string{"2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00", "2026-03-08T04:30:00-04:00"}},
		{"New York: every minute of an hour in the gap does not run", "* 2 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-09T02:00:00-04:00", "2026-03-09T02:01:00-04:00"}},
		{"New York: a repeated time runs the first time", "30 1 * * *", "America/New_York", "2026-11-01T00:00:00-04:00", []string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"New York: the instant of the repeat is no second 01:00", "0 1 * * *", "America/New_York", "2026-11-01T00:00:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-02T01:00:00-05:00"}},
		{"New York: 02:00 of the day with the repeat", "0 2 * * *", "America/New_York", "2026-11-01T00:00:00-04:00", []string{"2026-11-01T02:00:00-05:00", "2026-11-02T02:00:00-05:00"}},
		{"New York: every hour runs in both passes", "0 * * * *", "America/New_York", "2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T02:00:00-05:00"}},
		{"New York: */15 of a fixed hour runs in both passes", "*/30 1 * * *", "America/New_York", "2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00", "2026-11-02T01:00:00-05:00"}},
		{"New York: hours listed one by one are fixed", "0 0-23 * * *", "America/New_York", "2026-11-01T00:30:00-04:00", []string{"2026-11-01T01:00:00-04:00", "2026-11-01T02:00:00-05:00"}},
		{"New York: started within the second pass", "45 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00", []string{"2026-11-02T01:45:00-05:00"}},
		{"Berlin: gap", "30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"Berlin: repeat", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"London: gap", "30 1 * * *", "Europe/London", "2026-03-29T00:00:00Z", []string{"2026-03-29T02:00:00+01:00", "2026-03-30T01:30:00+01:00"}},
		{"London: repeat", "15 1 * * *", "Europe/London", "2026-10-25T00:00:00+01:00", []string{"2026-10-25T01:15:00+01:00", "2026-10-26T01:15:00Z"}},
		{"Lord Howe: gap of 30 minutes", "15 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00:00+10:30", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"Lord Howe: repeat of 30 minutes", "45 1 * * *", "Australia/Lord_Howe", "2026-04-05T00:00:00+11:00", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"Lord Howe: */15 in both passes", "*/15 * * * *", "Australia/Lord_Howe", "2026-04-05T01:30:00+11:00", []string{"2026-04-05T01:45:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T01:45:00+10:30", "2026-04-05T02:00:00+10:30"}},
		{"Sao Paulo: a day without midnight", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00-03:00", []string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		{"Sao Paulo: the missing midnight has its own date", "0 0 4 11 *", "America/Sao_Paulo", "2018-01-01T00:00:00-02:00", []string{"2018-11-04T01:00:00-02:00", "2019-11-04T00:00:00-03:00"}},
		{"Sao Paulo: midnight that comes twice", "30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00-02:00", []string{"2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"}},
		{"Troll: gap of two hours", "30 1,2 * * *", "Antarctica/Troll", "2026-03-29T00:00:00Z", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T01:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"Troll: repeat of two hours", "30 1,2 * * *", "Antarctica/Troll", "2026-10-25T00:00:00+02:00", []string{"2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T01:30:00Z", "2026-10-26T02:30:00Z"}},
		{"Samoa: a missing day is a correction, nothing is made up", "0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00-10:00", []string{"2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00", "2012-01-01T12:00:00+14:00"}},
		{"Samoa: the missing day itself", "0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00-11:00", []string{"2012-12-30T12:00:00+14:00"}},
		{"Kwajalein: so is the one of 1993", "0 12 * * *", "Pacific/Kwajalein", "1993-08-20T00:00:00-12:00", []string{"1993-08-20T12:00:00-12:00", "1993-08-22T12:00:00+12:00"}},
		{"Caracas: half an hour forward, from 02:30", "45 2 1 5 *", "America/Caracas", "2016-01-01T00:00:00-04:30", []string{"2016-05-01T03:00:00-04:00", "2017-05-01T02:45:00-04:00"}},
		{"Alaska 1867: a day twice is a correction, the new time counts", "0 12 * * *", "America/Sitka", "1867-10-19T00:00:00+14:58", []string{"1867-10-19T12:00:00+14:58", "1867-10-19T12:00:00-09:01", "1867-10-20T12:00:00-09:01"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			s, loc := cron.MustParse(tt.expr), location(t, tt.zone)
			at, err := time.Parse(time.RFC3339, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				next, ok := s.Next(at, loc)
				if got := rfc(next); !ok || got != want {
					t.Fatalf("after %s: %s, %v; want %s", rfc(at.In(loc)), got, ok, want)
				}
				if back, ok := s.Previous(next.Add(time.Nanosecond), loc); !ok || !back.Equal(next) {
					t.Errorf("Previous of just after %s is %s, %v", rfc(next), rfc(back), ok)
				}
				at = next
			}
			for i := len(tt.want) - 2; i >= 0; i-- {
				if at, _ = s.Previous(at, loc); rfc(at) != tt.want[i] {
					t.Errorf("Previous: %s; want %s", rfc(at), tt.want[i])
				}
			}
		})
	}
}

// spec/heartbeat-automations.md 2.5 and 6, rows 2 and 39.
func TestNext(t *testing.T) {
	utc := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, tt := range []struct{ rule, expr, after, want string }{
		{"strictly after", "0 9 * * *", "2026-11-30T09:00:00Z", "2026-12-01T09:00:00Z"},
		{"never the second in progress (openclaw 14164)", "0 9 * * *", "2026-11-30T09:00:00.7Z", "2026-12-01T09:00:00Z"},
		{"the end of a second", "* * * * * *", "2026-11-30T09:00:00.999999999Z", "2026-11-30T09:00:01Z"},
		{"over the end of a year (openclaw 30351)", "0 0 1 1 *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"29 February", "0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"the farthest two: a leap day's weekday around 2100", "0 0 29 2 +1", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"},
		{"OR of day and weekday", "0 0 13 * 5", "2026-11-07T00:00:00Z", "2026-11-13T00:00:00Z"},
		{"OR, the weekday", "0 0 13 * 5", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"},
		{"AND with +", "0 0 13 * +5", "2026-11-14T00:00:00Z", "2027-08-13T00:00:00Z"},
		{"*/2 is a wildcard, so AND, as in cron(8)", "0 0 */2 * 1", "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"},
		{"L", "0 0 L 2 *", "2027-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"15W on a Sunday", "0 0 15W 11 *", "2026-11-01T00:00:00Z", "2026-11-16T00:00:00Z"},
		{"15W on a Saturday", "0 0 15W 8 *", "2026-08-01T00:00:00Z", "2026-08-14T00:00:00Z"},
		{"1W stays in the month", "0 0 1W 8 *", "2026-07-20T00:00:00Z", "2026-08-03T00:00:00Z"},
		{"31W stays in the month", "0 0 31W 5 *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z"},
		{"second Friday", "0 0 * * 5#2", "2026-11-30T00:00:00Z", "2026-12-11T00:00:00Z"},
		{"second of Monday to Friday", "0 0 * * MON-FRI#2", "2026-11-30T00:00:00Z", "2026-12-08T00:00:00Z"},
		{"last Friday", "0 0 * * 5#L", "2026-11-30T00:00:00Z", "2026-12-25T00:00:00Z"},
		{"a year", "0 0 0 1 6 * 2028", "2026-11-30T00:00:00Z", "2028-06-01T00:00:00Z"},
		{"a year, seen from long before", "0 0 0 1 6 * 2099", "0001-01-01T00:00:00Z", "2099-06-01T00:00:00Z"},
		{"the zero time (flyte 6470)", "0 0 * * *", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"},
		{"a year that is over", "0 0 0 1 6 * 2025", "2026-11-30T00:00:00Z", ""},
		{"the end of time", "0 0 * * *", "9999-12-31T12:00:00Z", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, ok := cron.MustParse(tt.expr).Next(utc(tt.after), nil)
			if !ok && tt.want == "" {
				return
			}
			if !ok || rfc(got) != tt.want {
				t.Errorf("%s, %v; want %s", rfc(got), ok, tt.want)
			}
		})
	}
	if _, ok := (cron.Schedule{}).Next(utc("2026-11-30T00:00:00Z"), nil); ok {
		t.Error("the zero schedule has an occurrence")
	}
	if _, ok := (cron.Schedule{}).Previous(utc("2026-11-30T00:00:00Z"), nil); ok {
		t.Error("the zero schedule had an occurrence")
	}
}

// The last day of a leap year, where the standard library's idea of a zone's
// period ends too early.
func TestLastDayOfALeapYear(t *testing.T) {
	loc := location(t, "America/New_York")
	s := cron.MustParse("30 23 31 12 *")
	at, ok := s.Next(time.Date(2048, 12, 31, 1, 0, 0, 0, loc), loc)
	if want := "2048-12-31T23:30:00-05:00"; !ok || rfc(at) != want {
		t.Errorf("%s; want %s", rfc(at), want)
	}
}

func BenchmarkNext(b *testing.B) {
	loc := location(b, "Europe/Berlin")
	for _, expr := range []string{"*/5 * * * *", "30 2 * * 1-5", "0 0 L * *", "0 0 29 2 *"} {
		s := cron.MustParse(expr)
		b.Run(expr, func(b *testing.B) {
			at := time.Date(2026, 11, 30, 12, 0, 0, 0, loc)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(at, loc)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cron.Parse("*/15 9-17 * JAN-JUN MON-FRI"); err != nil {
			b.Fatal(err)
		}
	}
}
