package agent

import (
	"context"
	"strings"

	"claw/runner/control"
	"claw/runner/internal/failpoint"
	"claw/runner/settle"
	"claw/state"
	"claw/state/session"
)

// conclude ends a turn by what is on disk: the row of its process and what
// that printed. It is the same whoever does it, and whenever. going tells that
// the argv still runs; then nothing was done. The caller holds the lane.
func (r *Turns) conclude(ctx context.Context, t session.Turn) (res Result, going bool, err error) {
	e, going, err := r.collect(ctx, t)
	if err != nil || going {
		return Result{Turn: t}, going, err
	}
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
	switch {
	case err != nil:
		return ending{}, false, err
	case !ok && t.Status == session.TurnRunning:
		return vanished(), false, nil
	case !ok:
		return neverStarted(t), false, nil
	case p.Live():
		return ending{}, true, nil
	}
	said, lastErr, err := replyOf(r.Store.ProcessDir(p.ID), p.Output)
	return judge(t, p, said, lastErr), false, err
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
		if r.OnEnd != nil {
			if err := r.OnEnd(tx, &final, e.reply); err != nil {
				return err
			}
		}
		if err := state.Turns.Put(tx, row.ID, row.Rev, final); err != nil {
			return err
		}
		return endSession(tx, final, e.killed)
	})
	if err != nil {
		return Result{Turn: t}, err
	}
	failpoint.Hit("turn-ended")
	return Result{Turn: final, Reply: e.reply}, nil
}

// endSession lets the session go that t was the claim of. A wake after which
// nobody was told anything does not make it fresher (spec/tasks-recovery.md
// 6.6).
func endSession(tx *state.Tx, t session.Turn, killed bool) error {
	row, ok, err := state.Sessions.Get(tx, t.SessionKey)
	if err != nil || !ok || row.Rec.TurnID != t.ID || row.Rec.Status != session.Running {
		return err
	}
	s := row.Rec
	s.Status, s.EndedAt = sessionStatus(t, killed), t.EndedAt
	if t.Kind == session.KindUser || !quiet(t) {
		s.UpdatedAt = t.EndedAt
	}
	return state.Sessions.Put(tx, s.Key, row.Rev, s)
}

// quiet tells a wake that came to nothing.
func quiet(t session.Turn) bool {
	return t.Outcome == "" || t.Outcome == "skipped" || strings.HasPrefix(t.Outcome, "ok-")
}
