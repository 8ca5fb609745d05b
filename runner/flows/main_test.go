package flows_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/flows"
	"claw/runner/settle"
	"claw/state"
	"claw/state/flow"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

const (
	mine  = "agent:main:main"
	yours = "agent:other:main"
)

func ptr[T any](v T) *T { return &v }

// world is a state directory with the books of two owners, and a clock that is
// moved by hand.
type world struct {
	t     testing.TB
	store *state.Store
	clock *clocktest.Fake
	mine  *flows.Book
	yours *flows.Book
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	w := &world{t: t, clock: clocktest.New(noon)}
	w.store = statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir), Now: w.clock.Now})
	w.mine = &flows.Book{Store: w.store, Owner: mine, End: w.end}
	w.yours = &flows.Book{Store: w.store, Owner: yours, End: w.end}
	return w
}

func (w *world) flow(b *flows.Book) flow.Flow {
	w.t.Helper()
	w.clock.Advance(time.Second)
	f, err := b.Create(w.t.Context(), flow.Flow{ControllerID: "release", Goal: "ship"})
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *world) get(id string) flow.Flow {
	w.t.Helper()
	f, err := (&flows.Book{Store: w.store, All: true}).Get(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// task writes a task of the owner.
func (w *world) task(owner string, s task.Status) task.Task {
	w.t.Helper()
	w.clock.Advance(time.Second)
	t, err := task.New(task.Task{ID: ulid.New(w.clock.Now()), Runtime: task.CLI, RunID: ulid.New(w.clock.Now()), OwnerKey: owner, Task: "make", Status: s}, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.update(func(tx *state.Tx) error { return state.Tasks.Add(tx, t.ID, t) })
	return t
}

func (w *world) read(id string) (t task.Task) {
	w.t.Helper()
	err := w.store.View(func(tx *state.Tx) error {
		row, _, err := state.Tasks.Find(tx, id)
		t = row.Rec
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// end ends a task as package tasks does: with its flow, in one transaction.
func (w *world) end(ctx context.Context, id string) (task.CancelResult, error) {
	return w.ends(ctx, id, task.Cancelled)
}

func (w *world) ends(ctx context.Context, id string, s task.Status) (r task.CancelResult, err error) {
	err = w.store.Update(ctx, func(tx *state.Tx) error {
		row, _, err := state.Tasks.Get(tx, id)
		if err != nil {
			return err
		}
		t, err := task.Conclude(row.Rec, task.End{Status: s, At: tx.Now()})
		if err != nil {
			return err
		}
		r = task.CancelOutcome(t)
		if err := state.Tasks.Put(tx, id, row.Rev, t); err != nil {
			return err
		}
		return settle.Follow(tx, t)
	})
	return r, err
}

// position tells whether anything was written.
func (w *world) position() (n int64) {
	w.t.Helper()
	if err := w.store.View(func(tx *state.Tx) error { n = tx.Position(); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// link makes a task part of a flow.
func (w *world) link(b *flows.Book, f flow.Flow, t task.Task) {
	w.t.Helper()
	if r, err := b.RunTask(w.t.Context(), f.ID, flows.Link{Claim: flow.Claim{TaskID: t.ID}}); err != nil || !r.Created {
		w.t.Fatalf("%+v, %v", r, err)
	}
}
