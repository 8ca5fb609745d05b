package heartbeat_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/state/heartbeat"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func hours(t testing.TB, start, end string) heartbeat.Hours {
	t.Helper()
	h, ok := heartbeat.ParseHours(start, end)
	if !ok {
		t.Fatalf("%s-%s does not restrict", start, end)
	}
	return h
}

// The vectors of spec/heartbeat-automations.md 1.3.
func TestPhase(t *testing.T) {
	for _, c := range []struct {
		seed, agent string
		every       time.Duration
		ms          int64
	}{
		{"dev", "main", 30 * time.Minute, 849370},
		{"dev", "ops", 30 * time.Minute, 125534},
		{"seed-1", "main", 30 * time.Minute, 1425505},
		{"dev", "main", 1000 * time.Hour, 1066449370}, // the prefix itself
		{"dev", "main", 0, 0},
		{"dev", "main", -time.Minute, 0},
	} {
		if got := heartbeat.Phase(c.seed, c.agent, c.every).Milliseconds(); got != c.ms {
			t.Errorf("%s:%s of %v: %d, want %d", c.seed, c.agent, c.every, got, c.ms)
		}
	}
}

// The digest is written out; the library's is the oracle, over every length
// around the ends of blocks.
func TestPhaseIsSHA256(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, agent := rapid.StringN(0, 140, -1).Draw(t, "seed"), rapid.StringN(0, 30, -1).Draw(t, "agent")
		every := time.Duration(rapid.Int64Range(1, 1e11).Draw(t, "ms")) * time.Millisecond
		sum := sha256.Sum256([]byte(seed + ":" + agent))
		want := int64(binary.BigEndian.Uint32(sum[:4])) % every.Milliseconds()
		if got := heartbeat.Phase(seed, agent, every).Milliseconds(); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

func TestNext(t *testing.T) {
	const phase = 849370 * time.Millisecond
	at := time.UnixMilli(1754006400000).UTC()
	if got := heartbeat.Next(at, 30*time.Minute, phase); got.UnixMilli() != 1754007249370 { // 1.3
		t.Error(got.UnixMilli())
	}
	slot := time.UnixMilli(1754007249370).UTC()
	for now, want := range map[time.Time]time.Time{
		slot:                            slot.Add(30 * time.Minute), // on the slot: one interval on
		slot.Add(-time.Millisecond):     slot,
		slot.Add(-time.Nanosecond):      slot,
		slot.Add(time.Nanosecond):       slot.Add(30 * time.Minute),
		time.UnixMilli(0).UTC():         time.UnixMilli(849370),
		time.UnixMilli(849371).UTC():    time.UnixMilli(849370 + 1800000),
		time.UnixMilli(-950630).UTC():   time.UnixMilli(849370), // on a slot before 1970
		time.UnixMilli(-1000000).UTC():  time.UnixMilli(-950630),
		time.UnixMilli(-99999999).UTC(): time.UnixMilli(-99950630), // 849370 - 56*1800000
	} {
		if got := heartbeat.Next(now, 30*time.Minute, phase); !got.Equal(want) {
			t.Errorf("after %v: %v, want %v", now, got, want)
		}
	}
	if got := heartbeat.Next(at, 0, 0); !got.IsZero() {
		t.Errorf("without an interval: %v", got)
	}
}

// Every slot is after now, at most one interval after it, and at the phase.
func TestNextModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "every")) * time.Millisecond
		phase := time.Duration(rapid.Int64Range(0, every.Milliseconds()-1).Draw(t, "phase")) * time.Millisecond
		now := time.Unix(0, rapid.Int64Range(-1e17, 4e18).Draw(t, "now"))
		got := heartbeat.Next(now, every, phase)
		if !got.After(now) || got.Sub(now) > every || (got.UnixMilli()-phase.Milliseconds())%every.Milliseconds() != 0 {
			t.Fatalf("%v after %v, every %v at %v", got, now, every, phase)
		}
	})
}

