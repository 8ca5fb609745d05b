package crash_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"claw/runner/flows"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/flow"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

// TestFlowScenarios: those of spec/tasks-recovery.md 7 that are about flows.
func TestFlowScenarios(t *testing.T) {
	scenes(t, map[string]func(s *scene){
		"scenario 12: the flow of lost work goes on (openclaw#92285, #92301, #126311)":              flowOfLostWork,
		"scenario 13: a blocked flow that can go on is pruned (openclaw#117606)":                    blockedIsKept,
		"scenario 14: an owner's key means a flow that is over (openclaw#119129)":                   ownersNewest,
		"scenario 15: a cancel that is over still counts (openclaw#117713)":                         cancelledCounts,
		"scenario 16: a blocker that has vanished wedges the owner (openclaw#143739, #144475)":      vanishedBlocker,
		"scenario 17: a wish to cancel and the record it is about are two writes (openclaw#112708)": oneWrite,
	})
}

// book is what the owner of mainKey sees of the flows.
func (s *scene) book() *flows.Book {
	k := s.authority()
	return &flows.Book{Store: s.Store, Owner: mainKey, Shown: k.Shown, End: k.Cancel}
}

// authority is a keeper that may call work lost.
func (s *scene) authority() *tasks.Keeper {
	k := s.keeper()
	k.Authority, k.Keep = true, 7*24*time.Hour
	return k
}

func (s *scene) maintain() {
	s.Helper()
	_, err := s.authority().Maintain(context.Background(), true)
	s.ok(err)
}

func (s *scene) flow(goal string) flow.Flow {
	s.Helper()
	s.wait(time.Second)
	f, err := s.book().Create(context.Background(), flow.Flow{ControllerID: "release", Goal: goal})
	s.ok(err)
	return f
}

// change is one that must be applied.
func (s *scene) change(id string, c flow.Change) flow.Flow {
	s.Helper()
	if c.Expect == nil {
		f, err := s.book().Get(id)
		s.ok(err)
		c.Expect = &f.Revision
	}
	r, err := s.book().Change(context.Background(), id, c)
	if s.ok(err); !r.Applied {
		s.Fatalf("%s: %+v", c.Op, r)
	}
	return *r.Flow
}

// work is a task that nobody carries out.
func (s *scene) work(of *flow.Flow, runtime task.Runtime) task.Task {
	s.Helper()
	id := ulid.New(s.clock.Now())
	t, err := task.New(task.Task{
		ID: id, Runtime: runtime, OwnerKey: mainKey, RequesterSessionKey: mainKey, ChildSessionKey: "agent:main:subagent:" + id, Task: "a job",
		Status: task.Running,
	}, s.clock.Now())
	s.ok(err)
	if of != nil {
		t.ParentFlowID = of.ID
	}
	s.ok(s.update(func(tx *state.Tx) error {
		return errors.Join(flows.Mirror(tx, &t), state.Tasks.Add(tx, t.ID, t))
	}))
	return t
}

func (s *scene) get(id string) flow.Flow {
	s.Helper()
	f, err := s.book().Get(id)
	s.ok(err)
	return f
}

func (s *scene) findings(code string) (n int) {
	s.Helper()
	a, err := s.authority().Audit(tasks.AuditFilter{Code: code})
	s.ok(err)
	return a.FilteredCount
}

// flowOfLostWork: the flow that mirrors a task follows it in the same write; one
// that is managed is somebody's, who finds it in the audit and can end it.
func flowOfLostWork(s *scene) {
	alone := s.work(nil, task.Subagent)
	managed := s.flow("ship")
	child := s.work(&managed, task.Subagent)
	s.change(managed.ID, flow.Change{Op: flow.Resume, To: flow.Running})
	s.wait(time.Hour)
	s.maintain()
	var lone, linked task.Task
	for _, t := range s.now().tasks {
		switch t.ID {
		case alone.ID:
			lone = t
		case child.ID:
			linked = t
		}
	}
	mirror := s.get(lone.ParentFlowID)
	if lone.Status != task.Lost || mirror.Status != flow.Lost || !mirror.EndedAt.Equal(lone.EndedAt) || mirror.Revision != 1 {
		s.Errorf("the task is %s, its flow %+v", lone.Status, mirror)
	}
	if got := s.get(managed.ID); linked.Status != task.Lost || got.Status != flow.Running || s.findings(flow.FindRunning) != 1 {
		s.Errorf("its task is %s, it is %s, and the audit has found it %d times", linked.Status, got.Status, s.findings(flow.FindRunning))
	}
	r, err := s.book().Cancel(context.Background(), managed.ID, flow.Change{})
	if s.ok(err); !r.Cancelled || s.get(managed.ID).Status != flow.Cancelled || s.findings(flow.FindRunning) != 0 {
		s.Errorf("%+v", r)
	}
	s.maintain()
	if again := s.get(lone.ParentFlowID); again.Revision != mirror.Revision {
		s.Errorf("once more it has become %+v", again)
	}
}

