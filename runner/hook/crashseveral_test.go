package hook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"claw/state"
	"claw/state/external"
	"claw/state/session"
	"claw/state/statetest"
)

// promise is what a program had been told when it stopped.
type promise struct {
	accepted map[string]string // message to id: they were written down
	refused  string            // the id of one that never begins
}

var bodies = []string{"one", "two"}

// TestCrashOfSeveral: wherever the machine stops between the acceptance of some
// requests for one session and the messages that come of them, each is carried
// out once, in its order, and told of once; what was refused never begins.
func TestCrashOfSeveral(t *testing.T) {
	var p promise
	statetest.CrashSome(t, 2, func(fs state.FS, dir string) error {
		p = promise{accepted: map[string]string{}}
		w, err := at(t, fs, dir, noon)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		return p.before(w)
	}, func(dir string) error {
		w, err := at(t, nil, dir, noon.Add(time.Minute))
		if err != nil {
			return err
		}
		defer w.Store.Close()
		return p.after(w)
	})
}

// patient is one of bodies: its sender does not wait.
func patient(body string) external.Request {
	r := mail(body)
	r.Deliver, r.Patient, r.IdempotencyKey = true, true, body
	return r
}

// before accepts bodies and one more in a hurry, and sees to what it can.
func (p *promise) before(w *world) error {
	ctx := context.Background()
	for _, body := range bodies {
		d, _, err := w.Accept(ctx, patient(body))
		if err != nil {
			return err
		}
		p.accepted[body] = d.ID
	}
	hurry, _, err := w.Accept(ctx, mail("late"))
	if err != nil {
		return err
	}
	if err := w.tick(ctx); err != nil {
		return err
	}
	w.clock.Advance(external.StartDeadline)
	if _, err := w.Pass(ctx, true, w.nobody); err != nil {
		return err
	}
	p.refused = hurry.ID
	return w.tick(ctx)
}

// tick is one pass of whoever holds runner.lock.
func (w *world) tick(ctx context.Context) error {
	if _, _, err := w.Turns.Settle(ctx); err != nil {
		return err
	}
	work, err := w.Pass(ctx, true, w.nobody)
	if err != nil {
		return err
	}
	for _, id := range work.Start {
		if _, err := w.Run(ctx, id); err != nil {
			return err
		}
	}
	_, err = w.Post.Flush(ctx)
	return err
}

// after is whoever comes next: the sender tries again, and ticks go on.
func (p *promise) after(w *world) error {
	ctx := context.Background()
	for _, body := range bodies {
		d, again, err := w.Accept(ctx, patient(body))
		if err != nil {
			return err
		}
		if id := p.accepted[body]; id != "" && (d.ID != id || !again) {
			return fmt.Errorf("%s was accepted as %s and again as %s", body, id, d.ID)
		}
	}
	for range 8 { // an agent that did not take it is asked again after a minute, then after five
		if err := w.tick(ctx); err != nil {
			return err
		}
		w.clock.Advance(2 * time.Minute)
	}
	r, err := everything(w.Store)
	if err == nil {
		err = p.agrees(r)
	}
	if err == nil {
		err = w.Store.View(func(tx *state.Tx) error {
			inbox, err := state.Inbox.All(tx)
			if err == nil && len(inbox) != len(bodies) {
				err = fmt.Errorf("%d messages in the inbox", len(inbox))
			}
			return err
		})
	}
	return err
}

// agrees looks at everything in the end.
func (p *promise) agrees(r rows) error {
	var begun []time.Time
	for _, d := range r.hooks {
		switch {
		case !d.Status.Ended():
			return fmt.Errorf("%s is %s", d.ID, d.Status)
		case d.Deliver && (d.Status != external.OK || d.Report.Delivered == nil || !*d.Report.Delivered):
			return fmt.Errorf("%s is %s, %+v", d.ID, d.Status, d.Report)
		case d.Deliver:
			begun = append(begun, d.StartedAt)
		case d.ID == p.refused && d.Status != external.Refused:
			return fmt.Errorf("what was refused is %s", d.Status)
		}
	}
	for _, t := range r.tasks {
		if !t.Status.Terminal() {
			return fmt.Errorf("a task is %s", t.Status)
		}
	}
	answered := map[string]int{}
	for _, t := range r.turns {
		if t.Status == session.TurnSucceeded {
			answered[t.DispatchID]++
		}
		if t.DispatchID == p.refused {
			return fmt.Errorf("what was refused has begun")
		}
	}
	for id, n := range answered {
		if n != 1 {
			return fmt.Errorf("%s was seen to %d times", id, n)
		}
	}
	if len(begun) != len(bodies) || begun[1].Before(begun[0]) || len(r.deliveries) != len(bodies) {
		return fmt.Errorf("begun at %v, %d deliveries", begun, len(r.deliveries))
	}
	return nil
}
