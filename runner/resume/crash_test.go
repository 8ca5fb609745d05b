package resume_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/runner/resume"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/statetest"
)

// The rows of a story that begins with a turn which was cut off.
const (
	sourceID  = "01M8QC1TW00000000000000001"
	eventID   = "01M8QC1TW00000000000000002"
	sessionID = "01M8QC1TW00000000000000003"
)

// story is one move of a cycle over a file system that stops somewhere.
type story struct {
	charged  int         // attempts made before
	agent    agent.Agent // embedded: it answers; else it has no read-only way
	ending   session.Ending
	phase    session.Phase
	event    event.State // in the end
	promised bool        // the move was said to be done
}

func openAt(fs state.FS, dir, boot string, now time.Time, ag agent.Agent) (*resume.Recoverer, error) {
	fake := clocktest.New(now)
	store, err := state.Open(dir, state.Options{FS: fs, Boot: boot, Now: fake.Now})
	if err != nil {
		return nil, err
	}
	return on(store, fake, func() agent.Agent { return ag }), nil
}

// once is what a tick does about turns that were cut off.
func once(r *resume.Recoverer) error {
	if _, _, err := r.Turns.Settle(context.Background()); err != nil {
		return err
	}
	p, err := r.Plan(r.Clock.Now())
	for i := 0; i < len(p.Items) && err == nil; i++ {
		if p.Items[i].Due {
			_, err = r.Do(context.Background(), p.Items[i])
		}
	}
	return err
}

func (s *story) run(fs state.FS, dir string) error {
	s.promised = false
	r, err := openAt(fs, dir, "before", noon, s.agent)
	if err != nil {
		return err
	}
	defer r.Store.Close()
	if err = errors.Join(conversation(dir), r.Store.Update(context.Background(), s.begin)); err == nil {
		err = once(r)
	}
	s.promised = err == nil
	return err
}

// conversation is the transcript, which is on disk before the end of a turn is.
func conversation(dir string) error {
	line1, err1 := session.Encode(session.NewHeader(session.Session{Key: key, ID: sessionID, Agent: "main", CreatedAt: noon}, "/"))
	line2, err2 := session.Encode(session.UserEntry(cutOff()))
	path := filepath.Join(dir, "sessions", session.FileName(key)+".jsonl")
	return errors.Join(err1, err2, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, append(line1, line2...), 0o600))
}

func cutOff() session.Turn {
	return session.Turn{
		ID: sourceID, DispatchID: sourceID, Attempt: 1, SessionKey: key, SessionID: sessionID, Agent: "main", Kind: session.KindEvent,
		Message: "something happened", EventIDs: []string{eventID}, ReplyMode: session.ReplyDeliver, Route: delivery.Route{Channel: "inbox"}, Quiet: true, Status: session.TurnLost, Error: "it was cut off",
		CreatedAt: noon, EndedAt: noon,
	}
}

// begin writes what a turn that was cut off leaves, with attempts at it.
func (s *story) begin(tx *state.Tx) error {
	t := cutOff()
	c, _ := session.Cycle{}.Interrupt(session.LossOf(t, session.Finish{Status: session.TurnLost}))
	for n := 1; n <= s.charged; n++ {
		id := fmt.Sprintf("01M8QC1TW0000000000000001%d", n)
		c, _ = c.Reserve(c.Ticket(), id, n, noon)
		c, _ = c.End(id, session.AttemptUncertain, "it was cut off too", noon.Add(-time.Minute))
	}
	x := session.Session{Key: key, ID: sessionID, Agent: "main", Status: session.Interrupted, TurnID: sourceID, Turns: 1, CreatedAt: noon, Recovery: c}
	return errors.Join(
		state.Turns.Put(tx, t.ID, 0, t), state.Sessions.Put(tx, key, 0, x),
		state.Events.Put(tx, eventID, 0, event.Event{ID: eventID, State: event.Unknown, Kind: event.KindEvent, SessionKey: key, Text: "the disk is full", TurnID: sourceID, CreatedAt: noon, EndedAt: noon}))
}

// verify is the next program, several times: the story comes to the same end
// whatever died, with one message, and no attempt more than the budget.
func (s *story) verify(dir string) error {
	for i := range 5 {
		r, err := openAt(nil, dir, "after", noon.Add(time.Duration(i+1)*time.Minute), s.agent)
		if err != nil {
			return err
		}
		if i == 0 && s.promised {
			err = s.agrees(r)
		}
		if err == nil {
			err = once(r)
		}
		if err == nil && i == 4 {
			err = s.agrees(r)
		}
		if err = errors.Join(err, r.Store.Close()); err != nil {
			return fmt.Errorf("look %d: %w", i+1, err)
		}
	}
	return nil
}

func (s *story) agrees(r *resume.Recoverer) error {
	return r.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, key)
		if err != nil || !ok && !s.promised {
			return err
		}
		c := row.Rec.Recovery
		ev, _, err1 := state.Events.Find(tx, eventID)
		turns, err2 := state.Turns.All(tx)
		sent, err3 := state.Deliveries.All(tx)
		answered, attempts := 0, 0
		for _, t := range turns {
			if t.ID == sourceID {
				continue
			}
			if attempts++; t.Rec.Status == session.TurnSucceeded {
				answered++
			}
		}
		want := 0
		if s.ending == session.EndCompleted {
			want = 1
		}
		switch {
		case c.Phase != s.phase || c.Ending != s.ending || c.Check() != nil || row.Rec.Contradiction() != "":
			return fmt.Errorf("the cycle is %+v", c)
		case ev.Rec.State != s.event:
			return fmt.Errorf("the event is %s", ev.Rec.State)
		case len(sent) != 1:
			return fmt.Errorf("%d messages: %+v", len(sent), sent)
		case answered != want, attempts > session.Budget-s.charged, attempts > c.Charged:
			return fmt.Errorf("%d attempts, %d of them answered, %d charged", attempts, answered, c.Charged)
		}
		return errors.Join(err1, err2, err3)
	})
}

// spec/tasks-recovery.md 9.6: charge, dispatch, settlement and every other move
// of a cycle, with a death at each operation.
func TestCrashAtEveryWrite(t *testing.T) {
	armed := agent.Agent{Name: "main", Command: []string{"false"}}
	for name, s := range map[string]*story{
		"an attempt that answers":  {agent: agent.Agent{Name: "main"}, phase: session.CycleClosed, ending: session.EndCompleted, event: event.Consumed},
		"an attempt after another": {charged: 1, agent: agent.Agent{Name: "main"}, phase: session.CycleClosed, ending: session.EndCompleted, event: event.Consumed},
		"what is not continued":    {agent: armed, phase: session.CycleClosed, ending: session.EndFailed, event: event.Unknown},
		"what is given up":         {charged: 3, agent: armed, phase: session.CycleTombstoned, event: event.Unknown},
	} {
		t.Run(name, func(t *testing.T) { statetest.Crash(t, s.run, s.verify) })
	}
}
