package subagents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/runner/subagents"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/subagent"
	"claw/state/task"
)

// The test binary is also the supervisor of the agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	os.Exit(m.Run())
}

// noon is when every world begins.
var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

// world is a state directory, a clock that is moved by hand, and an agent that
// answers at once.
type world struct {
	*subagents.Service
	t      testing.TB
	clock  *clocktest.Fake
	agent  agent.Agent
	policy subagents.Policy
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { statetest.Remove(t, dir) })
	clock := clocktest.New(noon)
	return open(t, statetest.OpenAt(t, dir, state.Options{Now: clock.Now}), clock)
}

func open(t testing.TB, store *state.Store, clock *clocktest.Fake) *world {
	w := &world{t: t, clock: clock, agent: agent.Agent{Name: "main", Command: []string{"true", "{tools}"}}, policy: subagents.Policy{
		Limits:   subagent.Limits{Depth: 1, Children: 5, Concurrent: 8, Archive: time.Hour},
		ToolFree: true,
	}}
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	turns := &agent.Turns{
		Store: store, Clock: clock, Agent: func(string) agent.Agent { return w.agent }, Environ: environ, Cwd: t.TempDir(), MaxOutput: 1 << 20,
	}
	w.Service = &subagents.Service{
		Store: store, Clock: clock, Turns: turns, Policy: func(string) subagents.Policy { return w.policy },
		Known: func(name string) bool { return name != "nobody" }, Jitter: func() float64 { return 1 },
	}
	w.Answer("I have done it")
	turns.OnEnd = func(tx *state.Tx, t *session.Turn, reply string) error {
		if t.Kind == session.KindSubagent || t.Kind == session.KindComplete {
			return w.TurnEnded(tx, t, reply)
		}
		return nil
	}
	return w
}

var route = delivery.Route{Channel: "inbox", To: "anna"}

// asker is a turn that goes on in a session, as whoever asks from within it.
func (w *world) asker(kind session.Kind, key string) subagents.Caller {
	c, err := w.speaks(kind, key)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) speaks(kind session.Kind, key string) (subagents.Caller, error) {
	c := subagents.Caller{Agent: "main", Session: key, TurnID: "01TURN" + string(kind)}
	err := w.Store.Update(context.Background(), func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, key)
		if err != nil {
			return err
		}
		s := session.Session{Key: key, ID: "01CONVERSATION", Agent: "main", Status: session.Running, TurnID: c.TurnID, CreatedAt: tx.Now()}
		if err := state.Sessions.Put(tx, key, row.Rev, s); err != nil {
			return err
		}
		before, _, err := state.Turns.Get(tx, c.TurnID)
		if err != nil {
			return err
		}
		t := session.Turn{
			ID: c.TurnID, DispatchID: c.TurnID, Attempt: 1, SessionKey: key, SessionID: s.ID, Agent: "main", Kind: kind, Route: route,
			Status: session.TurnAdmitted, CreatedAt: tx.Now(),
		}
		return state.Turns.Put(tx, t.ID, before.Rev, t)
	})
	return c, err
}

// told is a wish whose end is told.
func told(message string) subagent.Ask {
	return subagent.Ask{Agent: "main", Message: message, Delivery: subagent.CurrentRequester}
}

func (w *world) accept(a subagent.Ask, c subagents.Caller) subagent.Run {
	w.t.Helper()
	r, err := w.Accept(w.t.Context(), a, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func nobody(string) bool { return false }

// pass makes one, and carries out what begins.
func (w *world) pass() {
	w.t.Helper()
	if err := w.carry(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) carry() error {
	work, err := w.Pass(context.Background(), true, nobody)
	for _, id := range work.Start {
		if _, runErr := w.Run(context.Background(), id); runErr != nil {
			err = errors.Join(err, runErr)
		}
	}
	return err
}

func (w *world) run(id string) subagent.Run {
	w.t.Helper()
	r, err := w.Find(id, subagents.Caller{})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// all is what there is.
type all struct {
	runs   []subagent.Run
	tasks  []task.Task
	turns  []session.Turn // of sub-agents
	events []event.Event
}

func everything(store *state.Store) (a all, err error) {
	err = store.View(func(tx *state.Tx) error {
		a = all{}
		runs, err1 := state.Subagents.All(tx)
		tasks, err2 := state.Tasks.All(tx)
		turns, err3 := state.Turns.All(tx)
		events, err4 := state.Events.All(tx)
		for _, r := range runs {
			a.runs = append(a.runs, r.Rec)
		}
		for _, r := range tasks {
			a.tasks = append(a.tasks, r.Rec)
		}
		for _, r := range turns {
			if k := r.Rec.Kind; k == session.KindSubagent || k == session.KindComplete {
				a.turns = append(a.turns, r.Rec)
			}
		}
		for _, r := range events {
			a.events = append(a.events, r.Rec)
		}
		return errors.Join(err1, err2, err3, err4)
	})
	return a, err
}

func (w *world) all() all {
	w.t.Helper()
	a, err := everything(w.Store)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}
