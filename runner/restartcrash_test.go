package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/clock/clocktest"
	"claw/state"
	"claw/state/boot"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
)

// told is what is there of a continuation: rows that wait, and events.
func told(s *state.Store) (waiting, events int, err error) {
	err = s.View(func(tx *state.Tx) error {
		rows, err := state.Continuations.All(tx)
		if err != nil {
			return err
		}
		queue, err := state.Events.All(tx)
		waiting, events = len(rows), 0
		for _, row := range queue {
			if row.Rec.Kind == event.KindRestart {
				events++
			}
		}
		return err
	})
	return waiting, events, err
}

// tickAt is one tick of another program, in which nothing has anything to do.
func tickAt(fs state.FS, dir, machine string, now time.Time) (s *state.Store, err error) {
	fake := clocktest.New(now)
	if s, err = state.Open(dir, state.Options{FS: fs, Boot: machine, Now: fake.Now}); err != nil {
		return nil, err
	}
	r := &runner.Runner{Store: s, Clock: fake}
	r.Play(runner.Script{})
	_, err = r.Tick(context.Background())
	return s, err
}

// restartOf is the flow: a runner lives, is told to restart and to go on with
// something, ends in order, and the next one begins.
func restartOf(fs state.FS, dir string, accepted *bool) error {
	fake := clocktest.New(noon)
	s, err := state.Open(dir, state.Options{FS: fs, Boot: "before", Now: fake.Now})
	if err != nil {
		return err
	}
	defer s.Close()
	const id = "01M8QC1TW00000000000000001"
	err = s.Update(context.Background(), func(tx *state.Tx) error {
		return state.Boots.Put(tx, id, 0, boot.Boot{ID: id, Owner: process.Identity{}, StartedAt: noon})
	})
	if err != nil {
		return err
	}
	alive, free, err := state.TryLock(filepath.Join(dir, "runner.up"))
	if err != nil || !free {
		return fmt.Errorf("the lock of the runner: %v, %w", free, err)
	}
	defer alive()
	_, err = runner.Restart(context.Background(), s, fake, time.Minute, &boot.Continuation{SessionKey: "agent:main:main", Agent: "main", Text: "go on"})
	if err != nil {
		return err
	}
	*accepted = true
	err = s.Update(context.Background(), func(tx *state.Tx) error {
		row, _, err := state.Boots.Get(tx, id)
		if err != nil {
			return err
		}
		b, err := row.Rec.End(boot.PlannedRestart, "", noon)
		if err != nil {
			return err
		}
		return state.Boots.Put(tx, id, row.Rev, b)
	})
	if err != nil {
		return err
	}
	alive()
	next, err := tickAt(fs, dir, "before", noon.Add(time.Second))
	if next != nil {
		err = errors.Join(err, next.Close())
	}
	return err
}

// Wherever claw dies between the order and the event, what was accepted is told
// once, and what was not is told at most once (spec/tasks-recovery.md 9.6).
func TestCrashOfARestart(t *testing.T) {
	accepted := false
	statetest.Crash(t, func(fs state.FS, dir string) error {
		accepted = false
		return restartOf(fs, dir, &accepted)
	}, func(dir string) error {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) && !accepted {
			return nil
		}
		for i := range 3 {
			s, err := tickAt(nil, dir, "after", noon.Add(time.Duration(i+1)*time.Minute))
			if err == nil {
				var waiting, events int
				waiting, events, err = told(s)
				if err == nil && (waiting != 0 || events > 1 || accepted && events != 1) {
					err = fmt.Errorf("tick %d: accepted %v; %d wait, %d events", i+1, accepted, waiting, events)
				}
			}
			if s != nil {
				err = errors.Join(err, s.Close())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
