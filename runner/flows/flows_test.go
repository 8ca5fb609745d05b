package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claw/runner/control"
	"claw/runner/flows"
	"claw/state"
	"claw/state/flow"
	"claw/state/statetest"
	"claw/state/task"
)

// TestOwners: the flow of another owner does not exist, for whatever is asked or
// done, and nothing is written (spec/tasks-recovery.md 3.2).
func TestOwners(t *testing.T) {
	w := newWorld(t)
	f := w.flow(w.mine)
	x := w.task(yours, task.Running)
	before := w.position()
	for _, token := range []string{f.ID, strings.ToLower(f.ID), f.ID[:8], mine} {
		if _, err := w.yours.Get(token); !missing(err) {
			t.Errorf("get %s: %v", token, err)
		}
		if _, err := w.yours.Show(token); !missing(err) {
			t.Errorf("show %s: %v", token, err)
		}
		for _, op := range []flow.Op{flow.Wait, flow.Resume, flow.Finish, flow.Fail, flow.RequestCancel} {
			if r, err := w.yours.Change(t.Context(), token, flow.Change{Op: op, Expect: ptr(int64(0))}); r.Applied || r.Code != flow.CodeNotFound || r.Current != nil || !missing(err) {
				t.Errorf("%s %s: %+v, %v", op, token, r, err)
			}
		}
		if r, err := w.yours.Cancel(t.Context(), token, flow.Change{}); r.Found || r.Cancelled || r.Reason != "Flow not found." || err != nil {
			t.Errorf("cancel %s: %+v, %v", token, r, err)
		}
		if r, err := w.yours.RunTask(t.Context(), token, flows.Link{Claim: flow.Claim{TaskID: x.ID}}); r.Created || r.Found || r.Code != flow.LinkNoFlow || err != nil {
			t.Errorf("run-task %s: %+v, %v", token, r, err)
		}
	}
	if _, err := w.yours.Latest(""); !missing(err) {
		t.Errorf("latest: %v", err)
	}
	if list, err := w.yours.List(flows.Filter{Archived: true}); err != nil || list.Count != 0 {
		t.Errorf("list: %+v, %v", list, err)
	}
	if nobody := (&flows.Book{Store: w.store}); true {
		if _, err := nobody.Get(f.ID); !missing(err) {
			t.Errorf("without an owner: %v", err)
		}
	}
	if after := w.position(); after != before {
		t.Errorf("%d transactions were written", after-before)
	}
	for _, token := range []string{f.ID, strings.ToLower(f.ID), f.ID[:8], mine} {
		if got, err := w.mine.Get(token); err != nil || got.ID != f.ID {
			t.Errorf("my own, %s: %v", token, err)
		}
	}
}

func missing(err error) bool {
	r, ok := control.IsRefused(err)
	return ok && r.Kind == control.Missing
}

// TestRacingWriters: of many who have seen one revision one applies, and the
// others get the record as it is.
func TestRacingWriters(t *testing.T) {
	w := newWorld(t)
	f := w.flow(w.mine)
	const rounds, writers = 5, 8
	for round := range int64(rounds) {
		var mu sync.Mutex
		var all sync.WaitGroup
		applied := 0
		for range writers {
			all.Go(func() {
				r, err := w.mine.Change(t.Context(), f.ID, flow.Change{Op: flow.Wait, Expect: ptr(round)})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case r.Applied && r.Flow.Revision == round+1:
					applied++
				case r.Code != flow.CodeConflict || r.Current.Revision != round+1:
					t.Errorf("%+v", r)
				}
			})
		}
		all.Wait()
		if applied != 1 {
			t.Fatalf("revision %d: %d applied", round, applied)
		}
	}
	if got := w.get(f.ID).Revision; got != rounds {
		t.Errorf("revision %d after %d writes", got, rounds)
	}
}

