package flows_test

import (
	"testing"

	"claw/runner/flows"
	"claw/state"
	"claw/state/flow"
)

// TestMirrorGivesWay: work that is only repeated by a flow becomes part of a managed
// one (seed 004, "Launching and linking a child"), and of no second one.
func TestMirrorGivesWay(t *testing.T) {
	w := newWorld(t)
	x := mirrored(w)
	f, g := w.flow(w.mine), w.flow(w.mine)
	r, err := w.mine.RunTask(t.Context(), f.ID, flows.Link{Claim: flow.Claim{TaskID: x.ID}})
	if err != nil || !r.Created || r.Task.ParentFlowID != f.ID {
		t.Fatalf("%+v %v", r, err)
	}
	w.update(func(tx *state.Tx) error {
		if _, ok, err := state.Flows.Find(tx, x.ParentFlowID); ok || err != nil {
			t.Errorf("the mirror is still there: %v", err)
		}
		return nil
	})
	if r, err := w.mine.RunTask(t.Context(), g.ID, flows.Link{Claim: flow.Claim{TaskID: x.ID}}); err != nil || r.Code != flow.LinkElsewhere {
		t.Errorf("%+v %v", r, err)
	}
}
