package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/runner/resume"
	"claw/runner/scheduler"
	"claw/runner/source"
	"claw/runner/wake"
	"claw/state"
	"claw/state/boot"
	"claw/state/process"
	"claw/state/session"
)

// The times of a shift.
const (
	sendPatience = 10 * time.Second      // for messages that are being sent when it ends
	short        = 10 * time.Millisecond // what ends within that needs no watch
	pace         = wake.Coalesce         // between passes that others cause all the time
	firstRetry   = time.Second           // of a wake that could not be carried out
	lastRetry    = time.Minute           // it doubles until here
	lingerMost   = 6 * time.Minute       // longer than the longest wait of a failed turn's event
	freePasses   = 20                    // without a pause
	slotsMost    = time.Minute           // of a tick: what comes due later is for the next one
)

// shift is the time during which somebody holds runner.lock: all of a tick, all
// of a runner's life. One goroutine owns it; what it starts lands on a channel.
type shift struct {
	r     *Runner
	dir   string
	clock clock.Clock

	self      string        // the boot of this runner; "" in a tick
	mode      boot.Mode     // how much begins by itself
	askedSafe bool          // runner run --safe
	safeUntil time.Time     // when safe mode ends if nothing more happens
	slotsEnd  time.Duration // of a tick: when it begins no more slots, on the monotonic clock; 0: never
	order     boot.Order    // what this runner was told to do with itself
	going     []session.Turn

	busy   map[string]int // by slot: an agent's name, post, sweep
	landed chan landing
	memory map[string]memo // by session: what was done about a wake that is still planned
	again  bool            // something has happened that the stamp does not show
	stuck  error           // why nothing can be written; nil again with a pass, or the end of a turn, that could

	turns, sends         context.Context // of agents, of channels and sweeps
	stopTurns, stopSends context.CancelFunc

	source    wake.Source       // of a tick; opened when it is first needed
	eyes      *source.Set       // what is known of the sources of automations
	spares    *scheduler.Spares // of a runner
	cycles    map[string]memo   // by session: what was cut off, and could not be seen to
	planNext  time.Time
	cycleNext time.Time
	cronNext  time.Time
	runs      map[string]bool // of automations: what is being started, and turns that are waited for
	askedNext time.Time
	postNext  time.Time
	retryAt   time.Time // the earliest wake that is put off, the heartbeat's cadence aside
	passed    time.Time // when the last pass began
	tasks     tasksSeen
	live      bool // something runs whose death nobody would be told of

	report Report
	errs   []error
	said   map[string]bool
	log    func(line string)
}

// The slots that are not an agent: no agent's name has a blank.
const (
	slotPost  = "post "
	slotSweep = "sweep "
	slotRun   = "run "
)

// memo is what became of a wake, for as long as it is planned again.
type memo struct {
	sign  string        // of a recorded skip
	tries int           // in a row that failed
	until time.Duration // on the monotonic clock: not again before
}

// landing is the end of something that ran beside the passes.
type landing struct {
	slot    string
	key     string   // of memory
	keys    []string // of runs: their ids
	wake    heartbeat.Planned
	turn    session.Turn
	cycle   string // the session in which a turn was cut off
	resumed resume.Done
	flushed deliver.Flushed
	line    string // what there is to be said
	err     error
}

func newShift(ctx context.Context, r *Runner) *shift {
	s := &shift{
		r: r, dir: r.Store.Dir(), clock: r.Clock, busy: map[string]int{}, landed: make(chan landing),
		eyes: source.NewSet(r.Clock, false), memory: map[string]memo{}, runs: map[string]bool{}, said: map[string]bool{}, log: func(string) {},
	}
	base := context.WithoutCancel(ctx)
	s.turns, s.stopTurns = context.WithCancel(base)
	s.sends, s.stopSends = context.WithCancel(base)
	return s
}

// end lets go of everything. Nothing is in flight any more.
func (s *shift) end() {
	s.stopTurns()
	s.stopSends()
	s.eyes.Close()
	if s.spares != nil {
		s.spares.Close()
	}
	if s.source != nil {
		s.source.Close()
	}
}

