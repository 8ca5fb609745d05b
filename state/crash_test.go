package state_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"
)

var epoch = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// ulid is the id of the nth record made at a time; its first ten characters
// are the time in Crockford's base 32.
func ulid(at time.Time, n int) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	b := make([]byte, 26)
	ms := at.UnixMilli()
	for i := 9; i >= 0; i-- {
		b[i] = digits[ms&31]
		ms >>= 5
	}
	for i := 25; i >= 10; i-- {
		b[i] = digits[n&31]
		n >>= 5
	}
	return string(b)
}

// life is the story of n background processes: each is started, then ends,
// with its task and its event, one transaction each time. told gets the number
// of transactions that have been promised.
func life(s *state.Store, from, n int, told *int) error {
	for i := from; i < from+n; i++ {
		id := ulid(epoch, i)
		if err := start(s, id); err != nil {
			return err
		}
		*told++
		if err := end(s, id); err != nil {
			return err
		}
		*told++
	}
	return nil
}

func start(s *state.Store, id string) error {
	return s.Update(context.Background(), func(tx *state.Tx) error {
		return errors.Join(
			state.Processes.Put(tx, id, 0, process.Process{ID: id, Background: true, Phase: process.Running, Agent: "main"}),
			state.Tasks.Put(tx, id, 0, task.Task{ID: id, RunID: id, Status: task.Running}))
	})
}

// end settles a process, its task and its event.
func end(s *state.Store, id string) error {
	return s.Update(context.Background(), func(tx *state.Tx) error {
		p, ok, err := state.Processes.Get(tx, id)
		if err != nil || !ok {
			return fmt.Errorf("process %s: %v %v", id, ok, err)
		}
		k, ok, err := state.Tasks.Get(tx, id)
		if err != nil || !ok {
			return fmt.Errorf("task %s: %v %v", id, ok, err)
		}
		p.Rec.Phase, p.Rec.EndedAt, p.Rec.EventID = process.Exited, epoch, id
		k.Rec.Status, k.Rec.EndedAt = task.Succeeded, epoch
		return errors.Join(
			state.Processes.Put(tx, id, p.Rev, p.Rec),
			state.Tasks.Put(tx, id, k.Rev, k.Rec),
			state.Events.Put(tx, id, 0, event.Event{ID: id, State: event.Consumed, EndedAt: epoch}))
	})
}

// agree checks that every transaction of life is whole or absent and that the
// first told ones are there; it returns how many are.
func agree(tx *state.Tx, from, n int) (done int, err error) {
	for i := from; i < from+n; i++ {
		id := ulid(epoch, i)
		p, hasP, err1 := state.Processes.Find(tx, id)
		k, hasT, err2 := state.Tasks.Find(tx, id)
		_, hasE, err3 := state.Events.Find(tx, id)
		if err := errors.Join(err1, err2, err3); err != nil {
			return done, err
		}
		ended := p.Rec.Phase == process.Exited
		if hasP != hasT || hasE != ended || ended != (k.Rec.Status == task.Succeeded) || hasP && p.Rev != k.Rev {
			return done, fmt.Errorf("record %d is torn: process %v (revision %d, %s), task %v (revision %d, %s), event %v", i, hasP, p.Rev, p.Rec.Phase, hasT, k.Rev, k.Rec.Status, hasE)
		}
		if hasP {
			done++
		}
		if ended {
			done++
		}
	}
	return done, nil
}

// promised is the verify of a crash test over life.
func promised(boot string, from, n int, told *int, now time.Time) func(dir string) error {
	return func(dir string) error {
		s, err := state.Open(dir, state.Options{FS: statetest.Fast(dir), Boot: boot, Now: func() time.Time { return now }})
		if err != nil {
			return err
		}
		defer s.Close()
		look := func(tx *state.Tx) error {
			done, err := agree(tx, from, n)
			if err == nil && done < *told {
				err = fmt.Errorf("%d transactions were promised, %d are there", *told, done)
			}
			if err == nil && len(tx.Problems()) > 0 && tx.Problems()[0].Path != "journal.jsonl" {
				err = fmt.Errorf("a crash is no damage: %+v", tx.Problems()[0])
			}
			return err
		}
		if err := s.View(look); err != nil {
			return fmt.Errorf("view: %w", err)
		}
		// The next writer sees the same, and goes on.
		if err := s.Update(context.Background(), look); err != nil {
			return fmt.Errorf("update: %w", err)
		}
		if err := start(s, ulid(epoch, from+n)); err != nil {
			return fmt.Errorf("go on: %w", err)
		}
		return s.View(look)
	}
}

func TestCrashInUpdate(t *testing.T) {
	for _, boot := range []string{"before", "after"} {
		t.Run("seen from the boot "+boot, func(t *testing.T) {
			var told int
			statetest.Crash(t, func(fs state.FS, dir string) error {
				told = 0
				s, err := state.Open(dir, state.Options{FS: fs, Boot: "before", Now: func() time.Time { return epoch }})
				if err != nil {
					return err
				}
				defer s.Close()
				return life(s, 1, 3, &told)
			}, promised(boot, 1, 3, &told, epoch))
		})
	}
}

// Two checkpoints: the first archives nothing, the second all, and both
// ledgers and archive exist at the second already.
func TestCrashInCheckpoint(t *testing.T) {
	var told int
	late := epoch.Add(2 * time.Hour)
	statetest.Crash(t, func(fs state.FS, dir string) error {
		told = 0
		now := epoch
		s, err := state.Open(dir, state.Options{FS: fs, Boot: "before", Now: func() time.Time { return now }})
		if err != nil {
			return err
		}
		defer s.Close()
		for range 3 {
			if err := life(s, 1+told/2, 2, &told); err != nil {
				return err
			}
			if err := s.Checkpoint(context.Background()); err != nil {
				return err
			}
			now = late
		}
		return nil
	}, promised("after", 1, 6, &told, late))
}

// A ledger that is rewritten, and then appended to: one record of 16 KiB is
// superseded until its old revisions outweigh it by more than the slack.
func TestCrashInRewrite(t *testing.T) {
	var told int
	id := ulid(epoch, 1)
	statetest.Crash(t, func(fs state.FS, dir string) error {
		told = 0
		s, err := state.Open(dir, state.Options{FS: fs, Boot: "before", Now: func() time.Time { return epoch }})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := errors.Join(start(s, id), s.Checkpoint(context.Background())); err != nil {
			return err
		}
		told = 1
		for range 6 {
			if err := relabel(s, id, strings.Repeat("x", 16<<10)); err != nil {
				return err
			}
		}
		if err := s.Checkpoint(context.Background()); err != nil { // rewrites
			return err
		}
		if err := errors.Join(relabel(s, id, ""), s.Checkpoint(context.Background())); err != nil { // appends
			return err
		}
		if err := errors.Join(end(s, id), s.Checkpoint(context.Background())); err != nil {
			return err
		}
		told = 2
		return nil
	}, promised("after", 1, 1, &told, epoch))
}

// relabel writes process and task once more, to keep their revisions equal.
func relabel(s *state.Store, id, label string) error {
	return s.Update(context.Background(), func(tx *state.Tx) error {
		p, _, err1 := state.Processes.Get(tx, id)
		k, _, err2 := state.Tasks.Get(tx, id)
		p.Rec.Label = label
		return errors.Join(err1, err2, state.Processes.Put(tx, id, p.Rev, p.Rec), state.Tasks.Put(tx, id, k.Rev, k.Rec))
	})
}
