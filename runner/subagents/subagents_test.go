package subagents_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/subagents"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

func codeOf(err error) subagent.Code {
	no, _ := errors.AsType[*subagent.Refusal](err)
	if no == nil {
		return ""
	}
	return no.Code
}

// TestCarriedOut: the run, its task and its announcement, with all that claw has
// captured from the turn.
func TestCarriedOut(t *testing.T) {
	w := newWorld(t)
	c := w.asker(session.KindUser, "agent:main:main")
	c.Tools = []string{"read"}
	r := w.accept(told("do it"), c)
	if r.Status != subagent.Queued || r.Announce.Requester != "agent:main:main" || r.Announce.SessionID != "01CONVERSATION" || r.Announce.Route != route ||
		r.SessionKey != "agent:main:subagent:"+strings.ToLower(r.ID) || strings.Join(r.Tools, ",") != "read" {
		t.Fatalf("%+v", r)
	}
	if x := w.all().tasks[0]; x.OwnerKey != "agent:main:main" || x.RunID != r.ID || x.Status != task.Queued || x.ParentFlowID == "" || x.RequesterOrigin != route {
		t.Fatalf("%+v", x)
	}
	w.pass()
	if a := w.all(); len(a.events) != 0 || a.runs[0].Announce.State != subagent.Pending {
		t.Fatalf("it was told at once: %+v", a.events)
	}
	w.pass()
	w.pass()
	a := w.all()
	if err := carriedOut(a); err != nil {
		t.Fatal(err)
	}
	e := a.events[0]
	if e.Text != "Sub-agent main (do it) has finished:\nI have done it" || e.Tools != "read" || !e.Untrusted || e.SessionKey != "agent:main:main" ||
		e.ContextKey != strings.ToLower("announce:"+r.SessionKey+":"+r.ID) {
		t.Errorf("%+v", e)
	}
	if len(a.turns) != 1 || strings.Join(a.turns[0].Tools, ",") != "read" || !strings.HasSuffix(a.turns[0].Message, "\n\ndo it") {
		t.Errorf("%+v", a.turns)
	}
}

// TestRequester: only within a running turn in which somebody asks.
func TestRequester(t *testing.T) {
	w := newWorld(t)
	user := w.asker(session.KindUser, "agent:main:main")
	hook := w.asker(session.KindHook, "hook:mail")
	gone := subagents.Caller{Agent: "main", Session: "agent:main:main", TurnID: "01UNKNOWN"}
	elsewhere := user
	elsewhere.Session = "agent:main:other" // what it says is not asked
	for name, tt := range map[string]struct {
		c    subagents.Caller
		want subagent.Code
	}{"a user": {user, ""}, "a person": {subagents.Caller{}, subagent.NotRequester}, "from outside": {hook, subagent.NotRequester}, "nobody": {gone, subagent.NotRequester}, "a false key": {elsewhere, ""}} {
		r, err := w.Accept(t.Context(), told("x"), tt.c)
		if codeOf(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && r.Announce.Requester != "agent:main:main" {
			t.Errorf("%s: %+v", name, r.Announce)
		}
	}
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Turns.Get(tx, user.TurnID)
		row.Rec.Status, row.Rec.EndedAt = session.TurnSucceeded, tx.Now()
		return errors.Join(err, state.Turns.Put(tx, row.ID, row.Rev, row.Rec))
	})
	if _, err := w.Accept(t.Context(), told("x"), user); codeOf(err) != subagent.NotRequester {
		t.Errorf("a turn that has ended: %v", err)
	}
}

// TestRejected: nothing is written.
func TestRejected(t *testing.T) {
	w := newWorld(t)
	ask := subagent.Ask{Agent: "nobody", Message: "x"}
	if _, err := w.Accept(t.Context(), ask, subagents.Caller{}); err == nil || err.Error() != "there is no agent nobody" {
		t.Error(err)
	}
	w.agent.Command = nil
	if _, err := w.Accept(t.Context(), told("x"), subagents.Caller{}); !errors.Is(err, agent.ErrNoAgent) {
		t.Error(err)
	}
	if a := w.all(); len(a.runs)+len(a.tasks) != 0 {
		t.Errorf("%+v", a)
	}
}

