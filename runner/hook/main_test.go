package hook_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/deliver"
	"claw/runner/hook"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/external"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
)

// The test binary is also the supervisor of the agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	os.Exit(m.Run())
}

var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

// world is a state directory, a clock that is moved by hand, and an agent made
// of a shell script.
type world struct {
	*hook.Dispatcher
	t     testing.TB
	clock *clocktest.Fake
	dir   string
	agent agent.Agent
	hand  map[string]bool // what is being run
}

func newWorld(t testing.TB, script string) *world {
	t.Helper()
	return worldAt(t, script, nil)
}

// worldAt is newWorld with another clock for what is written.
func worldAt(t testing.TB, script string, now func() time.Time) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { statetest.Remove(t, dir) })
	w := &world{t: t, clock: clocktest.New(noon), dir: t.TempDir()}
	w.agent = agent.Agent{Name: "main", Command: []string{"sh", "-c", script}}
	if now == nil {
		now = w.clock.Now
	}
	w.open(statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir), Now: now}))
	return w
}

// at is a program on a directory whose files may fail, with an agent that answers
// at once.
func at(t testing.TB, fs state.FS, dir string, now time.Time) (*world, error) {
	w := &world{t: t, clock: clocktest.New(now), dir: t.TempDir()}
	w.agent.Command = []string{"true"}
	store, err := state.Open(dir, state.Options{FS: fs, Now: w.clock.Now})
	if err != nil {
		return nil, err
	}
	w.open(store)
	w.Answer("I have read it")
	return w, nil
}

// open makes another program over the same directory.
func (w *world) open(store *state.Store) {
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	post := &deliver.Post{Store: store, Clock: w.clock, Default: "inbox", Environ: environ, OnEnd: hook.Delivered}
	turns := &agent.Turns{
		Store: store, Clock: clock.New(), Agent: func(string) agent.Agent { return w.agent }, Environ: environ, Cwd: w.dir, MaxOutput: 1 << 20,
	}
	w.Dispatcher = &hook.Dispatcher{Store: store, Clock: w.clock, Turns: turns, Post: post, Max: 8}
	turns.OnEnd = w.TurnEnded
	w.hand = map[string]bool{}
}

func mail(text string) external.Request {
	return external.Request{Name: "Mail", Agent: "main", SessionKey: "hook:mail", Source: external.Email, Message: text, Lane: external.LaneCLI, Caller: "test"}
}

func (w *world) accept(r external.Request) external.Dispatch {
	w.t.Helper()
	d, _, err := w.Accept(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// pass makes one pass and runs what it starts, one after the other.
func (w *world) pass() (ran []string) {
	w.t.Helper()
	work, err := w.Pass(context.Background(), true, func(id string) bool { return w.hand[id] })
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range work.Start {
		if _, err := w.Run(context.Background(), id); err != nil {
			w.t.Fatal(err)
		}
	}
	return work.Start
}

func (w *world) get(id string) external.Dispatch {
	w.t.Helper()
	d, ok, err := w.Find(id)
	if err != nil || !ok {
		w.t.Fatal(id, ok, err)
	}
	return d
}

// rows is everything there is.
type rows struct {
	hooks      []external.Dispatch
	turns      []session.Turn
	tasks      []task.Task
	events     []event.Event
	deliveries []delivery.Delivery
}

func everything(store *state.Store) (r rows, err error) {
	err = store.View(func(tx *state.Tx) error {
		r = rows{}
		hooks, err1 := state.Dispatches.All(tx)
		turns, err2 := state.Turns.All(tx)
		tasks, err3 := state.Tasks.All(tx)
		events, err4 := state.Events.All(tx)
		sent, err5 := state.Deliveries.All(tx)
		for _, e := range []error{err1, err2, err3, err4, err5} {
			if e != nil {
				return e
			}
		}
		r = rows{recs(hooks), recs(turns), recs(tasks), recs(events), recs(sent)}
		return nil
	})
	return r, err
}

func recs[T any](rows []state.Row[T]) (all []T) {
	for _, r := range rows {
		all = append(all, r.Rec)
	}
	return all
}

func (w *world) all() rows {
	w.t.Helper()
	r, err := everything(w.Store)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
