package heartbeat_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/prompts"
	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
)

// design.md section 5: an idle hour costs nothing. No turn, no session, no
// transcript.
func TestAQuietHeartbeatNeedsNoAgent(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given func(w *world)
	}{
		{"the embedded agent", func(w *world) {}},
		{"a gated one", func(w *world) {
			w.sh("main", "echo HEARTBEAT_OK").set("main", func(s *heartbeat.Settings) { s.Gate = true })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.given(w)
			w.checkScript("disk", "exit 0")
			w.checkScript("mail", "exit 0")
			if turns := w.due().tick(); len(turns) != 0 || len(w.turns()) != 0 {
				t.Errorf("%d turns", len(w.turns()))
			}
			m := w.monitor("main")
			w.want("last", w.last(), "ok-checks")
			if m.Last.Checks != 2 || !m.Last.Silent || m.Last.Reason != "interval" {
				t.Errorf("%+v", m.Last)
			}
			w.wantSent()
			w.view(func(tx *state.Tx) error {
				if rows, _ := state.Sessions.All(tx); len(rows) != 0 {
					t.Errorf("%d sessions", len(rows))
				}
				return nil
			})
		})
	}
}

// An agent without a gate is asked each time.
func TestAnUngatedAgentIsAsked(t *testing.T) {
	w := newWorld(t).sh("main", "echo HEARTBEAT_OK")
	turn := w.one(w.due().tick())
	w.want("outcome", turn.Outcome, "ok-token")
	if said := w.said(turn); !strings.HasPrefix(said, "[OpenClaw heartbeat poll]\n\nFollow the heartbeat monitor scratch context when provided.") || !strings.Contains(said, "Current time: Wednesday, 2 December 2048, 12:") {
		t.Errorf("the agent read:\n%s", said)
	}
	w.wantSent()
}

// PR 980, openclaw#18119: the same alert is sent once in 24 hours.
func TestACheckAlertsOnce(t *testing.T) {
	w := newWorld(t)
	w.checkScript("disk", "echo '/ is 91 % full'")
	turn := w.one(w.due().tick())
	first := w.clock.Now()
	w.want("outcome", turn.Outcome, "sent")
	w.wantSent("disk check: / is 91 % full")
	w.want("source", w.deliveries()[0].Source.Name, "heartbeat.d/disk")
	for w.clock.Now().Sub(first) < 23*time.Hour {
		w.clock.Advance(6 * time.Hour)
		w.due().tick()
		if w.clock.Now().Sub(first) < 24*time.Hour {
			w.want("last", w.last(), "skipped duplicate")
			w.wantSent("disk check: / is 91 % full")
		}
	}
	w.clock.Advance(2 * time.Hour)
	w.due().tick()
	w.wantSent("disk check: / is 91 % full", "disk check: / is 91 % full")
	w.checkScript("disk", "echo '/ is 92 % full'")
	w.due().tick()
	if n := len(w.sent()); n != 3 {
		t.Errorf("%d messages after the text had changed", n)
	}
}

// A quiet, a suppressed and a failed send do not touch the memory.
func TestOnlyWhatIsSentIsRemembered(t *testing.T) {
	w := newWorld(t).sh("main", "echo the disk is full")
	w.due().tick()
	sentAt := w.monitor("main").SentAt
	w.sh("main", "echo HEARTBEAT_OK").due().tick()
	w.sh("main", "exit 1").due().tick()
	w.set("main", func(s *heartbeat.Settings) { s.Target = "none" })
	w.sh("main", "echo something else").due().tick()
	w.want("last", w.last(), "skipped no-target")
	if m := w.monitor("main"); m.SentText != "the disk is full" || !m.SentAt.Equal(sentAt) {
		t.Errorf("remembered: %q at %s", m.SentText, m.SentAt)
	}
}

