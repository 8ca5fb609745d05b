package state_test

import (
	"reflect"
	"testing"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/statetest"
)

// What a Store has decoded it may hand out again: a record must not hold
// anything that a reader could change for the next one.
func TestRememberedRecordsHoldNothingShared(t *testing.T) {
	var flat func(at string, typ reflect.Type)
	flat = func(at string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Chan, reflect.Func:
			t.Errorf("%s is a %s", at, typ.Kind())
		case reflect.Struct:
			if typ == reflect.TypeFor[time.Time]() {
				return
			}
			for f := range typ.NumField() {
				flat(at+"."+typ.Field(f).Name, typ.Field(f).Type)
			}
		}
	}
	flat("event.Event", reflect.TypeFor[event.Event]())
}

// A Store that has read an event sees the next revision of it.
func TestWhatIsRememberedIsNeverOld(t *testing.T) {
	s := statetest.Open(t)
	const id = "01M8QDJEP4AX8E2YFA4X5Y395P"
	read := func() (text string, rev int64) {
		t.Helper()
		ok(t, s.View(func(tx *state.Tx) error {
			row, there, err := state.Events.Get(tx, id)
			if !there {
				t.Error("the event is gone")
			}
			text, rev = row.Rec.Text, row.Rev
			return err
		}))
		return text, rev
	}
	ok(t, s.Update(t.Context(), func(tx *state.Tx) error {
		return state.Events.Add(tx, id, event.Event{ID: id, State: event.Queued, Text: "one"})
	}))
	for range 2 {
		if text, rev := read(); text != "one" || rev != 1 {
			t.Errorf("%q at revision %d", text, rev)
		}
	}
	ok(t, s.Update(t.Context(), func(tx *state.Tx) error {
		row, _, err := state.Events.Get(tx, id)
		if err != nil {
			return err
		}
		row.Rec.Text = "two"
		if err := state.Events.Put(tx, id, row.Rev, row.Rec); err != nil {
			return err
		}
		again, _, err := state.Events.Get(tx, id)
		if again.Rec.Text != "two" {
			t.Errorf("within the transaction it reads %q", again.Rec.Text)
		}
		return err
	}))
	if text, rev := read(); text != "two" || rev != 2 {
		t.Errorf("%q at revision %d", text, rev)
	}
	ok(t, s.Checkpoint(t.Context()))
	if text, rev := read(); text != "two" || rev != 2 {
		t.Errorf("from the ledger: %q at revision %d", text, rev)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
