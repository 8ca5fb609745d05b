package automation_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claw/state/automation"
)

// The simulation: automations in six zones over months, with sleeps, restarts,
// clocks set forward and back by up to two hours, clocks that are wrong by up to
// a year for a while, edits and starts by hand. The
// store is a map whose rows, once ended, must not change. At the end every slot
// that the oracle finds has exactly one record.

// oracleSlots finds the slots of a schedule after one instant and not after
// another, by looking at every minute.
type oracleSlots func(after, until time.Time) []time.Time

// epoch is how long one schedule was in force: slots after from are owed.
type epoch struct {
	from, to time.Time
	slots    oracleSlots
}

type execution struct {
	ends time.Time // by the clock that never steps
	life automation.Life
	end  automation.End
}

type world struct {
	t     *testing.T
	r     *rand.Rand
	now   time.Time // the wall clock
	real  time.Time // one that never steps, and stops while asleep
	boot  time.Time
	ids   []string
	autos map[string]automation.Automation
	gone  map[string]automation.Automation
	runs  map[string]automation.Run
	order []string

	epochs  map[string][]epoch
	current map[string]*epoch // nil while switched off
	going   map[string]*execution
	begun   map[string]int
	next    time.Time
	serial  int
	highest time.Time
	limit   int
}

var simZones = []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "Pacific/Apia"}

var known sync.Map // zones by name; to read them costs more than all else

func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if loc, ok := known.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err == nil {
		known.Store(name, loc)
	}
	return loc, err
}

func newWorld(t *testing.T, seed uint64, limit int) *world {
	start := time.Date(2026, 2, 20, 3, 0, 0, 0, time.UTC)
	return &world{
		t: t, r: rand.New(rand.NewPCG(seed, 9)), now: start, real: start, highest: start, limit: limit,
		autos: map[string]automation.Automation{}, gone: map[string]automation.Automation{}, runs: map[string]automation.Run{},
		epochs: map[string][]epoch{}, current: map[string]*epoch{}, going: map[string]*execution{}, begun: map[string]int{},
	}
}

// schedule draws one together with its oracle.
func (w *world) schedule() (automation.Schedule, oracleSlots) {
	if w.r.IntN(3) == 0 {
		every := time.Duration(7+w.r.IntN(600)) * time.Minute
		anchor := w.now.Truncate(time.Millisecond)
		return automation.Schedule{Kind: automation.KindEvery, EveryMs: every.Milliseconds(), AnchorMs: anchor.UnixMilli()}, func(after, until time.Time) []time.Time {
			var out []time.Time
			for at := anchor; !at.After(until); at = at.Add(every) {
				if at.After(after) {
					out = append(out, at)
				}
			}
			return out
		}
	}
	name := simZones[w.r.IntN(len(simZones))]
	loc, err := zone(name)
	if err != nil {
		w.t.Fatal(err)
	}
	minute, hour := w.r.IntN(60), w.r.IntN(4)
	zero := int64(0)
	s := automation.Schedule{Kind: automation.KindCron, TZ: name, StaggerMs: &zero}
	switch w.r.IntN(3) {
	case 0:
		s.Expr = fmt.Sprintf("%d %d * * *", minute, hour)
		return s, scan(loc, true, func(h, m int) bool { return h == hour && m == minute })
	case 1:
		s.Expr = fmt.Sprintf("%d * * * *", minute)
		return s, scan(loc, false, func(_, m int) bool { return m == minute })
	}
	s.Expr = "*/20 1-9 * * *"
	return s, scan(loc, false, func(h, m int) bool { return m%20 == 0 && h >= 1 && h <= 9 })
}

