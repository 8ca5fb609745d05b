package scheduler

import (
	"strings"

	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/session"
	"claw/state/ulid"
)

// tellEvents carries the claimed reminders out: they are queued in this
// transaction, and their runs end in it.
func (s *Scheduler) tellEvents(tx *state.Tx, sh *sheet, w *Work) error {
	rest := w.Start[:0:0]
	for _, r := range w.Start {
		a := sh.auto(r.AutomationID).Rec
		if a.Payload.Kind != automation.PayloadEvent || a.Checks(r) {
			rest = append(rest, r)
			continue
		}
		ended, err := s.tellEvent(tx, a, r)
		if err != nil {
			return err
		}
		w.Ended = append(w.Ended, ended)
	}
	w.Start = rest
	return nil
}

func (s *Scheduler) tellEvent(tx *state.Tx, a automation.Automation, r automation.Run) (automation.Run, error) {
	key := session.Main(s.agent(a))
	if a.SessionKey != "" {
		key = a.SessionKey
	}
	row, ok, err := state.Runs.Get(tx, r.ID)
	if err != nil || !ok {
		return r, err
	}
	o := *row.Rec.Owner
	if o.TaskID, err = s.addTask(tx, a, r, key); err != nil {
		return r, err
	}
	row.Rec.Owner = &o
	if err := state.Runs.Put(tx, r.ID, row.Rev, row.Rec); err != nil {
		return r, err
	}
	end, err := s.enqueue(tx, a, row.Rec, key)
	if err != nil {
		return r, err
	}
	return s.finish(tx, row.Rec, outcome{end: end})
}

// CodeHeartbeatsOff is why a reminder that is to wake its agent was not queued.
const CodeHeartbeatsOff automation.Code = "disabled-heartbeats"

// enqueue adds the event of a run to the queue of a session, and says how the
// run has ended with that. The same that waits already is not queued again. A
// one-shot that is to wake an agent whose heartbeats are switched off tries
// again later, some times: queued, it would count as told while nobody is
// (openclaw 18917, 75964).
func (s *Scheduler) enqueue(tx *state.Tx, a automation.Automation, r automation.Run, key string) (automation.End, error) {
	end := automation.End{Status: automation.Succeeded, At: tx.Now()}
	later := a.WakeMode == "next-heartbeat"
	if !later && a.Schedule.Kind == automation.KindAt && !r.Manual {
		off, err := heartbeatsOff(tx)
		if err != nil || off {
			end.Status, end.Code, end.Again = automation.Skipped, CodeHeartbeatsOff, true
			end.Error = "heartbeats are switched off, so that nobody would be told; claw heartbeat enable switches them on"
			return end, err
		}
	}
	queue, err := queued(tx)
	if err != nil {
		return end, err
	}
	ev := event.Event{
		ID: ulid.New(tx.Now()), State: event.Queued, Kind: event.KindCron, SessionKey: key, Agent: s.agent(a), ContextKey: ContextKey(a.ID),
		Text: a.Told(r), Name: a.Name, CreatedAt: tx.Now(), Untrusted: r.Input != "",
		Tools: session.LimitTo(a.Payload.ToolsAllow),
	}
	if later { // a turn about something else shows it
		ev.Kind, ev.NextTurn = event.KindEvent, true
	}
	if fresh, _ := event.Enqueue(queue, &ev); !fresh {
		end.Status, end.Code, end.Error = automation.Skipped, automation.CodeCoalesced, "the same still waits to be told"
		return end, nil
	}
	return end, state.Events.Add(tx, ev.ID, ev)
}

func queued(tx *state.Tx) ([]event.Event, error) {
	rows, err := state.Events.All(tx)
	queue := make([]event.Event, 0, len(rows))
	for _, row := range rows {
		queue = append(queue, row.Rec)
	}
	return queue, err
}

// heartbeatsOff tells that a person has switched all heartbeats off.
func heartbeatsOff(tx *state.Tx) (bool, error) {
	rows, err := state.Switches.All(tx)
	for _, row := range rows {
		if row.Rec.Disabled {
			return true, err
		}
	}
	return false, err
}

// ContextKey is what the events of an automation are known by in the queue.
func ContextKey(automationID string) string { return "cron:" + strings.ToLower(automationID) }
