package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"claw/state/cron"
)

// Ways to write the same thing: the two must match at the same times.
func TestSameMeaning(t *testing.T) {
	for _, tt := range []struct{ rule, expr, same string }{
		{"names", "0 0 * jan,DEC Mon-fri", "0 0 * 1,12 1-5"},
		{"all names of months", "0 0 1 JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC *", "0 0 1 1,2,3,4,5,6,7,8,9,10,11,12 *"},
		{"all names of days", "0 0 ? * SUN,TUE,THU", "0 0 * * 0,2,4"},
		{"the other days", "0 0 ? * MON,WED,FRI,SAT", "0 0 * * 1,3,5,6"},
		{"weekday 7 is Sunday", "0 0 * * 7", "0 0 * * 0"},
		{"a range up to 7", "0 0 * * 5-7", "0 0 * * 5,6,0"},
		{"a range up to Sunday", "0 0 * * SAT-SUN", "0 0 * * 6,0"},
		{"0-7 is every day", "0 0 * * 0-7", "0 0 * * 0-6"},
		{"Sunday to Tuesday", "0 0 * * SUN-TUE", "0 0 * * 0,1,2"},
		{"leading zeros", "05 08 01 02 *", "5 8 1 2 *"},
		{"a step from a value goes to the end", "7/15 0 * * *", "7,22,37,52 0 * * *"},
		{"steps of a range", "10-30/10 0 * * *", "10,20,30 0 * * *"},
		{"a step beyond the range", "10-12/5 0 * * *", "10 0 * * *"},
		{"question marks", "? ? ? ? ?", "* * * * *"},
		{"six fields with second 0", "0 5 4 * * *", "5 4 * * *"},
		{"seven fields with every year", "0 5 4 * * * *", "5 4 * * *"},
		{"last weekday, three ways", "0 0 * * 5L", "0 0 * * 5#L"},
		{"last weekday, older way", "0 0 * * L5", "0 0 * * FRI#L"},
		{"an L before a list is for all of it", "0 0 * * L5,6", "0 0 * * 5#L,6#L"},
		{"a range with #", "0 0 * * MON-WED#2", "0 0 * * 1#2,2#2,3#2"},
		{"Sunday by 7 with #", "0 0 * * 7#1", "0 0 * * SUN#1"},
		{"@hourly", "@hourly", "0 * * * *"},
		{"@daily", "@Daily", "0 0 * * *"},
		{"@midnight", "@midnight", "0 0 * * *"},
		{"@weekly", "@weekly", "0 0 * * 0"},
		{"@monthly", "@monthly", "0 0 1 * *"},
		{"@yearly", "@yearly", "0 0 1 1 *"},
		{"@annually", "@annually", "0 0 1 1 *"},
		{"blanks", "  0\t0  1 1 * ", "0 0 1 1 *"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a, b := cron.MustParse(tt.expr), cron.MustParse(tt.same)
			at := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC)
			for range 100 {
				x, okX := a.Next(at, nil)
				y, okY := b.Next(at, nil)
				if okX != okY || !x.Equal(y) {
					t.Fatalf("after %s: %s and %s", at, x, y)
				}
				at = x
			}
			if x, y := cron.Explain(a, nil), cron.Explain(b, nil); x != y && !strings.HasPrefix(tt.rule, "seven") {
				t.Errorf("explained as %q and %q", x, y)
			}
		})
	}
}

