package crash_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"claw/runner/subagents"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/event"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
	"claw/state/ulid"
)

// TestAnnounceScenarios: those of spec/tasks-recovery.md 7 that are about telling
// whoever asked of the end of a sub-agent.
func TestAnnounceScenarios(t *testing.T) {
	scenes(t, map[string]func(s *scene){
		"scenario 27: told twice (openclaw#17122, #61525, #89626, #120231, #125797, #41235, #64040)":         toldTwice,
		"scenario 28: never told (openclaw#77480, #67777, #93323, #86488, #98420, #100426, #79053)":          neverTold,
		"scenario 28: given up, where somebody can see it, and told when he can be (openclaw#77480, #98420)": toldLate,
	})
}

// service looks after sub-agents, in whatever life this is.
func (s *scene) service() *subagents.Service {
	return &subagents.Service{
		Store: s.Store, Clock: s.clock, Turns: s.Turns, Jitter: func() float64 { return 1 },
		Policy: func(string) subagents.Policy {
			return subagents.Policy{Limits: subagent.Limits{Depth: 1, Children: 5, Concurrent: 8, Archive: time.Hour}}
		},
	}
}

// child is a sub-agent of the session that has just ended and that nobody has been
// told of.
func (s *scene) child(result string) subagent.Run {
	s.Helper()
	s.wait(time.Second)
	id := ulid.New(s.clock.Now())
	key := "agent:main:subagent:" + strings.ToLower(id)
	r := subagent.Run{
		ID: id, Kind: subagent.Detached, Status: subagent.Ended, Agent: "main", SessionKey: key, TaskID: ulid.New(s.clock.Now()), Caller: mainKey, CallerAgent: "main",
		Depth: 1, Task: "a job", CreatedAt: s.clock.Now(), EndedAt: s.clock.Now(), Outcome: subagent.OK, Reason: subagent.Complete, Result: result,
		Announce: subagent.Announce{State: subagent.Pending, Requester: mainKey, SessionID: s.requester().ID, Route: here, Agent: "main"},
	}
	x, err := task.New(task.Task{
		ID: r.TaskID, Runtime: task.Subagent, RunID: r.ID, OwnerKey: mainKey, RequesterSessionKey: mainKey, ChildSessionKey: key, Task: r.Task, Status: task.Running,
	}, s.clock.Now())
	s.ok(err)
	x, err = task.Conclude(x, task.End{Status: task.Succeeded, At: s.clock.Now()})
	s.ok(err, s.update(func(tx *state.Tx) error {
		return errors.Join(state.Subagents.Add(tx, r.ID, r), state.Tasks.Add(tx, x.ID, x))
	}))
	return r
}

func (s *scene) requester() session.Session {
	s.Helper()
	for _, of := range s.now().sessions {
		if of.Key == mainKey {
			return of
		}
	}
	s.Fatal("nobody has asked")
	return session.Session{}
}

func (s *scene) announcement(id string) (a subagent.Announce) {
	s.Helper()
	r, err := s.service().Find(id, subagents.Caller{})
	s.ok(err)
	return r.Announce
}

func (s *scene) pass() {
	s.Helper()
	_, err := s.service().Pass(context.Background(), true, func(string) bool { return false })
	s.ok(err)
}

// queued are the events of an announcement, whatever has become of them.
func (s *scene) queued(r subagent.Run) (found []event.Event) {
	s.Helper()
	for _, e := range s.now().events {
		if e.ContextKey == strings.ToLower(r.Key()) {
			found = append(found, e)
		}
	}
	return found
}

// toldTwice: two programs tell of it at once, again and again, while whoever asked
// is busy, and after a new start.
func toldTwice(s *scene) {
	s.ok(s.ask("errand-one"))
	s.ok(s.cutOff(func() error { return s.ask("errand-two") }), s.launch("an answer"))
	r := s.child("amber-reef")
	other := s.begin(s.w)
	second := s.service()
	second.Store = other.Store
	var both sync.WaitGroup
	for _, service := range []*subagents.Service{s.service(), second} {
		both.Go(func() {
			for range 5 {
				if _, err := service.Pass(context.Background(), true, func(string) bool { return false }); err != nil {
					s.Error(err)
				}
			}
		})
	}
	both.Wait()
	if got := s.announcement(r.ID); got.State != subagent.Delivered || len(s.queued(r)) != 1 || s.w.heard("amber-reef") != 0 {
		s.Fatalf("%+v, %d events, the person was told %d times", got, len(s.queued(r)), s.w.heard("amber-reef"))
	}
	s.ok(s.settle())
	for range 3 {
		s.after(time.Minute)
		s.life = s.begin(s.w)
		s.pass()
	}
	if n := len(s.queued(r)); n != 1 || s.queued(r)[0].State != event.Consumed || s.w.heard("amber-reef") != 1 {
		s.Errorf("%d events, the person was told %d times", n, s.w.heard("amber-reef"))
	}
}

// neverTold: whoever asked is idle, and everything dies before anybody looks.
func neverTold(s *scene) {
	s.ok(s.ask("errand-one"))
	r := s.child("amber-reef")
	s.wait(30 * time.Minute)
	s.life = s.begin(s.w)
	s.pass()
	s.after(time.Minute)
	if got := s.announcement(r.ID); got.State != subagent.Delivered || len(s.queued(r)) != 1 || s.w.heard("amber-reef") != 1 {
		s.Errorf("%+v, %d events, the person was told %d times", got, len(s.queued(r)), s.w.heard("amber-reef"))
	}
}

// toldLate: the session of whoever asked takes nothing. The ladder is 1, 2, 4 and
// 8 s (6.5), whoever climbs it; the fifth attempt is the last, the audit has it,
// and it is told when the session takes something again.
func toldLate(s *scene) {
	s.ok(s.ask("errand-one"))
	s.phase(session.CycleTombstoned)
	r := s.child("amber-reef")
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 0} {
		s.life = s.begin(s.w)
		before := s.clock.Now()
		s.pass()
		got, after := s.announcement(r.ID), s.clock.Now()
		if got.Attempts != i+1 || pause > 0 && (got.NextAt.Before(before.Add(pause)) || got.NextAt.After(after.Add(pause))) {
			s.Fatalf("attempt %d: %+v", i+1, got)
		}
		s.wait(pause)
	}
	audit, err := s.keeper().Audit(tasks.AuditFilter{Code: string(task.FindDeliveryFailed)})
	if s.ok(err); s.announcement(r.ID).State != subagent.Suspended || audit.FilteredCount != 1 || len(s.queued(r)) != 0 {
		s.Errorf("%+v, the audit has %+v", s.announcement(r.ID), audit.Findings)
	}
	s.wait(time.Hour)
	s.pass()
	s.phase("")
	s.pass()
	s.after(time.Minute)
	if got := s.announcement(r.ID); got.State != subagent.Delivered || len(s.queued(r)) != 1 || s.w.heard("amber-reef") != 1 {
		s.Errorf("%+v, %d events, the person was told %d times", got, len(s.queued(r)), s.w.heard("amber-reef"))
	}
}

// phase is where the recovery of the session of whoever asked stands.
func (s *scene) phase(p session.Phase) {
	s.Helper()
	s.ok(s.update(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, mainKey)
		row.Rec.Recovery = session.Cycle{}
		if p != "" {
			row.Rec.Recovery = session.Cycle{Phase: p, SessionID: row.Rec.ID, ID: "01CUTOFF", SourceTurnID: "01CUTOFF", Revision: 1}
		}
		return errors.Join(err, state.Sessions.Put(tx, row.ID, row.Rev, row.Rec))
	}))
}
