package heartbeat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/event"
	"claw/state/session"
)

func refused(err error) bool {
	_, ok := errors.AsType[*heartbeat.Refused](err)
	return ok
}

func TestEnable(t *testing.T) {
	w := newWorld(t)
	for i, step := range []struct{ on, changed bool }{{true, false}, {false, true}, {false, false}, {true, true}, {true, false}} {
		changed, err := heartbeat.Enable(t.Context(), w.Store, step.on)
		if err != nil || changed != step.changed {
			t.Errorf("step %d: %t, %v", i, changed, err)
		}
		if s, err := w.Status(); err != nil || s.Enabled != step.on {
			t.Errorf("step %d: %+v, %v", i, s, err)
		}
	}
}

// spec/heartbeat-automations.md 1.11: compare and set on a revision.
func TestScratchIsComparedAndSet(t *testing.T) {
	w := newWorld(t)
	at := func(n int64) *int64 { return &n }
	text := func(s string) *string { return &s }
	for i, step := range []struct {
		text     *string
		expected *int64
		refused  bool
		revision int64
		is       string
	}{
		{text("a"), at(1), true, 0, ""},
		{text("a"), at(0), false, 1, "a"},
		{text("b"), at(0), true, 1, "a"},
		{text("b"), nil, false, 2, "b"},
		{nil, at(2), false, 3, ""},
		{text("c"), at(3), false, 4, "c"},
		{text(strings.Repeat("x", 256<<10+1)), nil, true, 4, "c"},
		{text("\xff"), nil, true, 4, "c"},
		{text(strings.Repeat("x", 256<<10)), nil, false, 5, strings.Repeat("x", 256<<10)},
	} {
		_, err := heartbeat.SetScratch(t.Context(), w.Store, "main", step.text, step.expected)
		if refused(err) != step.refused || err != nil && !step.refused {
			t.Errorf("step %d: %v", i, err)
		}
		s, err := heartbeat.ScratchOf(w.Store, "main")
		if err != nil || s.Revision != step.revision || s.Text != step.is {
			t.Errorf("step %d: revision %d, %d bytes, %v", i, s.Revision, len(s.Text), err)
		}
	}
}

// The last answer of a turn counts; one that has ended takes none.
func TestRespond(t *testing.T) {
	w := newWorld(t)
	turn := session.Turn{ID: "01M8QC1TW00000000000000001", DispatchID: "x", Agent: "main", SessionKey: mainKey, Kind: session.KindHeartbeat, Status: session.TurnRunning}
	put := func(status session.TurnStatus) {
		w.update(func(tx *state.Tx) error {
			row, _, err := state.Turns.Get(tx, turn.ID)
			if err != nil {
				return err
			}
			keep := turn
			keep.Response, keep.Status = row.Rec.Response, status
			return state.Turns.Put(tx, turn.ID, row.Rev, keep)
		})
	}
	answer := func(summary string) error {
		return heartbeat.Respond(t.Context(), w.Store, turn.ID, session.Response{Outcome: "done", Summary: summary})
	}
	if err := answer("x"); !refused(err) {
		t.Errorf("without a turn: %v", err)
	}
	put(session.TurnRunning)
	for _, s := range []string{"one", "two"} {
		if err := answer(s); err != nil {
			t.Fatal(err)
		}
	}
	put(session.TurnSucceeded)
	if err := answer("three"); !refused(err) {
		t.Errorf("after the end: %v", err)
	}
	if r := w.turns()[0].Response; r == nil || r.Summary != "two" {
		t.Errorf("kept: %+v", r)
	}
}

// A person who has written gets the reply: nobody would read an answer.
func TestRespondIsForWakes(t *testing.T) {
	w := newWorld(t)
	for i, kind := range []session.Kind{session.KindUser, session.KindHeartbeat, session.KindExec, session.KindCron, session.KindEvent, session.KindHook} {
		id := fmt.Sprintf("01M8QC1TW0000000000000000%d", i)
		w.update(func(tx *state.Tx) error {
			return state.Turns.Add(tx, id, session.Turn{ID: id, DispatchID: id, Agent: "main", SessionKey: mainKey, Kind: kind, Status: session.TurnRunning})
		})
		err := heartbeat.Respond(t.Context(), w.Store, id, session.Response{Outcome: "done", Notify: true, Summary: "x"})
		if refused(err) != (kind == session.KindUser) || err != nil && !refused(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, turn := range w.turns() {
		if (turn.Response != nil) == (turn.Kind == session.KindUser) {
			t.Errorf("%s: %+v", turn.Kind, turn.Response)
		}
	}
}

// spec/heartbeat-automations.md 3.1.
func TestSend(t *testing.T) {
	w := newWorld(t)
	for i, step := range []struct {
		ev     event.Event
		queued bool
	}{
		{event.Event{Text: "a"}, true},
		{event.Event{Text: " a "}, false}, // equal to the newest
		{event.Event{Text: "b"}, true},
		{event.Event{Text: "a"}, true},                               // not the newest any more
		{event.Event{Text: "b", ContextKey: "K"}, true},              // keyed
		{event.Event{Text: "c"}, true},                               //
		{event.Event{Text: "b", ContextKey: " k "}, false},           // anywhere in the queue
		{event.Event{Text: "c", SessionKey: "agent:ops:main"}, true}, // another session
	} {
		step.ev.Kind = event.KindEvent
		if step.ev.SessionKey == "" {
			step.ev.SessionKey = mainKey
		}
		_, why, err := heartbeat.Send(t.Context(), w.Store, step.ev)
		if err != nil || (why == "") != step.queued {
			t.Errorf("step %d: %q, %v", i, why, err)
		}
	}
	for _, text := range []string{"", " \n", strings.Repeat("x", 64<<10+1)} {
		if _, _, err := heartbeat.Send(t.Context(), w.Store, event.Event{Text: text, SessionKey: mainKey}); !refused(err) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}
