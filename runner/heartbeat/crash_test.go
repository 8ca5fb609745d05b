package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
)

// at is an engine of another program at another time.
func at(fs state.FS, dir, boot string, now time.Time, config string) (*heartbeat.Engine, error) {
	fake := clocktest.New(now)
	store, err := state.Open(dir, state.Options{FS: fs, Boot: boot, Now: fake.Now})
	if err != nil {
		return nil, err
	}
	post := &deliver.Post{Store: store, Clock: fake, Default: "inbox"}
	turns := &agent.Turns{Store: store, Clock: fake, Agent: func(string) agent.Agent { return agent.Agent{Name: "main"} }}
	e := &heartbeat.Engine{
		Store: store, Clock: fake, Turns: turns, Post: post, Prompts: prompts.Default(), Agents: []string{"main"}, ConfigDir: config, CronEnabled: true, Seed: "dev",
		Settings: func(string) heartbeat.Settings {
			return heartbeat.Settings{Agent: "main", Enrolled: true, Every: 30 * time.Minute, Target: "last", Embedded: true, UserZone: "UTC"}
		},
	}
	turns.OnEnd = e.End
	return e, nil
}

// once is a tick.
func once(e *heartbeat.Engine) error {
	ctx := context.Background()
	if _, _, err := e.Turns.Settle(ctx); err != nil {
		return err
	}
	if err := e.Converge(ctx); err != nil {
		return err
	}
	p, err := e.Plan(e.Clock.Now())
	if err != nil {
		return err
	}
	for _, w := range p.Wakes {
		if _, err := e.Do(ctx, w); err != nil {
			return err
		}
	}
	_, err = e.Post.Flush(ctx)
	return err
}

// Whatever claw dies at between the event and the message, afterwards exactly
// one turn has succeeded in showing the event, and exactly one message came of
// it (issue 3, done when).
func TestCrashBetweenEventAndMessage(t *testing.T) {
	config := t.TempDir()
	const id = "01M8QC1TW00000000000000001"
	queued := false // it was promised that the event is there
	statetest.Crash(t, func(fs state.FS, dir string) error {
		queued = false
		e, err := at(fs, dir, "before", noon, config)
		if err != nil {
			return err
		}
		defer e.Store.Close()
		err = e.Store.Update(context.Background(), func(tx *state.Tx) error {
			return state.Events.Put(tx, id, 0, event.Event{ID: id, State: event.Queued, Kind: event.KindExec, SessionKey: mainKey, Text: "Exec completed (reef, code 0) :: ok", Command: "make", CreatedAt: noon})
		})
		if err != nil {
			return err
		}
		queued = true
		return once(e)
	}, func(dir string) error {
		for i := range 3 { // the next program, and what it had to put off
			e, err := at(nil, dir, "after", noon.Add(time.Duration(i+1)*10*time.Minute), config)
			if err != nil {
				return err
			}
			if err = once(e); err == nil && i == 2 {
				err = told(e, id, queued)
			}
			if err = errors.Join(err, e.Store.Close()); err != nil {
				return err
			}
		}
		return nil
	})
}

func told(e *heartbeat.Engine, id string, promised bool) error {
	return e.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Events.Find(tx, id)
		if err != nil || !ok && !promised {
			return err
		}
		if !ok || row.Rec.State != event.Consumed {
			return fmt.Errorf("the event is there: %t, %s", ok, row.Rec.State)
		}
		turns, err := state.Turns.All(tx)
		if err != nil {
			return err
		}
		saw := 0
		for _, r := range turns {
			if r.Rec.Status == session.TurnSucceeded {
				saw++
			} else if !r.Rec.Status.Ended() {
				return fmt.Errorf("a turn is %s", r.Rec.Status)
			}
		}
		inbox, err := state.Inbox.All(tx)
		if saw != 1 || len(inbox) != 1 {
			return fmt.Errorf("%d turns have shown it, %d messages came of it", saw, len(inbox))
		}
		return err
	})
}

// A quiet tick reads neither sessions nor tasks nor deliveries, of which there
// may be many: it does not even notice that their ledgers are gone.
func TestAQuietTickReadsNothingThatGrows(t *testing.T) {
	dir := t.TempDir() + "/state"
	e, err := at(nil, dir, "before", noon, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Store.Close()
	err = e.Store.Update(t.Context(), func(tx *state.Tx) error {
		return errors.Join(
			state.Sessions.Put(tx, mainKey, 0, session.Session{Key: mainKey, Agent: "main"}),
			state.Tasks.Put(tx, "T", 0, task.Task{ID: "T", Status: task.Succeeded}),
			state.Deliveries.Put(tx, "D", 0, delivery.Delivery{ID: "D", State: delivery.Delivered}))
	})
	if err := errors.Join(err, e.Converge(t.Context()), e.Store.Checkpoint(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sessions", "tasks", "deliveries"} {
		if err := os.Remove(dir + "/ledgers/" + name + ".jsonl"); err != nil {
			t.Fatal(err)
		}
	}
	later, err := at(nil, dir, "before", noon.Add(time.Minute), e.ConfigDir)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Store.Close()
	p, err := later.Plan(noon.Add(time.Minute))
	if err != nil || len(p.Wakes) != 0 || p.Next.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	if err := later.Converge(t.Context()); err != nil {
		t.Error(err)
	}
	// The test is worth something only if reading one of them fails.
	if _, err := later.Plan(noon.Add(time.Hour)); err == nil {
		t.Error("a plan with a due heartbeat did not read the sessions")
	}
}
