package resume_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
)

// seed 003, 15; issue 5, "Done when": continued once, with the read-only argv,
// delivered once, on the stored route.
func TestContinuedOnceAndDeliveredOnce(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	req := typed("clean the house")
	req.Route = delivery.Route{Channel: "inbox", Thread: "42"}
	source := w.run(req)
	w.cycle(session.CycleInterrupted, "", 0)
	w.told()
	p := w.tick()
	if it := p.Items[0]; len(p.Items) != 1 || it.State != session.ViewRecoverable || it.Step != session.StepContinue || it.NextAttempt != 1 || !it.Due {
		t.Fatalf("planned %+v", p)
	}
	w.ran("ordinary recover")
	w.told("it is done")
	if d := w.sent()[0]; d.Route.Thread != "42" {
		t.Errorf("it went to %+v", d.Route)
	}
	c := w.cycle(session.CycleClosed, session.EndCompleted, 1)
	attempt := w.attempts()[0]
	if attempt.Kind != session.KindRecovery || attempt.DispatchID != c.DispatchID || attempt.Attempt != 1 || c.SourceTurnID != source.ID {
		t.Errorf("%+v", attempt)
	}
	if s := w.session(); s.Status != session.Done {
		t.Errorf("the session is %s", s.Status)
	}
	w.clock.Advance(time.Hour)
	if p := w.tick(); len(p.Items) != 0 {
		t.Errorf("again: %+v", p)
	}
	w.ran("ordinary recover")
}

// spec/tasks-recovery.md 4.5, 4.7, 9.7: three dispatches under one id, 5 and 10
// s after the one before; the fourth observation gives it up, with one notice.
// Only sessions new is beyond the tombstone.
func TestBudgetAndTombstone(t *testing.T) {
	w := newWorld(t)
	w.does(dies, dies)
	w.run(typed("clean the house"))
	for _, tt := range []struct {
		after time.Duration
		runs  string
		next  time.Duration // 0: nothing is foreseen
	}{
		{0, "ordinary recover", 5 * time.Second},
		{4 * time.Second, "ordinary recover", time.Second},
		{time.Second, "ordinary recover recover", 10 * time.Second},
		{9 * time.Second, "ordinary recover recover", time.Second},
		{time.Second, "ordinary recover recover recover", 0},
	} {
		w.clock.Advance(tt.after)
		w.tick()
		w.ran(tt.runs)
		// Agents end by the clock of the machine; what they end at is cut to
		// the admission's time, so that the waits are of the fake clock.
		if next := w.plan().Next; tt.next > 0 && next.Sub(w.clock.Now()) > tt.next+time.Second {
			t.Errorf("after %q it is looked at again in %s, not %s", tt.runs, next.Sub(w.clock.Now()), tt.next)
		}
	}
	ids := map[string]bool{}
	for _, x := range w.attempts() {
		ids[x.DispatchID] = true
	}
	if len(ids) != 1 {
		t.Errorf("dispatched under %v", ids)
	}
	w.cycle(session.CycleInterrupted, "", 3)
	w.told()
	w.tick()
	w.cycle(session.CycleTombstoned, "", 3)
	w.told("given up", "clean the house", "claw sessions new")
	w.tick()
	w.told("given up")
	w.ran("ordinary recover recover recover")

	_, err := w.Turns.Run(t.Context(), typed("more"))
	if fenced, ok := errors.AsType[*agent.FencedError](err); !ok || fenced.Remedy() != "claw sessions new begins a new conversation" {
		t.Errorf("a person's turn: %v", err)
	}
	if _, err := w.Retry(t.Context(), key); err == nil {
		t.Error("it was retried")
	}
	if err := w.Dismiss(t.Context(), key); err == nil {
		t.Error("it was dismissed")
	}
	w.does(answers, "")
	if _, _, err := w.Turns.Renew(t.Context(), key, "main"); err != nil {
		t.Fatal(err)
	}
	if turn := w.run(typed("more")); turn.Status != session.TurnSucceeded {
		t.Errorf("%+v", turn)
	}
}

// How an attempt ends decides about its charge (spec/tasks-recovery.md 4.5,
// design.md section 5).
func TestHowAnAttemptEnds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		readOnly string
		phase    session.Phase
		ending   session.Ending
		charged  int
		told     []string
	}{
		{"an answer completes", answers, session.CycleClosed, session.EndCompleted, 1, []string{"it is done"}},
		{"75 is refunded", "exit 75", session.CycleInterrupted, "", 0, nil},
		{"an error is an end", "exit 3", session.CycleClosed, session.EndFailed, 1, []string{"send the message again", "clean the house", "exit code 3"}},
		{"silence is no answer to a person", "cat > /dev/null", session.CycleClosed, session.EndFailed, 1, []string{"send the message again", "said nothing"}},
		{"a signal keeps the charge", dies, session.CycleInterrupted, "", 1, nil},
		{"a dead supervisor keeps the charge", "kill -KILL $PPID; exit 0", session.CycleInterrupted, "", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.does(dies, tt.readOnly)
			w.run(typed("clean the house"))
			w.tick()
			w.cycle(tt.phase, tt.ending, tt.charged)
			w.told(tt.told...)
			w.ran("ordinary recover")
		})
	}
}

