package heartbeat_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/event"
	"claw/state/session"
)

// The seed's example, through to what the agent reads (seed 000; the slug is
// whole, design.md 7).
func TestTheAgentReadsTheSeedsEvidence(t *testing.T) {
	w := newWorld(t).sh("main", "echo handled")
	w.set("main", func(s *heartbeat.Settings) { s.Target = "none" })
	ev := w.ended("tide-orbit", 0, "first done")
	turn := w.one(w.tick())
	w.want("stdin", w.said(turn), `[OpenClaw exec completion]

An async command you ran earlier has completed. The completion details are:

Exec completed (tide-orbit, code 0) :: first done

User delivery is disabled for this run. Handle the result internally. Continue the task based on the result if needed.
`)
	w.want("kind", string(turn.Kind), "exec")
	w.want("reason", turn.Reason, "exec-event")
	w.want("event", string(w.event(ev.ID).State), "consumed")
	w.want("event's turn", w.event(ev.ID).TurnID, turn.ID)
	w.wantSent() // target none
}

func TestACompletionIsRelayedOnce(t *testing.T) {
	w := newWorld(t).sh("main", "echo 'The build is through.'")
	w.ended("tide-orbit", 0, "built in 61.2s")
	turn := w.one(w.tick())
	w.wantSent("The build is through.")
	d := w.deliveries()[0]
	w.want("key", d.IdempotencyKey, "turn:"+turn.DispatchID)
	w.want("channel", d.Route.Channel, "inbox")
	w.want("source", d.Source.Kind+" "+d.Source.Name, "exec tide-orbit")
	w.want("outcome", turn.Outcome, "sent")
	if again := w.tick(); len(again) != 0 {
		t.Errorf("a second tick ran %d turns", len(again))
	}
	w.wantSent("The build is through.")
}

// spec/exec-process.md 5.4 row 20, design.md 7: an acknowledgement never hides
// a failed completion, and is quiet about a success.
func TestAcknowledgements(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		code        int
		sent        []string
	}{
		{"a pure token about a success is quiet", "HEARTBEAT_OK", 0, nil},
		{"the other token too", "NO_REPLY", 0, nil},
		{"a token hides no failure", "HEARTBEAT_OK", 7, []string{"./reef.sh failed after 1s (exit 7)\nout"}},
		{"silence hides none", "", 7, []string{"./reef.sh failed after 1s (exit 7)\nout"}},
		{"a short text beside a token stays", "HEARTBEAT_OK\nexit 7 again", 7, []string{"exit 7 again\n\n./reef.sh failed after 1s (exit 7)\nout"}},
		{"a short text about a success is sent", "Done: 3 files.", 0, []string{"Done: 3 files."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).sh("main", "printf '%s' \""+tt.reply+"\"")
			w.ended("reef", tt.code, "out")
			turn := w.one(w.tick())
			w.want("status", string(turn.Status), "succeeded")
			w.wantSent(tt.sent...)
			if ready := w.plan().Wakes; len(ready) != 0 {
				t.Errorf("events are left: %+v", ready)
			}
		})
	}
}

// The embedded agent says what the event says, whatever it looks like.
func TestTheEmbeddedAgent(t *testing.T) {
	for _, tt := range []struct {
		name string
		ev   event.Event
		want string
	}{
		{"a command that ended", event.Event{Kind: event.KindExec, Text: "Exec completed (reef, code 0) :: ok", Command: "make", DurationMs: 64000}, "make finished in 1m04s (exit 0)\nok"},
		{"one that printed a quiet token", event.Event{Kind: event.KindExec, Text: "Exec completed (reef, code 0) :: HEARTBEAT_OK", Command: "make", DurationMs: 1000}, "make finished in 1s (exit 0)\nHEARTBEAT_OK"},
		{"a reminder is its own text", event.Event{Kind: event.KindCron, ContextKey: "cron:j1", Text: "stand up"}, "stand up"},
		{"an event by hand", event.Event{Text: "the deploy has finished"}, "the deploy has finished"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			ev := w.queue(tt.ev)
			turn := w.one(w.tick())
			w.wantSent(tt.want)
			w.want("process", turn.ProcessID, "")
			w.want("event", string(w.event(ev.ID).State), "consumed")
		})
	}
}

