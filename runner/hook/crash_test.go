package hook_test

import (
	"context"
	"fmt"
	"testing"

	"claw/state"
	"claw/state/external"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
)

// TestCrash: wherever it stops, what was promised is carried out, nothing is
// carried out twice, and the same key finds it again.
func TestCrash(t *testing.T) {
	var accepted, begun string
	request := mail("hello")
	request.Deliver, request.IdempotencyKey = true, "k"
	flow := func(fs state.FS, dir string) error {
		accepted, begun = "", ""
		w, err := at(t, fs, dir, noon)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		d, _, err := w.Accept(context.Background(), request)
		if err != nil {
			return err
		}
		accepted = d.ID
		if _, err := w.Pass(context.Background(), true, w.nobody); err != nil {
			return err
		}
		if _, err := w.Run(context.Background(), d.ID); err != nil {
			return err
		}
		if d, err = w.Await(context.Background(), d); err == nil {
			begun = d.ID
		}
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		w, err := at(t, nil, dir, noon)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		d, again, err := w.Accept(context.Background(), request)
		switch {
		case err != nil:
			return err
		case accepted != "" && (!again || d.ID != accepted):
			return fmt.Errorf("%s was accepted, and the same is %s now", accepted, d.ID)
		case begun != "" && d.Status != external.OK:
			return fmt.Errorf("it had ended, and is %s now", d.Status)
		}
		return w.toTheEnd(d.ID)
	})
}

func (w *world) nobody(string) bool { return false }

// toTheEnd is what whoever comes next makes of it.
func (w *world) toTheEnd(id string) error {
	for range 4 {
		if _, _, err := w.Turns.Settle(context.Background()); err != nil {
			return err
		}
		work, err := w.Pass(context.Background(), true, w.nobody)
		if err != nil {
			return err
		}
		for _, id := range work.Start {
			if _, err := w.Run(context.Background(), id); err != nil {
				return err
			}
		}
		w.clock.Advance(external.MinKeyWindow)
	}
	r, err := everything(w.Store)
	if err != nil {
		return err
	}
	if len(r.hooks) != 1 || r.hooks[0].ID != id || r.hooks[0].Status != external.OK || len(r.tasks) != 1 || r.tasks[0].Status != task.Succeeded {
		return fmt.Errorf("%d dispatches, %+v; %+v", len(r.hooks), r.hooks, r.tasks)
	}
	answered := 0
	for _, t := range r.turns {
		switch t.Status {
		case session.TurnSucceeded:
			answered++
		case session.TurnNotAccepted: // it had not been asked
		default:
			return fmt.Errorf("a turn is %s", t.Status)
		}
	}
	if answered != 1 || len(r.deliveries) != 1 {
		return fmt.Errorf("%d answers, %d messages", answered, len(r.deliveries))
	}
	return nil
}