// Each refusal names the field, what stands there, the rule, and a way out
// where there is one.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ expr, field, text, why, hint string }{
		{"", "", "", "it is empty", `write minute, hour`},
		{"* * * *", "", "", "4 fields", "write minute, hour"},
		{"* * * * * * * *", "", "", "8 fields", "write minute, hour"},
		{"60 * * * *", "minute", "60", "60 is out of range", "0 to 59"},
		{"60 * * * * *", "second", "60", "60 is out of range", "0 to 59"},
		{"* 24 * * *", "hour", "24", "24 is out of range", "an hour is 0 to 23"},
		{"* * 0 * *", "day of month", "0", "out of range", "1 to 31"},
		{"* * 32 * *", "day of month", "32", "out of range", "1 to 31"},
		{"* * * 13 *", "month", "13", "out of range", "1 to 12, or JAN to DEC"},
		{"* * * * 8", "day of week", "8", "out of range", "0 to 7, or SUN to SAT"},
		{"* * * * * * 1969", "year", "1969", "out of range", "1970 to 2099"},
		{"* * * * * * 2100", "year", "2100", "out of range", "1970 to 2099"},
		{"* * * FOO *", "month", "FOO", "neither a number nor a name", "JAN to DEC"},
		{"* * * * MONDAY", "day of week", "MONDAY", "neither a number nor a name", "SUN to SAT"},
		{"* * JAN * *", "day of month", "JAN", "neither a number nor a name", "1 to 31"},
		{"-5 * * * *", "minute", "-5", "a number is missing", "0 to 59"},
		{"5- * * * *", "minute", "5-", "a number is missing", "0 to 59"},
		{"1-2-3 * * * *", "minute", "1-2-3", "neither a number", "0 to 59"},
		{"+5 * * * *", "minute", "+5", "neither a number", ""},
		{"99999999999999999999 * * * *", "minute", "99999999999999999999", "neither a number", ""},
		{"٣ * * * *", "minute", "٣", "neither a number", ""},
		{"1,,2 * * * *", "minute", "1,,2", "empty place in the list", "comma"},
		{", * * * *", "minute", ",", "empty place in the list", "comma"},
		{"1, * * * *", "minute", "1,", "empty place in the list", "comma"},
		{"30-10 * * * *", "minute", "30-10", "wrong way round", "write 30-59,0-10"},
		{"0 22-2 * * *", "hour", "22-2", "wrong way round", "write 22-23,0-2"},
		{"0 0 * * FRI-MON", "day of week", "FRI-MON", "wrong way round", "write FRI-7,0-MON"},
		{"0 0 * * 6-0", "day of week", "6-0", "wrong way round", "write 6-7"},
		{"0 0 * * 7-2", "day of week", "7-2", "wrong way round", "write 0-2"},
		{"0 0 0 1 1 * 2030-2028", "year", "2030-2028", "wrong way round", "write 2028-2030"},
		{"*/0 * * * *", "minute", "*/0", "a step is a number from 1 on", ""},
		{"*/ * * * *", "minute", "*/", "a step is a number from 1 on", ""},
		{"*/x * * * *", "minute", "*/x", "a step is a number from 1 on", ""},
		{"/5 * * * *", "minute", "/5", "nothing before the step", "write */5"},
		{"*/90 * * * *", "minute", "*/90", "a step of 90 does not fit", "--every 90m"},
		{"0 */24 * * *", "hour", "*/24", "does not fit", "--every 24h"},
		{"?/5 * * * *", "minute", "?/5", "? stands alone", "write *"},
		{"1,? * * * *", "minute", "?", "? stands alone", "write *"},
		{"0 0 L-3 * *", "day of month", "L-3", "L stands alone", "LW"},
		{"0 0 W * *", "day of month", "W", "a number is missing", "1 to 31"},
		{"0 0 32W * *", "day of month", "32W", "out of range", "1 to 31"},
		{"0 0 1-5W * *", "day of month", "1-5W", "neither a number", ""},
		{"L * * * *", "minute", "L", "neither a number", ""},
		{"0 0 * * L", "day of week", "L", "no day of week", "5#L"},
		{"0 0 * * +", "day of week", "+", "no day of week", ""},
		{"0 0 * * 5#0", "day of week", "5#0", "1st to the 5th", "5#2"},
		{"0 0 * * 5#6", "day of week", "5#6", "1st to the 5th", "5#2"},
		{"0 0 * * 5#", "day of week", "5#", "1st to the 5th", "5#2"},
		{"0 0 * * #2", "day of week", "#2", "a day or a range", "5#2"},
		{"0 0 * * *#2", "day of week", "*#2", "a day or a range", "5#2"},
		{"0 0 * * L5,6#2", "day of week", "L5,6#2", "only days and ranges", "5#L,6#2"},
		{"0 0 31 2 *", "day of month", "31", "February has no such day", "L is the last day"},
		{"0 0 30 FEB *", "day of month", "30", "no upcoming run time and would never fire", "L is the last day"},
		{"0 0 31 2,4,6 *", "day of month", "31", "February, April and June have no such day", "L is the last day"},
		{"0 0 0 31W 4 *", "day of month", "31W", "April has no such day", "L is the last day"},
		{"0 0 0 29 2 * 2027", "year", "2027", "no day of these years", "other years"},
		{"0 0 1-7 * +5#5", "", "", "no day matches both", ""},
		{"@every 5m", "", "", "no such nickname", "--every 90m"},
		{"@reboot", "", "", "is no time", ""},
		{"@noon", "", "", "no such nickname", "@daily"},
		{"TZ=UTC 0 0 * * *", "", "", "time zone", "--tz"},
		{"TZ=", "", "", "time zone", "--tz"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", "", "", "time zone", "--tz"},
		{strings.Repeat("0,", 600) + "0 * * * *", "", "", "too long", ""},
	} {
		t.Run(tt.expr[:min(len(tt.expr), 40)], func(t *testing.T) {
			start := time.Now()
			_, err := cron.Parse(tt.expr)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			e, ok := errors.AsType[*cron.Error](err)
			if !ok {
				t.Fatalf("error is %v", err)
			}
			if e.Field != tt.field || e.Text != tt.text || !strings.Contains(e.Why, tt.why) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("%+v", *e)
			}
			if tt.hint == "" && e.Hint == "" && e.Why == "" {
				t.Error("says nothing")
			}
			if tt.field != "" && !strings.Contains(e.Error(), tt.field) {
				t.Errorf("%s: does not name the field", e)
			}
		})
	}
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	cron.MustParse("nonsense")
}

// Whatever is accepted matches at some time, can be explained, and answers in
// bounded time; whatever is refused says why.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"*/15 9-17 * * MON-FRI", "0 0 L,15W,LW * 5#2,FRI#L", "0 0 * * L5,6", "@daily", "TZ=", "0 0 29 2 +1", "0 0 0 1 1 ? 2030", "5/7 ? 1-3 JAN +SUN-TUE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		s, err := cron.Parse(expr)
		if err != nil {
			if e, ok := errors.AsType[*cron.Error](err); !ok || e.Why == "" {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		at, ok := s.Next(time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC), nil)
		if !ok {
			t.Fatalf("%q was accepted and never fires", expr)
		}
		if back, ok := s.Previous(at.Add(time.Second), nil); !ok || !back.Equal(at) {
			t.Fatalf("%q: Next is %s, Previous from there %s", expr, at, back)
		}
		if cron.Explain(s, nil) == "" || cron.Brief(s, nil) == "" {
			t.Fatalf("%q cannot be explained", expr)
		}
		if again, err := cron.Parse(s.String()); err != nil || again != s {
			t.Fatalf("%q is not read back: %v", s, err)
		}
	})
}