// work makes passes until one of them began with the stamp that is there when
// it and all it started have ended; that stamp is returned.
//
// Where nothing can be written (stuck) it begins nothing and ends when what is
// in flight has ended. What moves the stamp then is most of all its own attempts:
// they are no news.
func (s *shift) work(ctx context.Context) wake.Stamp {
	configured := stamps(s.r.Config)
	var seen wake.Stamp
	var begun time.Duration
	for passes := 0; ; passes++ {
		s.takeIn()
		if passes > 0 && s.agentsAtWork() == 0 && !equal(configured, stamps(s.r.Config)) {
			for len(s.busy) > 0 && ctx.Err() == nil {
				s.await(ctx)
			}
			if ctx.Err() == nil {
				s.report.Stale = true
				return wake.Stamp{}
			}
		}
		if s.stuck == nil || s.worthAPass(seen, begun) {
			poke.Trim(s.dir)
			seen, begun = wake.Look(s.dir), s.clock.Elapsed()
			s.pass(ctx)
		}
		for len(s.busy) > 0 && ctx.Err() == nil && !s.worthAPass(seen, begun) {
			s.await(ctx)
		}
		switch {
		case ctx.Err() != nil:
			s.drain(0, nil, nil)
			return seen
		case s.stuck != nil && len(s.busy) == 0:
			return seen
		case s.stirred(seen) && passes >= freePasses:
			clock.Sleep(ctx, s.clock, pace)
		case !s.stirred(seen) && len(s.busy) == 0 && !s.linger(ctx, seen):
			return seen
		}
	}
}

// agentsAtWork counts the agents whose wake is in flight: not messages, not the
// sweep. While there are none, what is configured otherwise can be waited for.
func (s *shift) agentsAtWork() int {
	n := len(s.busy)
	for _, slot := range []string{slotPost, slotSweep} {
		if s.busy[slot] > 0 {
			n--
		}
	}
	return n
}

// worthAPass tells whether to make another pass while something is in flight.
// Where nothing could be written that is tried again in a minute.
func (s *shift) worthAPass(seen wake.Stamp, begun time.Duration) bool {
	if s.stuck != nil {
		return s.clock.Elapsed()-begun >= clock.Longest
	}
	return s.stirred(seen)
}

// takeIn lands what has ended by now. Passes may follow each other for as long
// as others write; what they started must not wait for that to end.
func (s *shift) takeIn() {
	for {
		select {
		case l := <-s.landed:
			s.land(l)
		default:
			return
		}
	}
}

// stirred tells that there is reason for another pass.
func (s *shift) stirred(seen wake.Stamp) bool {
	return s.again || wake.Look(s.dir) != seen || s.overdue()
}

// overdue tells that the time of what was foreseen has come since the last
// pass. What that pass has left is not asked for again.
func (s *shift) overdue() bool {
	now, next := s.clock.Now(), s.next()
	return !next.IsZero() && !next.After(now) && next.After(s.passed)
}

// await waits until something lands, is told or is due. A tick opens its watch
// only for what takes longer than an instant.
func (s *shift) await(ctx context.Context) {
	wait := clock.Longest
	if next := s.next(); !next.IsZero() {
		if wait = next.Sub(s.clock.Now()); wait <= 0 { // the last pass has left it undone
			wait = firstRetry
		}
	}
	var told <-chan struct{}
	if s.source == nil {
		wait = short
	} else {
		told = s.source.C()
	}
	timer := s.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case l := <-s.landed:
		s.land(l)
	case <-told:
	case <-s.eyes.C():
		s.again = true
	case <-ctx.Done():
	case <-timer.C():
		if s.source == nil {
			s.source = wake.Watch(s.dir, s.clock)
		}
	}
}