// An agent that cannot be started refuses as well, and not for ever.
func TestRefusedForAnHour(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	w.run(typed("clean the house"))
	w.agent.Recover = []string{"claw-no-such-program"}
	for range 2 {
		w.tick()
		w.cycle(session.CycleInterrupted, "", 0)
		w.clock.Advance(time.Minute + time.Second)
	}
	w.told()
	w.clock.Advance(session.RefusedMost)
	w.tick()
	w.cycle(session.CycleClosed, session.EndFailed, 0)
	w.told("send the message again", "accepted nothing for an hour")
	w.ran("ordinary")
}

// Without a way to go on that changes nothing, nothing is run: the person is
// asked to send it again, once. Events cannot be sent again: of these he is
// told that nobody knows.
func TestWithoutAReadOnlyWay(t *testing.T) {
	t.Run("a message", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, "")
		w.run(typed("clean the house"))
		w.tick()
		w.tick()
		w.cycle(session.CycleClosed, session.EndFailed, 0)
		w.told("send the message again", "clean the house", "recover =")
		w.ran("ordinary")
		if s := w.session(); s.Status != session.Failed {
			t.Errorf("the session is %s", s.Status)
		}
	})
	t.Run("events", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, "")
		id := w.event("the disk is full")
		w.run(wake(id))
		w.told() // it may still be answered
		w.tick()
		w.cycle(session.CycleClosed, session.EndFailed, 0)
		w.told("not known", "the disk is full")
		w.ran("ordinary")
		if got := w.eventState(id); got != event.Unknown {
			t.Errorf("the event is %s", got)
		}
	})
}

// What a turn had shown is consumed by the one that goes on with it, and told
// to nobody meanwhile.
func TestEventsAreConsumedByTheAttempt(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	id := w.event("the disk is full")
	w.run(wake(id))
	if got := w.eventState(id); got != event.Unknown {
		t.Errorf("meanwhile the event is %s", got)
	}
	w.told()
	w.tick()
	if got := w.eventState(id); got != event.Consumed {
		t.Errorf("the event is %s", got)
	}
	w.told("it is done")
}

// A tombstone tells of the events as well; what comes later for the session
// goes to the person as it is, or it would wait for ever.
func TestEventsOfATombstone(t *testing.T) {
	w := newWorld(t)
	w.does(dies, dies)
	w.run(wake(w.event("the disk is full")))
	for range 4 {
		w.tick()
		w.clock.Advance(time.Minute)
	}
	w.cycle(session.CycleTombstoned, "", 3)
	w.told("given up", "the disk is full")
	late := w.event("the disk is fuller")
	p, err := w.Heartbeat.Plan(w.clock.Now())
	if err != nil || len(p.Wakes) != 1 || !p.Wakes[0].Relay {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := w.Heartbeat.Do(t.Context(), p.Wakes[0]); err != nil {
		t.Fatal(err)
	}
	if got := w.eventState(late); got != event.Relayed || len(w.sent()) != 2 {
		t.Errorf("the event is %s, sent %+v", got, w.sent())
	}
	w.ran("ordinary recover recover recover")
}

// A person need not wait, and what he does supersedes what was cut off; where
// he fails too it is gone on with.
func TestForegroundFirst(t *testing.T) {
	t.Run("a success supersedes", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, answers)
		id := w.event("the disk is full")
		w.run(wake(id))
		w.does(answers, answers)
		w.run(typed("hello"))
		w.cycle(session.CycleClosed, session.EndSuperseded, 0)
		w.tick()
		w.told("not known", "the disk is full")
		w.ran("ordinary ordinary")
	})
	t.Run("claw waits for him and not he for claw", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, answers)
		w.run(typed("one"))
		other := wake(w.event("the disk is full"))
		other.Wait = 0
		if _, err := w.Turns.Run(t.Context(), other); err == nil {
			t.Error("a wake went before what was cut off")
		}
		p, err := w.Heartbeat.Plan(w.clock.Now())
		if err != nil || len(p.Wakes) != 1 || p.Wakes[0].Run || p.Wakes[0].Reason != "recovery-first" {
			t.Errorf("%+v, %v", p, err)
		}
	})
	t.Run("a failure lets it go on", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, answers)
		w.run(typed("one"))
		w.does("exit 75", answers)
		w.run(typed("two"))
		w.cycle(session.CycleInterrupted, "", 0)
		w.clock.Advance(time.Minute)
		w.tick()
		w.cycle(session.CycleClosed, session.EndCompleted, 1)
		w.told("it is done")
	})
	t.Run("another loss is what is gone on with", func(t *testing.T) {
		w := newWorld(t)
		w.does(dies, answers)
		id := w.event("the disk is full")
		w.run(wake(id))
		second := w.run(typed("two"))
		if c := w.cycle(session.CycleInterrupted, "", 0); c.SourceTurnID != second.ID {
			t.Errorf("it is about %s", c.SourceTurnID)
		}
		w.told("not known", "the disk is full") // of the first nothing more will come
	})
}