// A turn shows the class it is about, in the order of spec/exec-process.md
// 4.4, and consumes nothing else.
func TestOneClassATurn(t *testing.T) {
	w := newWorld(t).sh("main", "echo fine")
	plain := w.queue(event.Event{Text: "somebody called"})
	cron := w.queue(event.Event{Kind: event.KindCron, ContextKey: "cron:j1", Text: "water the plants"})
	exec := w.ended("reef", 0, "ok")
	turns := w.tick()
	if len(turns) != 3 {
		t.Fatalf("%d turns", len(turns))
	}
	for i, want := range []struct {
		kind   session.Kind
		reason string
		id     string
		marker string
	}{
		{session.KindExec, "exec-event", exec.ID, "[OpenClaw exec completion]\n\n"},
		{session.KindCron, "cron:j1", cron.ID, "[OpenClaw cron wake]\n\n"},
		{session.KindEvent, "wake", plain.ID, "[OpenClaw session event]\n\n"},
	} {
		got := turns[i]
		if got.Kind != want.kind || got.Reason != want.reason || len(got.EventIDs) != 1 || got.EventIDs[0] != want.id {
			t.Errorf("turn %d: %s because of %s shows %v", i, got.Kind, got.Reason, got.EventIDs)
		}
		if !strings.HasPrefix(w.said(got), want.marker) {
			t.Errorf("turn %d begins with %q", i, w.said(got)[:40])
		}
	}
}

// spec/exec-process.md 4.4, design.md 7: sub-agents are not woken, events for
// the next turn wake nobody, other sessions are independent.
func TestWhoIsWoken(t *testing.T) {
	w := newWorld(t)
	w.queue(event.Event{Text: "for a sub-agent", SessionKey: "agent:main:subagent:1"})
	w.queue(event.Event{Text: "can wait", NextTurn: true})
	if p := w.converge().plan(); len(p.Wakes) != 0 {
		t.Fatalf("woken: %+v", p.Wakes)
	}
	w.queue(event.Event{Text: "a", SessionKey: "session:notes", Agent: "main"})
	w.queue(event.Event{Text: "b", SessionKey: "agent:ops:main"})
	var got []string
	for _, p := range w.plan().Wakes {
		got = append(got, p.Agent+" "+p.SessionKey)
	}
	w.want("woken", strings.Join(got, ", "), "main session:notes, ops agent:ops:main")
}

// What waits for the next heartbeat rides along with it.
func TestTheNextHeartbeatShowsWhatWaits(t *testing.T) {
	w := newWorld(t).sh("main", "echo HEARTBEAT_OK")
	ev := w.queue(event.Event{Text: "can wait", NextTurn: true})
	turn := w.one(w.due().tick())
	w.want("kind", string(turn.Kind), "heartbeat")
	if !strings.Contains(w.said(turn), "System: [2048-12-02 12:00 UTC] can wait") {
		t.Errorf("the agent read:\n%s", w.said(turn))
	}
	w.want("event", string(w.event(ev.ID).State), "consumed")
}

// failing is an agent that ends so, and what that does to the event.
var failing = []struct {
	name, script, status string
	charged              bool
}{
	{"an error", "echo broken >&2; exit 3", "failed", true},
	{"it did not take it", "exit 75", "not_accepted", false},
}