// The words of another command's end are another message.
func TestTheSameEndTwiceIsToldTwice(t *testing.T) {
	w := newWorld(t)
	w.ended("reef", 0, "ok")
	w.tick()
	w.ended("reef", 0, "ok")
	w.tick()
	if n := len(w.sent()); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// A message about something else does not make an alert new again.
func TestTheMemoryIsOfTheCheckAlone(t *testing.T) {
	w := newWorld(t)
	w.checkScript("disk", "echo full")
	w.due().tick()
	w.clock.Advance(time.Second)
	w.ended("reef", 0, "ok")
	w.tick()
	w.due().tick()
	w.want("last", w.last(), "skipped duplicate")
	w.wantSent("disk check: full", "./reef.sh finished in 1s (exit 0)\nok")
}

// A check that is due when a command ends follows it at once.
func TestACheckFollowsTheEventsThatCameFirst(t *testing.T) {
	w := newWorld(t)
	w.checkScript("disk", "echo full")
	w.due()
	w.ended("reef", 0, "ok")
	turns := w.tick()
	if len(turns) != 2 || turns[0].Kind != session.KindExec || turns[1].Kind != session.KindHeartbeat || turns[1].Reason != "interval" {
		t.Errorf("%+v", turns)
	}
}

// A gate lets what the checks say through to the agent.
func TestAGateOpensForAnAlert(t *testing.T) {
	w := newWorld(t).sh("main", "echo 'I cleaned up /tmp.'")
	w.set("main", func(s *heartbeat.Settings) { s.Gate = true })
	w.checkScript("disk", "echo '/ is 91 % full'; exit 2")
	turn := w.one(w.due().tick())
	if !strings.Contains(w.said(turn), "disk check (exit 2): / is 91 % full") {
		t.Errorf("the agent read:\n%s", w.said(turn))
	}
	w.wantSent("I cleaned up /tmp.")
}

// An alarm is not lost because the agent that was to look at it is down.
func TestAnAlarmSurvivesAFailingAgent(t *testing.T) {
	w := newWorld(t).sh("main", "exit 1")
	w.checkScript("disk", "echo '/ is 91 % full'")
	w.due().tick()
	w.want("last", w.last(), "failed")
	w.wantSent("disk check: / is 91 % full")
	w.due().tick()
	w.wantSent("disk check: / is 91 % full")
}

// design.md 3, promise 5: a heartbeat of which nobody knows what it said may
// have been an alert, and is told as unknown; once a day will do.
func TestALostHeartbeatIsTold(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"01M8QC1TW00000000000000001", "01M8QC1TW00000000000000002"} {
		w.end(session.Turn{
			ID: id, DispatchID: id, Agent: "main", SessionKey: mainKey, Kind: session.KindHeartbeat, Reason: "interval", ProcessID: "x",
			Error: "what it said is not known", Route: delivery.Route{Channel: "inbox"}, CreatedAt: w.clock.Now(),
		}, session.TurnLost, "")
		w.want("last", w.last(), "failed")
		w.clock.Advance(time.Hour)
	}
	w.wantSent("The heartbeat of agent main: what it said is not known.")
}

// spec/heartbeat-automations.md 1.10: due tasks are the prompt, and are
// stamped after a run that was completed.
func TestPeriodicTasks(t *testing.T) {
	w := newWorld(t).sh("main", "exit 1")
	w.write("HEARTBEAT.md", "tasks:\n- name: inbox\n  interval: 24h\n  prompt: \"Look for urgent mail.\"\n- name: calendar\n  interval: 1h\n  prompt: What comes next?\n\nBe brief.\n", 0o644)
	turn := w.one(w.due().tick())
	if said := w.said(turn); !strings.Contains(said, "- inbox: Look for urgent mail.") || !strings.Contains(said, "- calendar: What comes next?") || !strings.Contains(said, "Be brief.") {
		t.Errorf("the agent read:\n%s", said)
	}
	if m := w.monitor("main"); len(m.Tasks) != 0 {
		t.Errorf("stamped after a failure: %v", m.Tasks)
	}
	w.sh("main", "echo HEARTBEAT_OK").due().tick()
	start := w.clock.Now()
	if m := w.monitor("main"); len(m.Tasks) != 2 || !m.Tasks[mainKey+"\ninbox"].Equal(start) {
		t.Errorf("stamped: %v, started at %s", m.Tasks, start)
	}
	w.due().tick() // after half an hour neither is due
	w.want("last", w.last(), "skipped no-tasks-due")
	turn = w.one(w.due().tick())
	if said := w.said(turn); strings.Contains(said, "inbox:") || !strings.Contains(said, "- calendar: ") {
		t.Errorf("after an hour the agent read:\n%s", said)
	}
}