// scan is design.md 7 again, minute by minute.
func scan(loc *time.Location, fixed bool, match func(h, m int) bool) oracleSlots {
	off := func(t time.Time) time.Duration { _, s := t.In(loc).Zone(); return time.Duration(s) * time.Second }
	occurs := func(t time.Time) bool {
		read := t.UTC().Add(off(t))
		jump := off(t) - off(t.Add(-time.Minute))
		for gap := time.Minute; fixed && jump > 0 && jump <= 3*time.Hour && gap <= jump; gap += time.Minute {
			if g := read.Add(-gap); match(g.Hour(), g.Minute()) {
				return true
			}
		}
		if !match(read.Hour(), read.Minute()) {
			return false
		}
		for ago := 30 * time.Minute; fixed && ago <= 3*time.Hour; ago += 30 * time.Minute {
			if off(t.Add(-ago))-off(t) == ago {
				return false
			}
		}
		return true
	}
	return func(after, until time.Time) []time.Time {
		var out []time.Time
		for at := after.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
			if occurs(at) {
				out = append(out, at)
			}
		}
		return out
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func (w *world) create() {
	w.serial++
	id := fmt.Sprintf("a%02d", w.serial)
	s, oracle := w.schedule()
	a := automation.Automation{
		ID: id, Name: id, Enabled: true, Schedule: s,
		Payload: automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}},
		Missed:  automation.MissedRule{Policy: pick(w.r, automation.MissedSkip, automation.MissedOnce, automation.MissedAll), Limit: w.r.IntN(4)},
		Overlap: pick(w.r, automation.OverlapSkip, automation.OverlapQueue, automation.OverlapReplace, automation.OverlapAllow),
	}
	if w.r.IntN(3) == 0 {
		a.Missed.WindowMs = (3 * time.Hour).Milliseconds()
	}
	if w.r.IntN(4) == 0 {
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	}
	if w.r.IntN(6) == 0 {
		at := w.now.Add(time.Duration(w.r.IntN(100)) * time.Hour).Truncate(time.Millisecond)
		a.Schedule, a.DeleteAfterRun = automation.Schedule{Kind: automation.KindAt, At: at}, w.r.IntN(2) == 0
		oracle = func(after, until time.Time) []time.Time {
			if at.After(until) {
				return nil
			}
			return []time.Time{at}
		}
	}
	if err := automation.Validate(a, w.now, zone); err != nil {
		w.t.Fatal(err)
	}
	a = automation.New(a, w.now)
	w.autos[id] = a
	w.ids = append(w.ids, id)
	w.current[id] = &epoch{from: a.CreatedAt, slots: oracle}
}

// put writes a row. What has ended stays as it is.
func (w *world) put(r automation.Run) {
	old, ok := w.runs[r.ID]
	if ok && !old.Status.Open() {
		w.t.Fatalf("%s had ended:\n%+v\n%+v", r.ID, old, r)
	}
	if !ok {
		w.order = append(w.order, r.ID)
	}
	w.runs[r.ID] = r
}

func (w *world) open() []automation.Run {
	var out []automation.Run
	for _, id := range w.order {
		if r := w.runs[id]; r.Status.Open() {
			out = append(out, r)
		}
	}
	// Keep what is scanned short: ended rows at the front are done with.
	for len(w.order) > 0 && !w.runs[w.order[0]].Status.Open() {
		w.order = w.order[1:]
	}
	return out
}

func (w *world) input() automation.Input {
	in := automation.Input{
		Now: w.now, Boot: w.boot, Runs: w.open(), Zone: zone, MaxTurns: w.limit, MaxCommands: w.limit,
		Life: func(r automation.Run) automation.Life {
			if x := w.going[r.ID]; x != nil {
				return x.life
			}
			return automation.Dead
		},
		Recorded: func(id string) bool { _, ok := w.runs[id]; return ok },
	}
	for _, id := range w.ids {
		if a, ok := w.autos[id]; ok {
			in.Automations = append(in.Automations, a)
		}
	}
	return in
}

// tick is a pass of the runner.
func (w *world) tick() {
	if w.now.After(w.highest) {
		w.highest = w.now
	}
	p := automation.Decide(w.input())
	for _, r := range p.Runs {
		w.checkNew(r, p)
		w.put(r)
		if !r.Status.Open() {
			delete(w.going, r.ID)
		}
	}
	for _, a := range p.Automations {
		w.autos[a.ID] = a
		if !a.Enabled {
			w.close(a.ID)
		}
	}
	for _, id := range p.Deleted {
		w.remove(id)
	}
	for _, r := range p.Stop {
		if x := w.going[r.ID]; x != nil {
			x.ends, x.end = w.real.Add(time.Second), automation.End{Status: automation.Cancelled}
		}
	}
	for _, r := range p.Start {
		w.begin(r)
	}
	w.next = p.Next
	w.checkRunning()
}

