package automation_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// spec/heartbeat-automations.md 2.3 (openclaw 78193, 53218, 8399, 45775,
// 117969).
func TestParseAt(t *testing.T) {
	now := at(t, "2026-11-30T12:00:00Z")
	for _, tt := range []struct{ text, tz, want string }{
		{"1796112000000", "", "2026-12-01T08:00:00Z"},
		{"2026-12-01", "", "2026-12-01T00:00:00Z"},
		{"2026-12-01", "Europe/Berlin", "2026-12-01T00:00:00+01:00"},
		{"2026-12-01T09:00", "", "2026-12-01T09:00:00Z"},
		{"2026-12-01 09:00:30", "", "2026-12-01T09:00:30Z"},
		{"2026-12-01t09:00:30.5", "", "2026-12-01T09:00:30.5Z"},
		{"2026-12-01T09:00", "America/New_York", "2026-12-01T09:00:00-05:00"},
		{"2026-12-01T09:00Z", "America/New_York", "2026-12-01T09:00:00Z"},
		{"2026-12-01T09:00+02:00", "America/New_York", "2026-12-01T07:00:00Z"},
		{"2026-12-01T09:00-0530", "", "2026-12-01T14:30:00Z"},
		{"2026-12-01T09:00+02", "", "2026-12-01T07:00:00Z"},
		{"2026-12-01T24:00", "Europe/Berlin", "2026-12-02T00:00:00+01:00"},
		{"2026-12-31T24:00", "", "2027-01-01T00:00:00Z"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T01:30:00-04:00"},
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T02:30:00+02:00"},
		{"2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-05T01:45:00+11:00"},
		{"2026-10-25T01:30", "Antarctica/Troll", "2026-10-25T01:30:00+02:00"},
		{"2026-03-08T02:30", "America/New_York", ""},
		{"2026-03-29T02:00", "Europe/Berlin", ""},
		{"2026-03-29T03:00", "Europe/Berlin", "2026-03-29T03:00:00+02:00"},
		{"2026-10-04T02:15", "Australia/Lord_Howe", ""},
		{"2018-11-04", "America/Sao_Paulo", ""},
		{"2018-11-03T24:00", "America/Sao_Paulo", ""},
		{"2011-12-30T12:00", "Pacific/Apia", ""},
		{"2011-12-31T00:00", "Pacific/Apia", "2011-12-31T00:00:00+14:00"},
		{"20m", "", "2026-11-30T12:20:00Z"},
		{"+20m", "Europe/Berlin", "2026-11-30T12:20:00Z"},
		{"1.5h", "", "2026-11-30T13:30:00Z"},
		{"250ms", "", "2026-11-30T12:00:00.25Z"},
		{"90s", "", "2026-11-30T12:01:30Z"},
		{"2d", "", "2026-12-02T12:00:00Z"},
		{"", "", ""},
		{"tomorrow", "", ""},
		{"-20m", "", ""},
		{"20", "", "1970-01-01T00:00:00.02Z"},
		{"20 m", "", ""},
		{"1.h", "", ""},
		{".5h", "", ""},
		{"20w", "", ""},
		{"99999999999d", "", ""},
		{"9999999999999999", "", ""},
		{"2026-13-01", "", ""},
		{"2026-02-29", "", ""},
		{"2026-12-01T9:00", "", ""},
		{"2026-12-01T25:00", "", ""},
		{"2026-12-01T24:01", "", ""},
		{"2026-12-01T09", "", ""},
		{"2026-12-01X09:00", "", ""},
		{"2026-12-01T09:00+25:00", "", ""},
		{"2026-12-01T09:00+1", "", ""},
	} {
		t.Run(tt.text+" "+tt.tz, func(t *testing.T) {
			var loc *time.Location
			if tt.tz != "" {
				loc, _ = zone(tt.tz)
			}
			got, err := automation.ParseAt(tt.text, now, loc)
			if tt.want == "" {
				if e, ok := err.(*automation.Error); !ok || e.Why == "" || e.Hint == "" {
					t.Errorf("%s, %v", rfc(got), err)
				}
				return
			}
			if err != nil || !got.Equal(at(t, tt.want)) {
				t.Errorf("%s, %v; want %s", rfc(got), err, tt.want)
			}
		})
	}
}

// 2.3, the positional form.
func TestParseSchedule(t *testing.T) {
	now := at(t, "2026-11-30T12:00:00Z")
	for _, tt := range []struct {
		text, tz string
		want     automation.Schedule
		refused  string
	}{
		{"every 6h", "", automation.Schedule{Kind: automation.KindEvery, EveryMs: 21600000}, ""},
		{"EVERY 1h30m", "", automation.Schedule{Kind: automation.KindEvery, EveryMs: 5400000}, ""},
		{"every 1.5d", "", automation.Schedule{Kind: automation.KindEvery, EveryMs: 129600000}, ""},
		{"every 0s", "", automation.Schedule{}, "not between 1 s"},
		{"every day", "", automation.Schedule{}, "is no duration"},
		{"every 5m", "UTC", automation.Schedule{}, "means nothing with every"},
		{"0 9 * * 1-5", "Europe/Berlin", automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * 1-5", TZ: "Europe/Berlin"}, ""},
		{"30 0 9 * * 1-5", "", automation.Schedule{Kind: automation.KindCron, Expr: "30 0 9 * * 1-5"}, ""},
		{" @daily ", "", automation.Schedule{}, ""},
		{"0 9 31 2 *", "", automation.Schedule{}, "no upcoming run time and would never fire"},
		{"0 9 * * 1-5", "Mars/Olympus", automation.Schedule{}, "is not known here"},
		{"20m", "", automation.Schedule{Kind: automation.KindAt, At: at(t, "2026-11-30T12:20:00Z")}, ""},
		{"2026-12-01 09:00", "Europe/Berlin", automation.Schedule{Kind: automation.KindAt, At: at(t, "2026-12-01T08:00:00Z")}, ""},
		{"2026-12-01 09:00", "Mars/Olympus", automation.Schedule{}, "is not known here"},
		{"* * *", "", automation.Schedule{}, "has 3 fields of the five"},
		{"* * * *", "", automation.Schedule{}, "has 4 fields of the five"},
		{"0 9 * mon", "", automation.Schedule{}, "has 4 fields of the five"},
		{"*", "", automation.Schedule{}, "has 1 field of the five"},
		{"tomorrow at nine", "", automation.Schedule{}, "neither a time nor a duration"},
		{"2026-12-01 25:00 CET", "", automation.Schedule{}, "neither a time nor a duration"},
		{"@every 5m", "", automation.Schedule{}, "is no nickname of a cron expression"},
		{"@reboot", "", automation.Schedule{Kind: automation.KindBoot}, ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if tt.text == " @daily " {
				tt.want = automation.Schedule{Kind: automation.KindCron, Expr: "@daily"}
			}
			got, err := automation.ParseSchedule(tt.text, tt.tz, now, zone)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || !automation.SameSchedule(got, tt.want) || got.Kind != tt.want.Kind || got.TZ != tt.tz {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, s := range []string{"every 6h", "0 9 * * 1-5", "20m", "2026-12-01T09:00+02:00", "2026-03-08T02:30", "@daily", "1796112000000", "2026-12-01T24:00Z"} {
		f.Add(s, "America/New_York")
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, tz string) {
		ny := func(name string) (*time.Location, error) {
			if name != "America/New_York" {
				return time.UTC, nil
			}
			return zone(name)
		}
		s, err := automation.ParseSchedule(text, tz, now, ny)
		if err != nil {
			if e, ok := err.(*automation.Error); !ok || e.Why == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		sl, err := automation.Automation{ID: "x", CreatedAt: now, Schedule: s}.Slots(ny)
		if err != nil {
			t.Fatalf("%q is accepted, and cannot be computed: %v", text, err)
		}
		if next, ok := sl.Next(now); ok && !next.After(now) {
			t.Fatalf("%q: %s is not after %s", text, next, now)
		}
	})
}
