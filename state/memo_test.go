package state_test

import (
	"reflect"
	"testing"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/process"
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

// What is cloned shares nothing with what it was cloned from, whatever fields
// are added: each of them is filled here.
func TestClonesShareNothing(t *testing.T) {
	checkClone(t, automation.Automation.Clone)
	checkClone(t, automation.Run.Clone)
	checkClone(t, process.Process.Clone)
}

func checkClone[T any](t *testing.T, clone func(T) T) {
	t.Helper()
	var full, empty T
	fill(reflect.ValueOf(&full).Elem())
	for _, rec := range []T{full, empty} {
		got := clone(rec)
		if !reflect.DeepEqual(got, rec) {
			t.Errorf("%T: the clone is\n%+v\nof\n%+v", rec, got, rec)
		}
		shared(t, reflect.TypeFor[T]().Name(), reflect.ValueOf(got), reflect.ValueOf(rec))
	}
}

// fill gives every field that can hold something a value, at any depth.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f)
			}
		}
	case reflect.String:
		v.SetString("x")
	}
}

// shared finds memory that two values have in common.
func shared(t *testing.T, at string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() != b.IsNil() {
			t.Errorf("%s: nil is not nil", at)
		}
		if a.IsNil() || a.Type() == reflect.TypeFor[*time.Location]() {
			return
		}
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", at)
		}
		if a.Kind() == reflect.Pointer {
			shared(t, at, a.Elem(), b.Elem())
		}
		if a.Kind() == reflect.Slice && a.Len() > 0 {
			shared(t, at+"[0]", a.Index(0), b.Index(0))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			shared(t, at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
}

// A reader may change what it was given; the next one does not see it.
func TestWhatAReaderChangesIsItsOwn(t *testing.T) {
	s := statetest.Open(t)
	const id = "01M8QDJEP4AX8E2YFA4X5Y395P"
	ok(t, s.Update(t.Context(), func(tx *state.Tx) error {
		return state.Automations.Add(tx, id, automation.Automation{ID: id, Payload: automation.Payload{Argv: []string{"true"}, Env: map[string]string{"A": "1"}}})
	}))
	for range 3 {
		ok(t, s.View(func(tx *state.Tx) error {
			row, _, err := state.Automations.Get(tx, id)
			if p := row.Rec.Payload; p.Argv[0] != "true" || p.Env["A"] != "1" {
				t.Errorf("it reads %v and %v", p.Argv, p.Env)
			}
			row.Rec.Payload.Argv[0], row.Rec.Payload.Env["A"] = "false", "2"
			return err
		}))
	}
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
