package hook

import (
	"strings"

	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/external"
	"claw/state/session"
	"claw/state/task"
	"claw/state/ulid"
)

// TurnEnded is what follows from the end of a turn of KindHook, in the
// transaction that writes the end; see agent.Turns.OnEnd.
func (h *Dispatcher) TurnEnded(tx *state.Tx, t *session.Turn, reply string) error {
	row, ok, err := state.Dispatches.Get(tx, t.DispatchID)
	d := row.Rec
	if err != nil || !ok || d.Status != external.Running || d.TurnID != t.ID {
		return err
	}
	stopped, err := scheduler.Stopped(tx, *t)
	if err != nil {
		return err
	}
	if t.Status == session.TurnNotAccepted && !stopped {
		if next, ok := external.Retry(d, tx.Now()); ok {
			return state.Dispatches.Put(tx, row.ID, row.Rev, next)
		}
	}
	rep := external.Settle(*t, reply, stopped, d.Deliver)
	if rep.Status == external.OK && rep.Disposition == external.Visible && d.Deliver {
		if err := h.send(tx, t, d, reply); err != nil {
			return err
		}
		rep.DeliveryAttempted, t.Outcome = true, "sent"
	}
	d = external.Close(d, rep, tx.Now())
	if rep.Tells(d.Deliver) && (h.Known == nil || h.Known(d.Agent)) {
		if err := announce(tx, d, d.Report.Words(d.Name), t.Tools); err != nil {
			return err
		}
	}
	if err := endTask(tx, d); err != nil {
		return err
	}
	return state.Dispatches.Put(tx, row.ID, row.Rev, d)
}

// send writes the intent to hand the reply to a person, once for a dispatch.
func (h *Dispatcher) send(tx *state.Tx, t *session.Turn, d external.Dispatch, reply string) error {
	sent, err := h.Post.Intend(tx, delivery.Delivery{
		ID: ulid.New(tx.Now()), IdempotencyKey: "hook:" + d.ID, Route: d.Route, Text: strings.TrimRight(reply, "\n"), Title: d.Name, Source: t.Source,
	})
	t.DeliveryID = sent.ID
	return err
}

// announce tells the agent's main session, as it was at acceptance, how a
// dispatch ended: a failure wakes it. What it says may repeat what came from
// outside, and whoever acts on it may use no more than the turn might.
func announce(tx *state.Tx, d external.Dispatch, words string, tools []string) error {
	e := event.Normal(event.Event{
		ID: ulid.New(tx.Now()), State: event.Queued, Kind: event.KindEvent, SessionKey: d.Announce, Agent: d.Agent, ContextKey: "hook:" + strings.ToLower(d.ID),
		Text: words, TaskID: d.TaskID, CreatedAt: tx.Now(), Untrusted: true, Tools: session.LimitTo(tools), NextTurn: !d.Wakes(),
	})
	return state.Events.Add(tx, e.ID, e)
}

// tellRefused tells of a dispatch that was promised and will not begin: whoever
// asked has gone. (Of one that was cancelled, whoever cancelled it knows.)
func (h *Dispatcher) tellRefused(tx *state.Tx, d external.Dispatch) error {
	if !d.Patient && d.StartedAt.IsZero() || d.Reason != external.ReasonPrepare || h.Known != nil && !h.Known(d.Agent) {
		return nil
	}
	return announce(tx, d, "Hook "+external.NameOf(external.Clean(d.Name))+" ("+string(d.Status)+"): "+external.Line(external.Clean(d.Error), 500), d.Tools)
}

// endTask ends the task of a dispatch that has ended.
func endTask(tx *state.Tx, d external.Dispatch) error {
	row, ok, err := state.Tasks.Get(tx, d.TaskID)
	if err != nil || !ok || row.Rec.Status.Terminal() {
		return err
	}
	end := task.End{Status: task.OfHook(d.Status), At: d.EndedAt, Error: d.Error}
	if d.Report != nil && d.Report.Status == external.OK {
		end.Outcome, end.Summary = task.OutcomeSucceeded, d.Report.Summary
	}
	t, err := task.Conclude(row.Rec, end)
	if err != nil {
		return err
	}
	if err := state.Tasks.Put(tx, row.ID, row.Rev, t); err != nil {
		return err
	}
	return settle.Follow(tx, t)
}

// Delivered notes in a dispatch what became of the message with its reply, in the
// transaction of the receipt; see deliver.Post.OnEnd. Messages about other things
// are let be.
func Delivered(tx *state.Tx, d delivery.Delivery) error {
	id, ok := strings.CutPrefix(d.IdempotencyKey, "hook:")
	if !ok || d.Source.Kind != "hook" {
		return nil
	}
	row, ok, err := state.Dispatches.Get(tx, id)
	if err != nil || !ok || row.Rec.Report == nil {
		return err
	}
	r := *row.Rec.Report
	yes, no := true, false
	switch r.DeliveryError = ""; d.State {
	case delivery.Delivered:
		r.Delivered = &yes
	case delivery.Failed:
		r.Delivered, r.DeliveryError = &no, external.DeliveryFailed
	default:
		r.Delivered = nil
	}
	row.Rec.Report = &r
	return state.Dispatches.Put(tx, id, row.Rev, row.Rec)
}