// TestNothingPersists: Create says so with its cause, TryCreate gives nothing, both
// pass errors of the caller on; a change says persist_failed.
func TestNothingPersists(t *testing.T) {
	w := newWorld(t)
	f := w.flow(w.mine)
	s, err := state.Open(w.store.Dir(), state.Options{Now: w.clock.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := &flows.Book{Store: s, Owner: mine}
	good, bad := flow.Flow{ControllerID: "c", Goal: "g"}, flow.Flow{Goal: "g"}
	if _, err := b.Create(t.Context(), good); !errors.Is(err, flows.ErrCreate) || !errors.Is(err, state.ErrReadOnly) || !strings.HasPrefix(err.Error(), "TaskFlow persistence failed.") {
		t.Errorf("create: %v", err)
	}
	if f, err := b.TryCreate(t.Context(), good); f != nil || err != nil {
		t.Errorf("try-create: %v, %v", f, err)
	}
	for name, b := range map[string]*flows.Book{"writable": w.mine} {
		if _, err := b.Create(t.Context(), bad); !input(err) {
			t.Errorf("create, %s: %v", name, err)
		}
		if f, err := b.TryCreate(t.Context(), bad); f != nil || !input(err) {
			t.Errorf("try-create, %s: %v, %v", name, f, err)
		}
	}
	if f, err := w.mine.TryCreate(t.Context(), good); f == nil || err != nil {
		t.Errorf("try-create: %v", err)
	}
	if r, err := b.Change(t.Context(), f.ID, flow.Change{Op: flow.Finish, Expect: ptr(int64(0))}); r.Applied || r.Code != flow.CodePersist || err == nil {
		t.Errorf("finish: %+v, %v", r, err)
	}
	x := w.task(mine, task.Running)
	if r, err := b.RunTask(t.Context(), f.ID, flows.Link{Claim: flow.Claim{TaskID: x.ID}}); r.Created || r.Code != flow.LinkPersist || r.Reason != "Task persistence failed." || err == nil {
		t.Errorf("run-task: %+v, %v", r, err)
	}
}

func input(err error) bool {
	_, ok := errors.AsType[*flow.InputError](err)
	return ok
}

// TestRunTask: what exists is linked, once; everything else is refused and writes
// nothing, and nothing is launched or replayed (spec/tasks-recovery.md 3.4).
func TestRunTask(t *testing.T) {
	w := newWorld(t)
	f, other := w.flow(w.mine), w.flow(w.mine)
	running, done := w.task(mine, task.Running), w.task(mine, task.Succeeded)
	foreign, gone := w.task(yours, task.Running), w.task(mine, task.Running)
	w.mine.Shown = func(_ *state.Tx, x task.Task) (task.Task, error) {
		if x.ID == gone.ID { // whoever carried it out has died, and nobody has written that down
			x = task.MarkLost(x, "gone", noon)
		}
		return x, nil
	}
	closing := w.flow(w.mine)
	if r, err := w.mine.Change(t.Context(), closing.ID, flow.Change{Op: flow.RequestCancel}); !r.Applied || err != nil {
		t.Fatal(r, err)
	}
	over := w.flow(w.mine)
	if r, err := w.mine.Change(t.Context(), over.ID, flow.Change{Op: flow.Fail, Expect: ptr(int64(0))}); !r.Applied || err != nil {
		t.Fatal(r, err)
	}
	before := w.position()
	for _, tt := range []struct {
		name string
		flow string
		l    flows.Link
		code flow.LinkCode
	}{
		{"no such flow", "01NONE", flows.Link{Claim: flow.Claim{TaskID: running.ID}}, "parent_flow_not_found"},
		{"no such task", f.ID, flows.Link{Claim: flow.Claim{TaskID: "01NONE"}}, "backing_not_found"},
		{"an invented run", f.ID, flows.Link{Claim: flow.Claim{RunID: "made-up"}}, "backing_not_found"},
		{"nothing is named", f.ID, flows.Link{}, "backing_not_found"},
		{"another runtime", f.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID, Runtime: "acp"}}, "backing_not_found"},
		{"another child", f.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID, ChildSessionKey: "agent:main:sub:1"}}, "backing_not_found"},
		{"a task of another owner", f.ID, flows.Link{Claim: flow.Claim{TaskID: foreign.ID}}, "owner_key_mismatch"},
		{"the run of another owner", f.ID, flows.Link{Claim: flow.Claim{RunID: foreign.RunID}}, "backing_not_found"},
		{"it has ended", f.ID, flows.Link{Claim: flow.Claim{TaskID: done.ID}}, "backing_ended"},
		{"it says that it runs, and is lost", f.ID, flows.Link{Claim: flow.Claim{TaskID: gone.ID}}, "backing_ended"},
		{"the flow is to be cancelled", closing.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}}, "cancel_requested"},
		{"the flow has ended", over.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}}, "terminal"},
		{"another revision", f.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}, Expect: ptr(int64(1))}, "revision_conflict"},
	} {
		r, err := w.mine.RunTask(t.Context(), tt.flow, tt.l)
		if err != nil || r.Created || r.Code != tt.code || r.Reason == "" || r.Found != (tt.code != "parent_flow_not_found") {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
	if after := w.position(); after != before {
		t.Errorf("%d transactions were written", after-before)
	}
	r, err := w.mine.RunTask(t.Context(), f.ID, flows.Link{Claim: flow.Claim{RunID: running.RunID, Runtime: "cli"}, Expect: ptr(int64(0)), Label: "tests"})
	if err != nil || !r.Created || r.Task.ParentFlowID != f.ID || r.Task.Label != "tests" || r.Flow.Revision != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := running
	want.ParentFlowID, want.Label = f.ID, "tests"
	if got := w.read(running.ID); got != want {
		t.Errorf("%+v, want only the link and the label", got)
	}
	before = w.position()
	if r, err := w.mine.RunTask(t.Context(), f.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}}); err != nil || !r.Created || w.position() != before {
		t.Errorf("again: %+v, %v", r, err)
	}
	if r, err := w.mine.RunTask(t.Context(), other.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}}); err != nil || r.Created || r.Code != "linked_elsewhere" {
		t.Errorf("to another flow: %+v, %v", r, err)
	}
	if _, err := w.ends(t.Context(), running.ID, task.Succeeded); err != nil {
		t.Fatal(err)
	}
	if r, err := w.mine.RunTask(t.Context(), f.ID, flows.Link{Claim: flow.Claim{TaskID: running.ID}, Label: "all tests"}); err != nil || !r.Created || w.read(running.ID).Label != "all tests" || w.read(running.ID).Status != task.Succeeded {
		t.Errorf("words for one that has ended: %+v, %v", r, err)
	}
}

