package heartbeat

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
)

// cycleOf is the cycle of a turn's session, as the end of the turn has left it.
func cycleOf(tx *state.Tx, t *session.Turn) (session.Cycle, error) {
	row, ok, err := state.Sessions.Get(tx, t.SessionKey)
	if err != nil || !ok {
		return session.Cycle{}, err
	}
	return row.Rec.Recovery, nil
}

// isKept tells a turn that was cut off and is to be continued.
func isKept(c session.Cycle, t *session.Turn) bool {
	return c.Phase == session.CycleInterrupted && c.SourceTurnID == t.ID
}

// isAttempt tells a turn that has continued the source of a cycle.
func isAttempt(c session.Cycle, t *session.Turn) bool {
	return c.DispatchID != "" && c.DispatchID == t.DispatchID && c.SourceTurnID != t.ID
}

// turnOf finds a turn, live or archived.
func turnOf(tx *state.Tx, id string) (t session.Turn, ok bool, err error) {
	row, ok, err := state.Turns.Find(tx, id)
	return row.Rec, ok, err
}

// attempted is the end of a turn that continued another one. An answer is
// judged and sent as that of the other one would have been. Of one without an
// answer nobody is told: the cycle decides when it is over (Over).
func (e *Engine) attempted(tx *state.Tx, t *session.Turn, c session.Cycle, reply string) error {
	if t.Status != session.TurnSucceeded {
		_, err := settleEvents(tx, t, c.Phase == session.CycleInterrupted && t.Status != session.TurnNotAccepted)
		return err
	}
	as, err := e.standIn(tx, t, c)
	if err != nil {
		return err
	}
	if err := e.answer(tx, &as, reply, false); err != nil {
		return err
	}
	t.Outcome, t.DeliveryID = as.Outcome, as.DeliveryID
	return consume(tx, t.EventIDs, t.ID)
}

// standIn is an attempt as the turn that it stands for.
func (e *Engine) standIn(tx *state.Tx, t *session.Turn, c session.Cycle) (session.Turn, error) {
	source, ok, err := turnOf(tx, c.SourceTurnID)
	as := *t
	if err == nil && ok {
		as.Kind = source.Kind
	}
	return as, err
}

// consume ends events that have been seen to after all.
func consume(tx *state.Tx, ids []string, turnID string) error {
	for _, id := range ids {
		row, ok, err := state.Events.Get(tx, id)
		if err != nil {
			return err
		}
		ev := row.Rec
		if !ok || ev.State != event.Queued && ev.State != event.Unknown {
			continue
		}
		ev.State, ev.TurnID, ev.EndedAt = event.Consumed, turnID, tx.Now()
		if err := state.Events.Put(tx, id, row.Rev, ev); err != nil {
			return err
		}
	}
	return nil
}

// Carry hands over the answer of a turn that was cut off after it had given
// one, as its end would have done; the cycle is closed in the same transaction.
func (e *Engine) Carry(tx *state.Tx, source session.Turn, reply string) error {
	source.Status, source.EndedAt = session.TurnSucceeded, tx.Now()
	if source.ReplyMode == session.ReplyCaller {
		source.ReplyMode = session.ReplyDeliver
	}
	return e.answer(tx, &source, reply, false)
}

// Over is agent.Turns.OnOver: what a person is owed of a cycle that is over, in
// the transaction that ends it. Events that were shown by what was continued are
// consumed; of the others he is told, once.
func (e *Engine) Over(tx *state.Tx, c session.Cycle) error {
	source, ok, err := turnOf(tx, c.SourceTurnID)
	if err != nil || !ok {
		return err
	}
	if c.Ending == session.EndCompleted {
		return consume(tx, source.EventIDs, source.ID)
	}
	unknown, err := unknownOf(tx, source)
	if err != nil {
		return err
	}
	owed := c.Owes(len(unknown) > 0)
	if owed == session.NoticeNone {
		return nil
	}
	return e.owe(tx, c, source, owed, unknown)
}

// unknownOf are the events that a turn had shown and of which nobody knows what
// was done about them.
func unknownOf(tx *state.Tx, t session.Turn) (unknown []event.Event, err error) {
	for _, id := range t.EventIDs {
		row, ok, err := state.Events.Find(tx, id)
		if err != nil {
			return nil, err
		}
		if ok && row.Rec.State == event.Unknown {
			unknown = append(unknown, row.Rec)
		}
	}
	return unknown, nil
}

