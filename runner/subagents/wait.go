package subagents

import (
	"context"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

// How often the ledger is looked at while somebody waits.
const (
	lookFirst = 5 * time.Millisecond
	lookLast  = 200 * time.Millisecond
)

// Wait waits until a run has ended, at most for so long (less than 0: for as long as
// it takes), and says what it sees then. It never cancels. The error is the cause of
// ctx's end, or one of the state directory.
func (s *Service) Wait(ctx context.Context, id string, most time.Duration) (subagent.Observation, error) {
	until := s.Clock.Elapsed() + most
	for pause := lookFirst; ; pause = min(pause*3/2, lookLast) {
		r, err := s.row(id)
		if err != nil {
			return subagent.Observation{}, err
		}
		if r.Ended() || most == 0 {
			return subagent.Observe(r, false), nil
		}
		left := pause
		if most > 0 {
			if left = min(pause, until-s.Clock.Elapsed()); left <= 0 {
				return subagent.Observe(r, true), nil
			}
		}
		if err := clock.Sleep(ctx, s.Clock, left); err != nil {
			return subagent.Observe(r, false), err
		}
	}
}

// DefaultPatience is how long Cancel waits for the end of what it has told to end.
const DefaultPatience = proc.DefaultGrace + proc.DefaultSettle + 6*time.Second

// Cancel ends a run and all that it has asked for. What is queued never begins; an
// agent that runs gets TERM and later KILL. r is as it stands then: one that had
// ended by itself keeps its end, and pending is one that has not ended in time.
func (s *Service) Cancel(ctx context.Context, id string, patience time.Duration) (r subagent.Run, pending bool, err error) {
	var want []string
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		want = want[:0]
		row, err := get(tx, id)
		if _, missing := err.(*MissingError); missing {
			return nil // it is in the archive
		}
		if err != nil || row.Rec.Ended() {
			return err
		}
		all, err := ledger(tx)
		if err != nil {
			return err
		}
		for _, one := range append([]subagent.Run{row.Rec}, subagent.Descendants(all, row.Rec)...) {
			want = append(want, one.ID)
			if err := withdraw(tx, one.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return r, false, err
	}
	wait, told := clock.New(), map[string]string{} // other programs do not follow the clock of a test
	for {
		left, err := s.press(want, told)
		if err != nil {
			return r, false, err
		}
		if left == 0 {
			break
		}
		if _, _, err := s.Turns.Settle(ctx); err != nil { // a turn that nobody waits for any more is ended here
			return r, false, err
		}
		if pending = wait.Elapsed() >= patience; pending {
			break
		}
		if err := clock.Sleep(ctx, wait, 20*time.Millisecond); err != nil {
			return r, true, err
		}
	}
	r, err = s.row(id)
	return r, pending && !r.Ended(), err
}

// withdraw notes that a run is to end, and ends one that waits.
func withdraw(tx *state.Tx, id string) error {
	row, ok, err := state.Subagents.Get(tx, id)
	if err != nil || !ok || row.Rec.Ended() {
		return err
	}
	if row.Rec.CancelledAt.IsZero() {
		row.Rec.CancelledAt = tx.Now()
	}
	if row.Rec.Status == subagent.Queued {
		return closeRun(tx, row, subagent.End{Outcome: subagent.Failed, Reason: subagent.Killed, Error: task.CancelledError, At: tx.Now()})
	}
	return state.Subagents.Put(tx, id, row.Rev, row.Rec)
}

// press tells the agents of runs to end, once each, and counts the runs that have
// not ended.
func (s *Service) press(ids []string, told map[string]string) (left int, err error) {
	var procs []string
	err = s.Store.View(func(tx *state.Tx) error {
		left, procs = 0, procs[:0]
		for _, id := range ids {
			row, ok, err := state.Subagents.Get(tx, id)
			if err != nil {
				return err
			}
			if !ok || row.Rec.Ended() {
				continue
			}
			left++
			t, ok, err := state.Turns.Get(tx, row.Rec.TurnID)
			if err != nil {
				return err
			}
			if ok && t.Rec.Status == session.TurnRunning && t.Rec.ProcessID != "" {
				procs = append(procs, t.Rec.ProcessID)
			}
		}
		return nil
	})
	for _, p := range procs {
		if told[p] != "" {
			continue
		}
		if killErr := s.Turns.Kill(p); killErr != nil {
			return left, killErr
		}
		told[p] = "told"
	}
	return left, err
}
