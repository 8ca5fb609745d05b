package state_test

import (
	"errors"
	"testing"

	"claw/state"
	"claw/state/event"
	"claw/state/statetest"
)

// TestAdd: what is added is seen by the same transaction, before and after
// its ledger has been read, and by the next one; its first revision is 1.
func TestAdd(t *testing.T) {
	s := statetest.Open(t)
	err := s.Update(t.Context(), func(tx *state.Tx) error {
		if err := state.Events.Add(tx, "A", event.Event{ID: "A", Text: "one"}); err != nil {
			return err
		}
		row, ok, err := state.Events.Get(tx, "A")
		if err != nil || !ok || row.Rec.Text != "one" {
			t.Errorf("within the transaction: %+v %v %v", row, ok, err)
		}
		if err := state.Events.Add(tx, "B", event.Event{ID: "B", Text: "two"}); err != nil {
			return err
		}
		rows, err := state.Events.All(tx)
		if len(rows) != 2 {
			t.Errorf("%d rows, want 2", len(rows))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *state.Tx) error {
		row, ok, err := state.Events.Get(tx, "B")
		if err != nil || !ok || row.Rev != 1 {
			t.Errorf("in the next transaction: %+v %v %v", row, ok, err)
		}
		row.Rec.Text = "three"
		return state.Events.Put(tx, "B", row.Rev, row.Rec)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(func(tx *state.Tx) error { return state.Events.Add(tx, "C", event.Event{ID: "C"}) })
	if !errors.Is(err, state.ErrReadOnly) {
		t.Errorf("a View adds: %v", err)
	}
}
