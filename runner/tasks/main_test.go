package tasks_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/runner/supervisor"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

// The test binary is also the supervisor of commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	os.Exit(m.Run())
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// noon is when every world begins.
var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

// world is a state directory, its keeper, and a clock that is moved by hand.
type world struct {
	*tasks.Keeper
	t     testing.TB
	clock *clocktest.Fake
	dir   string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { statetest.Remove(t, dir) })
	w := &world{t: t, clock: clocktest.New(noon), dir: dir}
	store := statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir), Now: w.clock.Now})
	w.Keeper = keeper(store, w.clock)
	return w
}

func keeper(store *state.Store, c clock.Clock) *tasks.Keeper {
	return &tasks.Keeper{
		Store: store, Clock: c, Keep: week, OnLoss: "kill",
		Turns: &agent.Turns{Store: store, Clock: c, Agent: func(string) agent.Agent { return agent.Agent{} }},
	}
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(w.t.Context(), fn, state.Relaxed()); err != nil {
		w.t.Fatal(err)
	}
}

// add writes a row as it is, with what is missing: an id, times of age ago.
func (w *world) add(age time.Duration, row task.Task) task.Task {
	w.t.Helper()
	at := w.clock.Now().Add(-age)
	if row.ID == "" {
		row.ID = ulid.New(at)
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt, row.LastEventAt = at, at
	}
	if row.NotifyPolicy == "" {
		row.NotifyPolicy = task.Silent
	}
	if row.DeliveryStatus == "" {
		row.DeliveryStatus = task.DeliveryPending
	}
	if row.ScopeKind == "" {
		row.ScopeKind = task.ScopeSystem
	}
	w.update(func(tx *state.Tx) error { return state.Tasks.Put(tx, row.ID, 0, row) })
	return row
}

// get is the row as it is written, wherever; ok is false when there is none.
func (w *world) get(id string) (t task.Task, ok bool) {
	w.t.Helper()
	err := w.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Tasks.Find(tx, id)
		t, ok = row.Rec, found
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return t, ok
}

// command writes a background process with its task. It is alive when its
// life-line is held.
func (w *world) command(slug string, alive bool) process.Process {
	w.t.Helper()
	now := w.clock.Now()
	p := process.Process{
		ID: ulid.New(now), Slug: slug, Agent: "main", Session: "agent:main:main", Command: "make", Argv: []string{"make"},
		NotifyOnExit: true, Phase: process.Running, CreatedAt: now, StartedAt: now, TTLMs: 1800000, Supervisor: proc.Self(),
		Root: process.Identity{Boot: "another boot", PID: 1 << 22, Start: 1},
	}
	if err := os.MkdirAll(w.Store.ProcessDir(p.ID), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if alive {
		w.hold(p.ID)
	}
	w.update(func(tx *state.Tx) error {
		if err := settle.AddTask(tx, &p); err != nil {
			return err
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
	return p
}

// hold holds the life-line of a process.
func (w *world) hold(id string) *os.File {
	w.t.Helper()
	if err := os.MkdirAll(w.Store.ProcessDir(id), 0o700); err != nil {
		w.t.Fatal(err)
	}
	lock, err := state.LockFile(settle.Lifeline(w.Store.ProcessDir(id)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { lock.Close() })
	return lock
}

func (w *world) forget(p process.Process) {
	w.t.Helper()
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, p.ID)
		if err != nil {
			return err
		}
		return state.Processes.Delete(tx, row.ID, row.Rev)
	})
}

// run writes the run of an automation.
func (w *world) run(id string, s automation.Status, message string) {
	w.t.Helper()
	r := automation.Run{ID: id, AutomationID: "daily", Status: s, StartedAt: w.clock.Now(), Error: message}
	if !s.Open() {
		r.EndedAt = w.clock.Now()
	}
	w.update(func(tx *state.Tx) error { return state.Runs.Put(tx, id, 0, r) })
}

func (w *world) session(key string) {
	w.t.Helper()
	w.update(func(tx *state.Tx) error {
		return state.Sessions.Put(tx, key, 0, session.Session{Key: key, Agent: "main"})
	})
}

func (w *world) maintain(apply bool) tasks.Report {
	w.t.Helper()
	r, err := w.Maintain(w.t.Context(), apply)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) status(id string) task.Status {
	w.t.Helper()
	list, err := w.List(tasks.Filter{Archived: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range list.Tasks {
		if t.ID == id {
			return t.Status
		}
	}
	return ""
}

// events are the texts that are queued for a session.
func (w *world) events(key string) (texts []string) {
	w.t.Helper()
	err := w.Store.View(func(tx *state.Tx) error {
		rows, err := state.Events.All(tx)
		for _, r := range rows {
			if r.Rec.SessionKey == key {
				texts = append(texts, r.Rec.Text)
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return texts
}

// position tells whether anything was written.
func (w *world) position() (n int64) {
	w.t.Helper()
	if err := w.Store.View(func(tx *state.Tx) error { n = tx.Position(); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return n
}