// spec/exec-process.md 4.4: due tasks go first and leave ended commands
// queued, which follow at once.
func TestDueTasksGoFirst(t *testing.T) {
	w := newWorld(t).sh("main", "echo HEARTBEAT_OK")
	w.write("HEARTBEAT.md", tasksDaily, 0o644)
	w.due()
	w.ended("reef", 0, "ok")
	turns := w.tick()
	if len(turns) != 2 || turns[0].Kind != session.KindHeartbeat || turns[1].Kind != session.KindExec {
		t.Errorf("%+v", turns)
	}
}

func TestTheFileAndTheScratch(t *testing.T) {
	const file, scratch = "Watch the garden.", "the pump is off"
	for _, tt := range []struct {
		name         string
		set          func(s *heartbeat.Settings)
		file, scratc bool
	}{
		{"both", func(*heartbeat.Settings) {}, true, true},
		{"a light context is the scratch alone", func(s *heartbeat.Settings) { s.LightContext = true }, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).sh("main", "echo HEARTBEAT_OK").set("main", tt.set)
			w.write("HEARTBEAT.md", file, 0o644)
			text := scratch
			if _, err := heartbeat.SetScratch(t.Context(), w.Store, "main", &text, nil); err != nil {
				t.Fatal(err)
			}
			said := w.said(w.one(w.due().tick()))
			if strings.Contains(said, file) != tt.file || strings.Contains(said, scratch) != tt.scratc {
				t.Errorf("the agent read:\n%s", said)
			}
		})
	}
}

// The agent's own folder goes before the configuration's.
func TestHeartbeatFileOfTheWorkdir(t *testing.T) {
	w := newWorld(t).sh("main", "echo HEARTBEAT_OK")
	w.write("HEARTBEAT.md", "from the configuration", 0o644)
	w.write("work/HEARTBEAT.md", "from the work", 0o644)
	w.set("main", func(s *heartbeat.Settings) { s.Workdir = w.ConfigDir + "/work" })
	if said := w.said(w.one(w.due().tick())); !strings.Contains(said, "from the work") || strings.Contains(said, "from the configuration") {
		t.Errorf("the agent read:\n%s", said)
	}
}

// spec/heartbeat-automations.md 1.6: the isolated key, a transcript a run; the
// event that it shows is nobody else's meanwhile.
func TestIsolatedSession(t *testing.T) {
	w := newWorld(t).sh("main", "echo HEARTBEAT_OK")
	w.set("main", func(s *heartbeat.Settings) { s.IsolatedSession, s.Model, s.Timeout = true, "small", time.Minute })
	ev := w.queue(event.Event{Text: "can wait", NextTurn: true})
	a := w.one(w.due().tick())
	b := w.one(w.due().tick())
	w.want("key", a.SessionKey, "agent:main:main:heartbeat")
	if a.SessionID == b.SessionID {
		t.Error("the transcript was used twice")
	}
	w.want("event", string(w.event(ev.ID).State), "consumed")
	w.ended("reef", 0, "ok")
	w.want("a command's end", w.one(w.tick()).SessionKey, mainKey)
}

// While the isolated turn runs, no turn of the session itself shows its event.
func TestAnIsolatedTurnOwnsItsEvents(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "go")
	w.sh("main", "while ! [ -e "+mark+" ]; do sleep 0.01; done; echo HEARTBEAT_OK")
	w.set("main", func(s *heartbeat.Settings) { s.IsolatedSession = true })
	ev := w.queue(event.Event{Text: "can wait", NextTurn: true})
	p := w.due().plan().Wakes[0]
	done := make(chan error)
	go func() {
		_, err := w.Do(t.Context(), p)
		done <- err
	}()
	for deadline := time.Now().Add(time.Minute); len(w.turns()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no turn was admitted")
		}
	}
	if ready := event.Ready([]event.Event{w.event(ev.ID)}, w.clock.Now().Add(time.Hour)); len(ready) != 0 {
		t.Error("another turn may show it")
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.want("event", string(w.event(ev.ID).State), "consumed")
}

