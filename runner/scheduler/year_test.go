package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/statetest"
)

// year is fifty automations in six zones on a machine that sleeps for hours or
// days, whose programs die at any write, whose power fails, whose clock is set,
// and whose owner edits, switches off, removes and starts by hand. At the end
// each slot that the oracle finds has one record, and each policy did what it
// says.
type year struct {
	*world
	seed    uint64
	random  *rand.Rand
	dir     string
	fs      *statetest.Frail
	armed   bool
	cut     bool // what is armed is the end of the power, not of a program
	next    time.Time
	highest time.Time // of the wall clock
	jobs    map[string]*job
	ids     []string // in order of creation
	serial  int
	going   map[string]*execution // by run
	begun   map[string]int
	last    map[string]time.Time // by automation: the last slot on record
	stirred bool                 // something has ended
	counts  map[string]int
	dense   bool
	busy    []time.Time // when clocks change somewhere: nobody sleeps then
}

// TestYear simulates one. CLAW_YEARS=N simulates N of them, all without the
// long sleeps; CLAW_YEAR_SEED repeats one.
func TestYear(t *testing.T) {
	years, dense := number("CLAW_YEARS", 0), true
	if years == 0 {
		years, dense = 1, false
	}
	seed := number("CLAW_YEAR_SEED", uint64(time.Now().UnixNano()))
	for i := range years {
		t.Run(fmt.Sprintf("CLAW_YEAR_SEED=%d", seed+i), func(t *testing.T) {
			t.Parallel()
			y := newYear(t, seed+i, dense)
			for end := noon.AddDate(1, 0, 0); y.clock.Now().Before(end) && !t.Failed(); {
				y.step()
			}
			y.quiesce()
			y.audit()
			t.Log(y.counts)
		})
	}
}