// close ends the epoch of an automation that is switched off or goes.
func (w *world) close(id string) {
	e := w.current[id]
	if e == nil {
		return
	}
	e.to = w.boundary(id)
	w.epochs[id] = append(w.epochs[id], *e)
	w.current[id] = nil
}

// boundary is up to where an automation's slots are decided: now, or, if the
// clock was set back since, the last slot that has a record or the last edit.
func (w *world) boundary(id string) time.Time {
	at := w.now.Truncate(time.Millisecond)
	if e := w.current[id]; e != nil {
		at = latest(at, e.from)
	}
	for _, e := range w.epochs[id] {
		at = latest(at, e.to)
	}
	for _, r := range w.runs {
		if r.AutomationID != id || r.Manual {
			continue
		}
		at = latest(at, r.Slot, r.Through)
	}
	return at
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, func(a, b time.Time) int { return a.Compare(b) })
}

func (w *world) remove(id string) {
	w.close(id)
	w.gone[id] = w.autos[id]
	delete(w.autos, id)
}

func (w *world) begin(r automation.Run) {
	x := &execution{life: automation.Alive, ends: w.real.Add(time.Duration(w.r.IntN(40)) * time.Second)}
	if w.r.IntN(20) == 0 {
		x.ends = w.real.Add(time.Duration(w.r.IntN(300)) * time.Minute)
	}
	w.going[r.ID] = x
	if w.r.IntN(40) == 0 { // killed between the claim and the start
		x.life = automation.NotBegun
		return
	}
	w.begun[r.ID]++
	switch n := w.r.IntN(20); {
	case n < 15:
		x.end = automation.End{Status: automation.Succeeded}
	case n < 17:
		x.end = automation.End{Status: automation.Failed, Category: automation.Network, Error: "no route"}
	case n < 18:
		x.end = automation.End{Status: automation.TimedOut, Category: automation.Timeout, Error: "too long"}
	case n < 19:
		x.end = automation.End{Status: automation.Skipped}
	default:
		x.end = automation.End{Status: automation.Failed, Category: automation.Validation, Error: "exit 2"}
	}
}

// endings ends the runs whose time has come.
func (w *world) endings() {
	for _, id := range w.goingIDs() {
		x := w.going[id]
		if x.life != automation.Alive || x.ends.After(w.real) {
			continue
		}
		r := w.runs[id]
		x.end.At = w.now
		delete(w.going, id)
		a, ok := w.autos[r.AutomationID]
		if !ok {
			a = w.gone[r.AutomationID]
		}
		f := automation.Finish(a, r, x.end, automation.Retry{}, zone)
		w.put(f.Run)
		if !ok {
			continue
		}
		w.autos[a.ID] = f.Automation
		if f.Retry != nil {
			w.put(*f.Retry)
		}
		if !f.Automation.Enabled {
			w.close(a.ID)
		}
		if f.Delete {
			w.remove(a.ID)
		}
	}
}