// openclaw#31354, #96663, #66382, #65757: a failed turn leaves its events.
func TestAFailedTurnLeavesItsEvents(t *testing.T) {
	for _, tt := range failing {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).sh("main", tt.script)
			ev := w.ended("reef", 0, "ok")
			turn := w.one(w.tick())
			w.want("status", string(turn.Status), tt.status)
			w.want("last", w.last(), "failed")
			left := w.event(ev.ID)
			w.want("event", string(left.State), "queued")
			if charged := left.Failures == 1; charged != tt.charged {
				t.Errorf("failures: %d", left.Failures)
			}
			if want := noon.Add(time.Minute); !left.NotBefore.Equal(want) {
				t.Errorf("not before %s, want %s", left.NotBefore, want)
			}
			if next := w.plan().Next; !next.Equal(noon.Add(time.Minute)) {
				t.Errorf("looked at again at %s", next)
			}
			w.wantSent()
			w.sh("main", "echo 'it is built'")
			w.clock.Advance(time.Minute)
			w.one(w.tick())
			w.want("event", string(w.event(ev.ID).State), "consumed")
			w.wantSent("it is built")
		})
	}
}

// After the third failure the person is told, once, and the agent no more.
func TestTheThirdFailureRelays(t *testing.T) {
	w := newWorld(t).sh("main", "echo broken >&2; exit 3")
	ev := w.ended("reef", 0, "ok")
	for _, wait := range []time.Duration{0, time.Minute, 5 * time.Minute} {
		if wait > 0 {
			w.clock.Advance(wait - time.Second)
			if turns := w.tick(); len(turns) > 0 {
				t.Fatalf("tried a second too early")
			}
			w.clock.Advance(time.Second)
		}
		w.wantSent()
		w.one(w.tick())
	}
	w.want("event", string(w.event(ev.ID).State), "relayed")
	sent := w.sent()
	if len(sent) != 1 || !strings.Contains(sent[0], "./reef.sh finished in 1s (exit 0)\nok") || !strings.Contains(sent[0], "exit code 3: broken") {
		t.Errorf("sent: %q", sent)
	}
	w.clock.Advance(20 * time.Minute)
	w.tick()
	if len(w.turns()) != 3 || len(w.sent()) != 1 {
		t.Errorf("%d turns, %d messages", len(w.turns()), len(w.sent()))
	}
}

