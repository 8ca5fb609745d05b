package subagents_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/state"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/subagent"
	"claw/state/task"
)

// TestCrash: wherever it stops, what was accepted is carried out once, and told once.
func TestCrash(t *testing.T) {
	var accepted string
	var over bool
	at := func(fs state.FS, dir string) (*world, error) {
		clock := clocktest.New(noon)
		store, err := state.Open(dir, state.Options{FS: fs, Now: clock.Now})
		if err != nil {
			return nil, err
		}
		return open(t, store, clock), nil
	}
	flow := func(fs state.FS, dir string) error {
		accepted, over = "", false
		w, err := at(fs, dir)
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
		w, err := at(nil, dir)
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
		for range 4 {
			if _, _, err := w.Turns.Settle(context.Background()); err != nil {
				return err
			}
			if err := w.carry(); err != nil {
				return err
			}
			w.clock.Advance(time.Minute)
		}
		a, err := everything(w.Store)
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