func blockedIsKept(s *scene) {
	waits, ended := s.flow("waits for a person"), s.flow("was given up")
	for _, f := range []flow.Flow{waits, ended} {
		s.change(f.ID, flow.Change{Op: flow.Wait, Patch: flow.Patch{BlockedSummary: ptr("nobody has signed it")}})
	}
	s.change(ended.ID, flow.Change{Op: flow.Fail})
	s.wait(8 * 24 * time.Hour)
	s.maintain()
	if got := s.get(waits.ID); got.Status != flow.Blocked {
		s.Errorf("%+v", got)
	}
	list, err := s.book().List(flows.Filter{Archived: true})
	if s.ok(err); list.Count != 1 {
		s.Errorf("%d flows are left, want the one that can go on", list.Count)
	}
	if got := s.change(waits.ID, flow.Change{Op: flow.Resume}); got.Status != flow.Queued {
		s.Errorf("it cannot go on: %+v", got)
	}
}

func ptr[T any](v T) *T { return &v }

func ownersNewest(s *scene) {
	open := s.flow("goes on")
	over := s.flow("is over")
	s.change(over.ID, flow.Change{Op: flow.Finish})
	for _, token := range []string{mainKey, ""} {
		var got flow.Flow
		if token == "" {
			e, err := s.book().Latest("release")
			s.ok(err)
			got = e.Flow
		} else {
			got = s.get(token)
		}
		if got.ID != open.ID {
			s.Errorf("%q means the flow that %s", token, got.Goal)
		}
	}
	s.change(open.ID, flow.Change{Op: flow.Finish})
	if got := s.get(mainKey); got.ID != over.ID {
		s.Errorf("all are over, and the owner's key means %q instead of the newest", got.Goal)
	}
}

func cancelledCounts(s *scene) {
	f := s.flow("ship")
	child := s.work(&f, task.CLI)
	s.change(f.ID, flow.Change{Op: flow.RequestCancel})
	count := func() int {
		list, err := s.book().List(flows.Filter{})
		s.ok(err)
		return list.Counts.Cancelled
	}
	if n := count(); n != 1 {
		s.Errorf("%d are to be cancelled", n)
	}
	r, err := s.authority().Cancel(context.Background(), child.ID)
	if s.ok(err); !r.Cancelled || s.get(f.ID).Status != flow.Cancelled || count() != 0 {
		s.Errorf("it is %s, and %d are still to be cancelled", s.get(f.ID).Status, count())
	}
}

func vanishedBlocker(s *scene) {
	f := s.flow("ship")
	s.change(f.ID, flow.Change{Op: flow.Wait, Patch: flow.Patch{BlockedTask: ptr(ulid.New(s.clock.Now()))}})
	if n := s.findings(flow.FindBlockedTask); n != 1 {
		s.Errorf("the audit finds it %d times", n)
	}
	r, err := s.book().Cancel(context.Background(), f.ID, flow.Change{})
	if s.ok(err); !r.Cancelled || s.get(f.ID).Status != flow.Cancelled || s.findings(flow.FindBlockedTask) != 0 {
		s.Errorf("%+v", r)
	}
	if got, err := s.book().Create(context.Background(), flow.Flow{ControllerID: "release", Goal: "once more"}); err != nil || s.get(mainKey).ID != got.ID {
		s.Errorf("the owner is stuck: %v", err)
	}
}

// oneWrite: the machine stops at every operation of a wish to cancel that comes
// with a change of the state. Both are there or neither, and nobody whose revision
// was older has overwritten one with the other.
func oneWrite(s *scene) {
	var id string
	statetest.Crash(s.T, func(fs state.FS, dir string) error {
		id = ""
		store, err := state.Open(dir, state.Options{FS: fs})
		if err != nil {
			return err
		}
		defer store.Close()
		b, ctx := &flows.Book{Store: store, Owner: mainKey}, context.Background()
		f, err := b.Create(ctx, flow.Flow{ControllerID: "release", Goal: "ship"})
		if err != nil {
			return err
		}
		id = f.ID
		_, err = b.Cancel(ctx, f.ID, flow.Change{Expect: &f.Revision})
		if err != nil {
			return err
		}
		r, err := b.Change(ctx, f.ID, flow.Change{Op: flow.Wait, Patch: flow.Patch{Step: ptr("sign")}, Expect: &f.Revision})
		if err == nil && r.Applied {
			return errors.New("a change to what is over was applied")
		}
		return err
	}, func(dir string) error {
		store, err := state.Open(dir, state.Options{FS: statetest.Fast(dir)})
		if err != nil {
			return err
		}
		defer store.Close()
		return store.View(func(tx *state.Tx) error {
			all, err := state.Flows.All(tx)
			if err != nil || id == "" && len(all) == 0 {
				return err
			}
			i := slices.IndexFunc(all, func(r state.Row[flow.Flow]) bool { return id == "" || r.ID == id })
			if i < 0 {
				return errors.New("the flow is not there")
			}
			f := all[i].Rec
			wish, over := !f.CancelRequestedAt.IsZero(), f.Status == flow.Cancelled
			if f.CurrentStep != "" || over && !wish || over && f.EndedAt.IsZero() || wish != (f.Revision > 0) {
				return errors.New("half of it was written")
			}
			return nil
		})
	})
}
