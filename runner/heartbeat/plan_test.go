package heartbeat_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	rules "claw/state/heartbeat"
	"claw/state/session"
)

// hold takes the lane of a session, as a turn does.
func (w *world) hold(key string) {
	w.t.Helper()
	dir := filepath.Join(w.Store.Dir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	unlock, ok, err := state.TryLock(filepath.Join(dir, session.FileName(key)+".lock"))
	if err != nil || !ok {
		w.t.Fatal(ok, err)
	}
	w.t.Cleanup(unlock)
}

// runs writes a turn that is going on, in a session whose lane is held.
func (w *world) runs(name, key string) {
	w.t.Helper()
	w.hold(key)
	id := "01M8QC1TW0000000000000000" + string(rune('A'+len(w.turns())))
	w.update(func(tx *state.Tx) error {
		return state.Turns.Add(tx, id, session.Turn{ID: id, DispatchID: id, Agent: name, SessionKey: key, Kind: session.KindUser, Status: session.TurnRunning, CreatedAt: noon})
	})
}

func exec(w *world) { w.ended("reef", 0, "ok") }
func none(w *world) {}
func due(w *world)  { w.due() }
func real(w *world) { w.sh("main", "echo HEARTBEAT_OK") }
func file(text string) func(w *world) {
	return func(w *world) { w.write("HEARTBEAT.md", text, 0o644) }
}

func all(steps ...func(w *world)) func(w *world) {
	return func(w *world) {
		for _, step := range steps {
			step(w)
		}
	}
}

// setting changes main's settings.
func setting(change func(s *heartbeat.Settings)) func(w *world) {
	return func(w *world) { w.set("main", change) }
}

const tasksDaily = "tasks:\n- name: inbox\n  interval: 24h\n  prompt: Look for mail.\n"

// Every reason of spec/heartbeat-automations.md 1.4 and 1.6, as planned, as
// recorded, and what it does to the schedule.
func TestReasons(t *testing.T) {
	hidden := setting(func(s *heartbeat.Settings) {
		s.Visible = func(string, string) heartbeat.Visibility { return heartbeat.Visibility{} }
	})
	nights := setting(func(s *heartbeat.Settings) { s.Start, s.End = "22:00", "06:00" })
	for _, tt := range []struct {
		name   string
		given  func(w *world)
		byHand bool
		want   string // "run", or the recorded "skipped REASON"
		moves  bool   // the schedule moves
	}{
		{name: "a due heartbeat runs", given: due, want: "run", moves: true},
		{name: "1 switched off", given: all(due, func(w *world) { w.off() }), want: "skipped disabled", moves: true},
		{name: "1 switched off, also for events", given: all(exec, func(w *world) { w.off() }), want: "skipped disabled"},
		{name: "2 not enrolled", given: all(setting(func(s *heartbeat.Settings) { s.Enrolled = false })), byHand: true, want: "skipped disabled"},
		{name: "2 not enrolled, but a command has ended", given: all(setting(func(s *heartbeat.Settings) { s.Enrolled = false }), exec), want: "run"},
		{name: "3 no interval", given: setting(func(s *heartbeat.Settings) { s.Every = 0 }), byHand: true, want: "skipped disabled"},
		{name: "3 no interval, but a command has ended", given: all(setting(func(s *heartbeat.Settings) { s.Every = 0 }), exec), want: "run"},
		{name: "4 outside active hours by hand", given: nights, byHand: true, want: "skipped quiet-hours"},
		{name: "4 outside active hours a command has ended (openclaw#67397)", given: all(nights, exec), want: "run"},
		{name: "5 the main session is busy", given: all(due, func(w *world) { w.hold(mainKey) }), want: "skipped requests-in-flight"},
		{name: "5 the main session is busy, for a person too", given: func(w *world) { w.hold(mainKey) }, byHand: true, want: "skipped requests-in-flight"},
		{name: "6 an automation runs", given: all(due, func(w *world) { w.runs("main", "cron:j1") }), want: "skipped cron-in-progress"},
		{name: "7 other sessions of the agent are busy", given: all(due, setting(func(s *heartbeat.Settings) { s.SkipWhenBusy = true }), func(w *world) { w.runs("main", "session:notes") }), want: "skipped lanes-busy"},
		{name: "8 the same agent is at work", given: all(due, func(w *world) { w.runs("main", "session:notes") }), want: "skipped requests-in-flight"},
		{name: "8 the same agent is at work, by hand", given: func(w *world) { w.runs("main", "session:notes") }, byHand: true, want: "run"},
		{name: "8 a sibling is at work", given: all(due, func(w *world) { w.runs("ops", "agent:ops:main") }), want: "run", moves: true},
		{name: "9 a reply is being sent", given: all(due, func(w *world) { w.sending(10 * time.Second) }), want: "skipped requests-in-flight"},
		{name: "9 a reply is being sent for long", given: all(due, func(w *world) { w.sending(31 * time.Second) }), want: "run", moves: true},
		{name: "10 nothing in HEARTBEAT.md", given: all(real, file("# To do\n\n- [ ]\n"), due), want: "skipped empty-heartbeat-file", moves: true},
		{name: "10 #TODO is something", given: all(real, file("#TODO\n"), due), want: "run", moves: true},
		{name: "10 no HEARTBEAT.md", given: all(real, due), want: "run", moves: true},
		{name: "10 a command has ended (openclaw#2217)", given: all(real, file("# To do\n"), exec), want: "run"},
		{name: "10 a check is there", given: all(real, file("# To do\n"), due, func(w *world) { w.checkScript("disk", "echo full") }), want: "run", moves: true},
		{name: "10 the embedded agent has no HEARTBEAT.md", given: all(file("# To do\n"), due), want: "run", moves: true},
		{name: "11 the target session is busy", given: all(setting(func(s *heartbeat.Settings) { s.Session = "session:notes" }), due, func(w *world) { w.hold("session:notes") }), want: "skipped requests-in-flight"},
		{name: "13 no task is due", given: all(real, file(tasksDaily), func(w *world) { w.one(w.tick(byHand())) }, due), want: "skipped no-tasks-due", moves: true},
		{name: "14 the isolated session is busy", given: all(setting(func(s *heartbeat.Settings) { s.IsolatedSession = true }), due, func(w *world) { w.hold("agent:main:main:heartbeat") }), want: "skipped requests-in-flight"},
		{name: "15 nothing is shown", given: all(hidden, due), want: "skipped alerts-disabled", moves: true},
		{name: "15 nothing is shown, but a command has ended", given: all(hidden, exec), want: "run"},
		{name: "flood", given: all(none, func(w *world) { w.starts(5) }, exec), want: "deferred flood"},
		{name: "flood, by hand", given: func(w *world) { w.starts(5) }, byHand: true, want: "run"},
		{name: "four are no flood", given: all(func(w *world) { w.starts(4) }, exec), want: "run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.given(w)
			w.converge()
			before := w.monitor("main").NextDue
			var extra []heartbeat.Wake
			if tt.byHand {
				extra = append(extra, byHand())
			}
			plan := w.plan(extra...)
			if len(plan.Wakes) != 1 {
				t.Fatalf("%d wakes: %+v", len(plan.Wakes), plan.Wakes)
			}
			p := plan.Wakes[0]
			if _, err := w.Do(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if tt.want == "run" {
				if !p.Run || p.Status != "run" {
					t.Fatalf("%s %s", p.Status, p.Reason)
				}
			} else {
				w.want("planned", p.Status+" "+p.Reason, tt.want)
				w.want("recorded", w.last(), "skipped "+p.Reason)
			}
			if moved := !w.monitor("main").NextDue.Equal(before); tt.want != "run" && moved != tt.moves || tt.moves && !moved {
				t.Errorf("the schedule went from %s to %s", before, w.monitor("main").NextDue)
			}
		})
	}
}

// off is heartbeat disable.
func (w *world) off() {
	w.t.Helper()
	if changed, err := heartbeat.Enable(w.t.Context(), w.Store, false); err != nil || !changed {
		w.t.Fatal(changed, err)
	}
}

// sending is the answer to a person, on its way for so long.
func (w *world) sending(d time.Duration) {
	w.update(func(tx *state.Tx) error {
		id := "01M8QC1TW00000000000000000"
		return state.Deliveries.Add(tx, id, delivery.Delivery{
			ID: id, IdempotencyKey: "turn:x", Route: delivery.Route{Channel: "mail"}, Text: "hello", State: delivery.Pending,
			Source: delivery.Source{Kind: "turn", SessionKey: mainKey}, CreatedAt: w.clock.Now().Add(-d),
		})
	})
}

// starts are runs within the last minute.
func (w *world) starts(n int) {
	w.converge()
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Heartbeats.Get(tx, rules.Key("main"))
		if err != nil {
			return err
		}
		for i := range n {
			row.Rec.Starts = append(row.Rec.Starts, noon.Add(time.Duration(i-50)*time.Second))
		}
		return state.Heartbeats.Put(tx, row.ID, row.Rev, row.Rec)
	})
}

