package heartbeat_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/heartbeat"
)

var noon = time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)

func half(agent string) heartbeat.Wanted {
	return heartbeat.Wanted{Agent: agent, Every: 30 * time.Minute}
}

// settled is the row that half(agent) makes at noon with the seed dev.
func settled(agent string) heartbeat.Monitor {
	return heartbeat.Converge(nil, []heartbeat.Wanted{half(agent)}, noon, "dev", true)[0]
}

// spec/heartbeat-automations.md 1.2.
func TestConvergeMakesARow(t *testing.T) {
	want := heartbeat.Monitor{
		Key: "heartbeat:main", Agent: "main", Name: "heartbeat-main", Display: "Heartbeat (main)",
		Enabled: true, IntervalMs: 1800000, PhaseMs: 849370, // the vector of 1.3
		NextDue:   time.Date(2026, 11, 10, 12, 14, 9, 370e6, time.UTC), // 849.37 s after noon, which is a whole half hour since 1970
		CheckedAt: noon,
	}
	if diff := cmp.Diff(want, settled("main")); diff != "" {
		t.Error(diff)
	}
	if got := heartbeat.NewMonitor("ops"); got.Key != "heartbeat:ops" || got.Name != "heartbeat-ops" || got.Display != "Heartbeat (ops)" || got.Enabled {
		t.Errorf("%+v", got)
	}
}

func TestConverge(t *testing.T) {
	day := hours(t, "09:00", "22:00")
	with := func(f func(*heartbeat.Wanted)) []heartbeat.Wanted {
		w := half("main")
		f(&w)
		return []heartbeat.Wanted{w}
	}
	due := settled("main").NextDue
	for _, c := range []struct {
		rule    string
		edit    func(*heartbeat.Monitor)
		wanted  []heartbeat.Wanted
		now     time.Time
		cronOff bool
		changed bool
		enabled bool
		due     time.Time
	}{
		{"nothing differs", nil, with(func(*heartbeat.Wanted) {}), noon, false, false, true, due},
		{"a due that has passed is owed", nil, with(func(*heartbeat.Wanted) {}), noon.Add(9 * time.Hour), false, false, true, due},
		{"a due that an event put off survives", func(m *heartbeat.Monitor) { m.NextDue = noon.Add(30 * time.Minute) }, with(func(*heartbeat.Wanted) {}), noon, false, false, true, noon.Add(30 * time.Minute)},
		{"another interval", nil, with(func(w *heartbeat.Wanted) { w.Every = time.Hour }), noon, false, true, true, noon.Add(849370 * time.Millisecond)}, // 1066449370 mod 3600000 = 849370, and noon is a whole hour
		{"other hours discard it", nil, with(func(w *heartbeat.Wanted) { w.Hours, w.HoursLabel = day, day.Label("UTC") }), noon, false, true, true, due},
		{"and seek", nil, with(func(w *heartbeat.Wanted) {
			w.Hours = hours(t, "20:00", "21:00")
			w.HoursLabel = w.Hours.Label("UTC")
		}), noon, false, true, true, due.Add(8 * time.Hour)},
		{"every 0 keeps the row, disabled", nil, with(func(w *heartbeat.Wanted) { w.Every = 0 }), noon, false, true, false, time.Time{}},
		{"cron off disables", nil, with(func(*heartbeat.Wanted) {}), noon, true, true, false, time.Time{}},
		{"an agent that is gone", nil, nil, noon, false, true, false, time.Time{}},
		{"a name that was edited", func(m *heartbeat.Monitor) { m.Name = "mine" }, with(func(*heartbeat.Wanted) {}), noon, false, true, true, due},
		{"enabled again: nothing is caught up", func(m *heartbeat.Monitor) { m.Enabled, m.NextDue = false, noon.Add(-time.Hour) }, with(func(*heartbeat.Wanted) {}), noon, false, true, true, due},
		{"a due that is lost", func(m *heartbeat.Monitor) { m.NextDue = time.Time{} }, with(func(*heartbeat.Wanted) {}), noon, false, true, true, due},
		{"a clock that was put back by a day", nil, with(func(*heartbeat.Wanted) {}), noon.Add(-24 * time.Hour), false, true, true, due.Add(-24 * time.Hour)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			row := settled("main")
			row.SentText, row.Starts = "kept", []time.Time{noon}
			if c.edit != nil {
				c.edit(&row)
			}
			got := heartbeat.Converge([]heartbeat.Monitor{row}, c.wanted, c.now, "dev", !c.cronOff)
			if (len(got) == 1) != c.changed || len(got) > 1 {
				t.Fatalf("%d rows changed", len(got))
			}
			if c.changed {
				row = got[0]
			}
			if row.Enabled != c.enabled || !row.NextDue.Equal(c.due) || row.Name != "heartbeat-main" {
				t.Errorf("%+v, want enabled %t, due %v", row, c.enabled, c.due)
			}
			if row.SentText != "kept" || len(row.Starts) != 1 {
				t.Error("what the row remembers is gone")
			}
		})
	}
}