// TestCancel: spec/tasks-recovery.md 3.6.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	t.Run("without children", func(t *testing.T) {
		f := w.flow(w.mine)
		r, err := w.mine.Cancel(t.Context(), f.ID, flow.Change{})
		if err != nil || !r.Found || !r.Cancelled || r.Flow.Status != flow.Cancelled || r.Flow.Revision != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		again, err := w.mine.Cancel(t.Context(), f.ID, flow.Change{})
		if err != nil || again.Cancelled || again.Reason != "Flow is already cancelled." {
			t.Errorf("%+v, %v", again, err)
		}
	})
	t.Run("with children", func(t *testing.T) {
		f := w.flow(w.mine)
		one, two, done := w.task(mine, task.Running), w.task(mine, task.Queued), w.task(mine, task.Running)
		for _, x := range []task.Task{one, two, done} {
			w.link(w.mine, f, x)
		}
		w.ends(t.Context(), done.ID, task.Succeeded)
		r, err := w.mine.Cancel(t.Context(), f.ID, flow.Change{})
		if err != nil || !r.Cancelled || len(r.Tasks) != 2 || w.get(f.ID).Status != flow.Cancelled {
			t.Fatalf("%+v, %v", r, err)
		}
		if w.read(one.ID).Status != task.Cancelled || w.read(two.ID).Status != task.Cancelled || w.read(done.ID).Status != task.Succeeded {
			t.Error("its children are not as they should be")
		}
	})
	t.Run("a child that does not end", func(t *testing.T) {
		f, x := w.flow(w.mine), w.task(mine, task.Running)
		w.link(w.mine, f, x)
		b := *w.mine
		b.End = func(context.Context, string) (task.CancelResult, error) { return task.CancelOutcome(x), nil }
		r, err := b.Cancel(t.Context(), f.ID, flow.Change{})
		if err != nil || r.Cancelled || r.Reason != "One or more child tasks are still active." || r.Flow.Status != flow.Queued || r.Flow.CancelRequestedAt.IsZero() {
			t.Fatalf("%+v, %v", r, err)
		}
		if r, err := b.Cancel(t.Context(), f.ID, flow.Change{}); err != nil || r.Cancelled || r.Flow.Revision != 1 {
			t.Errorf("again: %+v, %v", r, err)
		}
		// the wish is final
		if r, err := b.Change(t.Context(), f.ID, flow.Change{Op: flow.Finish, Expect: ptr(int64(1))}); err != nil || r.Applied || r.Code != flow.CodeCancelRequested {
			t.Errorf("finish: %+v, %v", r, err)
		}
		w.clock.Advance(time.Hour)
		if _, err := w.ends(t.Context(), x.ID, task.Succeeded); err != nil {
			t.Fatal(err)
		}
		if got := w.get(f.ID); got.Status != flow.Cancelled || !got.EndedAt.Equal(w.read(x.ID).EndedAt) || got.Revision != 2 {
			t.Errorf("with the end of its last child: %+v", got)
		}
	})
	t.Run("another revision", func(t *testing.T) {
		f := w.flow(w.mine)
		r, err := w.mine.Cancel(t.Context(), f.ID, flow.Change{Expect: ptr(int64(3))})
		if err != nil || r.Cancelled || r.Code != flow.CodeConflict || r.Reason != "Flow changed while cancellation was in progress." || r.Flow.Revision != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a child cannot be ended, and the others are", func(t *testing.T) {
		f, x, y := w.flow(w.mine), w.task(mine, task.Running), w.task(mine, task.Running)
		w.link(w.mine, f, x)
		w.link(w.mine, f, y)
		b, bad := *w.mine, errors.New("no such process")
		b.End = func(ctx context.Context, id string) (task.CancelResult, error) {
			if id == y.ID {
				return task.CancelResult{}, bad
			}
			return w.end(ctx, id)
		}
		r, err := b.Cancel(t.Context(), f.ID, flow.Change{})
		if !errors.Is(err, bad) || r.Cancelled || r.Reason != flow.ReasonStillActive || w.read(x.ID).Status != task.Cancelled {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("mirrored", func(t *testing.T) {
		x := mirrored(w)
		f := w.get(x.ParentFlowID)
		if r, err := w.mine.Change(t.Context(), f.ID, flow.Change{Op: flow.RequestCancel}); err != nil || r.Applied || r.Code != flow.CodeNotManaged {
			t.Errorf("request: %+v, %v", r, err)
		}
		r, err := w.mine.Cancel(t.Context(), f.ID, flow.Change{})
		if err != nil || !r.Cancelled || w.read(x.ID).Status != task.Cancelled || r.Flow.Revision != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// mirrored adds a task that gets a flow of its own.
func mirrored(w *world) task.Task {
	w.clock.Advance(time.Second)
	x, err := task.New(task.Task{ID: "01MIRROR" + w.clock.Now().Format("150405"), Runtime: task.Subagent, OwnerKey: mine, Task: "look", Status: task.Running, ChildSessionKey: "agent:main:subagent:1"}, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.update(func(tx *state.Tx) error {
		if err := flows.Mirror(tx, &x); err != nil {
			return err
		}
		return state.Tasks.Add(tx, x.ID, x)
	})
	return x
}

// TestMirrored: the flow is written with its task, and follows its end in the same
// transaction; only the latest task that is linked speaks for it.
func TestMirrored(t *testing.T) {
	w := newWorld(t)
	x := mirrored(w)
	if f := w.get(x.ParentFlowID); f.SyncMode != flow.Mirrored || f.Status != flow.Running || f.Revision != 0 || f.OwnerKey != mine {
		t.Fatalf("%+v", f)
	}
	w.update(func(tx *state.Tx) error { // a later one
		y := x
		y.ID, y.CreatedAt = "01MIRRORZ", x.CreatedAt.Add(time.Minute)
		return state.Tasks.Add(tx, y.ID, y)
	})
	w.ends(t.Context(), x.ID, task.Failed)
	if f := w.get(x.ParentFlowID); f.Status != flow.Running || f.Revision != 0 {
		t.Errorf("the older one spoke: %+v", f)
	}
	w.ends(t.Context(), "01MIRRORZ", task.TimedOut)
	if f := w.get(x.ParentFlowID); f.Status != flow.Failed || f.Revision != 1 || !f.EndedAt.Equal(w.read("01MIRRORZ").EndedAt) {
		t.Errorf("%+v", f)
	}
}

// TestReading: lists and the latest, as they really are; nothing is written, and
// nothing that was only read has a revision.
func TestReading(t *testing.T) {
	w := newWorld(t)
	old, closing, done := w.flow(w.mine), w.flow(w.mine), w.flow(w.mine)
	w.flow(w.yours)
	x := w.task(mine, task.Running)
	w.link(w.mine, old, x)
	w.mine.Change(t.Context(), closing.ID, flow.Change{Op: flow.RequestCancel})
	w.mine.Change(t.Context(), done.ID, flow.Change{Op: flow.Finish, Expect: ptr(int64(0))})
	before := w.position()
	list, err := w.mine.List(flows.Filter{})
	if err != nil || list.Count != 3 || list.Flows[0].ID != done.ID || list.Flows[1].Status != flow.Cancelled || list.Flows[2].Summary.Active != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	text, err := json.Marshal(list.Flows[2])
	if err != nil || strings.Contains(string(text), "revision") || !strings.Contains(string(text), `"taskSummary":{"total":1`) || !strings.Contains(string(text), x.ID) {
		t.Errorf("%s, %v", text, err)
	}
	if e, err := w.mine.Latest("release"); err != nil || e.ID != old.ID {
		t.Errorf("latest: %s, %v, want the one that has not ended", e.ID, err)
	}
	if _, err := w.mine.Latest("another"); !missing(err) {
		t.Errorf("of another controller: %v", err)
	}
	for _, tt := range []struct {
		f    flows.Filter
		want int
	}{{flows.Filter{Status: "succeeded"}, 1}, {flows.Filter{Status: "cancelled"}, 1}, {flows.Filter{Limit: 2}, 2}, {flows.Filter{Controller: "x"}, 0}} {
		if list, err := w.mine.List(tt.f); err != nil || list.Count != tt.want {
			t.Errorf("%+v: %d, %v", tt.f, list.Count, err)
		}
	}
	all, err := (&flows.Book{Store: w.store, All: true}).List(flows.Filter{})
	if err != nil || all.Count != 4 || all.Flows[0].Revision == nil {
		t.Errorf("an operator: %+v, %v", all, err)
	}
	if after := w.position(); after != before {
		t.Error("reading has written")
	}
}

// TestDeathAtEachStep: a flow is made, a task is linked, the flow waits, is to be
// cancelled, and its task ends. Whatever stops the machine at whatever operation:
// what was promised is there, each revision is one write, and the flow is closed
// if and only if its task has ended.
func TestDeathAtEachStep(t *testing.T) {
	var id string
	var promised flow.Flow
	var ended bool
	script := func(fs state.FS, dir string) error {
		id, promised, ended = "", flow.Flow{}, false
		s, err := state.Open(dir, state.Options{FS: fs, Now: func() time.Time { return noon }})
		if err != nil {
			return err
		}
		defer s.Close()
		b, ctx := &flows.Book{Store: s, Owner: mine}, context.Background()
		if promised, err = b.Create(ctx, flow.Flow{ControllerID: "c", Goal: "g"}); err != nil {
			return err
		}
		id = promised.ID
		x, _ := task.New(task.Task{ID: "01TASK", Runtime: task.CLI, OwnerKey: mine, Status: task.Running}, noon)
		if err := s.Update(ctx, func(tx *state.Tx) error { return state.Tasks.Add(tx, x.ID, x) }); err != nil {
			return err
		}
		if _, err := b.RunTask(ctx, id, flows.Link{Claim: flow.Claim{TaskID: x.ID}}); err != nil {
			return err
		}
		for _, c := range []flow.Change{{Op: flow.Wait, Expect: ptr(int64(0))}, {Op: flow.RequestCancel}} {
			r, err := b.Change(ctx, id, c)
			if err != nil {
				return err
			}
			promised = *r.Flow
		}
		w := &world{t: t, store: s}
		_, err = w.end(ctx, x.ID)
		ended = err == nil
		return err
	}
	verify := func(dir string) error {
		s, err := state.Open(dir, state.Options{FS: statetest.Fast(dir)})
		if err != nil {
			return err
		}
		defer s.Close()
		return s.View(func(tx *state.Tx) error {
			rows, err := state.Flows.All(tx)
			if err != nil {
				return err
			}
			if id == "" {
				return nil // it may be there: nobody was told
			}
			if len(rows) != 1 {
				return errors.New("the flow that was promised is not there")
			}
			f, rev := rows[0].Rec, rows[0].Rev
			x, _, err := state.Tasks.Get(tx, "01TASK")
			switch {
			case err != nil:
				return err
			case f.Revision < promised.Revision:
				return errors.New("a change that was promised is not there")
			case f.Revision != rev-1:
				return errors.New("a write that is no revision")
			case (f.Status == flow.Cancelled) != (x.Rec.Status == task.Cancelled):
				return errors.New("flow and task do not agree: " + string(f.Status) + ", " + string(x.Rec.Status))
			case ended && f.Status != flow.Cancelled:
				return errors.New("its last child has ended, and it is not closed")
			case f.Revision >= 1 && x.Rec.ParentFlowID != f.ID:
				return errors.New("the link is not there")
			}
			return nil
		})
	}
	statetest.Crash(t, script, verify)
}

// TestArchive: what has left the ledger is found, and the newest hundred that have
// ended stay in it, as does what owes something.
func TestArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	w := &world{t: t}
	w.store = statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir), Now: func() time.Time { return noon }})
	b := &flows.Book{Store: w.store, Owner: mine}
	var first, owes flow.Flow
	for i := range 103 {
		f, err := b.Create(t.Context(), flow.Flow{ControllerID: "c", Goal: "g"})
		if err != nil {
			t.Fatal(err)
		}
		c := flow.Change{Op: flow.Finish, Expect: ptr(int64(0))}
		switch i {
		case 0:
			owes, c.Patch.State = f, &flow.Value{JSON: json.RawMessage(`{"obligation":1}`)}
		case 1:
			first = f
		}
		if _, err := b.Change(t.Context(), f.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := b.List(flows.Filter{})
	all, err2 := b.List(flows.Filter{Archived: true})
	if err != nil || err2 != nil || list.Count != 101 || all.Count != 103 {
		t.Errorf("%d in the ledger, %d in all; %v, %v", list.Count, all.Count, err, err2)
	}
	for _, f := range []flow.Flow{first, owes} {
		if got, err := b.Get(f.ID); err != nil || got.Status != flow.Succeeded {
			t.Errorf("%s: %v, %v", f.ID, got.Status, err)
		}
	}
}
