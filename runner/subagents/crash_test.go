package subagents_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/subagents"
	"claw/state"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/subagent"
	"claw/state/task"
)

// at is a program that begins on a directory.
func at(t *testing.T, fs state.FS, dir string) (*world, error) {
	clock := clocktest.New(noon)
	store, err := state.Open(dir, state.Options{FS: fs, Now: clock.Now})
	if err != nil {
		return nil, err
	}
	return open(t, store, clock), nil
}

// goOn is what ticks make of what was left.
func (w *world) goOn() (all, error) {
	for range 4 {
		if _, _, err := w.Turns.Settle(context.Background()); err != nil {
			return all{}, err
		}
		if err := w.carry(); err != nil {
			return all{}, err
		}
		w.clock.Advance(time.Minute)
	}
	return everything(w.Store)
}

// after is a program that begins where another one has stopped.
func after(t *testing.T, dir string, verify func(w *world, a all) error) error {
	w, err := at(t, nil, dir)
	if err != nil {
		return err
	}
	defer w.Store.Close()
	a, err := w.goOn()
	if err != nil {
		return err
	}
	return verify(w, a)
}

// TestCrash: wherever it stops, what was accepted is carried out once, and told once.
func TestCrash(t *testing.T) {
	var accepted string
	var over bool
	flow := func(fs state.FS, dir string) error {
		accepted, over = "", false
		w, err := at(t, fs, dir)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		c, err := w.speaks(session.KindUser, "agent:main:main")
		if err != nil {
			return err
		}
		r, err := w.Accept(context.Background(), told("do it"), c)
		if err != nil {
			return err
		}
		accepted = r.ID
		if err := w.carry(); err != nil {
			return err
		}
		if err := w.carry(); err != nil {
			return err
		}
		over = true
		return nil
	}
	statetest.Crash(t, flow, func(dir string) error {
		w, err := at(t, nil, dir)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		before, err := everything(w.Store)
		if err != nil {
			return err
		}
		switch {
		case accepted != "" && (len(before.runs) != 1 || before.runs[0].ID != accepted):
			return fmt.Errorf("%s was accepted: %+v", accepted, before.runs)
		case over && len(before.events) != 1:
			return fmt.Errorf("it was over, with %d events", len(before.events))
		}
		a, err := w.goOn()
		if err != nil || len(a.runs) == 0 && len(a.tasks) == 0 {
			return err
		}
		return carriedOut(a)
	})
}

// carriedOut is what there is of one run in the end.
func carriedOut(a all) error {
	if len(a.runs) != 1 || len(a.tasks) != 1 || len(a.events) != 1 {
		return fmt.Errorf("%d runs, %d tasks, %d events", len(a.runs), len(a.tasks), len(a.events))
	}
	r, x := a.runs[0], a.tasks[0]
	switch {
	case r.Outcome != subagent.OK || r.Result != "I have done it" || r.Announce.State != subagent.Delivered || r.Announce.EventID != a.events[0].ID:
		return fmt.Errorf("the run: %+v", r)
	case x.Status != task.Succeeded || x.DeliveryStatus != task.DeliverySessionQueued || x.ID != r.TaskID:
		return fmt.Errorf("the task: %+v", x)
	}
	answered := 0
	for _, t := range a.turns {
		switch t.Status {
		case session.TurnSucceeded:
			answered++
		case session.TurnNotAccepted: // it had not been asked
		default:
			return fmt.Errorf("a turn is %s", t.Status)
		}
	}
	if answered != 1 {
		return fmt.Errorf("it was asked %d times", answered)
	}
	return nil
}