// A failed isolated turn gives its events back.
func TestIsolatedFailure(t *testing.T) {
	w := newWorld(t).sh("main", "exit 1")
	w.set("main", func(s *heartbeat.Settings) { s.IsolatedSession = true })
	ev := w.queue(event.Event{Text: "can wait", NextTurn: true})
	w.due().tick()
	if got := w.event(ev.ID); got.State != event.Queued || got.NotBefore.Sub(w.clock.Now()) != time.Minute {
		t.Errorf("%s, not before %s", got.State, got.NotBefore)
	}
}

// spec/heartbeat-automations.md 1.11.
func TestStructuredAnswer(t *testing.T) {
	w := newWorld(t).sh("main", `echo 'looked around'; echo '{"outcome":"progress","notify":false,"summary":"half way","scratch":"step 2","nextCheck":"5m"}'`)
	turn := w.one(w.due().tick())
	w.want("outcome", turn.Outcome, "ok-token")
	w.wantSent()
	m := w.monitor("main")
	w.want("note", m.Note, "half way")
	if next := m.NextDue.Sub(w.clock.Now()); next != 5*time.Minute {
		t.Errorf("the next check is in %s", next)
	}
	s, err := heartbeat.ScratchOf(w.Store, "main")
	if err != nil || s.Text != "step 2" || s.Revision != 1 {
		t.Errorf("scratch: %+v, %v", s, err)
	}
	w.sh("main", `echo '{"outcome":"needs_attention","notify":true,"summary":"s","notificationText":"look here"}'`).due().tick()
	w.wantSent("look here")
	if again, _ := heartbeat.ScratchOf(w.Store, "main"); again.Revision != 1 {
		t.Errorf("revision %d", again.Revision)
	}
}

// 1.11: what an answer proposes holds until it is due, whatever the cadence is
// and whatever happens in between.
func TestAProposedCheckIsKept(t *testing.T) {
	for _, asked := range []time.Duration{10 * time.Minute, 3 * time.Hour, 24 * time.Hour} {
		t.Run(asked.String(), func(t *testing.T) {
			w := newWorld(t).sh("main", `echo '{"outcome":"no_change","notify":false,"summary":"s","nextCheck":"`+asked.String()+`"}'`)
			w.one(w.due().tick())
			want := w.turns()[0].EndedAt.Add(asked)
			w.sh("main", "echo HEARTBEAT_OK")
			for _, step := range []time.Duration{0, time.Minute, 7 * time.Minute} {
				w.clock.Advance(step)
				w.converge()
				w.ended("reef", 0, "ok")
				w.one(w.tick())
				if got := w.monitor("main").NextDue; !got.Equal(want) {
					t.Fatalf("%s on: the next check is at %s, not %s", step, got, want)
				}
			}
			turn := w.one(w.due().tick())
			w.want("kind", string(turn.Kind), "heartbeat")
			if got := w.monitor("main"); got.IsProposed() || got.NextDue.Sub(w.clock.Now()) > 30*time.Minute {
				t.Errorf("after it the next check is at %s", got.NextDue)
			}
		})
	}
}

// A completion's turn may say as well when to look again.
func TestAnEventsTurnProposesACheck(t *testing.T) {
	w := newWorld(t).sh("main", `echo '{"outcome":"progress","notify":false,"summary":"s","nextCheck":"3h"}'`).converge()
	w.ended("reef", 0, "ok")
	turn := w.one(w.tick())
	if got := w.converge().monitor("main").NextDue; !got.Equal(turn.EndedAt.Add(3 * time.Hour)) {
		t.Errorf("%s", got)
	}
}

