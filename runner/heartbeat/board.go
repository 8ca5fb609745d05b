package heartbeat

import (
	"cmp"
	"slices"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
)

// switchID is the row of ledgers/switches.jsonl that enable and disable write.
const switchID = "switch"

// board is what a Plan looks at, read in one View. It reads the ledgers that
// are small whatever has happened before: monitors, queued events, live turns.
// Sessions are read only for a wake that nothing else speaks against.
type board struct {
	now      time.Time
	off      bool                         // heartbeat disable
	monitors map[string]heartbeat.Monitor // by agent, as they will be once converged
	ready    map[string][]event.Event     // by session: queued and not held back, oldest first
	live     []session.Turn               // turns that somebody is really running
	next     time.Time                    // the earliest instant at which something changes by itself
}

// after notes that something will be due at at.
func (b *board) after(at time.Time) {
	if !at.IsZero() && (b.next.IsZero() || at.Before(b.next)) {
		b.next = at
	}
}

func (e *Engine) board(tx *state.Tx, now time.Time) (*board, error) {
	b := &board{now: now, monitors: map[string]heartbeat.Monitor{}, ready: map[string][]event.Event{}}
	off, err := switchedOff(tx)
	if err != nil {
		return nil, err
	}
	b.off = off
	rows, err := monitors(tx)
	if err != nil {
		return nil, err
	}
	for _, m := range append(rows, e.converged(rows, now)...) {
		b.monitors[m.Agent] = m
	}
	if err := b.readEvents(tx); err != nil {
		return nil, err
	}
	b.live, err = e.running(tx)
	return b, err
}

func switchedOff(tx *state.Tx) (bool, error) {
	row, ok, err := state.Switches.Get(tx, switchID)
	return ok && row.Rec.Disabled, err
}

func monitors(tx *state.Tx) ([]heartbeat.Monitor, error) {
	rows, err := state.Heartbeats.All(tx)
	ms := make([]heartbeat.Monitor, len(rows))
	for i, r := range rows {
		ms[i] = r.Rec
	}
	return ms, err
}

// readEvents takes the queued events that may be shown now. One that failed
// turns have held back is looked at again when its time has come.
func (b *board) readEvents(tx *state.Tx) error {
	rows, err := state.Events.All(tx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch ev := r.Rec; {
		case ev.State != event.Queued:
		case ev.NotBefore.After(b.now):
			b.after(ev.NotBefore)
		default:
			b.ready[ev.SessionKey] = append(b.ready[ev.SessionKey], ev)
		}
	}
	return nil
}

// queuedOf are the events of a session that a turn may show now.
func queuedOf(tx *state.Tx, sessionKey string, now time.Time) ([]event.Event, error) {
	b := &board{now: now, ready: map[string][]event.Event{}}
	err := b.readEvents(tx)
	return b.ready[sessionKey], err
}

// running are the turns that have not ended and whose lane is held: a turn
// whose lane is free has died and is about to be settled. The rows of finished
// turns may be long, so that they are decoded only when one is not finished.
func (e *Engine) running(tx *state.Tx) ([]session.Turn, error) {
	unfinished := false
	for _, status := range [...]session.TurnStatus{session.TurnAdmitted, session.TurnRunning} {
		has, err := state.Turns.Mentions(tx, `"status":"`+string(status)+`"`)
		if err != nil {
			return nil, err
		}
		unfinished = unfinished || has
	}
	if !unfinished {
		return nil, nil
	}
	rows, err := state.Turns.All(tx)
	if err != nil {
		return nil, err
	}
	var live []session.Turn
	for _, r := range rows {
		if r.Rec.Status.Ended() {
			continue
		}
		held, _, err := agent.Lane(e.Store, r.Rec.SessionKey)
		if err != nil {
			return nil, err
		}
		if held {
			live = append(live, r.Rec)
		}
	}
	return live, nil
}

