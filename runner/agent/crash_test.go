package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/runner/output"
	"claw/state"
	"claw/state/delivery"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/ulid"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// flow is one turn over a file system that stops somewhere.
type flow struct {
	argv     bool // its argv has ended and nobody waits for it: Settle ends it
	id       string
	process  string
	promised bool // Run or Settle has said that it ended
}

// open is a program at some time after epoch. Whatever ends a turn also writes
// a delivery, one for each end.
func open(fs state.FS, dir, boot string, later time.Duration) (*agent.Turns, error) {
	fake := clocktest.New(epoch.Add(later))
	store, err := state.Open(dir, state.Options{FS: fs, Boot: boot, Now: fake.Now})
	if err != nil {
		return nil, err
	}
	return &agent.Turns{
		Store: store, Clock: fake, Agent: func(string) agent.Agent { return agent.Agent{Name: "main"} },
		OnEnd: func(tx *state.Tx, t *session.Turn, reply string) error {
			if t.Status == session.TurnNotAccepted {
				return nil
			}
			id := ulid.New(tx.Now())
			t.DeliveryID = id
			return state.Deliveries.Add(tx, id, delivery.Delivery{ID: id, Text: reply, State: delivery.Pending, IdempotencyKey: "turn:" + t.DispatchID, CreatedAt: tx.Now()})
		},
	}, nil
}

func (f *flow) run(fs state.FS, dir string) error {
	f.promised = false
	turns, err := open(fs, dir, "before", 0)
	if err != nil {
		return err
	}
	defer turns.Store.Close()
	if f.argv {
		err = f.leave(turns)
		if err == nil {
			_, _, err = turns.Settle(context.Background())
		}
	} else {
		req, answer := wake("hello"), "the reply"
		req.Answer = &answer
		_, err = turns.Run(context.Background(), req)
	}
	f.promised = err == nil
	return err
}

// leave writes a turn whose argv has said "the reply" and ended, as a claw that
// died while it waited leaves it.
func (f *flow) leave(turns *agent.Turns) error {
	dir, err := turns.Store.MakeProcessDir(f.process)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir + "/output"); err != nil {
		w := output.NewWriter(dir, output.WriterOptions{})
		w.Write(output.Stdout, []byte("the reply"))
		w.Close()
	}
	code := 0
	return turns.Store.Update(context.Background(), func(tx *state.Tx) error {
		t := session.Turn{ID: f.id, DispatchID: f.id, SessionKey: main, SessionID: f.id, Agent: "main", Kind: session.KindExec, Message: "hello", Status: session.TurnRunning, ProcessID: f.process, CreatedAt: tx.Now()}
		s := session.Session{Key: main, ID: f.id, Agent: "main", Status: session.Running, TurnID: f.id, Turns: 1, CreatedAt: tx.Now()}
		p := process.Process{ID: f.process, Slug: "a-b", TurnID: f.id, Background: true, Phase: process.Exited, EndedAt: tx.Now(), Exit: &process.Exit{Code: &code, Reason: process.ReasonExit}}
		return errors.Join(state.Turns.Put(tx, t.ID, 0, t), state.Sessions.Put(tx, s.Key, 0, s), state.Processes.Put(tx, p.ID, 0, p))
	})
}

// verify holds what issue 3 promises: after the next Settle a turn that was
// admitted has ended, once, and everything that follows from its end is there,
// once; what was said to have ended had.
func (f *flow) verify(dir string) error {
	turns, err := open(nil, dir, "after", time.Minute)
	if err != nil {
		return err
	}
	defer turns.Store.Close()
	if err := f.agrees(turns, f.promised); err != nil {
		return fmt.Errorf("as it was found: %w", err)
	}
	if _, going, err := turns.Settle(context.Background()); err != nil || len(going) > 0 {
		return fmt.Errorf("settle: %v %w", going, err)
	}
	if err := f.agrees(turns, true); err != nil {
		return fmt.Errorf("settled: %w", err)
	}
	return nil
}

func (f *flow) agrees(turns *agent.Turns, over bool) error {
	return turns.Store.View(func(tx *state.Tx) error {
		all, err1 := state.Turns.All(tx)
		sessions, err2 := state.Sessions.All(tx)
		sent, err3 := state.Deliveries.All(tx)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if len(all) == 0 {
			if f.promised || len(sessions)+len(sent) > 0 {
				return fmt.Errorf("no turn, but %d sessions and %d deliveries; promised: %v", len(sessions), len(sent), f.promised)
			}
			return nil
		}
		t := all[0].Rec
		accepted := t.Status == session.TurnSucceeded
		switch {
		case len(all) != 1 || len(sessions) != 1 || sessions[0].Rec.TurnID != t.ID:
			return fmt.Errorf("%d turns, sessions %+v", len(all), sessions)
		case over && !t.Status.Ended(), t.Status.Ended() == (sessions[0].Rec.Status == session.Running):
			return fmt.Errorf("the turn is %s, the session %s", t.Status, sessions[0].Rec.Status)
		case accepted != (len(sent) == 1) || accepted != (t.DeliveryID != ""):
			return fmt.Errorf("the turn is %s, and %d messages are sent", t.Status, len(sent))
		case accepted && (t.Reply != "the reply" || sent[0].Rec.Text != "the reply"):
			return fmt.Errorf("reply %q, told %q", t.Reply, sent[0].Rec.Text)
		case (f.argv || f.promised) && over && !accepted:
			return fmt.Errorf("the turn is %s", t.Status)
		}
		tr, _, err := turns.Transcript(main)
		if err == nil && accepted && len(tr.Entries) != 2 {
			err = fmt.Errorf("%d entries in the transcript", len(tr.Entries))
		}
		return err
	})
}

// TestCrashAtEveryWrite: a turn from its admission to its end, by who waits for
// it and by who settles it.
func TestCrashAtEveryWrite(t *testing.T) {
	for name, f := range map[string]*flow{
		"admitted, answered, ended": {},
		"left behind, settled":      {argv: true},
	} {
		t.Run(name, func(t *testing.T) {
			f.id, f.process = ulid.New(epoch), ulid.New(epoch)
			statetest.Crash(t, f.run, f.verify)
		})
	}
}