// A due far ahead, for the hours leave nothing nearer, is no clock put back.
func TestConvergeKeepsADueBehindTheNight(t *testing.T) {
	w := half("main")
	w.Hours = hours(t, "09:00", "10:00")
	w.HoursLabel = w.Hours.Label("UTC")
	rows := heartbeat.Converge(nil, []heartbeat.Wanted{w}, noon, "dev", true)
	if got := heartbeat.Converge(rows, []heartbeat.Wanted{w}, noon.Add(time.Minute), "dev", true); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// One that an event put off, and the night after it further, neither.
func TestConvergeKeepsADueThatWasPutOffOverNight(t *testing.T) {
	w := half("main")
	w.Hours = hours(t, "09:00", "22:00")
	w.HoursLabel = w.Hours.Label("UTC")
	late := time.Date(2026, 11, 10, 21, 50, 0, 0, time.UTC)
	rows := heartbeat.Converge(nil, []heartbeat.Wanted{w}, late, "dev", true)
	rows[0].NextDue = rows[0].AfterRun(heartbeat.IntentImmediate, late, w.Hours, time.UTC)
	if want := time.Date(2026, 11, 11, 9, 20, 0, 0, time.UTC); !rows[0].NextDue.Equal(want) { // 22:20, and 22 half hours on
		t.Fatalf("%v, want %v", rows[0].NextDue, want)
	}
	if got := heartbeat.Converge(rows, []heartbeat.Wanted{w}, late.Add(time.Minute), "dev", true); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// 1.11: what an answer has proposed holds although it is further ahead than
// the cadence goes, until it has passed, and with hours as well.
func TestConvergeKeepsWhatWasProposed(t *testing.T) {
	for _, c := range []struct {
		rule     string
		from, to string // hours
		at       time.Time
		asked    time.Duration
		due      time.Time
	}{
		{"longer than the interval", "", "", noon, 3 * time.Hour, noon.Add(3 * time.Hour)},
		{"shorter", "", "", noon, 10 * time.Minute, noon.Add(10 * time.Minute)},
		{"too soon", "", "", noon, time.Second, noon.Add(time.Minute)},
		{"too late", "", "", noon, 48 * time.Hour, noon.Add(24 * time.Hour)},
		{"into the night", "09:00", "22:00", noon.Add(10*time.Hour - time.Minute), time.Hour, time.Date(2026, 11, 11, 9, 29, 0, 0, time.UTC)}, // 22:59, and 21 half hours on
		{"a day, into the night", "09:00", "22:00", noon.Add(9 * time.Hour), 24 * time.Hour, noon.Add(33 * time.Hour)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := half("main")
			if c.from != "" {
				w.Hours = hours(t, c.from, c.to)
				w.HoursLabel = w.Hours.Label("UTC")
			}
			rows := heartbeat.Converge(nil, []heartbeat.Wanted{w}, c.at, "dev", true)
			rows[0].Propose(c.asked, c.at, w.Hours, time.UTC)
			if !rows[0].NextDue.Equal(c.due) || !rows[0].IsProposed() {
				t.Fatalf("%v, want %v", rows[0].NextDue, c.due)
			}
			for now := c.at; now.Before(c.due.Add(time.Hour)); now = now.Add(7 * time.Minute) {
				if got := heartbeat.Converge(rows, []heartbeat.Wanted{w}, now, "dev", true); len(got) != 0 {
					t.Fatalf("at %v: %v", now, got[0].NextDue)
				}
			}
			w.Every = time.Hour
			if got := heartbeat.Converge(rows, []heartbeat.Wanted{w}, c.at, "dev", true); len(got) != 1 || got[0].IsProposed() {
				t.Error("another interval does not discard it")
			}
		})
	}
	row := settled("main")
	row.Propose(24*time.Hour, noon, heartbeat.Hours{}, time.UTC)
	if got := heartbeat.Converge([]heartbeat.Monitor{row}, []heartbeat.Wanted{half("main")}, noon.Add(-2*time.Hour), "dev", true); len(got) != 1 {
		t.Error("by a clock that was put back by two hours, a check in 26 hours is kept")
	}
	off := heartbeat.NewMonitor("main")
	off.Propose(time.Hour, noon, heartbeat.Hours{}, time.UTC)
	if !off.NextDue.IsZero() || off.IsProposed() {
		t.Error("a monitor that is off is due")
	}
}

// Whatever the hours are and however long ago it was put off, a next due that
// the rules have made is kept, as long as no window is stepped over.
func TestConvergeKeepsWhatItMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start, width := rapid.IntRange(0, 1439).Draw(t, "start"), rapid.IntRange(2, 1439).Draw(t, "width")
		w := heartbeat.Wanted{Agent: "main", Every: time.Duration(rapid.IntRange(1, width*30).Draw(t, "every")) * time.Second}
		w.Hours = heartbeat.Hours{Start: start, End: (start + width) % 1440, Restricted: true}
		w.HoursLabel = w.Hours.Label("UTC")
		at := noon.Add(time.Duration(rapid.IntRange(0, 86400).Draw(t, "at")) * time.Second)
		row := heartbeat.Converge(nil, []heartbeat.Wanted{w}, at, "dev", true)[0]
		if rapid.Bool().Draw(t, "proposed") {
			row.Propose(time.Duration(rapid.IntRange(1, 100000).Draw(t, "asked"))*time.Second, at, w.Hours, time.UTC)
		} else {
			row.NextDue = row.AfterRun(heartbeat.IntentImmediate, at, w.Hours, time.UTC)
		}
		now := at.Add(time.Duration(rapid.IntRange(0, 100000).Draw(t, "later")) * time.Second)
		if got := heartbeat.Converge([]heartbeat.Monitor{row}, []heartbeat.Wanted{w}, now, "dev", true); len(got) != 0 {
			t.Fatalf("%v became %v", row.NextDue, got[0].NextDue)
		}
	})
}