// An agent that accepts nothing for hours has failed, too.
func TestAnAgentThatNeverAccepts(t *testing.T) {
	w := newWorld(t).sh("main", "exit 75")
	ev := w.ended("reef", 0, "ok")
	for range 6 { // at 0, 20, 40 minutes refunded; at 60, 80, 100 charged
		w.tick()
		w.clock.Advance(20 * time.Minute)
	}
	w.want("event", string(w.event(ev.ID).State), "relayed")
	if n := len(w.sent()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// A hook's no is charged, and its words are kept.
func TestABlockedTurnIsCharged(t *testing.T) {
	w := newWorld(t).sh("main", "echo never")
	a := w.agents["main"]
	a.Hooks = [][]string{{"sh", "-c", "grep -q secret && echo 'no secrets' && exit 1; exit 0"}}
	w.agents["main"] = a
	ev := w.ended("reef", 0, "the secret is out")
	turn := w.one(w.tick())
	w.want("status", string(turn.Status), "blocked")
	left := w.event(ev.ID)
	if left.State != event.Queued || left.Failures != 1 {
		t.Errorf("the event is %s with %d failures", left.State, left.Failures)
	}
	if _, err := os.Stat(w.heard + "/" + turn.ID); err == nil {
		t.Error("the agent was started")
	}
}

// end writes the end of a turn that nobody runs, as Settle does.
func (w *world) end(t session.Turn, status session.TurnStatus, reply string) {
	w.t.Helper()
	w.update(func(tx *state.Tx) error {
		t.Status, t.EndedAt = status, tx.Now()
		return w.End(tx, &t, reply)
	})
}

func TestALostTurnMakesItsEventsUnknown(t *testing.T) {
	w := newWorld(t)
	ev := w.ended("reef", 0, "ok")
	turn := session.Turn{ID: "T1", DispatchID: "T1", Agent: "main", SessionKey: mainKey, Kind: session.KindExec, EventIDs: []string{ev.ID}, ProcessID: "P"}
	w.end(turn, session.TurnLost, "")
	w.want("event", string(w.event(ev.ID).State), "unknown")
	sent := w.sent()
	if len(sent) != 1 || !strings.Contains(sent[0], "./reef.sh finished in 1s (exit 0)") || !strings.Contains(sent[0], "not known") {
		t.Errorf("sent: %q", sent)
	}
	if p := w.converge().plan(); len(p.Wakes) != 0 {
		t.Errorf("it is told again: %+v", p.Wakes)
	}
}

// A person's turn consumes what it drained if it succeeded, and only then.
func TestAUsersTurn(t *testing.T) {
	for status, want := range map[session.TurnStatus]event.State{
		session.TurnSucceeded: event.Consumed, session.TurnFailed: event.Queued, session.TurnTimedOut: event.Queued,
		session.TurnNotAccepted: event.Queued, session.TurnBlocked: event.Queued, session.TurnLost: event.Unknown,
	} {
		t.Run(string(status), func(t *testing.T) {
			w := newWorld(t)
			ev := w.queue(event.Event{Text: "by the way", NextTurn: true})
			w.end(session.Turn{ID: "T1", DispatchID: "T1", Agent: "main", SessionKey: mainKey, Kind: session.KindUser, EventIDs: []string{ev.ID}}, status, "hello")
			got := w.event(ev.ID)
			w.want("event", string(got.State), string(want))
			if got.Failures != 0 || !got.NotBefore.IsZero() {
				t.Errorf("charged: %+v", got)
			}
		})
	}
}

// What a poll has retired stays retired.
func TestTheEndChangesOnlyWhatIsQueued(t *testing.T) {
	w := newWorld(t)
	ev := w.ended("reef", 0, "ok")
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Events.Get(tx, ev.ID)
		if err != nil {
			return err
		}
		row.Rec.State = event.Retired
		return state.Events.Put(tx, ev.ID, row.Rev, row.Rec)
	})
	w.end(session.Turn{ID: "T1", DispatchID: "T1", Agent: "main", SessionKey: mainKey, Kind: session.KindExec, EventIDs: []string{ev.ID}}, session.TurnSucceeded, "x")
	w.want("event", string(w.event(ev.ID).State), "retired")
}

// 1,000 events for one session, 20 a turn: none twice, none lost, in order
// (issue 3 section 7).
func TestABacklogIsWorkedOff(t *testing.T) {
	const total = 1000
	w := newWorld(t)
	w.settings["main"] = heartbeat.Settings{Agent: "main", Embedded: true, Target: "last", Enrolled: true}
	var want []string
	for range total / 100 {
		w.update(func(tx *state.Tx) error {
			for range 100 {
				w.ids++
				ev := event.Event{
					ID: fmt.Sprintf("01M8QC1TW000000000000%05d", w.ids), State: event.Queued, Kind: event.KindExec, SessionKey: mainKey,
					Text: fmt.Sprintf("Exec completed (reef-%d, code 0) :: ok", w.ids), CreatedAt: noon,
				}
				want = append(want, ev.ID)
				if err := state.Events.Add(tx, ev.ID, ev); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var got []string
	for len(got) < total {
		turns := w.tick()
		for _, turn := range turns {
			if len(turn.EventIDs) > event.MaxShown {
				t.Fatalf("%d events in a turn", len(turn.EventIDs))
			}
			got = append(got, turn.EventIDs...)
		}
		if len(turns) == 0 { // the flood guard: five turns a minute
			if next := w.plan().Next; !next.After(w.clock.Now()) {
				t.Fatalf("nothing ran, and nothing is foreseen after %d", len(got))
			}
		}
		w.clock.Advance(time.Minute)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%d events were shown, or not in order", len(got))
	}
}
