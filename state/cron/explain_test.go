package cron_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"claw/state/cron"
)

// tour.md, and plain English.
func TestExplain(t *testing.T) {
	berlin := location(t, "Europe/Berlin")
	for _, tt := range []struct{ expr, want, brief string }{
		{"0 9 * * 1-5", "every weekday at 09:00", "weekdays 09:00"},
		{"30 2 * * *", "every day at 02:30", "daily 02:30"},
		{"0 7 * * *", "every day at 07:00", "daily 07:00"},
		{"0 8 * * 1,4", "every Monday and Thursday at 08:00", "Mon and Thu 08:00"},
		{"0 8 * * 0,6", "every Saturday and Sunday at 08:00", "Sat and Sun 08:00"},
		{"0 9,12,15 * * *", "every day at 09:00, 12:00 and 15:00", "daily 09:00, 12:00 and 15:00"},
		{"5 0 9 * * *", "every day at 09:00:05", "daily 09:00:05"},
		{"* * * * *", "every minute", ""},
		{"*/5 * * * *", "every 5 minutes", ""},
		{"*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour", ""},
		{"0 * * * *", "every hour", ""},
		{"5 * * * *", "at minute 5 of every hour", ""},
		{"0 */6 * * *", "every day at 00:00, 06:00, 12:00 and 18:00", "daily 00:00, 06:00, 12:00 and 18:00"},
		{"0 */2 * * *", "every 2 hours", ""},
		{"10 */2 * * *", "at minute 10 of every 2nd hour from 00:00", ""},
		{"*/15 9-17 * * MON-FRI", "every 15 minutes from 09:00 to 17:45 on weekdays", ""},
		{"0 8-18 * * *", "every hour from 08:00 to 18:00", ""},
		{"*/30 1,3,5,7 * * *", "every 30 minutes of hours 1, 3, 5 and 7", ""},
		{"* * * * * *", "every second", ""},
		{"*/10 * * * * *", "every 10 seconds", ""},
		{"*/10 5 * * * *", "every 10 seconds of minute 5 of every hour", ""},
		{"* 0 * * * *", "every second of minute 0 of every hour", ""},
		{"*/30 */2 8 * * *", "every 30 seconds of every 2 minutes from 08:00 to 08:58", ""},
		{"7 * * * * *", "at second 7 of every minute", ""},
		{"1,2,3,9 * * * * *", "at seconds 1 to 3 and 9 of every minute", ""},
		{"0 0 1 * *", "on the 1st of every month at 00:00", ""},
		{"0 0 2,3,22 1,7 *", "on the 2nd, 3rd and 22nd of January and July at 00:00", ""},
		{"0 0 1-7,11 * *", "on days 1 to 7 and 11 of every month at 00:00", ""},
		{"0 0 L * *", "on the last day of every month at 00:00", ""},
		{"0 0 LW * *", "on the last weekday of every month at 00:00", ""},
		{"0 0 15W * *", "on the weekday nearest the 15th of every month at 00:00", ""},
		{"0 0 * * 5#2", "on the 2nd Friday of every month at 00:00", ""},
		{"0 0 * 12 5#L", "on the last Friday of December at 00:00", ""},
		{"0 0 13 * 5", "on the 13th of every month and every Friday at 00:00", ""},
		{"0 0 13 * 5#3", "on the 13th and on the 3rd Friday of every month at 00:00", ""},
		{"0 0 13 * +5", "on the 13th of every month if it is a Friday at 00:00", ""},
		{"0 0 * 1,2 *", "every day in January and February at 00:00", ""},
		{"* * * 1 1", "every minute on Mondays in January", ""},
		{"0 0 0 1 1 * 2030,2032-2034", "on the 1st of January at 00:00, only in 2030 and 2032 to 2034", ""},
		{"0 0 0 * * * *", "every day at 00:00, until 2099", ""},
		{"@weekly", "every Sunday at 00:00", "Sun 00:00"},
	} {
		t.Run(tt.expr, func(t *testing.T) {
			s := cron.MustParse(tt.expr)
			if got := cron.Explain(s, berlin); got != tt.want+" Europe/Berlin" {
				t.Errorf("Explain: %q", got)
			}
			if tt.brief == "" {
				tt.brief = tt.want
			}
			if got := cron.Brief(s, berlin); got != tt.brief+" Europe/Berlin" {
				t.Errorf("Brief: %q", got)
			}
		})
	}
	if got := cron.Explain(cron.MustParse("0 9 * * *"), time.Local); got != "every day at 09:00" {
		t.Errorf("local: %q", got)
	}
	if got := cron.Explain(cron.Schedule{}, nil); got != "never" {
		t.Errorf("zero: %q", got)
	}
}