// What heartbeat respond has accepted counts however the turn ended. Its
// events stay all the same.
func TestTheAnswerOfAFailedTurnIsSent(t *testing.T) {
	scratch := "step 2"
	for _, tt := range []struct {
		status session.TurnStatus
		notify bool
		event  event.State
	}{
		{session.TurnFailed, true, event.Queued},
		{session.TurnTimedOut, true, event.Queued},
		{session.TurnNotAccepted, true, event.Queued},
		{session.TurnLost, true, event.Unknown},
		{session.TurnFailed, false, event.Queued},
	} {
		t.Run(fmt.Sprintf("%s, notify=%t", tt.status, tt.notify), func(t *testing.T) {
			w := newWorld(t).sh("main", "exit 1").converge()
			ev := w.ended("reef", 0, "ok")
			turn := session.Turn{
				ID: "01M8QC1TW00000000000000001", DispatchID: "01M8QC1TW00000000000000001", Agent: "main", SessionKey: mainKey, Kind: session.KindExec,
				Status: tt.status, ProcessID: "x", EventIDs: []string{ev.ID}, Route: delivery.Route{Channel: "inbox"}, Alerts: []string{"disk check: full"},
				Response:  &session.Response{Outcome: "progress", Notify: tt.notify, Summary: "the disk dies", Scratch: &scratch},
				StartedAt: noon, EndedAt: noon,
			}
			w.update(func(tx *state.Tx) error { return w.End(tx, &turn, "half a rep") })
			want := map[bool]string{true: "the disk dies", false: "disk check: full"}[tt.notify]
			if sent := w.sent(); !slices.Contains(sent, want) || len(sent) > 1 && tt.status != session.TurnLost {
				t.Errorf("sent: %q", sent)
			}
			w.want("event", string(w.event(ev.ID).State), string(tt.event))
			w.want("last", w.last(), "failed")
			if s, err := heartbeat.ScratchOf(w.Store, "main"); err != nil || s.Text != scratch {
				t.Errorf("scratch: %+v, %v", s, err)
			}
		})
	}
}

// A session that cannot exist has no turn: the person is told instead.
func TestEventsOfAnImpossibleSession(t *testing.T) {
	w := newWorld(t)
	ev := w.queue(event.Event{Text: "hello", SessionKey: "what is this", Agent: "main"})
	w.tick()
	w.want("event", string(w.event(ev.ID).State), "relayed")
	if sent := w.sent(); len(sent) != 1 || !strings.Contains(sent[0], "hello") {
		t.Errorf("sent: %q", sent)
	}
}

// A text of the configuration that cannot be used is an error that is kept,
// and the events stay.
func TestABrokenPromptIsRecorded(t *testing.T) {
	w := newWorld(t).sh("main", "echo fine")
	w.write("prompts/exec.txt", "no place for the content\n", 0o644)
	w.Prompts = prompts.Load(w.ConfigDir + "/prompts")
	ev := w.ended("reef", 0, "ok")
	w.converge()
	_, err := w.Do(t.Context(), w.plan().Wakes[0])
	if err == nil {
		t.Fatal("no error")
	}
	w.want("last", w.last(), "failed")
	w.want("event", string(w.event(ev.ID).State), "queued")
	if len(w.turns()) != 0 {
		t.Error("a turn was made")
	}
}

// Whoever is faster shows an event; the other one looks again.
func TestAnEventThatWasShownMeanwhile(t *testing.T) {
	w := newWorld(t)
	first := w.ended("reef", 0, "ok")
	p := w.converge().plan().Wakes[0]
	w.update(func(tx *state.Tx) error {
		row, _, err := state.Events.Get(tx, first.ID)
		if err != nil {
			return err
		}
		row.Rec.State = event.Consumed
		return state.Events.Put(tx, first.ID, row.Rev, row.Rec)
	})
	turn, err := w.Do(t.Context(), p)
	if err != nil || turn.ID != "" {
		t.Errorf("%+v, %v", turn, err)
	}
	w.wantSent()
}

// errors of the store reach the caller.
func TestReadOnlyStore(t *testing.T) {
	w := newWorld(t).due()
	store, err := state.Open(w.Store.Dir(), state.Options{Now: w.clock.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	p := w.plan().Wakes[0]
	w.Store = store
	if _, err := w.Do(t.Context(), p); !errors.Is(err, state.ErrReadOnly) {
		t.Errorf("%v", err)
	}
	if s, err := w.Status(); err != nil || len(s.Agents) != 1 || s.Agents[0].Agent != "main" {
		t.Errorf("status of a read-only directory: %+v, %v", s, err)
	}
}