// Quiet hours: the check that is due finds the window closed only when the
// window was changed under it; otherwise it is due within it.
func TestADueHeartbeatOutsideItsHoursIsSkipped(t *testing.T) {
	w := newWorld(t).due()
	w.set("main", func(s *heartbeat.Settings) { s.Start, s.End = "12:00", "12:00" }) // never
	p := w.plan()
	for _, x := range p.Wakes {
		t.Errorf("%+v", x)
	}
	w.converge()
	w.clock.Advance(w.monitor("main").NextDue.Sub(w.clock.Now()))
	w.tick()
	w.want("last", w.last(), "skipped quiet-hours")
	if next := w.monitor("main").NextDue; !next.After(w.clock.Now()) {
		t.Errorf("next is %s", next)
	}
}

// What a busy session is told again and again is written once a minute.
func TestRepeatedSkipsAreCounted(t *testing.T) {
	w := newWorld(t)
	w.hold(mainKey)
	w.hold("session:a")
	exec(w)
	w.queue(event.Event{Text: "x", SessionKey: "session:a", Agent: "main"})
	w.converge()
	position := func() (n int64) {
		w.view(func(tx *state.Tx) error { n = tx.Position(); return nil })
		return n
	}
	w.tick()
	before := position()
	for range 10 {
		w.clock.Advance(time.Second)
		w.tick()
	}
	if after := position(); after != before {
		t.Errorf("%d more transactions for nothing", after-before)
	}
	w.clock.Advance(time.Minute)
	w.tick()
	if m := w.monitor("main"); m.Last.Count != 2 {
		t.Errorf("counted %d times", m.Last.Count)
	}
	if len(w.turns()) != 0 {
		t.Error("a turn ran")
	}
}

