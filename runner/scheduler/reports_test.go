package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/statetest"
)

// The public reports of spec/heartbeat-automations.md section 6 that concern
// schedules, each named after its fault. TestReports has rows 1 to 17,
// TestReportsMore the others; rows 18 to 23 and 25 to 27 are about heartbeats and
// stand in state/heartbeat and runner/heartbeat, row 38 is about hooks.

// again is another program over the same directory: nothing is remembered.
func (w *world) again() {
	w.t.Helper()
	boot := w.Boot
	dir := w.Store.Dir()
	w.open(statetest.OpenAt(w.t, dir, state.Options{FS: statetest.Fast(dir), Now: w.clock.Now}))
	w.Boot = boot
}

// made makes an automation of any schedule.
func (w *world) made(name string, s automation.Schedule, change func(a *automation.Automation)) automation.Automation {
	w.t.Helper()
	return w.add(name, "1m", func(a *automation.Automation) {
		a.Schedule = s
		if change != nil {
			change(a)
		}
	})
}

func cronIn(tz, expr string) automation.Schedule {
	exact := int64(0)
	return automation.Schedule{Kind: automation.KindCron, Expr: expr, TZ: tz, StaggerMs: &exact}
}

func once(at time.Time) automation.Schedule {
	return automation.Schedule{Kind: automation.KindAt, At: at}
}

// plays makes a pass and carries what it claims out at once, without a
// command. It says how many were started.
func (w *world) plays() int {
	w.t.Helper()
	work, err := w.Pass(w.t.Context(), nobody)
	for _, r := range work.Start {
		if err == nil {
			err = begin(w, r)
		}
		if err == nil {
			err = conclude(w, r.Owner.ProcessID)
		}
	}
	if err == nil {
		_, err = w.Pass(w.t.Context(), nobody)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return len(work.Start)
}

// starts insists on how many runs a pass starts.
func (w *world) starts(want int, when string) {
	w.t.Helper()
	if got := w.plays(); got != want {
		w.t.Errorf("%s: %d runs were started, want %d; %s", when, got, want, w.story())
	}
}

// at moves the clock to a time of UTC.
func (w *world) at(text string) {
	w.t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil || when.Before(w.clock.Now()) {
		w.t.Fatalf("%q: %v, and it is %v", text, err, w.clock.Now())
	}
	w.clock.Advance(when.Sub(w.clock.Now()))
}

// next is when an automation runs next.
func (w *world) next(name string) time.Time {
	w.t.Helper()
	e, err := w.Find(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return e.Next
}

func (w *world) edits(name string, change func(a *automation.Automation)) {
	w.t.Helper()
	if _, err := w.Edit(w.t.Context(), name, func(a *automation.Automation) error { change(a); return nil }); err != nil {
		w.t.Fatal(err)
	}
}

func TestReports(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *world){
		"openclaw 1100, 16094, 81087: two ticks see the same due job":                                        twoTicks,
		"openclaw 14164, 17821: a job that is done within its second spins":                                  spins,
		"openclaw 42640: a slot that was run is run again after a restart":                                   ranBefore,
		"openclaw 4018, 12744, 10596, 33092: a slot during downtime vanishes":                                downtime,
		"openclaw 12440: listing moves a slot that is due":                                                   listing,
		"openclaw 17852, 10021, 11912: upkeep moves a daily job by 48 hours":                                 upkeep,
		"openclaw 34432, 8424: a next time in the past never runs":                                           staleNext,
		"openclaw 12025, 73166, 102534, 131500: all jobs stop after a long one":                              longOne,
		"openclaw 18120, 17554, 57058, 142638, 133223: a job runs for ever":                                  forEver,
		"openclaw 11612, 56488: a one-shot fires again after a restart":                                      oneShotAgain,
		"openclaw 18917: a one-shot is lost while the heartbeat is switched off":                             heartbeatOff,
		"openclaw 111383: rescheduled during its run, then deleted":                                          rescheduledInRun,
		"openclaw 83538: a start by hand uses a one-shot up":                                                 byHandOneShot,
		"openclaw 33940: a start by hand shifts the cadence":                                                 byHandCadence,
		"openclaw 67828, 127691, 152592, 27996, 71603: an edit keeps the old next time, a reformat moves it": editMoves,
		"openclaw 91944, 145722: a slot of before the edit is made up":                                       editOwesNothing,
		"openclaw 14761, 1972, 7022: every begins anew with each restart":                                    anchor,
		"openclaw 78193, 53218, 8399, 45775, 117969, 118297: the zone of at is ignored":                      zoneOfAt,
		"openclaw 129478: a day of a clock change runs twice, or its slot is not made up":                    clockChange,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t))
		})
	}
}

func twoTicks(t *testing.T, w *world) {
	w.add("job", "1m", nil)
	other := *w
	other.again()
	w.clock.Advance(time.Minute)
	first, err := w.Pass(t.Context(), nobody)
	if err != nil || len(first.Start) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := other.Pass(t.Context(), func(id string) bool { return id == first.Start[0].ID }) // the first one has it in hand
	if err != nil || len(second.Start) != 0 {
		t.Errorf("claimed by both: %+v, %v", second.Start, err)
	}
	if err := begin(w, first.Start[0]); err != nil {
		t.Fatal(err)
	}
	other.clock.Advance(5 * time.Second) // "seconds apart"
	if n := other.plays(); n != 0 {
		t.Errorf("the second tick has started %d", n)
	}
	w.tells("12:01 running")
}