// design.md section 5: the embedded agent makes a report of it.
func TestTheEmbeddedAgentReports(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	w.run(typed("clean the house"))
	w.agent = agent.Agent{Name: "main"}
	w.tick()
	w.told("cut off", "no agent is configured", "clean the house")
	w.cycle(session.CycleClosed, session.EndCompleted, 1)
}

// An answer that is known is handed over; nothing is run.
func TestAnAnswerThatIsKnown(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	id := w.event("the disk is full")
	source := w.run(wake(id))
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Turns.Get(tx, source.ID)
		if err != nil {
			return err
		}
		row.Rec.Response = &session.Response{Outcome: "needs_attention", Notify: true, Summary: "it is full indeed"}
		return state.Turns.Put(tx, row.ID, row.Rev, row.Rec)
	})
	if p := w.tick(); p.Items[0].Step != session.StepCarry {
		t.Errorf("%+v", p)
	}
	w.tick()
	w.told("it is full indeed")
	w.ran("ordinary")
	w.cycle(session.CycleClosed, session.EndCompleted, 0)
	if got := w.eventState(id); got != event.Consumed {
		t.Errorf("the event is %s", got)
	}
}

// By hand: at once, and without running anything.
// TestDismissIsNoWayAcrossATombstone: nor where it is only due.
func TestDismissIsNoWayAcrossATombstone(t *testing.T) {
	w := newWorld(t)
	w.does(dies, dies)
	w.run(typed("clean the house"))
	w.tick()
	for range 2 {
		if _, err := w.Retry(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	w.cycle(session.CycleInterrupted, "", 3)
	no, rejected := errors.AsType[*session.Rejection](w.Dismiss(t.Context(), key))
	if !rejected || no.Code != session.ConflictExhausted || no.Remedy() != "claw sessions new begins a new conversation" {
		t.Errorf("%+v", no)
	}
	w.cycle(session.CycleInterrupted, "", 3)
}

func TestByHand(t *testing.T) {
	w := newWorld(t)
	w.does(dies, dies)
	w.run(typed("clean the house"))
	w.tick()
	if p := w.plan(); len(p.Items) != 1 || p.Items[0].Due {
		t.Fatalf("it does not wait: %+v", p)
	}
	if done, err := w.Retry(t.Context(), key); err != nil || done.Turn.Status != session.TurnFailed {
		t.Errorf("%+v, %v", done, err)
	}
	w.cycle(session.CycleInterrupted, "", 2)
	if err := w.Dismiss(t.Context(), key); err != nil {
		t.Error(err)
	}
	w.cycle(session.CycleClosed, session.EndDismissed, 2)
	w.told()
	w.ran("ordinary recover recover")
	if _, rejected := errors.AsType[*session.Rejection](w.Dismiss(t.Context(), key)); !rejected {
		t.Error("it was dismissed twice")
	}
}

// spec/tasks-recovery.md 9.4: two who recover make one attempt.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.does(dies, "sleep 0.1; "+answers)
	w.run(typed("clean the house"))
	it := w.plan().Items[0]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := w.Do(t.Context(), it)
			if _, busy := errors.AsType[*agent.BusyError](err); err != nil && !busy {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.ran("ordinary recover")
	w.told("it is done")
}

// seed 003, 17: what has an owner of its own is not touched.
func TestOwners(t *testing.T) {
	for name, change := range map[string]func(*agent.Request){
		"an automation":  func(r *agent.Request) { r.RunID = "01M8QC1TW00000000000000009" },
		"a cron session": func(r *agent.Request) { r.SessionKey = "cron:backup" },
		"a sub-agent":    func(r *agent.Request) { r.SessionKey = "agent:main:subagent:x" },
		"a hook":         func(r *agent.Request) { r.SessionKey, r.Kind = "hook:mail", session.KindHook },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.does(dies, answers)
			req := wake(w.event("x"))
			change(&req)
			w.run(req)
			if p := w.tick(); len(p.Items) != 0 {
				t.Errorf("%+v", p)
			}
			w.ran("ordinary")
		})
	}
}

// Looking writes nothing, and shows what a tick will do before the turn is
// recorded as ended.
func TestWhatIsShownIsWhatIsDone(t *testing.T) {
	w := newWorld(t)
	w.does(dies, answers)
	w.run(typed("clean the house"))
	shown, err := w.List(w.clock.Now(), false)
	if err != nil || len(shown) != 1 || shown[0].Step != session.StepContinue || shown[0].Cycle != w.session().Recovery {
		t.Errorf("%+v, %v", shown, err)
	}
	plan, err := w.Foresee(w.clock.Now())
	if err != nil || len(plan.Items) != 1 || plan.Items[0].Step != w.plan().Items[0].Step {
		t.Errorf("%+v, %v", plan, err)
	}
}
