package runner

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/poke"
	"claw/runner/wake"
	"claw/state"
	"claw/state/boot"
)

// life is a runner at work. Its shift has no Runner, and the Store is closed,
// while it idles.
type life struct {
	Options
	shift  *shift
	source wake.Source
	note   note
	noted  string // note.Error in the file

	first      bool          // no pass has been made yet
	prepared   time.Time     // what is due then has been prepared for
	claimAt    time.Time     // when that is claimed ahead; zero: it has been, or is not to be
	hushed     time.Time     // until then no pass is made, see hush
	seen       wake.Stamp    // before the last pass
	lastPass   time.Duration // on the monotonic clock
	took       time.Duration // the last pass
	resting    bool          // memory has been given back, and nothing is collected
	collect    int           // the percentage at which it was, and the limit
	limit      int64
	tries      int           // to write in a row that failed
	until      time.Duration // on the monotonic clock: where nothing could be written, no pass before
	replaced   []*Runner     // by a newer configuration, still used by what is in flight
	configured []time.Time   // when the files of Config were changed
	badConfig  string        // what was said last about a configuration
	badWatch   string        // what was said last about the watch
	knownErrs  map[string]bool
	fedDog     time.Duration

	order    boot.Order    // that is obeyed
	deadline time.Duration // of the drain, on the monotonic clock
	admit    func()        // lets others begin again: runner.drain; nil while nobody is kept from it
	told     []string      // note.WaitsFor in the file
	awake    awake
}

// drainEvery is how often a runner that is drained looks what goes on still:
// nobody is told of the death of others.
const drainEvery = time.Second