func spins(t *testing.T, w *world) {
	w.made("job", cronIn("UTC", "* * * * *"), nil)
	w.clock.Advance(time.Minute)
	w.starts(1, "at its second")
	for range 20 { // still the same second, and the next ones
		w.clock.Advance(200 * time.Millisecond)
		w.starts(0, "after it ended")
	}
	w.tells("12:01 succeeded")
	if next := w.next("job"); !next.Equal(noon.Add(2 * time.Minute)) {
		t.Errorf("next %v", next)
	}
}

func ranBefore(t *testing.T, w *world) {
	w.made("job", cronIn("UTC", "0 13 * * *"), nil)
	w.clock.Advance(time.Hour)
	w.starts(1, "13:00")
	for range 3 {
		w.clock.Advance(time.Minute)
		w.again()
		w.starts(0, "after a restart")
	}
	w.tells("13:00 succeeded")
}

func downtime(t *testing.T, w *world) {
	w.made("made-up", cronIn("UTC", "0 13 * * *"), nil)
	w.made("skipped", cronIn("UTC", "0 13 * * *"), func(a *automation.Automation) { a.Missed.Policy = automation.MissedSkip })
	w.pass()
	w.clock.Advance(time.Hour - 6*time.Second) // the gap of 33092 is 13 s
	w.pass()
	w.clock.Advance(13 * time.Second)
	w.again()
	w.starts(2, "13 seconds without a program")
	w.clock.Advance(25 * time.Hour) // now an hour after the slot
	w.again()
	w.starts(1, "an hour late")
	for _, r := range w.runs() {
		switch missed := r.Status == automation.Missed; {
		case missed && (r.Name != "skipped" || r.Code != automation.CodeLate || r.Why == ""):
			t.Errorf("%+v", r)
		case !missed && r.Status != automation.Succeeded:
			t.Errorf("%+v", r)
		}
	}
	if n := len(w.runs()); n != 4 {
		t.Errorf("%d records of two slots of two jobs: %s", n, w.story())
	}
}

func listing(t *testing.T, w *world) {
	w.add("job", "1m", nil)
	w.pass()
	w.clock.Advance(90 * time.Second)
	before := w.position()
	for range 3 {
		if list, err := w.List(); err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		w.next("job")
		w.runs()
		if _, err := w.Plan(w.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Status(); err != nil {
			t.Fatal(err)
		}
	}
	if w.position() != before {
		t.Error("a look has written something")
	}
	w.starts(1, "after the looks")
	w.tells("12:01 succeeded")
}

func upkeep(t *testing.T, w *world) {
	w.made("daily", cronIn("UTC", "0 13 * * *"), nil)
	w.clock.Advance(time.Hour + 30*time.Second) // due, and nobody has started it
	w.Enabled = false
	w.pass() // a pass that may not start anything
	w.add("another", "1h", nil)
	w.edits("daily", func(a *automation.Automation) { a.Description = "changed" })
	if _, _, err := w.Enable(t.Context(), "another", false); err != nil {
		t.Fatal(err)
	}
	w.Enabled = true
	w.starts(1, "after upkeep")
	w.tells("13:00 succeeded")
	if next := w.next("daily"); !next.Equal(noon.Add(25 * time.Hour)) {
		t.Errorf("next %v, want the day after", next)
	}
}

func staleNext(t *testing.T, w *world) {
	w.add("job", "1m", nil)
	w.pass()
	if next := all(w, state.Agendas)[0].Next; !next.Equal(noon.Add(time.Minute)) {
		t.Fatalf("agenda %v", next)
	}
	w.clock.Advance(40 * time.Hour)
	w.again()
	w.starts(1, "with a next time that is long past")
	w.clock.Advance(time.Minute)
	w.starts(1, "a minute later")
}

func longOne(t *testing.T, w *world) {
	w.add("long", "1m", nil)
	w.add("short", "1m", nil)
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil || len(work.Start) != 2 {
		t.Fatalf("%+v, %v", work, err)
	}
	var long string
	for _, r := range work.Start {
		if err := begin(w, r); err != nil {
			t.Fatal(err)
		}
		if r.Name == "long" {
			long = r.Owner.ProcessID
			continue
		}
		if err := conclude(w, r.Owner.ProcessID); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		w.clock.Advance(time.Minute)
		w.starts(1, "while the long one runs")
		if work, err := w.Pass(t.Context(), nobody); err != nil || work.Next.IsZero() {
			t.Fatalf("it is never looked at again: %+v, %v", work, err)
		}
	}
	if err := conclude(w, long); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	w.plays()
	w.clock.Advance(time.Minute)
	w.starts(2, "after the long one")
	skipped := slices.DeleteFunc(w.runs(), func(r automation.Run) bool { return r.Status != automation.Skipped })
	if len(skipped) < 30 {
		t.Errorf("%d of its slots are on record as skipped, want 30", len(skipped))
	}
}
