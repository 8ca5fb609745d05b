package scheduler

import (
	"context"
	"strings"
	"time"

	"claw/state"
	"claw/state/session"
)

// reapEvery is how often a program looks for sessions that nobody needs.
const reapEvery = 5 * time.Minute

// reap takes away the sessions of automations that are gone, once they are
// older than cron.sessionRetention. An isolated session belongs to its
// automation, and each run has a new transcript in it, so that those of earlier
// runs are never there to be swept (spec/heartbeat-automations.md 2.14 has a
// session for each run).
func (s *Scheduler) reap(ctx context.Context) error {
	now := s.Clock.Now()
	if s.SessionRetention <= 0 || s.Turns == nil || now.Sub(s.reaped).Abs() < reapEvery {
		return nil
	}
	s.reaped = now
	useless := func(x session.Session) bool { return now.Sub(x.EndedAt) > s.SessionRetention }
	var keys []string
	err := s.Store.View(func(tx *state.Tx) error {
		keys = keys[:0]
		rows, err := state.Sessions.All(tx)
		for _, row := range rows {
			id, ours := strings.CutPrefix(row.ID, Session(""))
			if !ours || row.Rec.Status == session.Running || !useless(row.Rec) {
				continue
			}
			_, there, getErr := state.Automations.Get(tx, id)
			if getErr != nil {
				return getErr
			}
			if !there {
				keys = append(keys, row.ID)
			}
		}
		return err
	})
	for _, key := range keys {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = s.Turns.Forget(ctx, key, useless)
	}
	return err
}