// A quiet tick writes nothing, and a dry run never does.
func TestPlanWritesNothing(t *testing.T) {
	w := newWorld(t)
	p := w.plan()
	if _, err := os.Stat(w.Store.Dir()); !os.IsNotExist(err) {
		t.Errorf("the state directory was made: %v", err)
	}
	// dev:main of 30m is at 849370 ms (spec 1.3: sha256("dev:main")).
	if want := nextAt(noon, 849370*time.Millisecond, 30*time.Minute); !p.Next.Equal(want) || len(p.Wakes) != 0 {
		t.Errorf("next is %s, not %s", p.Next, want)
	}
}

// nextAt is the first instant after now at phase in the interval, by counting.
func nextAt(now time.Time, phase, every time.Duration) time.Time {
	at := time.UnixMilli(0).Add(phase)
	for at = at.Add(now.Sub(at).Truncate(every)); !at.After(now); at = at.Add(every) {
	}
	return at
}

func TestPlanSaysWhatItWouldDo(t *testing.T) {
	w := newWorld(t).converge()
	w.ended("reef", 0, "built")
	w.set("main", func(s *heartbeat.Settings) { s.Target, s.To = "mail", "me@example.org" })
	p := w.plan().Wakes[0]
	w.want("says", strings.Join(p.Says, "|"), "Exec completed (reef, code 0) :: built")
	w.want("route", p.Route, "mail:me@example.org")
	w.set("main", func(s *heartbeat.Settings) { s.Target = "pager" })
	w.want("route", w.plan().Wakes[0].Route, "nowhere (unknown-channel)")
	w.set("main", func(s *heartbeat.Settings) { s.Target = "none" })
	w.want("route", w.plan().Wakes[0].Route, "nowhere (target none)")
	w.set("main", func(s *heartbeat.Settings) { s.Target = "last" })
	w.want("route", w.plan().Wakes[0].Route, "inbox")
}

// The schedule after runs: a slot of the clock is followed by the next, a run
// by hand puts the check off by an interval, and events by one at most.
func TestTheScheduleAfterARun(t *testing.T) {
	w := newWorld(t).due()
	slot := w.clock.Now()
	w.tick()
	w.want("after a slot", w.monitor("main").NextDue.Sub(slot).String(), "30m0s")
	w.clock.Advance(10 * time.Minute)
	w.tick(byHand())
	w.want("after a run by hand", w.monitor("main").NextDue.Sub(slot).String(), "40m0s")
	checked := w.clock.Now()
	for range 10 { // a command ends every ten minutes
		w.clock.Advance(10 * time.Minute)
		exec(w)
		w.tick()
	}
	if m := w.monitor("main"); m.CheckedAt.Sub(checked) < 50*time.Minute {
		t.Errorf("the last check was at %s, the commands have kept it away since", m.CheckedAt)
	}
}

// openclaw#29762, #63232: a busy skip leaves the schedule alone.
func TestABusyHeartbeatRunsWhenTheSessionIsFree(t *testing.T) {
	w := newWorld(t).due()
	slot := w.monitor("main").NextDue
	dir := filepath.Join(w.Store.Dir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, _, err := state.TryLock(filepath.Join(dir, session.FileName(mainKey)+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	w.tick()
	w.want("last", w.last(), "skipped requests-in-flight")
	if next := w.monitor("main").NextDue; !next.Equal(slot) {
		t.Errorf("the slot went from %s to %s", slot, next)
	}
	if p := w.plan(); !p.Next.Equal(w.clock.Now().Add(time.Minute)) {
		t.Errorf("looked at again at %s", p.Next)
	}
	unlock()
	w.tick()
	w.want("last", w.last(), "ok-checks")
}

func TestConvergeWritesOnce(t *testing.T) {
	w := newWorld(t).converge()
	position := func() (n int64) {
		w.view(func(tx *state.Tx) error { n = tx.Position(); return nil })
		return n
	}
	before := position()
	w.converge()
	if position() != before {
		t.Error("it was written again")
	}
	w.CronEnabled = false
	w.converge()
	if m := w.monitor("main"); m.Enabled || !m.NextDue.IsZero() {
		t.Errorf("with cron off: %+v", m)
	}
	exec(w) // events wake without a clock
	w.one(w.tick())
}