// end ends the turn of a run as if its supervisor had died, or otherwise.
func (w *world) end(id string, status session.TurnStatus) {
	w.t.Helper()
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Subagents.Get(tx, id)
		if err != nil {
			return err
		}
		r := row.Rec
		key := r.SessionKey
		of, ok, err := state.Sessions.Get(tx, key)
		if err != nil {
			return err
		}
		s := of.Rec
		if !ok {
			s = session.Session{Key: key, ID: "01CHILD", Agent: "main", CreatedAt: tx.Now()}
		}
		turn := session.Turn{ID: "01T" + tx.Now().Format("150405.000"), DispatchID: id, SessionKey: key, SessionID: s.ID, Agent: "main", Kind: session.KindSubagent, Status: status, Error: "cut off", CreatedAt: tx.Now(), EndedAt: tx.Now()}
		s.TurnID, s.Status = turn.ID, session.Interrupted
		if err := state.Sessions.Put(tx, key, of.Rev, s); err != nil {
			return err
		}
		if r, err = subagent.Begin(r, turn.ID, tx.Now()); err != nil {
			return err
		}
		if err := state.Subagents.Put(tx, id, row.Rev, r); err != nil {
			return err
		}
		if err := state.Turns.Put(tx, turn.ID, 0, turn); err != nil {
			return err
		}
		return w.TurnEnded(tx, &turn, "half")
	})
}

// TestResumed: what was cut off is carried on with, twice within two minutes and not
// a third time; the task is lost then (spec/tasks-recovery.md 4.10).
func TestResumed(t *testing.T) {
	w := newWorld(t)
	r := w.accept(told("do it"), w.asker(session.KindUser, "agent:main:main"))
	for i := range 2 {
		w.end(r.ID, session.TurnLost)
		if r = w.run(r.ID); r.Status != subagent.Queued || r.Resumed != i+1 {
			t.Fatalf("%d: %+v", i, r)
		}
		w.clock.Advance(time.Second)
	}
	if !strings.HasSuffix(r.Again(), "\n\ndo it") || strings.Contains(r.Again(), "Sub-agent task") {
		t.Errorf("%q", r.Again())
	}
	w.end(r.ID, session.TurnLost)
	r = w.run(r.ID)
	if r.Outcome != subagent.Unknown || !strings.Contains(r.Error, "2 times within two minutes") {
		t.Fatalf("%+v", r)
	}
	if x := w.all().tasks[0]; x.Status != task.Lost {
		t.Errorf("%+v", x)
	}
	w.pass()
	if e := w.all().events; len(e) != 1 || !strings.HasPrefix(e[0].Text, "Sub-agent main (do it) was lost: ") || strings.Contains(e[0].Text, "half") {
		t.Errorf("%+v", e)
	}
}

// TestResumedRuns: the resumed turn is told the task again, and its end counts.
func TestResumedRuns(t *testing.T) {
	w := newWorld(t)
	r := w.accept(told("do it"), w.asker(session.KindUser, "agent:main:main"))
	w.end(r.ID, session.TurnLost)
	w.pass()
	w.pass()
	a := w.all()
	if r = w.run(r.ID); r.Outcome != subagent.OK || len(a.turns) != 2 || a.turns[0].Message != r.Again() && a.turns[1].Message != r.Again() {
		t.Errorf("%+v %+v", r, a.turns)
	}
}

// TestOld: what began more than two hours ago is not revived.
func TestOld(t *testing.T) {
	w := newWorld(t)
	r := w.accept(told("do it"), w.asker(session.KindUser, "agent:main:main"))
	w.end(r.ID, session.TurnLost)
	w.clock.Advance(2*time.Hour + time.Second)
	w.end(r.ID, session.TurnLost)
	if r = w.run(r.ID); r.Outcome != subagent.Unknown || !strings.Contains(r.Error, "2h") {
		t.Fatalf("%+v", r)
	}
}

