package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/statetest"
)

// week is a simulated week on a laptop: it sleeps, programs are killed between
// any two steps, and the clock is set.
type week struct {
	*world
	random *rand.Rand
	dir    string
	begun  map[string]int // how often the command of a run was begun, by run
}

// schedules are those of the week, by name.
func schedules() map[string]automation.Automation {
	command := automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}}
	cron := func(expr, tz string) automation.Automation {
		return automation.Automation{Schedule: automation.Schedule{Kind: automation.KindCron, Expr: expr, TZ: tz}, Payload: command}
	}
	all := map[string]automation.Automation{
		"quarter": {Schedule: automation.Schedule{Kind: automation.KindEvery, EveryMs: 15 * 60000}, Payload: command},
		"hourly":  cron("0 * * * *", "UTC"),
		"night":   cron("30 2 * * *", "America/New_York"),
		"work":    cron("*/20 9-17 * * 1-5", "Europe/Berlin"),
		"each":    cron("10 */2 * * *", "Australia/Lord_Howe"),
		"never":   cron("5 * * * *", "Asia/Kathmandu"),
		"once":    {Schedule: automation.Schedule{Kind: automation.KindAt, At: noon.Add(50 * time.Hour)}, Payload: command},
		"remind":  {Schedule: automation.Schedule{Kind: automation.KindEvery, EveryMs: 3 * 3600000}, Payload: automation.Payload{Kind: automation.PayloadEvent, Text: "drink"}},
	}
	for name, a := range all {
		a.Name, a.Enabled, a.Delivery = name, true, &automation.Delivery{Mode: "none"}
		switch name {
		case "each":
			a.Missed.Policy = automation.MissedAll
		case "never":
			a.Missed.Policy = automation.MissedSkip
		}
		all[name] = a
	}
	return all
}

// CLAW_WEEKS=20 simulates as many.
func TestWeek(t *testing.T) {
	weeks, _ := strconv.ParseUint(os.Getenv("CLAW_WEEKS"), 10, 64)
	for seed := range max(1, weeks) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWeek(t, seed)
			end := noon.Add(7 * 24 * time.Hour)
			for w.clock.Now().Before(end) {
				w.step()
			}
			w.quiesce()
			w.audit()
		})
	}
}

func newWeek(t *testing.T, seed uint64) *week {
	dir := filepath.Join(t.TempDir(), "state")
	clock := clocktest.New(noon)
	w := &week{world: &world{t: t, clock: clock, dir: t.TempDir()}, random: rand.New(rand.NewPCG(seed, 7)), dir: dir, begun: map[string]int{}}
	w.restart()
	for _, a := range schedules() {
		if _, _, err := w.Add(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { statetest.Check(t, dir) })
	return w
}

// restart is another program, which remembers nothing.
func (w *week) restart() {
	if w.Scheduler != nil {
		w.Store.Close()
	}
	store, err := state.Open(w.dir, state.Options{FS: statetest.Fast(w.dir), Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.open(store)
}

// step lets time pass, most often a minute, and makes a pass that may be cut
// off anywhere.
func (w *week) step() {
	switch n := w.random.IntN(100); {
	case n < 3:
		w.clock.Suspend(time.Duration(w.random.IntN(9*60)) * time.Minute)
	case n < 5:
		w.clock.Step(time.Duration(w.random.IntN(240)-120) * time.Minute)
	default:
		w.clock.Advance(time.Duration(5+w.random.IntN(300)) * time.Second)
	}
	if w.random.IntN(20) == 0 {
		w.restart()
	}
	w.conclude(false)
	work, err := w.Pass(w.t.Context(), nobody)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range work.Start {
		if w.random.IntN(10) == 0 {
			w.restart() // killed: what is claimed and not begun is taken back
			return
		}
		if err := begin(w.world, r); err != nil {
			w.t.Fatal(err)
		}
		w.begun[r.ID]++
	}
}

// conclude ends commands: most at once, some later, some with their
// supervisor's death.
func (w *week) conclude(all bool) {
	for _, p := range w.processes() {
		if !p.Live() || !all && w.random.IntN(4) == 0 {
			continue
		}
		code := w.random.IntN(8) / 7 // some fail
		end := settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: w.clock.Now()}
		if w.random.IntN(30) == 0 {
			end.Phase, end.Exit = process.Lost, process.Exit{Reason: process.ReasonLost}
		}
		err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
			_, err := settle.Conclude(tx, p.ID, end)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// quiesce lets everything end that was begun or waits.
func (w *week) quiesce() {
	for range 40 {
		w.conclude(true)
		work, err := w.Pass(w.t.Context(), nobody)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range work.Start {
			if err := begin(w.world, r); err != nil {
				w.t.Fatal(err)
			}
			w.begun[r.ID]++
		}
		w.clock.Advance(5 * time.Second)
	}
	w.conclude(true)
	w.pass()
}

// audit compares the records with the slots that the schedules have: each has
// one, and none was begun twice.
func (w *week) audit() {
	for id, n := range w.begun {
		if n != 1 {
			w.t.Errorf("%s was begun %d times", id, n)
		}
	}
	recorded := map[string]map[time.Time]int{}
	byID := map[string]automation.Automation{}
	for _, a := range w.autos() {
		byID[a.ID], recorded[a.ID] = a, map[time.Time]int{}
	}
	ran := map[string]int{}
	for _, r := range w.runs() {
		a, ok := byID[r.AutomationID]
		if !ok || r.Attempt > 1 {
			continue
		}
		slots, err := a.Slots(w.Zone)
		if err != nil {
			w.t.Fatal(err)
		}
		for at := r.Slot; ; at, _ = slots.Next(at) {
			recorded[a.ID][at.UTC()]++
			if r.Through.IsZero() || !at.Before(r.Through) {
				break
			}
		}
		if r.Status == automation.Succeeded {
			ran[a.Name]++
		}
	}
	for id, a := range byID {
		w.auditSlots(a, recorded[id])
	}
	for _, name := range []string{"quarter", "hourly", "night", "work", "each", "never", "remind"} {
		if ran[name] == 0 {
			w.t.Errorf("%s never succeeded", name)
		}
	}
}

// auditSlots: every slot up to where the scheduler has decided has one record,
// and there are no others.
func (w *week) auditSlots(a automation.Automation, recorded map[time.Time]int) {
	slots, err := a.Slots(w.Zone)
	if err != nil {
		w.t.Fatal(err)
	}
	want := 0
	at, ok := slots.Next(a.CreatedAt)
	for ; ok && !at.After(a.State.Settled); at, ok = slots.Next(at) {
		want++
		if n := recorded[at.UTC()]; n != 1 {
			w.t.Errorf("%s: the slot %v has %d records", a.Name, at, n)
		}
	}
	if len(recorded) != want || want == 0 {
		w.t.Errorf("%s: %d slots are on record, the schedule has %d", a.Name, len(recorded), want)
	}
}
