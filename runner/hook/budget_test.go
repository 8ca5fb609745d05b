package hook_test

import (
	"testing"

	"claw/state"
	"claw/state/automation"
	"claw/state/external"
)

// TestBudget: automations that ask an agent take places; their commands do not.
func TestBudget(t *testing.T) {
	w := newWorld(t, "true")
	w.Max, w.KeepHTTP = 2, true
	err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
		for id, o := range map[string]automation.Owner{"A@1": {TurnID: "T"}, "B@1": {ProcessID: "P"}, "C@1": {CheckID: "P"}} {
			if err := state.Runs.Put(tx, id, 0, automation.Run{ID: id, Status: automation.Running, Owner: &o}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.accept(mail("1"))
	hook := mail("2")
	hook.Lane, hook.SessionKey = external.LaneHTTP, "hook:web"
	d := w.accept(hook)
	work, err := w.Pass(t.Context(), true, w.nobody)
	if err != nil || len(work.Start) != 1 || work.Start[0] != d.ID {
		t.Errorf("%v begin, want the webhook %s alone; %v", work.Start, d.ID, err)
	}
	if work, err = w.Pass(t.Context(), false, w.nobody); err != nil || len(work.Start) != 0 {
		t.Errorf("%v begin where nothing is to; %v", work.Start, err)
	}
}
