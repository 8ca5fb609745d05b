package runner

import (
	"context"
	"errors"
	"os"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/hook"
	"claw/runner/poke"
	"claw/runner/retention"
	"claw/runner/scheduler"
	"claw/runner/subagents"
	"claw/runner/wake"
	"claw/state"
	"claw/state/boot"
)

// Runner is everything one pass needs, made anew from the configuration each
// time that changes.
type Runner struct {
	Store     *state.Store
	Clock     clock.Clock
	Turns     *agent.Turns
	Heartbeat *heartbeat.Engine
	Scheduler *scheduler.Scheduler // nil: there are no automations
	// Calm makes a Scheduler like that one, but not Enabled, for the modes in
	// which nothing begins by the clock; nil: what ends is written down later.
	Calm  func() *scheduler.Scheduler
	Hooks *hook.Dispatcher // nil: nothing comes from outside
	// Subagents carries out the work that is given to agents; nil: there is none.
	Subagents *subagents.Service
	Post      *deliver.Post
	Retain    retention.Policy
	OnLoss    string // tools.exec.onSupervisorLoss
	// NoSafeMode has a runner that keeps dying begin as ever; runner.safeMode.
	NoSafeMode bool
	// InhibitSleep is runner.inhibitSleep: InhibitAuto or InhibitOff.
	InhibitSleep string
	// Linger makes Tick stay for what it has to put off for a few minutes: a
	// wake that is deferred, a failed turn's next try, a message's next attempt.
	// It is for a tick that nothing may follow.
	Linger bool
	// Config are files whose change ends a Tick that lingers, with Stale in its
	// report: it would wake agents that are configured otherwise by now.
	Config []string

	parts  *parts // in tests; nil: those of the fields above
	calmed *scheduler.Scheduler
}

// Report is what a Tick did.
type Report struct {
	Poked     bool      `json:"poked"`     // another one holds runner.lock and was told
	Settled   int       `json:"settled"`   // processes whose supervisor was gone
	Turns     int       `json:"turns"`     // that ended, however
	Failed    int       `json:"failed"`    // of these, not as they should
	Delivered int       `json:"delivered"` //
	Runs      int       `json:"runs"`      // of automations that ended, or are recorded as not run
	Next      time.Time `json:"next,omitzero"`
	Mode      boot.Mode `json:"mode,omitempty"` // safe: nothing begins by itself; "": as ever
	Stale     bool      `json:"-"`              // it is for its caller to begin anew, see Runner.Config
	// Done says it in words, one line for each thing.
	Done []string `json:"-"`
}

// Tick makes passes until nothing is left to do now, and returns. With another
// tick or a runner at work it pokes that one and returns at once. When ctx ends
// it starts nothing more and returns: agents go on under their supervisors,
// messages that are being sent get ten seconds.
//
// A turn or a message that fails is recorded and is no error of Tick. Errors
// are those of the state directory and the like, joined. Where that cannot be
// written at all (a full disk) it returns as soon as nothing of its own goes on.
func (r *Runner) Tick(ctx context.Context) (Report, error) {
	dir := r.Store.Dir()
	if err := ensure(ctx, r.Store); err != nil {
		return Report{}, err
	}
	s := newShift(ctx, r)
	defer s.end()
	s.slotsEnd = r.Clock.Elapsed() + slotsMost
	pokeErr := poke.Bump(dir)
	for rounds := 0; ; rounds++ {
		unlock, free, err := state.TryLock(poke.Lock(dir))
		switch {
		case err != nil:
			return s.report, errors.Join(append(s.errs, err)...)
		case !free && rounds == 0:
			return Report{Poked: true}, pokeErr
		case !free: // whoever has it now sees what came in between
			return s.report, errors.Join(s.errs...)
		}
		seen := s.work(ctx)
		now := r.Clock.Now()
		os.Chtimes(poke.Lock(dir), now, now) // see State.LastTick
		unlock()
		if ctx.Err() != nil || s.stuck != nil || wake.Look(dir) == seen || s.report.Stale {
			return s.report, errors.Join(s.errs...)
		}
	}
}

// ensure makes a state directory that is not there yet (a heartbeat may be the
// first thing that ever happens), and fails where nothing could be written
// down: a tick with nothing to do must say so too.
func ensure(ctx context.Context, store *state.Store) error {
	return store.Update(ctx, func(*state.Tx) error { return nil })
}