// stamps are the times of files; the zero time for one that is missing.
func stamps(files []string) []time.Time {
	times := make([]time.Time, len(files))
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

// locks tells the files behind the two locks from others of the same name.
func locks(dir string) [2]uint64 { return [2]uint64{inode(upLock(dir)), inode(poke.Lock(dir))} }

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func newNote(now time.Time) note {
	self := proc.Self()
	return note{State: State{Running: true, PID: self.PID, Since: now}, Identity: self}
}

// takeOver takes runner.lock. A tick that holds it is told that a runner waits:
// it does not linger then. Waiting is being ready, for the tick does the work.
func (l *life) takeOver(ctx context.Context) (release func(), err error) {
	for said := false; ; said = true {
		release, free, err := state.TryLock(poke.Lock(l.Dir))
		if free || err != nil {
			return release, err
		}
		if !said {
			mode := l.note.Mode
			defer func() { l.note.Mode = mode }()
			l.note.Mode = modeWaiting
			l.write()
			l.Log("waiting for a tick that is at work")
			l.Ready.tell("READY=1\nSTATUS=waiting for a tick that is at work")
		}
		_ = poke.Bump(l.Dir)
		if err := l.untilFree(ctx); err != nil {
			return nil, err
		}
	}
}

// errOrdered: it was told to end while it waited for a tick.
var errOrdered = errors.New("told to end")

// untilFree waits for the tick, and looks now and then whether it is still to.
func (l *life) untilFree(ctx context.Context) error {
	for {
		some, cancel := context.WithTimeout(ctx, orderEvery)
		err := state.LockShared(some, poke.Lock(l.Dir))
		cancel()
		if err == nil || ctx.Err() != nil || some.Err() == nil {
			return err
		}
		if l.shift.review(ctx); !l.shift.order.IsZero() {
			l.obey()
			return errOrdered
		}
	}
}

// orderEvery is how often a runner that cannot begin looks whether it is to
// end.
const orderEvery = time.Second

// look makes passes as long as there is reason for one.
func (l *life) look(ctx context.Context) {
	s := l.shift
	l.feed()
	if now := stamps(l.Config); !equal(now, l.configured) {
		l.configured = now
		l.reload(false)
	}
	for n := 0; l.due() && l.hush() == 0 && ctx.Err() == nil && !l.outdated(); n++ {
		s.takeIn()
		if s.stuck != nil && len(s.busy) == 0 {
			l.letGo() // what has been set right is seen by opening it anew
		}
		if s.r == nil && l.load(false) != nil {
			l.lastPass, s.live = l.Clock.Elapsed(), true // in a minute again
			l.first, l.seen, s.again = false, wake.Look(l.Dir), false
			l.until = l.lastPass + clock.Longest
			return
		}
		if n > 0 {
			clock.Sleep(ctx, l.Clock, l.breath(n))
		}
		began := l.Clock.Elapsed()
		l.pass(ctx)
		l.took = l.Clock.Elapsed() - began
	}
	if ctx.Err() == nil {
		l.prepare()
		l.claimAhead(ctx)
	}
}

// breath is how long to wait before the nth pass in a row: passes that take
// long, while a hundred commands start and end, must not take the machine from
// them. What is due by the clock does not wait.
func (l *life) breath(n int) time.Duration {
	wait := min(l.took, pace)
	if n >= freePasses {
		wait = pace
	}
	if next := l.shift.next(); next.After(l.shift.passed) {
		wait = min(wait, max(0, next.Sub(l.Clock.Now())))
	}
	return wait
}

func equal(a, b []time.Time) bool {
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

func (l *life) pass(ctx context.Context) {
	s := l.shift
	l.knownErrs, s.said = s.said, map[string]bool{}
	poke.Trim(l.Dir)
	l.stir()
	l.seen, l.first = wake.Look(l.Dir), false
	l.lastPass = l.Clock.Elapsed()
	if s.stuck == nil {
		l.tries = 0
	}
	if err := ensure(ctx, s.r.Store); err != nil && ctx.Err() == nil {
		s.fail(err)
		s.stuck, s.again, s.passed = err, false, l.Clock.Now()
	} else {
		s.pass(ctx)
	}
	l.note.Last, l.note.Error = s.passed, ""
	l.obey()
	l.lookAround()
	l.tellMode()
	l.awake.keep(s.r.InhibitSleep == InhibitAuto && (s.live || s.agentsAtWork() > 0), l.Clock.Elapsed())
	l.tell()
}

// tellMode brings the note up to date where the mode, or what is waited for,
// has changed.
func (l *life) tellMode() {
	n := l.note.State
	n.Mode, n.Why = string(l.shift.mode), l.shift.mode.Why()
	switch l.shift.mode {
	case boot.Safe:
		n.Why, n.Until = l.shift.safeWords(), l.shift.safeUntil
	case boot.Normal:
		n.Until = time.Time{}
	}
	changed := n.Mode != l.note.Mode || n.Why != l.note.Why || !n.Until.Equal(l.note.Until) || !slices.Equal(n.WaitsFor, l.told)
	l.note.State, l.told = n, n.WaitsFor
	if changed {
		l.write()
	}
}

// stir ends the rest: what is read from now on is collected as it should be.
func (l *life) stir() {
	if l.resting {
		debug.SetGCPercent(l.collect)
		debug.SetMemoryLimit(l.limit)
	}
	l.resting = false
}

// tell says what has failed, and puts off the next pass where nothing could be
// written: what has moved the stamp is most of all its own attempt.
func (l *life) tell() {
	l.tellErrors()
	if now := l.Clock.Elapsed(); l.shift.stuck != nil && l.until <= now {
		l.until = now + min(firstRetry<<min(l.tries, 6), lastRetry)
		l.tries++
	}
	if l.note.Error != l.noted {
		l.write()
	}
}

// tellErrors says what has failed and did not fail in the pass before.
func (l *life) tellErrors() {
	for _, err := range l.shift.errs {
		if !l.knownErrs[err.Error()] {
			l.Log("error: " + err.Error())
		}
		l.note.Error = err.Error()
	}
	l.shift.errs = nil
	l.shift.report = Report{} // it would grow for ever
}

// due tells that there is reason for a pass. Where something runs, or a task goes
// on, one is made each minute, for nobody is told of the death of who does it.
func (l *life) due() bool {
	if l.shift.stuck != nil {
		return l.Clock.Elapsed() >= l.until
	}
	since := l.Clock.Elapsed() - l.lastPass
	if !l.order.IsZero() && since >= drainEvery {
		return true
	}
	busy := l.shift.live || l.shift.tasks.active || len(l.shift.busy) > 0
	return l.first || l.shift.stirred(l.seen) || busy && since >= clock.Longest || since >= sweepEvery
}

// sleep waits for whatever comes first: a wake, the end of something, the next
// thing that is due, a minute.
func (l *life) sleep(ctx context.Context) {
	timer := l.Clock.NewTimer(l.patience())
	defer timer.Stop()
	select {
	case landed := <-l.shift.landed:
		l.shift.land(landed)
		l.tell()
	case <-l.Hurry:
	case <-l.source.C():
	case <-l.shift.eyes.C():
		l.shift.again = true
	case <-l.Reload:
		l.reload(true)
	case <-ctx.Done():
	case <-timer.C():
		l.rest()
	}
}

// patience is how long to sleep at most. What the last pass has left undone is
// not waited for: that pass had a reason.
func (l *life) patience() time.Duration {
	wait := clock.Longest
	if next := l.shift.next(); next.After(l.shift.passed) {
		wait = min(wait, max(0, next.Sub(l.Clock.Now())))
	}
	if hush := l.hush(); hush > 0 {
		return hush
	}
	if at := l.nearest(); !at.IsZero() {
		wait = min(wait, max(0, at.Sub(l.Clock.Now())))
	}
	if l.shift.stuck != nil {
		wait = min(clock.Longest, max(0, l.until-l.Clock.Elapsed()))
	}
	if dog := l.Ready.Watchdog; dog > 0 {
		wait = min(wait, max(dog/2-(l.Clock.Elapsed()-l.fedDog), 0))
	}
	if !l.resting && len(l.shift.busy) == 0 {
		wait = min(wait, idleAfter)
	}
	if !l.order.IsZero() {
		wait = min(wait, drainEvery, max(0, l.deadline-l.Clock.Elapsed()))
	}
	return wait
}

// feed tells systemd's watchdog that the loop turns.
func (l *life) feed() {
	dog := l.Ready.Watchdog
	if now := l.Clock.Elapsed(); dog > 0 && (now-l.fedDog >= dog/2 || l.fedDog == 0) {
		l.fedDog = now
		l.Ready.tell("WATCHDOG=1")
	}
}

// tellWatch says once why the directory has to be looked at.
func (l *life) tellWatch() {
	why := ""
	l.note.Watch = "told by the kernel"
	if err := l.source.Polling(); err != nil {
		why = err.Error()
		l.note.Watch = "every two seconds: " + why
	}
	if why != l.badWatch && why != "" {
		l.Log("looking at the state directory every two seconds: " + why)
	}
	l.badWatch = why
}

// write brings the note up to date. It is for reading only: an error is nothing
// to stop for.
func (l *life) write() {
	l.note.Next, l.noted = l.shift.next(), l.note.Error
	_ = l.note.write(l.Dir)
}

func (l *life) close() {
	l.shift.end()
	l.letGo()
}