// Every 51 s is looked at every 102 s: after a run by an event at noon, in a
// window of two minutes from midnight, the next check is one of these.
func TestConvergeKeepsAStrideOfTwoIntervals(t *testing.T) {
	w := heartbeat.Wanted{Agent: "main", Every: 51 * time.Second, Hours: heartbeat.Hours{Start: 0, End: 2, Restricted: true}}
	w.HoursLabel = w.Hours.Label("UTC")
	row := heartbeat.Converge(nil, []heartbeat.Wanted{w}, noon, "dev", true)[0]
	row.NextDue = row.AfterRun(heartbeat.IntentImmediate, noon, w.Hours, time.UTC)
	if got := heartbeat.Converge([]heartbeat.Monitor{row}, []heartbeat.Wanted{w}, noon.Add(3*time.Second), "dev", true); len(got) != 0 {
		t.Errorf("%v became %v", row.NextDue, got[0].NextDue)
	}
}

func TestConvergeSpreadsAgents(t *testing.T) {
	got := heartbeat.Converge(nil, []heartbeat.Wanted{half("main"), half("ops")}, noon, "dev", true)
	if len(got) != 2 || got[0].PhaseMs != 849370 || got[1].PhaseMs != 125534 { // 1.3
		t.Errorf("%+v", got)
	}
}

func TestHoursLabel(t *testing.T) {
	if got := hours(t, "09:00", "24:00").Label("Europe/Berlin"); got != "09:00-24:00 Europe/Berlin" {
		t.Error(got)
	}
	if got := (heartbeat.Hours{}).Label("UTC"); got != "" {
		t.Error(got)
	}
}

// Whatever is there and whatever is asked for: applied again, nothing changes,
// and exactly the agents that are asked for are enabled.
func TestConvergeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) []heartbeat.Wanted {
			var all []heartbeat.Wanted
			for _, agent := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string]).Draw(t, label) {
				w := heartbeat.Wanted{Agent: agent, Every: time.Duration(rapid.IntRange(0, 3000).Draw(t, "minutes")) * time.Minute}
				if rapid.Bool().Draw(t, "hours") {
					w.Hours = heartbeat.Hours{Start: rapid.IntRange(0, 1439).Draw(t, "start"), End: rapid.IntRange(0, 1440).Draw(t, "end"), Restricted: true}
					w.HoursLabel = w.Hours.Label("UTC")
				}
				all = append(all, w)
			}
			return all
		}
		rows := map[string]heartbeat.Monitor{}
		list := func() (all []heartbeat.Monitor) {
			for _, m := range rows {
				all = append(all, m)
			}
			return all
		}
		for step := range 3 {
			now := noon.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "hours")) * time.Hour)
			wanted, cron := draw(fmt.Sprint("wanted", step)), rapid.Bool().Draw(t, "cron")
			for _, m := range heartbeat.Converge(list(), wanted, now, "dev", cron) {
				rows[m.Key] = m
			}
			if again := heartbeat.Converge(list(), wanted, now, "dev", cron); len(again) != 0 {
				t.Fatalf("changed again: %+v", again)
			}
			asked := map[string]heartbeat.Wanted{}
			for _, w := range wanted {
				asked[heartbeat.Key(w.Agent)] = w
			}
			for key, m := range rows {
				w := asked[key]
				if want := cron && w.Every > 0; m.Enabled != want || m.NextDue.IsZero() == want {
					t.Fatalf("%+v, asked for %+v, cron %t", m, w, cron)
				}
			}
			for key := range asked {
				if _, ok := rows[key]; !ok {
					t.Fatalf("no row for %s", key)
				}
			}
		}
	})
}
