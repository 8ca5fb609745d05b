package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/session"
	"claw/state/task"
)

func reminder(text, wake string) func(a *automation.Automation) {
	return func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: text}
		a.WakeMode, a.Delivery = wake, nil
	}
}

func TestAReminderIsQueuedOnce(t *testing.T) {
	w := newWorld(t)
	a := w.add("oven", "1m", reminder("look at the oven", "now"))
	w.clock.Advance(time.Minute)
	w.pass()
	w.pass()
	w.tells("12:01 succeeded")
	events := w.events()
	if len(events) != 1 {
		t.Fatalf("events %+v", events)
	}
	e := events[0]
	if e.Kind != event.KindCron || e.ContextKey != scheduler.ContextKey(a.ID) || e.SessionKey != "agent:main:main" || e.NextTurn || e.Text != "look at the oven" {
		t.Errorf("event %+v", e)
	}
	if tasks := w.tasks(); len(tasks) != 1 || tasks[0].Runtime != task.Cron || tasks[0].Status != task.Succeeded {
		t.Errorf("tasks %+v", tasks)
	}

	// while it waits to be told, the same is not queued again, and that is said
	w.clock.Advance(time.Minute)
	w.pass()
	w.tells("12:01 succeeded, 12:02 skipped")
	if n := len(w.events()); n != 1 {
		t.Errorf("%d events", n)
	}

	// removed, it is not told any more
	if _, err := w.Remove(t.Context(), "oven"); err != nil {
		t.Fatal(err)
	}
	if e := w.events()[0]; e.State != event.Retired {
		t.Errorf("event %+v", e)
	}
}

func TestAnEventForTheNextTurnWakesNobody(t *testing.T) {
	w := newWorld(t)
	w.add("note", "1m", reminder("the log was rotated", "next-heartbeat"))
	w.clock.Advance(time.Minute)
	w.pass()
	if e := w.events()[0]; !e.NextTurn || e.Kind != event.KindEvent {
		t.Errorf("event %+v", e)
	}
}

// asks has the agent, a shell script, asked.
func (w *world) asks(script string, change func(a *automation.Automation)) automation.Automation {
	w.agent = agent.Agent{Name: "main", Command: []string{"sh", "-c", script}}
	return w.add("ask", "1m", func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "how is the weather"}
		a.Delivery = &automation.Delivery{Mode: "announce"}
		if change != nil {
			change(a)
		}
	})
}

func TestAnAgentIsAsked(t *testing.T) {
	w := newWorld(t)
	a := w.asks(`cat > "$HOME/read"; echo it rains`, nil)
	w.clock.Advance(time.Minute)
	w.pass()
	w.tells("12:01 succeeded")
	turns := w.turns()
	if len(turns) != 1 {
		t.Fatalf("turns %+v", turns)
	}
	turn := turns[0]
	if turn.SessionKey != "cron:"+a.ID || turn.RunID != w.runs()[0].ID || !strings.HasPrefix(turn.Message, "[cron:"+a.ID+" ask] how is the weather\n") {
		t.Errorf("turn %+v", turn)
	}
	if sent := w.sent(); len(sent) != 1 || sent[0].Body != "it rains" || sent[0].ID != turn.DeliveryID || w.runs()[0].DeliveryID != turn.DeliveryID {
		t.Errorf("sent %+v", sent)
	}
	if tasks := w.tasks(); len(tasks) != 1 || tasks[0].Status != task.Succeeded || tasks[0].ChildSessionKey != turn.SessionKey {
		t.Errorf("tasks %+v", tasks)
	}
	w.clock.Advance(time.Minute)
	w.pass()
	if turns = w.turns(); len(turns) != 2 || turns[0].SessionID == turns[1].SessionID {
		t.Errorf("each run has a transcript of its own: %+v", turns)
	}
}

func TestHowATurnEnds(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		status       automation.Status
		error, sent  string
	}{
		{"quiet", "echo HEARTBEAT_OK", automation.Succeeded, "", ""},
		{"it says that it failed", "echo AUTOMATION_FAILED; echo no network", automation.Failed, "the agent says that it failed: no network", "no network"},
		{"not at the beginning", "echo well; echo AUTOMATION_FAILED", automation.Succeeded, "", "well\nAUTOMATION_FAILED"},
		{"it fails", "echo broken >&2; exit 2", automation.Failed, "the agent failed with exit code 2", "the agent failed with exit code 2: broken"},
		{"it does not take it", "exit 75", automation.Failed, "the agent did not take the message", "the agent did not take the message (exit code 75)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.asks("cat > /dev/null; "+tt.script, nil)
			w.clock.Advance(time.Minute)
			w.pass()
			var run automation.Run
			for _, r := range w.runs() {
				if r.Attempt == 1 {
					run = r
				}
			}
			if run.Status != tt.status || !strings.HasPrefix(run.Error, tt.error) {
				t.Errorf("run %+v", run)
			}
			body := ""
			for _, d := range w.sent() {
				body += strings.TrimSpace(d.Body)
			}
			if body != tt.sent {
				t.Errorf("sent %q, want %q", body, tt.sent)
			}
		})
	}
}

// Whoever waited for the turn is gone: a later pass, of another program, ends
// the run with the reply that nobody saw.
func TestATurnOutlivesWhoWaits(t *testing.T) {
	w := newWorld(t)
	w.asks(`cat > /dev/null; touch "$HOME/begun"; while test ! -f "$HOME/go"; do sleep 0.02; done; echo it rains`, nil)
	w.agent.Env = map[string]string{"HOME": w.dir}
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := contextFor(t)
	done := make(chan error, 1)
	go func() { done <- w.Start(ctx, work.Start[0]) }()
	w.until("it has begun", func() bool { return exists(w, "begun") })
	leave()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.tells("12:01 running")
	w.write("go")
	w.until("its turn is settled", func() bool {
		ended, _, err := w.Turns.Settle(t.Context())
		return err == nil && len(ended) > 0
	})
	w.tells("12:01 succeeded")
	if sent := w.sent(); len(sent) != 1 || sent[0].Body != "it rains" {
		t.Errorf("sent %+v", sent)
	}
	if turns := w.turns(); len(turns) != 1 || turns[0].Status != session.TurnSucceeded {
		t.Errorf("turns %+v", turns)
	}
}

// The claim of a turn that was not admitted is taken back, also by a boot
// later: an admission is on disk before the agent runs.
func TestATurnThatWasNotAdmitted(t *testing.T) {
	w := newWorld(t)
	w.asks("cat > /dev/null; echo it rains", nil)
	w.clock.Advance(time.Minute)
	if _, err := w.Pass(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	w.change(func(r *automation.Run) { r.Owner.Boot = "another" })
	w.pass()
	w.pass()
	w.tells("12:01 succeeded")
	if n := len(w.turns()); n != 1 {
		t.Errorf("%d turns", n)
	}
}
