package hook

import (
	"context"
	"time"

	"claw/state"
	"claw/state/session"
)

// Reap takes away the sessions of hooks in which nothing has happened for as long
// as Retention says: many a webhook has one of its own. Their turns are kept like
// all others. One that a person has written in since is his.
func (h *Dispatcher) Reap(ctx context.Context, now time.Time) error {
	if h.Retention <= 0 {
		return nil
	}
	var keys []string
	err := h.Store.View(func(tx *state.Tx) error {
		keys = keys[:0]
		all, err := ledger(tx)
		if err != nil {
			return err
		}
		wanted := map[string]bool{}
		for _, d := range all {
			wanted[d.SessionKey] = wanted[d.SessionKey] || !d.Status.Ended()
		}
		rows, err := state.Sessions.All(tx)
		for _, row := range rows {
			if wanted[row.ID] || !h.useless(row.Rec, now) {
				continue
			}
			last, ok, err := state.Turns.Find(tx, row.Rec.TurnID)
			if err != nil {
				return err
			}
			if ok && last.Rec.Kind == session.KindHook {
				keys = append(keys, row.ID)
			}
		}
		return err
	})
	for _, key := range keys {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = h.Turns.Forget(ctx, key, func(s session.Session) bool { return h.useless(s, now) })
	}
	return err
}

// useless tells a session of a hook in which nothing has happened for long.
func (h *Dispatcher) useless(s session.Session, now time.Time) bool {
	k, err := session.Parse(s.Key)
	if err != nil || k.Kind != session.KeyHook || s.Status == session.Running || s.EndedAt.IsZero() {
		return false
	}
	return now.Sub(s.EndedAt) > h.Retention && s.Recovery == (session.Cycle{})
}