// spec/heartbeat-automations.md 1.3 (active-hours seek) and report 18, #75487.
func TestNextDueWithinHours(t *testing.T) {
	berlin, newYork := zone(t, "Europe/Berlin"), zone(t, "America/New_York")
	day := func(loc *time.Location, d, h, m int) time.Time { return time.Date(2026, 11, d, h, m, 0, 0, loc) }
	for _, c := range []struct {
		rule         string
		now          time.Time
		every, phase time.Duration
		start, end   string
		loc          *time.Location
		want         time.Time
	}{
		{"the next slot is inside", day(time.UTC, 10, 10, 0), time.Hour, 0, "09:00", "22:00", time.UTC, day(time.UTC, 10, 11, 0)},
		{"the night is walked over", day(time.UTC, 10, 21, 30), time.Hour, 0, "09:00", "22:00", time.UTC, day(time.UTC, 11, 9, 0)},
		{"in the zone of the hours", day(time.UTC, 10, 21, 30), time.Hour, 0, "09:00", "22:00", berlin, day(berlin, 11, 9, 0)},
		{"a window over midnight", day(time.UTC, 10, 6, 30), time.Hour, 0, "22:00", "06:00", time.UTC, day(time.UTC, 10, 22, 0)},
		{"7h meets the window on another day", day(time.UTC, 10, 0, 0), 7 * time.Hour, 0, "09:00", "10:00", time.UTC, seven(day(time.UTC, 10, 0, 0))},
		// 24h at 03:00 is never inside: the window's opening, and the phase modulo its 13 hours later.
		{"a day's interval outside of it", day(time.UTC, 10, 10, 0), 24 * time.Hour, 3 * time.Hour, "09:00", "22:00", time.UTC, day(time.UTC, 11, 12, 0)},
		{"in time for today's", day(time.UTC, 10, 1, 0), 24 * time.Hour, 3 * time.Hour, "09:00", "22:00", time.UTC, day(time.UTC, 10, 12, 0)},
		{"twice a day, both outside", day(time.UTC, 10, 10, 0), 12 * time.Hour, 2 * time.Hour, "16:00", "17:00", time.UTC, day(time.UTC, 10, 16, 0)},
		{"two weeks", time.UnixMilli(0).UTC(), 14 * 24 * time.Hour, 0, "09:00", "22:00", time.UTC, time.Date(1970, 1, 15, 9, 0, 0, 0, time.UTC)},
		{"more often than once a minute", day(time.UTC, 10, 22, 0), 7 * time.Second, 0, "09:00", "22:00", time.UTC, stepped(day(time.UTC, 10, 22, 0))},
		{"no window at all: the raw slot", day(time.UTC, 10, 10, 0), time.Hour, 0, "09:00", "09:00", time.UTC, day(time.UTC, 10, 11, 0)},
		// 14 March 2027: 02:00 to 03:00 is left out in New York.
		{"a window in the gap waits for the next day", time.Date(2027, 3, 14, 0, 30, 0, 0, newYork), 24 * time.Hour, 0, "02:10", "02:50", newYork, time.Date(2027, 3, 15, 2, 10, 0, 0, newYork)},
		// 28 March 2027: so it is in Berlin, and an hour after the opening is left out.
		{"a phase in the gap: the opening", time.Date(2027, 3, 27, 22, 0, 0, 0, time.UTC), 24 * time.Hour, 1360 * time.Minute, "01:30", "03:10", berlin, time.Date(2027, 3, 28, 1, 30, 0, 0, berlin)},
		// 1 November 2026: 01:00 to 02:00 comes twice; the slots follow real time, both are inside.
		{"an hour that comes twice", time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC), time.Hour, 0, "01:00", "02:00", newYork, time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := heartbeat.NextDue(c.now, c.every, c.phase, hours(t, c.start, c.end), c.loc)
			if !got.Equal(c.want) {
				t.Errorf("%v, want %v", got.In(c.loc), c.want.In(c.loc))
			}
		})
	}
}

// stepped is the first slot of 7 s from 09:00 on, when every ninth, the least
// that makes a minute, is looked at from the one after t.
func stepped(t time.Time) time.Time {
	at := t.Add(time.Second)
	for at.Unix()%7 != 0 {
		at = at.Add(time.Second)
	}
	for at.Hour() < 9 || at.Hour() >= 22 {
		at = at.Add(63 * time.Second)
	}
	return at
}

// seven is the first multiple of 7 h since 1970 after t that lies in the hour
// from 09:00, found by counting.
func seven(t time.Time) time.Time {
	for ms := int64(0); ; ms += 7 * 3600000 {
		if at := time.UnixMilli(ms).UTC(); at.After(t) && at.Hour() == 9 {
			return at
		}
	}
}

