//go:build linux

package main_test

import (
	"encoding/json"
	"slices"
	"strings"

	"claw/state/delivery"
	"claw/state/event"
	conversation "claw/state/session"
)

// sound checks what must hold once all is quiet, whatever died on the way
// (issue 3, "Done when"; design.md 3.5; pains B31, B32). at names the death.
func (w *wakes) sound(at string) {
	w.t.Helper()
	if what := w.rows().open(); what != "" {
		w.t.Fatalf("%s: still open: %s", at, what)
	}
	s := &soundness{wakes: w, at: at, rows: w.rows()}
	s.events()
	s.turns()
	s.deliveries()
	s.tasks()
	if r := w.claw("doctor"); r.code != 0 {
		s.errorf("doctor: exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, name := range w.agents {
		s.transcript("agent:" + name + ":main")
	}
	if w.t.Failed() {
		w.t.Logf("%s: turns %+v\nevents %+v\ndeliveries %+v\nsent %v", at, s.rows.turns, s.rows.events, s.rows.deliveries, w.sentLines())
	}
}

type soundness struct {
	*wakes
	at   string
	rows rows
}

func (s *soundness) errorf(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf(s.at+": "+format, args...)
}

// events: each end was told in one turn that succeeded, or it is recorded that
// nobody knows, or that the agent could not be told; then a person was told.
func (s *soundness) events() {
	ends := map[string]int{}
	for _, e := range s.rows.events {
		if e.ProcessID != "" {
			ends[e.ProcessID]++
		}
		good := 0
		for _, t := range s.rows.turns {
			if t.Status == conversation.TurnSucceeded && slices.Contains(t.EventIDs, e.ID) {
				good++
			}
		}
		switch e.State {
		case event.Consumed:
			if good != 1 {
				s.errorf("%s is consumed by %d turns that succeeded", e.ContextKey, good)
			}
		case event.Unknown, event.Relayed:
			if good != 0 {
				s.errorf("%s is %s, and a turn that showed it succeeded", e.ContextKey, e.State)
			}
			s.notice(e)
		default:
			s.errorf("%s is %s in the end", e.ContextKey, e.State)
		}
		if slices.Contains(certain, s.at) && e.State != event.Consumed {
			s.errorf("%s is %s, though it is certain what happened", e.ContextKey, e.State)
		}
	}
	for id, n := range ends {
		if n != 1 {
			s.errorf("%d events for the end of %s", n, id)
		}
	}
}

// notice: a person was told what the agent was not.
func (s *soundness) notice(e event.Event) {
	told := 0
	for _, d := range s.rows.deliveries {
		if strings.HasPrefix(d.IdempotencyKey, "turn:") && s.succeeded(d.Source.TurnID) {
			continue
		}
		if text := d.Text + d.Title + d.Body; strings.Contains(text, e.Command) && (e.Command != "" || strings.Contains(text, e.Text)) {
			told++
		}
	}
	if told != 1 {
		s.errorf("%s is %s, and %d messages say so", e.ContextKey, e.State, told)
	}
}

func (s *soundness) succeeded(turn string) bool {
	return slices.ContainsFunc(s.rows.turns, func(t conversation.Turn) bool { return t.ID == turn && t.Status == conversation.TurnSucceeded })
}

// turns: none told its agent twice, none told anything but what it had claimed,
// and no reply got lost.
func (s *soundness) turns() {
	for _, t := range s.rows.turns {
		told := s.told(t.ID)
		if len(told) > 1 {
			s.errorf("turn %s was told to the agent %d times", t.ID, len(told))
		}
		if t.Status == conversation.TurnSucceeded && len(told) != 1 {
			s.errorf("turn %s succeeded, and the agent was not told", t.ID)
		}
		if t.Status == conversation.TurnNotAccepted && len(told) != 0 {
			s.errorf("turn %s was not accepted, and the agent was told", t.ID)
		}
		for _, text := range told {
			s.body(t, text)
		}
		if t.Status == conversation.TurnSucceeded {
			s.reply(t)
		}
	}
	s.attempts()
}

// attempts: of one dispatch, the argv that may change something ran once at
// most, the read-only one three times, and one of them answered at most
// (issue 5, seed 003 section 15).
func (s *soundness) attempts() {
	ordinary, readOnly, answered := map[string]int{}, map[string]int{}, map[string]int{}
	for _, t := range s.rows.turns {
		if n := len(s.told(t.ID)); t.Kind == conversation.KindRecovery {
			readOnly[t.DispatchID] += n
		} else {
			ordinary[t.DispatchID] += n
		}
		if t.Status == conversation.TurnSucceeded {
			answered[t.DispatchID]++
		}
	}
	for id, n := range ordinary {
		if n > 1 {
			s.errorf("dispatch %s: the ordinary argv was told %d times", id, n)
		}
	}
	for id, n := range readOnly {
		if n > conversation.Budget {
			s.errorf("dispatch %s: the recover argv was told %d times", id, n)
		}
	}
	for id, n := range answered {
		if n > 1 {
			s.errorf("dispatch %s was answered %d times", id, n)
		}
	}
	for _, x := range s.rows.sessions {
		if err := x.Recovery.Check(); err != nil || x.Contradiction() != "" {
			s.errorf("session %s: %v %s", x.Key, err, x.Contradiction())
		}
	}
}

// body: what the agent read is what was claimed, each end in it once.
func (s *soundness) body(t conversation.Turn, text string) {
	if strings.TrimSpace(text) != strings.TrimSpace(t.Message) {
		s.errorf("turn %s claims\n%s\nand told\n%s", t.ID, t.Message, text)
	}
	for _, e := range s.rows.events {
		name, want := e.Text, 0
		if slug, ok := strings.CutPrefix(e.ContextKey, "exec:"); ok {
			name = "(" + slug + ", "
		}
		if slices.Contains(t.EventIDs, e.ID) {
			want = 1
		}
		if got := strings.Count(text, name); got != want {
			s.errorf("turn %s shows %s %d times, want %d", t.ID, name, got, want)
		}
	}
}

// reply: one message carries it.
func (s *soundness) reply(t conversation.Turn) {
	n, want := 0, 1
	if t.ReplyMode == conversation.ReplyCaller || t.Outcome == "skipped" {
		want = 0 // it went to whoever had asked; the same was sent within a day
	}
	for _, d := range s.rows.deliveries {
		if d.Source.TurnID == t.ID {
			n++
			if !strings.Contains(d.Text, "seen by "+t.Agent) {
				s.errorf("turn %s: the message is %q", t.ID, d.Text)
			}
		}
	}
	if n != want || (t.DeliveryID == "") != (want == 0) {
		s.errorf("turn %s succeeded and has %d deliveries (%q)", t.ID, n, t.DeliveryID)
	}
}

// deliveries: at most one send each, and never none without saying so.
func (s *soundness) deliveries() {
	sent, keys := s.sent(), map[string]bool{}
	for _, d := range s.rows.deliveries {
		if keys[d.IdempotencyKey] {
			s.errorf("two deliveries have the key %s", d.IdempotencyKey)
		}
		keys[d.IdempotencyKey] = true
		n := sent[d.IdempotencyKey]
		delete(sent, d.IdempotencyKey)
		switch {
		case n > 1:
			s.errorf("%s was sent %d times", d.IdempotencyKey, n)
		case d.State == delivery.Delivered && n != 1, d.State != delivery.Delivered && d.State != delivery.Unknown:
			s.errorf("%s is %s and was sent %d times", d.IdempotencyKey, d.State, n)
		case d.State == delivery.Unknown && slices.Contains(certain, s.at):
			s.errorf("%s is unknown", d.IdempotencyKey)
		}
	}
	for key := range sent {
		s.errorf("%s was sent, and no row says so", key)
	}
}

// tasks: nothing is shown as running where nothing runs.
func (s *soundness) tasks() {
	for _, t := range s.rows.tasks {
		if !t.Status.Terminal() {
			s.errorf("task %+v", t)
		}
	}
	if running := s.list("--state", "running"); len(running) > 0 {
		s.errorf("processes are shown as running: %+v", running)
	}
	if len(s.running()) > 0 {
		s.errorf("%v still run", s.running())
	}
}

// transcript: a projection of the turns, each message in it once.
func (s *soundness) transcript(key string) {
	r := s.claw("sessions", "show", key, "--raw")
	if r.code == 3 {
		return // never spoken to
	}
	roles := map[string]int{}
	for line := range strings.Lines(r.out) {
		var e struct {
			ID      string
			Type    string
			Message struct{ Role string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.errorf("transcript: %v in %q", err, line)
		}
		if e.Type == "message" {
			id, _, _ := strings.Cut(e.ID, "-")
			roles[id+e.Message.Role]++
		}
	}
	for _, t := range s.rows.turns {
		if t.SessionKey != key || t.Status != conversation.TurnSucceeded {
			continue
		}
		if u, a := roles[t.ID+"user"], roles[t.ID+"assistant"]; u != 1 || a != 1 {
			s.errorf("the transcript has %d messages and %d replies of turn %s", u, a, t.ID)
		}
	}
}