// linger waits for what is put off for a few minutes only, or for a change. It
// tells whether there is a reason for another pass. A runner that wants to
// begin is not made to wait.
func (s *shift) linger(ctx context.Context, seen wake.Stamp) bool {
	if !s.r.Linger {
		return false
	}
	for waited := false; ctx.Err() == nil && !s.stirred(seen); waited = true {
		now := s.clock.Now()
		until, err := s.r.work(s.mode).waiting(now)
		s.fail(err)
		until = earlier(earlier(earlier(until, s.retryAt), s.postNext), earlier(s.cycleNext, s.askedNext))
		switch {
		case until.IsZero() || until.Sub(now) > lingerMost || isUp(s.dir):
			return false
		case waited && !until.After(now):
			return true
		}
		s.await(ctx)
	}
	return true
}

// drain lets nothing more begin, gives turns so long and messages ten seconds,
// and then leaves agents to their supervisors; left says which. A signal on
// hurry ends its patience with both. feed, if it is not nil, is called all the
// time.
func (s *shift) drain(grace time.Duration, hurry <-chan os.Signal, feed func()) (left []string) {
	turnsEnd := s.clock.Elapsed() + grace
	sendsEnd := s.clock.Elapsed() + max(grace, sendPatience)
	for len(s.busy) > 0 {
		now := s.clock.Elapsed()
		if feed != nil {
			feed()
		}
		if now >= turnsEnd && s.turns.Err() == nil {
			left = s.agents()
			s.stopTurns()
		}
		if now >= sendsEnd {
			s.stopSends()
		}
		timer := s.clock.NewTimer(max(short, min(sendsEnd-now, time.Second)))
		select {
		case l := <-s.landed:
			s.land(l)
		case <-hurry:
			turnsEnd, sendsEnd = s.clock.Elapsed(), s.clock.Elapsed()
		case <-timer.C():
		}
		timer.Stop()
	}
	return left
}

// agents are those whose wake is in flight, and the runs that are waited for.
func (s *shift) agents() []string {
	var list []string
	for slot := range s.busy {
		switch slot {
		case slotPost, slotSweep:
		case slotRun:
			list = append(list, "runs of automations")
		default:
			list = append(list, "agent "+slot)
		}
	}
	slices.Sort(list)
	return list
}

// next is when something is due that is known of; zero: nothing is.
func (s *shift) next() time.Time {
	next := earlier(earlier(s.planNext, s.cronNext), earlier(s.postNext, s.retryAt))
	return earlier(next, earlier(earlier(s.safeUntil, s.cycleNext), s.askedNext))
}

// fail keeps an error, once.
func (s *shift) fail(err error) {
	if err == nil {
		return
	}
	if unwritable(err) {
		s.stuck = err
	}
	if s.said[err.Error()] {
		return
	}
	s.said[err.Error()] = true
	s.errs = append(s.errs, err)
}

// unwritable tells an error of the directory that every change would meet. One
// that is damaged in some place is not meant: the rest of it goes on.
func unwritable(err error) bool {
	for _, kind := range []error{state.ErrNoSpace, state.ErrReadOnly, state.ErrNewerFormat, syscall.EIO} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (s *shift) done(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.report.Done = append(s.report.Done, line)
	s.log(line)
}

// say reports what a pass has settled.
func (s *shift) say(gone []process.Process, ended []agent.Result) {
	for _, p := range gone {
		s.report.Settled++
		s.done("%s: its supervisor had died; it is lost", p.Slug)
	}
	for _, e := range ended {
		s.turnEnded(e.Turn, "it was left by whoever waited for it")
	}
}

func (s *shift) turnEnded(t session.Turn, note string) {
	s.report.Turns++
	how := string(t.Status)
	if t.Outcome != "" {
		how = t.Outcome
	}
	if t.Status != session.TurnSucceeded {
		s.report.Failed++
		how = string(t.Status)
		if t.Error != "" {
			how += ": " + t.Error
		}
	}
	if note != "" {
		note = "; " + note
	}
	s.done("%s: turn %s (%s) in %s: %s%s", t.Agent, t.ID, t.Reason, t.SessionKey, how, note)
}

// busyLane tells an error that only says that somebody else was quicker.
func busyLane(err error) bool {
	_, ok := errors.AsType[*agent.BusyError](err)
	return ok
}
