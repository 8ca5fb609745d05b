package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"claw/state"
	"claw/state/statetest"
)

func (w *world) ctx() context.Context { return context.Background() }

// sample is of how many operations one is tried: CLAW_CRASH=1 tries all of them,
// as make crash does.
func sample() int {
	if n, err := strconv.Atoi(os.Getenv("CLAW_CRASH")); err == nil && n > 0 {
		return n
	}
	return 20
}

// TestCrashOfStories: wherever a scenario stops, and wherever whoever goes on
// with it stops too, the properties of spec/tasks-recovery.md 9 hold in the end.
func TestCrashOfStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.crash(t)
		})
	}
}

func (s story) crash(t *testing.T) {
	var w *world
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng, again := rand.New(rand.NewPCG(seed, 5)), 0
	flow := func(fs state.FS, dir string) error {
		w = newWorld()
		l, err := w.begin(fs, dir, "before", 0)
		if err != nil {
			return err
		}
		defer l.Store.Close()
		return s.tell(l)
	}
	statetest.CrashSome(t, sample(), flow, func(dir string) error {
		died, err := w.recover(dir, rng)
		if died {
			again++
		}
		return err
	})
	t.Logf("%d deaths of those who went on", again)
	statetest.Tally(t, "points", again)
}

// recover goes on after a crash, with one more on the way, until nothing is
// left to do, and judges what has become of everything.
func (w *world) recover(dir string, rng *rand.Rand) (died bool, err error) {
	found, err := w.begin(nil, dir, "after", time.Minute)
	if err != nil {
		return false, err
	}
	defer found.Store.Close()
	os.Remove(dir + "/FORMAT.tmp") // of a newer claw, which would do so
	if newer(found) || w.upgraded {
		return false, w.refuses(found)
	}
	before, err := found.rows()
	if err != nil {
		return false, fmt.Errorf("as it was found: %w", err)
	}
	if err := found.looks(); err != nil {
		return false, err
	}
	if died, err = w.dieAgain(dir, rng); err != nil {
		return died, err
	}
	if err := w.twoAtOnce(dir); err != nil {
		return died, err
	}
	return died, w.toTheEnd(dir, before.final())
}

func newer(l *life) bool {
	err := l.update(func(*state.Tx) error { return errors.New("nothing") })
	return errors.Is(err, state.ErrNewerFormat)
}

// refuses: what a newer claw has taken over is read, and not written. Whether
// whoever did so could still say so makes no difference.
func (w *world) refuses(l *life) error {
	if !newer(l) {
		return errors.New("a newer claw has taken over, and that is forgotten")
	}
	_, err := l.rows()
	if err = errors.Join(err, l.looks()); err != nil {
		return err
	}
	// The harness will want to see that a next writer can go on.
	return os.WriteFile(filepath.Join(l.Store.Dir(), "FORMAT"), w.format, 0o600)
}

// dieAgain is a tick that dies somewhere, by a kill or with the machine.
func (w *world) dieAgain(dir string, rng *rand.Rand) (died bool, err error) {
	frail := statetest.NewFrail(dir)
	if n := 1 + rng.IntN(60); rng.IntN(2) == 0 {
		frail.Kill(n)
	} else {
		frail.Cut(n, rng.IntN(2) == 0)
	}
	l, err := w.begin(frail, dir, "after", time.Minute)
	if err == nil {
		_ = l.tick()
		_ = l.tick()
		l.Store.Close()
	}
	if died = frail.Stopped(); !died && err != nil {
		return died, err
	}
	return died, frail.Settle()
}

// twoAtOnce is property 4: two programs that go on at the same moment.
func (w *world) twoAtOnce(dir string) error {
	var both sync.WaitGroup
	lives, errs := make([]*life, 2), make([]error, 2)
	for i := range lives {
		l, err := w.begin(nil, dir, "last", time.Duration(1-i)*time.Minute) // by one clock
		if err != nil {
			return err
		}
		defer l.Store.Close()
		lives[i] = l
	}
	for i, l := range lives {
		both.Go(func() {
			plan, err := l.Recoverer().Foresee(l.clock.Now())
			for _, it := range plan.Items {
				l.Recoverer().Do(context.Background(), it) // another one may be quicker
			}
			errs[i] = errors.Join(err, l.tick())
		})
	}
	both.Wait()
	return errors.Join(errs...)
}

// toTheEnd makes ticks until nothing is open, and judges.
func (w *world) toTheEnd(dir string, before map[string]string) error {
	open := "?"
	for range 8 {
		l, err := w.begin(nil, dir, "last", 11*time.Minute)
		if err != nil {
			return err
		}
		if err = l.tick(); err == nil && w.slots {
			err = l.slots(l.cron())
		}
		if err != nil {
			return err
		}
		r, err := l.rows()
		if err != nil {
			return err
		}
		if open = r.open(); open == "" {
			err = errors.Join(r.kept(before), r.times(), r.obligations(w), r.eventsOnce(), l.idle())
		}
		l.Store.Close()
		if err != nil || open == "" {
			return err
		}
	}
	return errors.New("it does not become quiet: " + open)
}

// idle: a further tick finds nothing to do.
func (l *life) idle() error {
	report, err := l.Tick(context.Background())
	if err == nil && (report.Settled+report.Turns+report.Delivered+report.Runs > 0) {
		err = fmt.Errorf("all was quiet, and yet a tick did something: %v", report.Done)
	}
	return err
}
