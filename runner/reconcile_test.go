package runner_test

import (
	"errors"
	"testing"
	"time"

	"claw/prompts"
	"claw/runner"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/ulid"
)

// Report and repair are one decision, and repeating it changes nothing (issue
// 5, section 2): a turn that claw died in is shown as what the tick makes of it.
func TestReconcile(t *testing.T) {
	store := statetest.Open(t)
	c := clock.New()
	turns := &agent.Turns{Store: store, Clock: c, Agent: func(string) agent.Agent { return agent.Agent{Name: "main"} }}
	post := &deliver.Post{Store: store, Clock: c, Default: "inbox"}
	engine := &heartbeat.Engine{
		Store: store, Clock: c, Turns: turns, Post: post, Prompts: prompts.Default(), Agents: []string{"main"},
		Settings: func(string) heartbeat.Settings {
			return heartbeat.Settings{Agent: "main", Target: "last", Embedded: true, UserZone: "UTC"}
		},
	}
	turns.OnEnd, turns.OnOver = engine.End, engine.Over
	r := &runner.Runner{Store: store, Clock: c, Turns: turns, Heartbeat: engine, Post: post}

	const key = "agent:main:main"
	id, now := ulid.New(time.Now()), time.Now().UTC()
	err := store.Update(t.Context(), func(tx *state.Tx) error {
		return errors.Join(
			state.Turns.Add(tx, id, session.Turn{
				ID: id, DispatchID: id, Attempt: 1, SessionKey: key, SessionID: id, Agent: "main", Kind: session.KindUser, Message: "clean the house",
				Route: delivery.Route{Channel: "inbox"}, ReplyMode: session.ReplyCaller, Status: session.TurnAdmitted, ProcessID: ulid.New(now), CreatedAt: now,
			}),
			state.Sessions.Put(tx, key, 0, session.Session{Key: key, ID: id, Agent: "main", Status: session.Running, TurnID: id, Turns: 1, CreatedAt: now}))
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func(mode runner.Mode) runner.Reconciliation {
		t.Helper()
		found, err := r.Reconcile(t.Context(), time.Now(), mode)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, mode := range []runner.Mode{runner.OnlyReport, runner.OnlyReport, runner.Repair} {
		found := look(mode)
		if len(found.Turns) != 1 || len(found.Cycles) != 1 || found.Cycles[0].Step != session.StepBegin || !found.Cycles[0].Due {
			t.Fatalf("mode %d: %+v", mode, found)
		}
	}
	for _, mode := range []runner.Mode{runner.OnlyReport, runner.Repair, runner.OnlyReport} {
		if found := look(mode); len(found.Turns)+len(found.Cycles)+len(found.Tasks)+len(found.Deliveries) != 0 {
			t.Errorf("afterwards, mode %d: %+v", mode, found)
		}
	}
	err = store.View(func(tx *state.Tx) error {
		all, err := state.Turns.All(tx)
		sent, err2 := state.Deliveries.All(tx)
		if len(all) != 2 || len(sent) != 1 || sent[0].Rec.State != delivery.Delivered {
			t.Errorf("%d turns, messages %+v", len(all), sent)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
}
