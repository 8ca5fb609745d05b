package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/heartbeat"
)

// Rows 9 to 17 of the public reports, see TestReports.

func forEver(t *testing.T, w *world) {
	for _, tt := range []struct {
		name   string
		change func(r *automation.Run)
		after  time.Duration
		status automation.Status
	}{
		{"the machine went down", func(r *automation.Run) { r.Owner.Boot = "another" }, time.Second, automation.Interrupted},
		{"nobody knows who has it", func(r *automation.Run) { r.Owner = nil }, 2*time.Hour + time.Minute, automation.Unknown},
		{"its mark is in the future", func(r *automation.Run) { r.Owner, r.StartedAt = nil, r.StartedAt.Add(5*time.Hour) }, time.Second, automation.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.made("job", cronIn("UTC", "1 * * * *"), nil)
			w.clock.Advance(time.Minute)
			if _, err := w.Pass(t.Context(), nobody); err != nil {
				t.Fatal(err)
			}
			w.change(tt.change)
			w.clock.Advance(tt.after)
			w.plays()
			if r := w.runs()[0]; r.Status != tt.status {
				t.Errorf("%+v", r)
			}
			w.clock.Advance(time.Minute) // a failure is given half a minute
			w.plays()
			w.clock.Advance(time.Hour)
			w.plays()
			if last := w.runs(); last[len(last)-1].Status != automation.Succeeded {
				t.Errorf("it does not run again: %s", w.story())
			}
		})
	}
}

func oneShotAgain(t *testing.T, w *world) {
	w.made("kept", once(noon.Add(time.Minute)), nil)
	w.made("failed", once(noon.Add(time.Minute)), sh("exit 2"))
	w.clock.Advance(time.Minute)
	w.pass()
	w.settle()
	for _, wait := range []time.Duration{time.Minute, time.Hour, 30 * 24 * time.Hour} {
		w.clock.Advance(wait)
		w.again()
		w.Boot = w.clock.Now().Add(-time.Hour)
		w.starts(0, "after a restart")
	}
	for _, a := range w.autos() {
		if a.Enabled || a.State.LastStatus == "" {
			t.Errorf("%s: %+v", a.Name, a.State)
		}
	}
	if n := len(w.runs()); n != 2 {
		t.Errorf("%d runs: %s", n, w.story())
	}
}

// Tries go on for a while, and what has not been told stays, switched off.
func heartbeatOff(t *testing.T, w *world) {
	w.made("oven", once(noon.Add(time.Minute)), func(a *automation.Automation) { reminder("look at the oven", "now")(a); a.DeleteAfterRun = true })
	w.disableHeartbeats(true)
	w.clock.Advance(time.Minute)
	w.pass()
	if len(w.events()) != 0 || len(w.autos()) != 1 {
		t.Fatalf("events %+v, %d automations", w.events(), len(w.autos()))
	}
	w.disableHeartbeats(false)
	w.clock.Advance(30 * time.Second)
	w.pass()
	if e := w.events(); len(e) != 1 || e[0].State != event.Queued || e[0].Text != "look at the oven" {
		t.Errorf("events %+v; %s", e, w.story())
	}
	w.tells("12:01 skipped, 12:01 succeeded")
}

func (w *world) disableHeartbeats(off bool) {
	w.t.Helper()
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		rows, err := state.Switches.All(tx)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return state.Switches.Add(tx, "heartbeat", heartbeat.Switch{Disabled: off})
		}
		return state.Switches.Put(tx, rows[0].ID, rows[0].Rev, heartbeat.Switch{Disabled: off})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func rescheduledInRun(t *testing.T, w *world) {
	w.made("once", once(noon.Add(time.Minute)), func(a *automation.Automation) { a.DeleteAfterRun = true })
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil || len(work.Start) != 1 {
		t.Fatalf("%+v, %v", work, err)
	}
	if err := begin(w, work.Start[0]); err != nil {
		t.Fatal(err)
	}
	w.edits("once", func(a *automation.Automation) { a.Schedule.At = noon.Add(time.Hour) })
	if err := conclude(w, work.Start[0].Owner.ProcessID); err != nil {
		t.Fatal(err)
	}
	w.starts(0, "at the end of the first run")
	if a := w.autos(); len(a) != 1 || !a[0].Enabled || !w.next("once").Equal(noon.Add(time.Hour)) {
		t.Fatalf("%+v", a)
	}
	w.clock.Advance(59 * time.Minute)
	w.starts(1, "at the new time")
	w.tells("12:01 succeeded, 13:00 succeeded")
	if len(w.autos()) != 0 {
		t.Error("it has had its run and stays")
	}
}

// byHand starts one by hand and lets it end.
func (w *world) byHand(name string) {
	w.t.Helper()
	if _, why, err := w.Run(w.t.Context(), name, scheduler.RunOptions{}); why != "" || err != nil {
		w.t.Fatal(why, err)
	}
	w.starts(1, "by hand")
}

func byHandOneShot(t *testing.T, w *world) {
	w.made("once", once(noon.Add(time.Hour)), func(a *automation.Automation) { a.DeleteAfterRun = true })
	w.byHand("once")
	if a := w.autos(); len(a) != 1 || !a[0].Enabled || !w.next("once").Equal(noon.Add(time.Hour)) {
		t.Fatalf("%+v", a)
	}
	w.clock.Advance(time.Hour)
	w.starts(1, "at its time")
	w.tells("by hand succeeded, 13:00 succeeded")
}