// Schedules that are said alike match alike.
func TestExplainIsExact(t *testing.T) {
	said := map[string]cron.Schedule{}
	r := rand.New(rand.NewPCG(7, 7))
	same := 0
	for range 20000 {
		o := draw(r)
		if r.IntN(2) == 0 {
			fields := strings.Fields(o.expr)
			o.expr = "0 0 " + strings.Join(fields[len(fields)-3:], " ")
		}
		s, err := cron.Parse(o.expr)
		if err != nil {
			continue
		}
		words := cron.Explain(s, time.UTC)
		other, ok := said[words]
		if !ok {
			said[words] = s
			continue
		}
		same++
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 20 {
			a, _ := s.Next(at, time.UTC)
			if b, _ := other.Next(at, time.UTC); !a.Equal(b) {
				t.Fatalf("%q and %q are both %q", s, other, words)
			}
			at = a
		}
	}
	if same < 100 {
		t.Errorf("only %d pairs were said alike", same)
	}
}

// What "claw cron next" marks.
func TestEffect(t *testing.T) {
	for _, tt := range []struct{ rule, expr, zone, at, want string }{
		{"tour.md", "30 2 * * *", "America/New_York", "2026-03-08T03:00:00-04:00", "02:30 does not exist that day; runs when the clock jumps"},
		{"nothing on another day", "30 2 * * *", "America/New_York", "2026-03-09T02:30:00-04:00", ""},
		{"nothing later that day", "30 14 * * *", "America/New_York", "2026-03-08T14:30:00-04:00", ""},
		{"two in the gap", "0,30 2 * * *", "America/New_York", "2026-03-08T03:00:00-04:00", "02:00 and 02:30 do not exist that day; runs once, when the clock jumps"},
		{"many in the gap", "0-59 2 * * *", "America/New_York", "2026-03-08T03:00:00-04:00", "02:00, 02:01, 02:02 and more do not exist that day; runs once, when the clock jumps"},
		{"midnight", "0 0 * * *", "America/Sao_Paulo", "2018-11-04T01:00:00-02:00", "00:00 does not exist that day; runs when the clock jumps"},
		{"a wildcard has no gap", "0 * * * *", "America/New_York", "2026-03-08T03:00:00-04:00", ""},
		{"a fixed time in a repeat", "30 1 * * *", "America/New_York", "2026-11-01T01:30:00-04:00", "01:30 comes twice that day; runs the first time"},
		{"a wildcard, first pass", "*/30 * * * *", "America/New_York", "2026-11-01T01:30:00-04:00", "01:30 comes twice that day; this is the first time"},
		{"a wildcard, second pass", "*/30 * * * *", "America/New_York", "2026-11-01T01:30:00-05:00", "01:30 comes twice that day; this is the second time"},
		{"before and after the repeat", "*/30 * * * *", "America/New_York", "2026-11-01T02:00:00-05:00", ""},
		{"half an hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-05T01:45:00+11:00", "01:45 comes twice that day; runs the first time"},
		{"a missing day", "0 12 * * *", "Pacific/Apia", "2011-12-31T12:00:00+14:00", "30 December 2011 12:00 was left out by a correction of the clock; it is not made up"},
		{"the day after it", "0 12 * * *", "Pacific/Apia", "2012-01-01T12:00:00+14:00", ""},
		{"no change ever", "0 12 * * *", "UTC", "2026-01-01T12:00:00Z", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			loc := location(t, tt.zone)
			at, err := time.Parse(time.RFC3339, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			s := cron.MustParse(tt.expr)
			if next, ok := s.Next(at.Add(-time.Second), loc); !ok || !next.Equal(at) {
				t.Fatalf("%s is no occurrence, but %s", at, next)
			}
			if got := s.Effect(at, loc); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestFixedTime(t *testing.T) {
	for expr, want := range map[string]bool{
		"0 2 * * *": true, "0,30 2-4 * * *": true, "0 * * * *": false, "* 2 * * *": false, "*/15 2 * * *": false, "0 */2 * * *": false,
		"? 2 * * *": false, "*/10 0 2 * * *": true, "0-59 2 * * *": true, "@hourly": false, "@daily": true,
	} {
		if got := cron.MustParse(expr).FixedTime(); got != want {
			t.Errorf("%q: %v", expr, got)
		}
	}
	if cron.MustParse("0 2 * * *").SubMinute() || cron.MustParse("7 0 2 * * *").SubMinute() || !cron.MustParse("*/30 * * * * *").SubMinute() {
		t.Error("SubMinute")
	}
}
