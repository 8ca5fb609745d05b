package runner

import (
	"context"
	"errors"
	"os"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/scheduler"
	"claw/runner/source"
	"claw/runner/wake"
	"claw/state"
	"claw/state/boot"
)

// The times of a runner's life.
const (
	// Grace is how long turns may go on when it is told to end.
	Grace = 10 * time.Second
	// idleAfter is how long nothing must have happened until memory is given back.
	idleAfter = time.Second
	// sweepEvery is how often an idle runner makes a pass although nothing has
	// changed: what is kept grows old all the same.
	sweepEvery = time.Hour
)

// Options say how to run.
type Options struct {
	Dir   string
	Clock clock.Clock
	// Load makes a Runner, with an open Store, by the configuration as it is
	// now. With a configuration that cannot be used it returns both a Runner by
	// the last good one and the error; without a Runner nothing can be done.
	Load func() (*Runner, error)
	// Config are files whose change makes it load anew at the next look, which
	// is within a minute. Reload makes it load at once.
	Config []string
	Reload <-chan os.Signal
	// Hurry ends its patience with what is at work while it ends.
	Hurry     <-chan os.Signal
	Safe      bool              // it begins in safe mode and stays in it
	Restarted bool              // it took over from one that was told to restart
	Version   string            // of claw
	Log       func(line string) // what happens, one line for each thing; nil: nobody reads it
	Ready     Readiness
	// Watch is what wakes; nil is wake.Watch.
	Watch func(dir string, c clock.Clock) wake.Source
}

// Run works until ctx ends, and then gives turns Grace. It returns nil when it
// was told to end, *UpError when another runner is at work on the directory, and
// an error that matches state.ErrNewerFormat when a newer claw has taken over the
// directory: it would keep the lock from those who can work on it. Where nothing
// can be written otherwise it tries again, in a second and at last each minute.
// The error that IsRestart tells asks for Readiness.Again. Its life is a row of
// the ledger of boots, from before it does anything until after its last deed.
//
// It sleeps until it is woken, until the next thing is due, and never for more
// than a minute. A minute in which nothing has changed and nothing runs costs a
// few system calls.
func Run(ctx context.Context, o Options) error {
	if o.Watch == nil {
		o.Watch = func(dir string, c clock.Clock) wake.Source { return wake.Watch(dir, c) }
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	r, err := o.Load()
	if err != nil {
		return err
	}
	l := &life{Options: o, configured: stamps(o.Config), shift: newShift(ctx, r), first: true}
	l.shift.log, l.shift.spares, l.shift.askedSafe = o.Log, new(scheduler.Spares), o.Safe
	l.awake.log = o.Log
	l.shift.eyes = source.NewSet(o.Clock, true)
	defer l.close()
	for {
		again, err := l.hold(ctx)
		if err != nil || !again {
			return err
		}
		o.Log("the state directory has been replaced; beginning anew")
	}
}

// hold takes the locks and works until ctx ends, or (again) until the locks
// are not those of the directory any more.
func (l *life) hold(ctx context.Context) (again bool, err error) {
	if err := ensure(ctx, l.shift.r.Store); err != nil {
		return false, err
	}
	unlock, err := l.begin(ctx)
	if err != nil || unlock == nil {
		return false, err
	}
	defer unlock()
	mine := locks(l.Dir)
	for ctx.Err() == nil {
		if locks(l.Dir) != mine {
			l.first, l.shift.stuck = true, nil
			return true, l.load(false)
		}
		if l.look(ctx); l.outdated() || l.over() {
			break
		}
		l.sleep(ctx)
	}
	err = l.finish(ctx)
	if l.outdated() {
		return false, l.shift.stuck
	}
	return false, err
}

// outdated tells that the directory belongs to a newer claw by now.
func (l *life) outdated() bool { return errors.Is(l.shift.stuck, state.ErrNewerFormat) }

// remnant is how long what a runner has left may keep its lock: a child that it
// had forked when it was killed has the lock until it executes its program.
const remnant = 2 * time.Second

// comeUp takes the lock of whoever is the runner. The error is an *UpError when
// another one is at work.
func (l *life) comeUp(ctx context.Context) (down func(), err error) {
	until := l.Clock.Elapsed() + remnant
	for {
		down, free, err := state.TryLock(upLock(l.Dir))
		if free || err != nil {
			return down, err
		}
		last := readNote(l.Dir).Identity
		if last.PID == 0 || proc.Alive(last) || l.Clock.Elapsed() >= until || ctx.Err() != nil {
			s, err := Look(l.Dir)
			return nil, firstError(err, &UpError{State: s})
		}
		clock.Sleep(ctx, l.Clock, 20*time.Millisecond)
	}
}

// begin takes both locks. A tick that is at work is waited for. No unlock and
// no error: it was told to end meanwhile.
func (l *life) begin(ctx context.Context) (unlock func(), err error) {
	down, err := l.comeUp(ctx)
	if err != nil {
		return nil, err
	}
	l.note = newNote(l.Clock.Now())
	l.order, l.shift.self, l.shift.order = boot.Order{}, "", boot.Order{}
	if err := l.beginBoot(ctx); err != nil {
		down()
		return nil, err
	}
	release, err := l.takeOver(ctx)
	if release == nil {
		err = l.neverBegan(ctx, err)
		down()
		return nil, err
	}
	l.source = l.Watch(l.Dir, l.Clock)
	l.tellWatch()
	l.readyBoot(ctx)
	l.write()
	l.Ready.tell("READY=1")
	l.Log("at work on " + l.Dir)
	return func() {
		l.source.Close()
		l.awake.release()
		if l.admit != nil {
			l.admit()
			l.admit = nil
		}
		if readNote(l.Dir).Identity == l.note.Identity {
			os.Remove(noteFile(l.Dir))
		}
		release()
		down()
	}, nil
}

// neverBegan writes the end of a runner that did not come to work: told to end
// while it waited, or why it could not begin.
func (l *life) neverBegan(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errOrdered):
		return l.finish(ctx)
	case ctx.Err() != nil:
		l.endBoot(boot.CleanStop, "")
		return nil
	}
	l.endBoot(boot.StartupFailed, err.Error())
	return err
}