// wakes are what wants attention, at most one for each session of an agent, by
// agent and then by session.
func (e *Engine) wakes(b *board, extra []Wake) []Wake {
	var pending []heartbeat.Wake
	for key, events := range b.ready {
		if w, ok := eventWake(key, events); ok {
			pending = append(pending, w)
		}
	}
	due := map[string]time.Time{} // by agent
	for name, m := range b.monitors {
		switch {
		case !m.Enabled || m.NextDue.IsZero():
		case m.NextDue.After(b.now):
			b.after(m.NextDue)
		default:
			due[name] = m.NextDue
			pending = append(pending, heartbeat.Wake{
				Agent: name, SessionKey: e.sessionOf(name), Source: heartbeat.SourceInterval, Reason: heartbeat.SourceInterval,
				Intent: heartbeat.IntentScheduled, At: m.NextDue,
			})
		}
	}
	for _, w := range extra {
		pending = append(pending, heartbeat.Wake{
			Agent: w.Agent, SessionKey: cmp.Or(w.SessionKey, e.sessionOf(w.Agent)), Source: w.Source, Reason: w.Reason, Intent: w.Intent, At: b.now,
		})
	}
	var all []Wake
	for _, w := range heartbeat.Coalesce(pending) {
		one := Wake{Agent: w.Agent, SessionKey: w.SessionKey, Source: w.Source, Reason: w.Reason, Intent: w.Intent, Events: len(b.ready[w.SessionKey])}
		if w.SessionKey == e.sessionOf(w.Agent) {
			one.Due = due[w.Agent]
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Wake) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.SessionKey, b.SessionKey))
	})
	return all
}

// eventWake is the wake that the queued events of a session ask for. Events
// that wait for the next turn ask for none, and sub-agents are never woken:
// whoever started them is.
func eventWake(key string, events []event.Event) (heartbeat.Wake, bool) {
	if session.IsSubagent(key) {
		return heartbeat.Wake{}, false
	}
	w := heartbeat.Wake{SessionKey: key, Agent: agentOf(key, events), Intent: heartbeat.IntentImmediate}
	best := -1
	for _, ev := range events {
		if ev.NextTurn {
			continue
		}
		if level, source, reason := sourceOf(ev); level > best {
			best, w.Source, w.Reason, w.At = level, source, reason, ev.CreatedAt
		}
	}
	return w, best >= 0
}

// sourceOf is what an event is called as the cause of a wake, and how it ranks
// among others; spec/heartbeat-automations.md 1.4, spec/exec-process.md 4.4.
func sourceOf(ev event.Event) (level int, source, reason string) {
	switch {
	case event.IsExec(ev):
		return 3, heartbeat.SourceExec, heartbeat.SourceExec
	case ev.Kind == event.KindCron:
		return 2, heartbeat.SourceCron, cmp.Or(ev.ContextKey, heartbeat.SourceCron)
	case ev.Kind == event.KindRestart:
		return 1, heartbeat.SourceRestart, heartbeat.SourceRestart
	case ev.Kind == event.KindTask:
		return 1, "background-task", "background-task"
	}
	return 0, "other", "wake"
}

// agentOf is whose session key is: the key says it, or the newest event does.
func agentOf(key string, events []event.Event) string {
	if k, err := session.Parse(key); err == nil && k.Agent != "" {
		return k.Agent
	}
	for _, ev := range slices.Backward(events) {
		if ev.Agent != "" {
			return ev.Agent
		}
	}
	return "main"
}

// sessionOf is the session in which the heartbeat of an agent runs: main, or
// the configured one, which must be its own and no sub-agent's
// (spec/heartbeat-automations.md 1.1).
func (e *Engine) sessionOf(name string) string {
	key := e.Settings(name).Session
	if key == "" || key == "main" {
		return session.Main(name)
	}
	k, err := session.Parse(key)
	if err != nil || session.IsSubagent(key) || k.Agent != "" && k.Agent != name {
		return session.Main(name)
	}
	return key
}