func (w *world) goingIDs() []string {
	var ids []string
	for id := range w.going {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// restart kills the runner, and of what it runs a part.
func (w *world) restart() {
	w.boot = w.now
	for _, id := range w.goingIDs() {
		if x := w.going[id]; x.life == automation.Alive {
			x.life = pick(w.r, automation.Alive, automation.Dead, automation.Unclear)
		}
	}
}

// edit changes one automation as a person would.
func (w *world) edit() {
	id := w.ids[w.r.IntN(len(w.ids))]
	old, ok := w.autos[id]
	if !ok || old.Schedule.Kind == automation.KindAt {
		return
	}
	a, oracle := old, oracleSlots(nil)
	switch w.r.IntN(4) {
	case 0:
		a.Enabled = !a.Enabled
	case 1:
		a.Description += "."
	default:
		a.Schedule, oracle = w.schedule()
		if automation.SameSchedule(a.Schedule, old.Schedule) {
			return
		}
	}
	from := w.boundary(id)
	was := w.current[id]
	edited, rows := automation.Edit(old, a, w.now, zone)
	for _, r := range rows {
		w.put(r)
	}
	w.autos[id] = edited
	if old.Enabled && (!edited.Enabled || oracle != nil) {
		w.close(id)
	}
	switch {
	case oracle == nil && was != nil:
		oracle = was.slots
	case oracle == nil && len(w.epochs[id]) > 0:
		oracle = w.epochs[id][len(w.epochs[id])-1].slots
	}
	if edited.Enabled && w.current[id] == nil {
		w.current[id] = &epoch{from: latest(from, w.boundary(id)), slots: oracle}
	}
	if !edited.Enabled && oracle != nil { // keep it for when it is switched on again
		at := w.boundary(id)
		w.epochs[id] = append(w.epochs[id], epoch{from: at, to: at, slots: oracle})
	}
}

func (w *world) manual() {
	id := w.ids[w.r.IntN(len(w.ids))]
	a, ok := w.autos[id]
	if !ok {
		return
	}
	w.serial++
	if r, why := automation.Manual(a, fmt.Sprintf("%s!%d", id, w.serial), w.open(), w.now); why == "" {
		w.put(r)
	}
}

func (w *world) pass(d time.Duration) {
	w.now, w.real = w.now.Add(d), w.real.Add(d)
}

func (w *world) step() {
	switch n := w.r.IntN(400); {
	case n < 2: // asleep: processes do not go on
		w.now = w.now.Add(time.Duration(1+w.r.IntN(20*60)) * time.Minute)
	case n < 4:
		w.restart()
		w.pass(time.Duration(w.r.IntN(40)) * time.Minute)
	case n == 4:
		w.now = w.now.Add(time.Duration(w.r.IntN(120)) * time.Minute)
	case n == 5:
		if back := time.Duration(w.r.IntN(120)) * time.Minute; w.highest.Sub(w.now)+back < 2*time.Hour {
			w.now = w.now.Add(-back)
			for range w.r.IntN(9) { // what was decided is ahead of the clock now
				w.edit()
			}
		}
	case n == 6: // wrong by hours or by a year, for as long as somebody looks once or twice
		back := time.Duration(4+w.r.IntN(400*24)) * time.Hour
		w.now = w.now.Add(-back)
		for range 1 + w.r.IntN(2) {
			w.tick()
		}
		w.now = w.now.Add(back)
	case n < 9:
		w.pass(time.Duration(w.r.IntN(90)) * time.Minute) // nobody looked meanwhile
		w.edit()
	case n < 12:
		w.manual()
	case n == 12 && len(w.autos) < len(w.ids):
		w.create()
	}
	d := time.Duration(1+w.r.IntN(1200)) * time.Second
	if !w.next.IsZero() { // else all of them are off
		d = min(d, max(time.Second, w.next.Sub(w.now)))
	}
	for _, x := range w.going {
		d = min(d, max(time.Second, x.ends.Sub(w.real)))
	}
	w.pass(d)
	w.endings()
	w.tick()
}

func TestSimulation(t *testing.T) {
	days, autos, seeds := 35, 12, 3
	if s := os.Getenv("CLAW_SIM_DAYS"); s != "" {
		if _, err := fmt.Sscan(s, &days, &autos, &seeds); err != nil {
			t.Fatal("CLAW_SIM_DAYS is DAYS AUTOMATIONS SEEDS: ", err)
		}
	}
	base := uint64(time.Now().UnixNano())
	if s := os.Getenv("CLAW_SIM_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &base); err != nil {
			t.Fatal(err)
		}
	}
	for i := range seeds {
		seed := base + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := newWorld(t, seed, []int{1, 4, 0}[i%3])
			for range autos {
				w.create()
			}
			until := w.now.AddDate(0, 0, days)
			for w.real.Before(until) && w.now.Before(until) {
				w.step()
			}
			slots := w.audit()
			statuses := map[automation.Status]int{}
			for _, r := range w.runs {
				statuses[r.Status]++
			}
			t.Log(slots, "slots,", len(w.begun), "runs:", strings.TrimPrefix(fmt.Sprint(statuses), "map"))
			if slots < days*autos/4 || statuses[automation.Succeeded] == 0 || statuses[automation.Missed] == 0 {
				t.Error("hardly anything happened")
			}
		})
	}
}