// TestDoors: whether the requester may be told is looked at again before he is.
func TestDoors(t *testing.T) {
	const key = "agent:main:main"
	change := func(w *world, fn func(s *session.Session)) {
		w.update(func(tx *state.Tx) error {
			row, _, err := state.Sessions.Get(tx, key)
			fn(&row.Rec)
			return errors.Join(err, state.Sessions.Put(tx, key, row.Rev, row.Rec))
		})
	}
	ended := func(t *testing.T) (*world, subagent.Run) {
		w := newWorld(t)
		r := w.accept(told("do it"), w.asker(session.KindUser, key))
		w.pass()
		return w, w.run(r.ID)
	}
	t.Run("begun anew after the end", func(t *testing.T) {
		w, r := ended(t)
		change(w, func(s *session.Session) { s.ID = "01ANOTHER" })
		w.pass()
		if r = w.run(r.ID); r.Announce.State != subagent.Discarded || r.Outcome != subagent.OK || len(w.all().events) != 0 {
			t.Errorf("%+v", r)
		}
		if x := w.all().tasks[0]; x.Status != task.Succeeded || x.DeliveryStatus != task.DeliveryParentMissing {
			t.Errorf("%+v", x)
		}
	})
	t.Run("removed", func(t *testing.T) {
		w, r := ended(t)
		w.update(func(tx *state.Tx) error {
			row, _, err := state.Sessions.Get(tx, key)
			return errors.Join(err, state.Sessions.Delete(tx, key, row.Rev))
		})
		w.pass()
		if r = w.run(r.ID); r.Announce.State != subagent.Discarded {
			t.Errorf("%+v", r)
		}
	})
	t.Run("given up, and open again", func(t *testing.T) {
		w, r := ended(t)
		change(w, func(s *session.Session) { s.Recovery.Phase, s.Recovery.SessionID = session.CycleTombstoned, s.ID })
		for range 5 {
			w.pass()
			w.clock.Advance(30 * time.Second)
		}
		if r = w.run(r.ID); r.Announce.State != subagent.Suspended || !strings.HasPrefix(r.Announce.Why, "retry-limit") {
			t.Fatalf("%+v", r.Announce)
		}
		change(w, func(s *session.Session) { s.Recovery = session.Cycle{} })
		w.pass()
		w.pass()
		if r = w.run(r.ID); r.Announce.State != subagent.Delivered || len(w.all().events) != 1 {
			t.Errorf("%+v", r.Announce)
		}
	})
}

// TestCancel: what waits never begins, with all below it; an end stays.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.policy.Limits.Depth = 2
	c := w.asker(session.KindUser, "agent:main:main")
	top := w.accept(told("top"), c)
	below := w.accept(subagent.Ask{Agent: "main", Message: "below"}, subagents.Caller{Agent: "main", Session: top.SessionKey, TurnID: "01X"})
	if below.Depth != 2 {
		t.Fatal(below.Depth)
	}
	other := w.accept(subagent.Ask{Agent: "main", Message: "other"}, subagents.Caller{})
	if _, err := w.Find(other.ID, c); codeOf(err) != subagent.NotYours {
		t.Error(err)
	}
	if _, err := w.Find(below.ID, c); err != nil {
		t.Error(err)
	}
	r, pending, err := w.Cancel(t.Context(), top.ID, time.Second)
	if err != nil || pending || r.Reason != subagent.Killed {
		t.Fatal(r, pending, err)
	}
	if b := w.run(below.ID); b.Reason != subagent.Killed {
		t.Errorf("%+v", b)
	}
	w.pass()
	w.pass()
	if o := w.run(other.ID); o.Outcome != subagent.OK {
		t.Errorf("%+v", o)
	}
	if r, _, err := w.Cancel(t.Context(), other.ID, time.Second); err != nil || r.Outcome != subagent.OK {
		t.Error(r, err)
	}
	a := w.all()
	if len(a.turns) != 1 || len(a.events) != 1 || a.events[0].Text != "Sub-agent main (top) was ended on purpose." {
		t.Errorf("%d turns, %+v", len(a.turns), a.events)
	}
}

