package resume

import (
	"time"

	"claw/state"
	"claw/state/session"
)

// judge decides what is to be done about a cycle that may go on.
func (r *Recoverer) judge(it *Item, now time.Time) error {
	if it.State != session.ViewRecoverable {
		return nil
	}
	if it.source.ID == "" {
		it.verdict = session.Verdict{Step: session.StepResend, Why: "nothing is left of the turn"}
	} else {
		e, err := r.evidence(it)
		if err != nil {
			return err
		}
		it.verdict = session.Judge(it.Cycle, e, now)
	}
	if it.Step, it.Why = it.verdict.Step, it.verdict.Why; !dispatches(it.Step) {
		// Nothing is started, so that nothing has to be waited for.
		it.NextAttempt, it.NotBefore, it.Due = 0, time.Time{}, true
	}
	return nil
}

// dispatches tells a step that starts an agent.
func dispatches(s session.Step) bool { return s == session.StepBegin || s == session.StepContinue }

// evidence is what is on disk of the turn that was cut off.
func (r *Recoverer) evidence(it *Item) (session.Evidence, error) {
	e := session.Evidence{Source: it.source, ReadOnly: r.Turns.Agent(it.source.Agent).ReadOnly()}
	err := r.Store.View(func(tx *state.Tx) (err error) {
		e.Receipt, err = receipt(tx, it.source)
		return err
	})
	if err != nil {
		return e, err
	}
	tr, err := r.Turns.Recent(it.found)
	if e.Unreadable = err != nil; e.Unreadable {
		return e, nil
	}
	if it.left != nil && it.left.Finish.Status != session.TurnNotAccepted {
		tr.Entries = append(tr.Entries, session.TurnEntries(it.left.Turn, it.left.Reply)...)
	}
	e.Reply, e.Answered = session.FinalReply(tr.Entries, it.source.ID)
	cutOff := []string{it.source.ID}
	if it.newest.DispatchID == it.Cycle.DispatchID {
		cutOff = append(cutOff, it.newest.ID) // the last attempt
	}
	e.Tail = session.TailOf(tr.Entries, cutOff...)
	return e, nil
}

// receipt is what the deliveries say of a turn's answer.
func receipt(tx *state.Tx, t session.Turn) (session.Receipt, error) {
	key := "turn:" + t.DispatchID
	if has, err := state.Deliveries.Mentions(tx, `"`+key+`"`); err != nil || !has {
		return session.ReceiptNone, err
	}
	rows, err := state.Deliveries.All(tx)
	for _, row := range rows {
		if row.Rec.IdempotencyKey == key {
			return session.ReceiptOf(row.Rec.State), err
		}
	}
	return session.ReceiptNone, err
}
