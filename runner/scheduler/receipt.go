package scheduler

import (
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
)

// Delivered notes in a run, and in its automation, what became of the message
// about it, in the transaction of the receipt: it is what deliver.Post.OnEnd is
// for. A one-shot that goes with its success goes when its message has arrived
// (spec/heartbeat-automations.md 2.8). Messages about other things are let be.
func Delivered(tx *state.Tx, d delivery.Delivery) error {
	if d.Source.RunID == "" {
		return nil
	}
	run, ok, err := state.Runs.Find(tx, d.Source.RunID)
	if err != nil || !ok || run.Rec.DeliveryID != d.ID || run.Rec.Status.Open() {
		return err
	}
	a, err := automationOf(tx, run.Rec)
	if err != nil {
		return err
	}
	status, why := received(d)
	next, r, done := automation.Receipt(a.Rec, run.Rec, status, why)
	if err := state.Runs.Put(tx, r.ID, run.Rev, r); err != nil || a.Rev == 0 {
		return err
	}
	if !done {
		return state.Automations.Put(tx, a.ID, a.Rev, next)
	}
	if err := state.Automations.Delete(tx, a.ID, a.Rev); err != nil {
		return err
	}
	return stale(tx)
}

// received is a delivery that ended in the words of runs.
func received(d delivery.Delivery) (automation.DeliveryStatus, string) {
	switch d.State {
	case delivery.Delivered:
		return automation.Delivered, ""
	case delivery.Unknown:
		return automation.DeliveryLost, d.Error
	case delivery.Dismissed:
		why := "dismissed"
		if d.DismissedNote != "" {
			why += ": " + d.DismissedNote
		}
		return automation.NotDelivered, why
	}
	return automation.NotDelivered, d.Error
}
