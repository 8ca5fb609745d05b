package agent

import (
	"context"
	"strings"

	"claw/runner/control"
	"claw/runner/internal/failpoint"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
	"claw/state/session"
)

// conclude ends a turn by what is on disk: the row of its process and what
// that printed. It is the same whoever does it, and whenever. going tells that
// the argv still runs; then nothing was done. The caller holds the lane. left
// tells that nobody has waited for the turn: an answer to a person is then a
// message.
func (r *Turns) conclude(ctx context.Context, t session.Turn, left bool) (res Result, going bool, err error) {
	e, going, err := r.collect(ctx, t)
	if err != nil || going {
		return Result{Turn: t}, going, err
	}
	e.left = left
	res, err = r.end(t, e)
	return res, false, err
}

// collect learns how a turn went.
func (r *Turns) collect(ctx context.Context, t session.Turn) (e ending, going bool, err error) {
	if t.ProcessID == "" {
		return neverStarted(t), false, nil
	}
	p, ok, err := r.process(t.ProcessID)
	if err == nil && ok && settle.Abandoned(r.Store, p) {
		if err = r.control().Settle(ctx); err == nil {
			p, ok, err = r.process(t.ProcessID)
		}
	}
	if err != nil {
		return ending{}, false, err
	}
	return r.concluded(t, p, ok)
}

// concluded is the end of a turn by the row of its process, if there is one.
func (r *Turns) concluded(t session.Turn, p process.Process, ok bool) (e ending, going bool, err error) {
	switch {
	case !ok && t.Status == session.TurnRunning:
		e = vanished()
	case !ok:
		e = neverStarted(t)
	case p.Live():
		return e, true, nil
	default:
		said, lastErr, err := replyOf(r.Store.ProcessDir(p.ID), p.Output)
		if err != nil {
			return e, false, err
		}
		e = judge(t, p, said, lastErr)
	}
	if e.status == session.TurnLost {
		e = r.known(t, e)
	}
	return e, false, nil
}

// control settles processes: one whose supervisor died has its output drained
// or is ended, whoever finds it.
func (r *Turns) control() *control.Control {
	return &control.Control{Store: r.Store, Clock: r.Clock, All: true, OnLoss: r.OnLoss}
}

// end writes the end of a turn: its row, its session's, and what follows from
// it, in one transaction. A turn that has ended already is returned as it is.
// It does not stop half-way because somebody loses patience.
func (r *Turns) end(t session.Turn, e ending) (Result, error) {
	e = e.noted(r.record(r.stamped(t, e), e.reply))
	failpoint.Hit("turn-ending")
	var final session.Turn
	err := r.Store.Update(context.Background(), func(tx *state.Tx) error {
		row, ok, err := state.Turns.Get(tx, t.ID)
		if err != nil {
			return err
		}
		if !ok || row.Rec.Status.Ended() {
			final = row.Rec
			if !ok {
				final = t
			}
			return nil
		}
		final = row.Rec // what heartbeat respond said meanwhile is in it
		e.apply(&final, tx.Now())
		return r.ended(tx, &final, row.Rev, e)
	})
	if err != nil {
		return Result{Turn: t}, err
	}
	failpoint.Hit("turn-ended")
	return Result{Turn: final, Reply: e.reply}, nil
}

// ended writes an end with all that follows from it. The cycle goes first: it
// decides what becomes of the events that were shown.
func (r *Turns) ended(tx *state.Tx, t *session.Turn, rev int64, e ending) error {
	over, err := cycled(tx, *t, e.finish())
	if err != nil {
		return err
	}
	if r.OnEnd != nil {
		if err := r.OnEnd(tx, t, e.reply); err != nil {
			return err
		}
	}
	if err := state.Turns.Put(tx, t.ID, rev, *t); err != nil {
		return err
	}
	if err := endSession(tx, *t, e.killed); err != nil {
		return err
	}
	return r.settleOver(tx, over)
}

// endSession lets the session go that t was the claim of. A wake after which
// nobody was told anything does not make it fresher (spec/tasks-recovery.md
// 6.6).
func endSession(tx *state.Tx, t session.Turn, killed bool) error {
	row, ok, err := state.Sessions.Get(tx, t.SessionKey)
	s := row.Rec
	waits := s.Recovery.Phase == session.CycleInterrupted && s.Recovery.SessionID == s.ID
	if err != nil || !ok || s.TurnID != t.ID || s.Status != session.Running && !waits {
		return err
	}
	if s.Status, s.EndedAt = sessionStatus(t, killed), t.EndedAt; waits {
		s.Status = session.Interrupted // something waits to be continued
	}
	if t.Kind == session.KindUser || !quiet(t) {
		s.UpdatedAt = t.EndedAt
	}
	return state.Sessions.Put(tx, s.Key, row.Rev, s)
}

// quiet tells a wake that came to nothing.
func quiet(t session.Turn) bool {
	return t.Outcome == "" || t.Outcome == "skipped" || strings.HasPrefix(t.Outcome, "ok-")
}