func number(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

func newYear(t *testing.T, seed uint64, dense bool) *year {
	dir := filepath.Join(t.TempDir(), "state")
	y := &year{
		world: &world{t: t, clock: clocktest.New(noon), dir: t.TempDir()}, seed: seed, random: rand.New(rand.NewPCG(seed, 12)), dir: dir, dense: dense,
		highest: noon, jobs: map[string]*job{}, going: map[string]*execution{}, begun: map[string]int{}, last: map[string]time.Time{}, counts: map[string]int{},
	}
	for _, zone := range sixZones {
		read := readingsOf(zone)
		for i := 1; i < len(read); i++ {
			if read[i] != read[i-1]+1 {
				y.busy = append(y.busy, firstMinute.Add(time.Duration(i)*time.Minute))
			}
		}
	}
	y.reopen()
	for i := range 50 {
		y.make(i)
	}
	t.Cleanup(func() {
		y.Store.Close()
		statetest.Check(t, dir)
	})
	return y
}

// reopen is another program: nothing is remembered.
func (y *year) reopen() {
	boot := y.clock.Now()
	if y.Scheduler != nil {
		boot = y.Boot
		y.Store.Close()
		if y.fs.Stopped() {
			if err := y.fs.Settle(); err != nil {
				y.t.Fatal(err)
			}
		}
	}
	y.fs, y.armed = statetest.NewFrail(y.dir), false
	store, err := state.Open(y.dir, state.Options{FS: y.fs, Now: y.clock.Now})
	if err != nil {
		y.t.Fatal(err)
	}
	y.open(store)
	y.Boot = boot
}

// arm has the program, or the power, end within the next writes.
func (y *year) arm() {
	n := 1 + y.random.IntN(25)
	if y.armed, y.cut = true, y.random.IntN(3) == 0; y.cut {
		y.fs.Cut(n, y.random.IntN(2) == 0)
		return
	}
	y.fs.Kill(n)
}

// try does something as a program that may die of it; false when it has.
func (y *year) try(what string, err error) bool {
	if err == nil {
		return true
	}
	if !y.fs.Stopped() {
		y.t.Fatalf("%v: %s: %v", y.clock.Now(), what, err)
	}
	y.counts["died: "+what]++
	y.reopen()
	if y.cut {
		y.counts["power cuts"]++
		y.rebooted()
	}
	y.find()
	return false
}

// step lets time pass, and then lets somebody do something about it.
func (y *year) step() {
	y.counts["looks"]++
	y.pass(y.elapse())
	if !y.armed && y.random.IntN(25) == 0 {
		y.arm()
	}
	switch y.random.IntN(60) {
	case 0:
		y.reopen()
		y.find()
	case 1, 2, 3, 4:
		if !y.person() {
			return
		}
	}
	if !y.endings(false) {
		return
	}
	work, err := y.Pass(y.t.Context(), nobody)
	if !y.try("pass", err) {
		return
	}
	y.carry(work)
}

// carry begins and stops what a pass has decided.
func (y *year) carry(work scheduler.Work) {
	y.next = work.Next
	y.remember(work.Ended)
	y.remember(work.Start)
	y.stirred = y.stirred || len(work.Ended) > 0
	for _, r := range work.Stop {
		if x := y.going[r.ID]; x != nil && !x.stopped {
			x.stopped, x.ends = true, y.clock.Elapsed()+time.Duration(y.random.IntN(3))*time.Second
		}
	}
	for _, r := range work.Start {
		if y.random.IntN(50) == 0 {
			y.counts["died: claimed"]++ // what is claimed and not begun is taken back
			y.reopen()
			y.find()
			return
		}
		if !y.try("begin", y.begin(r)) {
			return
		}
	}
	y.switchedOff()
}

// elapse is how much time passes on both clocks; before that the machine may
// have slept, or the clock been set.
func (y *year) elapse() time.Duration {
	quiet := !slices.ContainsFunc(y.busy, func(t time.Time) bool { return t.Sub(y.clock.Now()).Abs() < 14*time.Hour })
	asleep := 300
	if quiet && !y.dense {
		asleep = 2
	}
	switch n := y.random.IntN(1000); {
	case y.random.IntN(asleep) == 0 && quiet:
		hours := 1 + y.random.IntN(20)
		if y.random.IntN(4) == 0 {
			hours = 24 + y.random.IntN(90)
		}
		y.counts["sleeps"]++
		y.clock.Suspend(time.Duration(hours)*time.Hour + time.Duration(y.random.IntN(3600))*time.Second)
	case n < 12:
		y.counts["steps forward"]++
		y.clock.Step(time.Duration(y.random.IntN(120)) * time.Minute)
	case n < 24:
		back := time.Duration(y.random.IntN(120)) * time.Minute
		if y.highest.Sub(y.clock.Now())+back < 2*time.Hour {
			y.counts["steps back"]++
			y.clock.Step(-back)
		}
	case n < 36: // nobody looked for a while
		return time.Duration(y.random.IntN(180)) * time.Minute
	}
	d := time.Duration(1+y.random.IntN(45)) * time.Minute
	if left := y.next.Sub(y.clock.Now()); !y.next.IsZero() && left < d {
		d = max(0, left) + time.Duration(y.random.IntN(70_000))*time.Millisecond
	}
	return d
}

func (y *year) pass(d time.Duration) {
	y.clock.Advance(d)
	if now := y.clock.Now(); now.After(y.highest) {
		y.highest = now
	}
}

// quiesce lets everything end that was begun or waits.
func (y *year) quiesce() {
	if y.armed {
		y.reopen()
		y.find()
	}
	for range 60 {
		y.pass(5 * time.Second)
		y.endings(true)
		work, err := y.Pass(y.t.Context(), nobody)
		if err != nil {
			y.t.Fatal(err)
		}
		y.carry(work)
	}
	for range 3 { // what waits for a second try
		y.pass(time.Hour)
		for range 30 {
			y.pass(5 * time.Second)
			y.endings(true)
			work, err := y.Pass(y.t.Context(), nobody)
			if err != nil {
				y.t.Fatal(err)
			}
			y.carry(work)
		}
	}
	y.endings(true)
	if _, err := y.Pass(y.t.Context(), nobody); err != nil {
		y.t.Fatal(err)
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// sixZones have different rules: half an hour in Lord Howe, midnight in
// Santiago, none in Kolkata.
var sixZones = []string{"America/New_York", "Europe/Berlin", "Europe/London", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata"}

// schedule draws one, as automation.Schedule has it and as the oracle does.
func (y *year) schedule(i int) (automation.Schedule, oracle) {
	r := y.random
	if i%5 == 4 {
		every := time.Duration(100+r.IntN(3000)) * time.Minute
		anchor := y.clock.Now().Truncate(time.Millisecond)
		return automation.Schedule{Kind: automation.KindEvery, EveryMs: every.Milliseconds(), AnchorMs: anchor.UnixMilli()}, oracle{every: every, anchor: anchor}
	}
	zone := sixZones[i%len(sixZones)]
	minute, hour, zero := r.IntN(60), r.IntN(24), int64(0)
	small := r.IntN(4) // where clocks change
	s := automation.Schedule{Kind: automation.KindCron, TZ: zone, StaggerMs: &zero}
	f := fields{minutes: []int{minute}, hours: []int{hour}}
	switch r.IntN(13) {
	case 0:
		s.Expr = fmt.Sprintf("%d %d * * *", minute, hour)
	case 1, 2, 3:
		s.Expr, f.hours = fmt.Sprintf("%d %d * * *", minute, small), []int{small}
	case 4:
		s.Expr, f.minutes, f.hours = fmt.Sprintf("0,30 %d-%d * * *", small, small+1), []int{0, 30}, []int{small, small + 1}
	case 5:
		s.Expr, f.weekdays = fmt.Sprintf("%d %d * * 1-5", minute, hour), []int{1, 2, 3, 4, 5}
	case 6:
		s.Expr, f.days, f.weekdays = fmt.Sprintf("%d %d 13 * fri", minute, hour), []int{13}, []int{5}
	case 7:
		s.Expr, f.hours, f.wild = fmt.Sprintf("%d * * * *", minute), nil, true
	case 8:
		s.Expr, f.minutes, f.hours, f.wild = "*/20 1-4 * * *", []int{0, 20, 40}, []int{1, 2, 3, 4}, true
	case 9:
		s.Expr, s.StaggerMs = "0 */3 * * *", nil // over five minutes, by default
		f = fields{minutes: []int{0}, hours: []int{0, 3, 6, 9, 12, 15, 18, 21}, wild: true, staggered: true}
	case 10:
		s.Expr, f = "15 */30 8-9 * * *", fields{second: 15, minutes: []int{0, 30}, hours: []int{8, 9}, wild: true}
	case 11:
		s.Expr, f.lastDay = fmt.Sprintf("%d %d L * *", minute, hour), true
	case 12:
		s.Expr, f.months, f.weekdays = fmt.Sprintf("%d %d * 3,4,9-11 SUN", minute, small), []int{3, 4, 9, 10, 11}, []int{0}
		f.hours = []int{small}
	}
	return s, oracle{fields: &f, zone: zone}
}