// TestCrashComplete: wherever a completion stops, its agent is asked at most once,
// its place comes back, and nothing of its session is left.
func TestCrashComplete(t *testing.T) {
	var text string
	statetest.Crash(t, func(fs state.FS, dir string) error {
		text = ""
		w, err := at(t, fs, dir)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		_, text, err = w.Complete(context.Background(), subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{}, nil)
		return err
	}, func(dir string) error {
		return after(t, dir, func(w *world, a all) error {
			sessions, err := w.sessions()
			if err != nil || len(a.runs) == 0 && text == "" {
				return err
			}
			if len(a.runs) != 1 || len(sessions) != 0 || len(a.tasks)+len(a.events) != 0 {
				return fmt.Errorf("%d runs, %d tasks, %d events, sessions %v", len(a.runs), len(a.tasks), len(a.events), sessions)
			}
			asked := 0
			for _, x := range a.turns {
				switch {
				case x.Status == session.TurnSucceeded:
					asked++
				case x.Status != session.TurnNotAccepted:
					return fmt.Errorf("a turn is %s", x.Status)
				}
			}
			switch r := a.runs[0]; {
			case !r.Ended() || asked > 1:
				return fmt.Errorf("it was asked %d times: %+v", asked, r)
			case text != "" && (r.Outcome != subagent.OK || asked != 1):
				return fmt.Errorf("%q was printed: %+v", text, r)
			}
			return nil
		})
	})
}

// TestCrashCancel: wherever a cancel stops, what was said to be cancelled never
// begins, and what was not is carried out once or not at all.
func TestCrashCancel(t *testing.T) {
	var cancelled bool
	statetest.Crash(t, func(fs state.FS, dir string) error {
		cancelled = false
		w, err := at(t, fs, dir)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		r, err := w.Accept(context.Background(), subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{})
		if err != nil {
			return err
		}
		r, pending, err := w.Cancel(context.Background(), r.ID, time.Second)
		cancelled = err == nil && !pending && r.Reason == subagent.Killed
		if err == nil && !cancelled {
			return fmt.Errorf("pending %t: %+v", pending, r)
		}
		return err
	}, func(dir string) error {
		return after(t, dir, func(_ *world, a all) error {
			if len(a.runs) == 0 && !cancelled {
				return nil
			}
			r, x := a.runs[0], a.tasks[0]
			killed := r.Reason == subagent.Killed
			switch {
			case len(a.runs) != 1 || len(a.tasks) != 1 || !r.Ended() || !x.Status.Terminal():
				return fmt.Errorf("%+v, %+v", a.runs, a.tasks)
			case cancelled && !killed, killed != (x.Status == task.Cancelled):
				return fmt.Errorf("cancelled %t: %+v, its task is %s", cancelled, r, x.Status)
			case killed && len(a.turns) != 0, len(a.turns) > 1:
				return fmt.Errorf("killed %t, and %d turns", killed, len(a.turns))
			}
			return nil
		})
	})
}

// TestCrashAside: wherever the putting aside of a session stops, it is done in the
// end, once, and the run says so.
func TestCrashAside(t *testing.T) {
	statetest.Crash(t, func(fs state.FS, dir string) error {
		w, err := at(t, fs, dir)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		if _, err := w.Accept(context.Background(), subagent.Ask{Agent: "main", Message: "x", Cleanup: subagent.Delete}, subagents.Caller{}); err != nil {
			return err
		}
		return errors.Join(w.carry(), w.carry())
	}, func(dir string) error {
		return after(t, dir, func(w *world, a all) error {
			sessions, err := w.sessions()
			if err != nil || len(a.runs) == 0 {
				return err
			}
			kept, err := filepath.Glob(filepath.Join(dir, "sessions", "*.deleted.*"))
			if r := a.runs[0]; r.Outcome != subagent.OK || r.ArchivedAt.IsZero() || len(sessions) != 0 || len(kept) != 1 {
				return fmt.Errorf("%+v, sessions %v, transcripts %v", r, sessions, kept)
			}
			return err
		})
	})
}

// sessions are the keys of those that there are.
func (w *world) sessions() (keys []string, err error) {
	err = w.Store.View(func(tx *state.Tx) error {
		rows, err := state.Sessions.All(tx)
		for _, row := range rows {
			keys = append(keys, row.ID)
		}
		return err
	})
	return keys, err
}