// Wherever a window of at least a minute is, a heartbeat comes to lie in it.
func TestEveryCadenceMeetsItsWindow(t *testing.T) {
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/New_York"), zone(t, "Australia/Lord_Howe"), zone(t, "Asia/Kathmandu")}
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.Int64Range(1, 20*1440).Draw(t, "minutes")) * time.Minute
		phase := time.Duration(rapid.Int64Range(0, every.Milliseconds()-1).Draw(t, "phase")) * time.Millisecond
		h := heartbeat.Hours{Start: rapid.IntRange(0, 1439).Draw(t, "start"), End: rapid.IntRange(0, 1440).Draw(t, "end"), Restricted: true}
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		now := time.UnixMilli(rapid.Int64Range(1.7e12, 1.9e12).Draw(t, "now"))
		got := heartbeat.NextDue(now, every, phase, h, loc)
		if raw := heartbeat.Next(now, every, phase); got.Before(raw) || got.Sub(raw) > 16*24*time.Hour {
			t.Fatalf("%v for the slot %v", got, raw)
		}
		if h.Start != h.End && !h.Inside(got.In(loc)) {
			t.Fatalf("%v is outside of %+v", got.In(loc), h)
		}
	})
}

// spec/heartbeat-automations.md 1.3, last bullet.
func TestAfterRun(t *testing.T) {
	t0 := time.Date(2026, 11, 10, 10, 10, 0, 0, time.UTC)
	m := heartbeat.Monitor{Enabled: true, IntervalMs: 1800000, PhaseMs: 60000}
	checked := func(ago time.Duration) heartbeat.Monitor { n := m; n.CheckedAt = t0.Add(-ago); return n }
	for _, c := range []struct {
		rule   string
		m      heartbeat.Monitor
		intent string
		h      heartbeat.Hours
		want   time.Time
	}{
		{"a check by cadence: the next slot", m, heartbeat.IntentScheduled, heartbeat.Hours{}, t0.Add(21 * time.Minute)},
		{"any other: one interval on", m, heartbeat.IntentImmediate, heartbeat.Hours{}, t0.Add(30 * time.Minute)},
		{"by hand", m, heartbeat.IntentManual, heartbeat.Hours{}, t0.Add(30 * time.Minute)},
		{"then within the hours", m, heartbeat.IntentEvent, hours(t, "08:00", "10:30"), time.Date(2026, 11, 11, 8, 10, 0, 0, time.UTC)},
		{"a recent check", checked(10 * time.Minute), heartbeat.IntentImmediate, heartbeat.Hours{}, t0.Add(30 * time.Minute)},
		{"put off by at most one interval", checked(50 * time.Minute), heartbeat.IntentImmediate, heartbeat.Hours{}, t0.Add(10 * time.Minute)},
		{"and then it is due at once", checked(2 * time.Hour), heartbeat.IntentImmediate, heartbeat.Hours{}, t0},
		{"a check in the future is not believed", checked(-2 * time.Hour), heartbeat.IntentImmediate, heartbeat.Hours{}, t0.Add(30 * time.Minute)},
		{"disabled, it is never due", heartbeat.Monitor{IntervalMs: 1800000}, heartbeat.IntentImmediate, heartbeat.Hours{}, time.Time{}},
		{"without an interval neither", heartbeat.Monitor{Enabled: true}, heartbeat.IntentScheduled, heartbeat.Hours{}, time.Time{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := c.m.AfterRun(c.intent, t0, c.h, time.UTC); !got.Equal(c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// spec/heartbeat-automations.md 1.5.
func TestParseHours(t *testing.T) {
	for _, c := range []struct {
		start, end string
		want       heartbeat.Hours // zero: it does not restrict
	}{
		{"09:00", "22:00", heartbeat.Hours{Start: 540, End: 1320, Restricted: true}},
		{"00:00", "24:00", heartbeat.Hours{Start: 0, End: 1440, Restricted: true}},
		{"23:59", "00:00", heartbeat.Hours{Start: 1439, End: 0, Restricted: true}},
		{"22:00", "06:00", heartbeat.Hours{Start: 1320, End: 360, Restricted: true}},
		{"09:00", "09:00", heartbeat.Hours{Start: 540, End: 540, Restricted: true}},
		{"8:00", "22:00", heartbeat.Hours{}},
		{"08:0", "22:00", heartbeat.Hours{}},
		{"24:00", "06:00", heartbeat.Hours{}},
		{"09:00", "24:30", heartbeat.Hours{}},
		{"09:60", "22:00", heartbeat.Hours{}},
		{"25:00", "26:00", heartbeat.Hours{}},
		{"09:00", "", heartbeat.Hours{}},
		{"", "22:00", heartbeat.Hours{}},
		{"09.00", "22:00", heartbeat.Hours{}},
		{"-9:00", "22:00", heartbeat.Hours{}},
		{"09:00 ", "22:00", heartbeat.Hours{}},
	} {
		got, restricted := heartbeat.ParseHours(c.start, c.end)
		if got != c.want || restricted != c.want.Restricted {
			t.Errorf("%q-%q: %+v, %t", c.start, c.end, got, restricted)
		}
	}
}

func TestInside(t *testing.T) {
	newYork := zone(t, "America/New_York")
	at := func(clock string) time.Time {
		v, err := time.Parse("15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		start, end string
		at         time.Time
		want       bool
	}{
		{"09:00", "22:00", at("09:00:00"), true}, // the start belongs to it
		{"09:00", "22:00", at("08:59:59"), false},
		{"09:00", "22:00", at("21:59:59"), true},
		{"09:00", "22:00", at("22:00:00"), false}, // the end does not
		{"22:00", "06:00", at("23:30:00"), true},
		{"22:00", "06:00", at("00:00:00"), true},
		{"22:00", "06:00", at("05:59:59"), true},
		{"22:00", "06:00", at("06:00:00"), false},
		{"22:00", "06:00", at("12:00:00"), false},
		{"18:00", "24:00", at("23:59:59"), true},
		{"18:00", "24:00", at("00:00:00"), false},
		{"18:00", "00:00", at("23:59:59"), true},
		{"18:00", "00:00", at("00:00:00"), false},
		{"00:00", "24:00", at("00:00:00"), true},
		{"09:00", "09:00", at("09:00:00"), false}, // no width
		{"09:00", "09:00", at("12:00:00"), false},
		{"00:00", "00:00", at("00:00:00"), false},
		{"", "22:00", at("23:00:00"), true}, // fails open
		{"24:00", "06:00", at("12:00:00"), true},
		// The clock goes from 02:00 to 03:00 in the night to 14 March 2027.
		{"01:30", "03:30", time.Date(2027, 3, 14, 6, 59, 0, 0, time.UTC).In(newYork), true},  // 01:59
		{"01:30", "03:30", time.Date(2027, 3, 14, 7, 0, 0, 0, time.UTC).In(newYork), true},   // 03:00
		{"01:30", "03:30", time.Date(2027, 3, 14, 7, 30, 0, 0, time.UTC).In(newYork), false}, // 03:30
		// And back from 02:00 to 01:00 on 1 November 2026: both hours are inside.
		{"01:00", "02:00", time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC).In(newYork), true},
		{"01:00", "02:00", time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC).In(newYork), true},
		{"01:00", "02:00", time.Date(2026, 11, 1, 7, 0, 0, 0, time.UTC).In(newYork), false},
	} {
		t.Run(fmt.Sprintf("%s-%s at %s", c.start, c.end, c.at.Format(time.RFC3339)), func(t *testing.T) {
			h, _ := heartbeat.ParseHours(c.start, c.end)
			if got := h.Inside(c.at); got != c.want {
				t.Errorf("%t", got)
			}
		})
	}
}

func TestZoneNames(t *testing.T) {
	for _, c := range []struct{ zone, user, want string }{
		{"", "", "[Local]"},
		{"", "Europe/Berlin", "[Europe/Berlin Local]"},
		{"user", "Europe/Berlin", "[Europe/Berlin Local]"},
		{"local", "Europe/Berlin", "[Local]"},
		{"Asia/Tokyo", "Europe/Berlin", "[Asia/Tokyo Europe/Berlin Local]"},
		{"Asia/Tokyo", "", "[Asia/Tokyo Local]"},
		{"user", "user", "[Local]"},
	} {
		if got := fmt.Sprint(heartbeat.ZoneNames(c.zone, c.user)); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.zone, c.user, got, c.want)
		}
	}
}

func FuzzParseHours(f *testing.F) {
	f.Add("09:00", "24:00")
	f.Add("2é:0", "")
	f.Fuzz(func(t *testing.T, start, end string) {
		h, ok := heartbeat.ParseHours(start, end)
		if !ok {
			if h != (heartbeat.Hours{}) || !h.Inside(time.Unix(0, 0)) {
				t.Fatalf("%q-%q: %+v", start, end, h)
			}
			return
		}
		if s, e := fmt.Sprintf("%02d:%02d", h.Start/60, h.Start%60), fmt.Sprintf("%02d:%02d", h.End/60, h.End%60); s != start || e != end {
			t.Fatalf("%q-%q: read as %s-%s", start, end, s, e)
		}
	})
}