// owe writes the notice about a cycle that is over.
func (e *Engine) owe(tx *state.Tx, c session.Cycle, source session.Turn, owed session.Notice, unknown []event.Event) error {
	texts := noticeTexts(source, unknown)
	about := about(unknown, &source)
	key, name := c.ResendKey(), prompts.NoticeResend
	switch {
	case owed == session.NoticeGivenUp:
		key, name = c.TombstoneKey(), prompts.NoticeGivenUp
	case owed == session.NoticeLost:
		key, name = "turn:"+source.ID+":unknown", prompts.NoticeLost
	case source.Kind != session.KindUser:
		name = prompts.NoticeLost // nobody has sent it: it cannot be sent again
	}
	if len(texts) == 0 && owed != session.NoticeGivenUp {
		return nil
	}
	text := e.worded(name, source.Agent, texts)
	switch owed {
	case session.NoticeGivenUp:
		text += "\n\nTo begin a new conversation: " + agent.RenewCommand(source.SessionKey)
	case session.NoticeResend:
		text += "\n\nWhy: " + strings.TrimRight(c.Reason, ". ") + "."
	}
	return e.write(tx, &source, key, text, about)
}

// noticeTexts are what a turn was about, for a person: what he had written, or
// the events, and what the checks had said.
func noticeTexts(source session.Turn, unknown []event.Event) []string {
	var texts []string
	if source.Kind == session.KindUser {
		texts = append(texts, source.Message)
	} else {
		for _, ev := range unknown {
			texts = append(texts, event.Notice(ev))
		}
	}
	return append(texts, source.Alerts...)
}

// Report is what the embedded agent says of a turn that was cut off: it has
// nobody who could go on with it (design.md section 5).
func (e *Engine) Report(tx *state.Tx, source session.Turn) (string, error) {
	unknown, err := unknownOf(tx, source)
	return e.worded(prompts.NoticeCutOff, source.Agent, noticeTexts(source, unknown)), err
}

// write writes the intent to send a notice about a turn, once for a key.
func (e *Engine) write(tx *state.Tx, t *session.Turn, key, text string, source delivery.Source) error {
	route := t.Route
	if route.IsZero() {
		route = e.Post.Resolve("last", "", "", delivery.Route{}).Route
	}
	_, err := e.Post.Intend(tx, delivery.Delivery{IdempotencyKey: key, Route: route, Text: text, Title: t.Title, Source: source})
	return err
}

// fenced decides about a wake of a session in which a turn was cut off: what
// claw begins by itself waits until that has been seen to. A session that has
// been given up takes nothing any more; its events go to the person, or they
// would wait for ever. An isolated check has a session of its own.
func (sc *scene) fenced(p *Planned) bool {
	kind := sc.kind()
	if sc.IsolatedSession && kind == session.KindHeartbeat {
		return false
	}
	v := sc.session.Recovery.View(session.Sighting{SessionID: sc.session.ID})
	switch {
	case v.Admits(cmp.Or(kind, session.KindHeartbeat)):
		return false
	case v.State != session.ViewTombstoned:
		p.Reason, p.Retry, p.RetryAt = heartbeat.ReasonRecovery, true, sc.now.Add(recoveryLook)
	case len(sc.ready) > 0:
		p.Run, p.Relay, p.Status, p.Reason, p.Says = true, true, Running, heartbeat.ReasonGivenUp, sc.says()
	default:
		p.Reason = heartbeat.ReasonGivenUp
	}
	return true
}

// recoveryLook is when to look again at a session that is being recovered. Its
// end is a change that is looked at sooner.
const recoveryLook = time.Minute

// relay sends the events of a session that has been given up to the person.
func (r *run) relay(ctx context.Context) error {
	sc, err := r.look()
	if err != nil {
		return err
	}
	v := sc.session.Recovery.View(session.Sighting{SessionID: sc.session.ID})
	if v.State != session.ViewTombstoned {
		return nil // somebody has begun it anew
	}
	why := agent.GivenUp(sc.session)
	return r.undeliverable(ctx, sc.route, errors.New(why.Why+"; "+why.Hint))
}