// TestAside: a session is put aside an hour after the end, or at once; one that
// somebody has gone on with stays.
func TestAside(t *testing.T) {
	w := newWorld(t)
	kept := w.accept(subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{})
	used := w.accept(subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{})
	gone := w.accept(subagent.Ask{Agent: "main", Message: "x", Cleanup: subagent.Delete}, subagents.Caller{})
	w.pass()
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, used.SessionKey)
		row.Rec.TurnID = "01LATER"
		return errors.Join(err, state.Sessions.Put(tx, row.ID, row.Rev, row.Rec))
	})
	there := func() (out string) {
		w.update(func(tx *state.Tx) error {
			for name, r := range map[string]subagent.Run{"kept": kept, "used": used, "gone": gone} {
				if _, ok, err := state.Sessions.Get(tx, r.SessionKey); err != nil || ok {
					out += name[:1]
				}
			}
			return nil
		})
		return out
	}
	w.pass()
	if got := there(); len(got) != 2 || strings.Contains(got, "g") {
		t.Error(got)
	}
	w.clock.Advance(time.Hour)
	w.pass()
	if got := there(); got != "u" {
		t.Error(got)
	}
	if own, err := w.OwnsSession(kept.SessionKey, subagents.Caller{Session: "agent:main:main"}); own || err != nil {
		t.Error("a person's session is an agent's")
	}
}

// TestAsideOfATombstone: a session that was given up stays, for a person to see, and
// holds up neither this pass nor the next ones.
func TestAsideOfATombstone(t *testing.T) {
	w := newWorld(t)
	given := w.accept(subagent.Ask{Agent: "main", Message: "x", Cleanup: subagent.Delete}, subagents.Caller{})
	other := w.accept(subagent.Ask{Agent: "main", Message: "x", Cleanup: subagent.Delete}, subagents.Caller{})
	w.pass()
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, given.SessionKey)
		s := row.Rec
		s.Recovery = session.Cycle{ID: "01C", SourceTurnID: "01C", DispatchID: "01C", SessionID: s.ID, Revision: 1, Phase: session.CycleTombstoned, Charged: 3}
		return errors.Join(err, state.Sessions.Put(tx, row.ID, row.Rev, s))
	})
	w.pass()
	first := w.run(given.ID)
	if keys, err := w.sessions(); err != nil || len(keys) != 1 || keys[0] != given.SessionKey || first.ArchivedAt.IsZero() || w.run(other.ID).ArchivedAt.IsZero() {
		t.Errorf("%v %v, %+v", keys, err, first)
	}
	w.clock.Advance(time.Hour)
	w.pass()
	if again := w.run(given.ID); !again.ArchivedAt.Equal(first.ArchivedAt) {
		t.Errorf("%+v", again)
	}
}

// TestComplete: an answer and nothing else; one whose claw has died never begins.
func TestComplete(t *testing.T) {
	w := newWorld(t)
	r, text, err := w.Complete(t.Context(), subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{}, nil)
	if err != nil || text != "I have done it" {
		t.Fatal(text, err)
	}
	w.update(func(tx *state.Tx) error {
		rows, err := state.Sessions.All(tx)
		if len(rows) != 0 {
			t.Errorf("%+v", rows)
		}
		return err
	})
	if a := w.all(); len(a.tasks)+len(a.events) != 0 || len(a.turns) != 1 || a.turns[0].Tools == nil || len(a.turns[0].Tools) != 0 {
		t.Errorf("%+v", a)
	}
	w.update(func(tx *state.Tx) error {
		dead := subagent.Run{ID: "01DEAD", Kind: subagent.Completion, Status: subagent.Queued, Agent: "main", CreatedAt: tx.Now()}
		return state.Subagents.Put(tx, dead.ID, 0, dead)
	})
	w.pass()
	if d := w.run("01DEAD"); d.Reason != subagent.Killed || d.TurnID != "" {
		t.Errorf("%+v", d)
	}
	if _, _, err := w.Cancel(t.Context(), r.ID, time.Second); err != nil {
		t.Error(err)
	}
	w.policy.ToolFree = false
	_, _, err = w.Complete(t.Context(), subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{}, nil)
	if _, ok := errors.AsType[*subagents.NoToolFreeError](err); !ok {
		t.Error(err)
	}
	stop := make(chan struct{})
	close(stop)
	w.policy.ToolFree = true
	_, text, err = w.Complete(t.Context(), subagent.Ask{Agent: "main", Message: "x"}, subagents.Caller{}, stop)
	if _, ok := errors.AsType[*subagents.EndedError](err); !ok || text != "" {
		t.Errorf("%q %v", text, err)
	}
}