func byHandCadence(t *testing.T, w *world) {
	w.add("job", "10m", nil)
	w.clock.Advance(7 * time.Minute)
	w.byHand("job")
	if next := w.next("job"); !next.Equal(noon.Add(10 * time.Minute)) {
		t.Errorf("next %v", next)
	}
	w.clock.Advance(3 * time.Minute)
	w.starts(1, "at its time")
	w.tells("by hand succeeded, 12:10 succeeded")
}

func editMoves(t *testing.T, w *world) {
	w.made("job", cronIn("UTC", "0 15 * * *"), nil)
	three := noon.Add(3 * time.Hour)
	for _, tt := range []struct {
		what   string
		change func(a *automation.Automation)
		want   time.Time
	}{
		{"the description", func(a *automation.Automation) { a.Description = "x" }, three},
		{"the payload", func(a *automation.Automation) { a.Payload.Argv = []string{"false"} }, three},
		{"blanks and another way of writing", func(a *automation.Automation) { a.Schedule.Expr = " 00  15 * *  0-6" }, three},
		{"the zone", func(a *automation.Automation) { a.Schedule.TZ = "Asia/Kolkata" }, time.Date(2048, 12, 3, 9, 30, 0, 0, time.UTC)},
		{"the hour", func(a *automation.Automation) { a.Schedule.Expr = "0 18 * * *" }, time.Date(2048, 12, 2, 12, 30, 0, 0, time.UTC)},
		{"another kind", func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 60000}
		}, noon.Add(time.Minute)},
	} {
		w.edits("job", tt.change)
		if got := w.next("job"); !got.Equal(tt.want) {
			t.Errorf("%s was changed: next %v, want %v", tt.what, got, tt.want)
		}
	}
	w.clock.Advance(time.Minute)
	w.starts(1, "at the new time only")
	w.tells("12:01 succeeded")
}

func editOwesNothing(t *testing.T, w *world) {
	w.made("job", cronIn("UTC", "0 13 * * *"), nil)
	w.clock.Advance(90 * time.Minute) // 13:30, and nobody has looked
	w.edits("job", func(a *automation.Automation) { a.Schedule.Expr = "15 13 * * *" })
	w.again()
	w.starts(0, "after the edit")
	w.tells("13:00 missed")
	if r := w.runs()[0]; r.Code != automation.CodeEdited {
		t.Errorf("%+v", r)
	}
	w.at("2048-12-03T13:15:00Z")
	w.starts(1, "the next day")
	if !strings.HasSuffix(w.story(), "13:15 succeeded") {
		t.Error(w.story())
	}
}

func anchor(t *testing.T, w *world) {
	a := w.add("weekly", "168h", nil)
	for range 24 * 7 / 5 { // each five hours another program
		w.clock.Advance(5 * time.Hour)
		w.again()
		w.starts(0, "before its time")
		if next := w.next("weekly"); !next.Equal(noon.Add(168 * time.Hour)) {
			t.Fatalf("next %v", next)
		}
	}
	w.at("2048-12-09T12:00:00Z")
	w.starts(1, "after a week")
	if b := w.autos()[0]; b.Schedule.AnchorMs != a.Schedule.AnchorMs || b.Schedule.AnchorMs != noon.UnixMilli() {
		t.Errorf("anchor %d, want %d", b.Schedule.AnchorMs, noon.UnixMilli())
	}
}

func zoneOfAt(t *testing.T, w *world) {
	for _, tt := range []struct{ text, zone, want string }{
		{"2049-03-01T09:00", "America/New_York", "2049-03-01T14:00:00Z"},
		{"2049-03-01", "Asia/Kolkata", "2049-02-28T18:30:00Z"},
		{"2049-03-01T09:00", "", "2049-03-01T09:00:00Z"},
		{"2049-03-01T09:00+02:00", "America/New_York", "2049-03-01T07:00:00Z"},
		{"2049-11-07T01:30", "America/New_York", "2049-11-07T05:30:00Z"}, // twice that day: the first one
		{"2049-03-14T02:30", "America/New_York", ""},                     // not at all that day
	} {
		s, err := automation.ParseSchedule(tt.text, tt.zone, noon, w.Zone)
		got := ""
		if err == nil {
			got = s.At.UTC().Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%s in %q: %q (%v), want %q", tt.text, tt.zone, got, err, tt.want)
		}
	}
}

func clockChange(t *testing.T, w *world) {
	w.at("2049-03-13T12:00:00Z")
	w.Boot = w.clock.Now().Add(-time.Hour)
	w.made("gap", cronIn("America/New_York", "30 2 * * *"), nil)
	w.made("fold", cronIn("America/New_York", "30 1 * * *"), nil)
	w.at("2049-03-14T06:30:00Z")
	w.starts(1, "01:30") // of fold
	w.at("2049-03-14T07:20:00Z")
	w.again() // it reads 03:20, and 02:30 has not been
	w.starts(1, "after the gap")
	w.again()
	w.starts(0, "after the gap once more")
	for _, name := range []string{"gap", "fold"} {
		w.edits(name, func(a *automation.Automation) { a.Missed.Policy = automation.MissedSkip })
	}
	w.at("2049-11-07T05:30:00Z")
	w.starts(1, "01:30 the first time")
	w.at("2049-11-07T06:30:30Z")
	w.again()
	w.starts(0, "01:30 the second time")
	w.at("2049-11-07T06:50:00Z")
	w.again()
	w.starts(0, "after the repeat")
}
