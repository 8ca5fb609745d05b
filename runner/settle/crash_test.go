package settle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// step is how far a flow was promised to have come.
type step int

const (
	nothing step = iota
	claimed
	ended
	polled
	removed
)

// flow is the life of one process, as exec, its supervisor and process poll
// write it, over a file system that stops somewhere.
type flow struct {
	id         string
	background bool // claimed as such, else promoted while it runs
	lost       bool // its end is inferred by somebody else
	remove     bool // taken out of sight instead of polled
	told       step
}

func (f *flow) run(fs state.FS, dir string) error {
	f.told = nothing
	s, err := state.Open(dir, state.Options{FS: fs, Boot: "before", Now: func() time.Time { return epoch }})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, write := range []func(*state.Store) error{f.claim, f.start, f.end, f.last} {
		if err := write(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *flow) claim(s *state.Store) error {
	var wait func() error
	err := s.Update(context.Background(), func(tx *state.Tx) error {
		p := process.Process{
			ID: f.id, Slug: "amber-atlas", Agent: "main", Session: "agent:main:main", Command: "make", Argv: []string{"make"},
			Phase: process.Starting, CreatedAt: tx.Now(), NotifyOnExit: true, TTLMs: 1800000,
		}
		if f.background {
			if err := settle.AddTask(tx, &p); err != nil {
				return err
			}
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	}, state.Deferred(&wait))
	if err == nil {
		err = wait()
	}
	if err == nil {
		f.told = claimed
	}
	return err
}

func (f *flow) start(s *state.Store) error {
	err := s.Update(context.Background(), func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, f.id)
		row.Rec.Phase, row.Rec.StartedAt = process.Running, tx.Now()
		return errors.Join(err, state.Processes.Put(tx, f.id, row.Rev, row.Rec))
	}, state.Relaxed())
	if err != nil || f.background {
		return err
	}
	return s.Update(context.Background(), func(tx *state.Tx) error { return settle.Promote(tx, f.id) })
}

func (f *flow) end(s *state.Store) error {
	if f.lost {
		_, err := settle.Lost(context.Background(), s)
		if err == nil {
			f.told = ended
		}
		return err
	}
	code := 3
	err := s.Update(context.Background(), func(tx *state.Tx) error {
		_, err := settle.Conclude(tx, f.id, settle.End{
			Phase: process.Exited, At: tx.Now(), Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, Tail: "out\n",
		})
		return err
	})
	if err == nil {
		f.told = ended
	}
	return err
}

// last is what takes the completion event back.
func (f *flow) last(s *state.Store) error {
	err := s.Update(context.Background(), func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, f.id)
		if err != nil {
			return err
		}
		if f.remove {
			row.Rec.Removed = true
		} else {
			row.Rec.Polled = true
		}
		return errors.Join(settle.Retire(tx, row.Rec), state.Processes.Put(tx, f.id, row.Rev, row.Rec))
	})
	if err == nil {
		f.told = polled
		if f.remove {
			f.told = removed
		}
	}
	return err
}

// verify holds the promises: what was told is there, and row, task and event
// agree with one another, whatever happened when.
func (f *flow) verify(dir string) error {
	s, err := state.Open(dir, state.Options{Boot: "after", Now: func() time.Time { return epoch.Add(time.Minute) }})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.View(func(tx *state.Tx) error {
		row, ok, err := state.Processes.Find(tx, f.id)
		if err != nil {
			return err
		}
		if !ok {
			if f.told != nothing {
				return fmt.Errorf("told %d, but the row is gone", f.told)
			}
			return nothingElse(tx)
		}
		return errors.Join(f.told.holds(row.Rec), agree(tx, row.Rec))
	})
}

func nothingElse(tx *state.Tx) error {
	tasks, err1 := state.Tasks.All(tx)
	events, err2 := state.Events.All(tx)
	if len(tasks)+len(events) > 0 {
		return fmt.Errorf("%d tasks and %d events of a process that does not exist", len(tasks), len(events))
	}
	return errors.Join(err1, err2)
}

func (told step) holds(p process.Process) error {
	switch {
	case told >= ended && p.Live():
		return fmt.Errorf("the end was promised, the row says %s", p.Phase)
	case told == polled && !p.Polled, told == removed && !p.Removed:
		return fmt.Errorf("told %d: %+v", told, p)
	}
	return nil
}

// agree: a background process has exactly its task, in the same state; an
// event exists exactly where the row names it, and is retired exactly where
// the end was shown or the process taken out of sight.
func agree(tx *state.Tx, p process.Process) error {
	if p.Background != (p.TaskID != "") {
		return fmt.Errorf("background %v, task %q", p.Background, p.TaskID)
	}
	if p.TaskID != "" {
		t, ok, err := state.Tasks.Find(tx, p.TaskID)
		if err != nil || !ok {
			return fmt.Errorf("task %s: %v %w", p.TaskID, ok, err)
		}
		if want := task.Status(process.TaskStatus(p)); t.Rec.Status != want {
			return fmt.Errorf("task is %s, its process %s", t.Rec.Status, want)
		}
	}
	events, err := state.Events.All(tx)
	if err != nil {
		return err
	}
	if (p.EventID != "") != (len(events) == 1) {
		return fmt.Errorf("row names event %q, there are %d", p.EventID, len(events))
	}
	for _, e := range events {
		if e.ID != p.EventID || e.Rec.ProcessID != p.ID {
			return fmt.Errorf("event %+v of process %s", e.Rec, p.ID)
		}
		if shown := p.Polled || p.Removed; shown != (e.Rec.State == event.Retired) {
			return fmt.Errorf("event is %s, shown: %v", e.Rec.State, shown)
		}
	}
	return nil
}

// TestCrashAtEveryWrite: design.md 3.1 over the flows of exec and process.
func TestCrashAtEveryWrite(t *testing.T) {
	for name, f := range map[string]*flow{
		"exec -b, end, poll":          {background: true},
		"exec, yield, end, poll":      {},
		"exec -b, end, remove":        {background: true, remove: true},
		"exec -b, supervisor's death": {background: true, lost: true},
		"exec, supervisor's death":    {lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			f.id = ulid.New(epoch)
			statetest.Crash(t, f.run, f.verify)
		})
	}
}
