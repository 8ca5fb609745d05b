package scheduler

import (
	"context"
	"time"

	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// makeMoves writes what follows, in one transaction.
func (s *Scheduler) makeMoves(ctx context.Context, moves []move, w *Work) (queued bool, err error) {
	var done []move
	var begin []automation.Source
	var ended []automation.Run
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		done, begin, ended, queued = nil, nil, nil, false
		for _, m := range moves {
			ok, err := m.stands(tx)
			if err != nil {
				return err
			}
			if !ok {
				continue // somebody has changed it meanwhile: the next pass
			}
			if m.claim {
				o := self()
				o.ProcessID = ulid.New(tx.Now())
				m.fired.Source = m.fired.Source.Claimed(*o)
				begin = append(begin, m.fired.Source)
			}
			if err := s.write(tx, m); err != nil {
				return err
			}
			if r := m.fired.Run; r != nil {
				queued = true
				if !r.Status.Open() {
					ended = append(ended, *r)
				}
			}
			done = append(done, m)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	failpoint.Hit("source-written")
	w.Begin, w.Ended = append(w.Begin, begin...), append(w.Ended, ended...)
	for _, m := range done {
		if m.after != nil {
			m.after()
		}
	}
	return queued, nil
}

// stands tells that row and automation are what the move was decided on.
func (m move) stands(tx *state.Tx) (bool, error) {
	row, ok, err := state.Sources.Get(tx, m.id())
	if err != nil || !ok || row.Rev != m.row.Rev {
		return false, err
	}
	a, ok, err := state.Automations.Get(tx, m.id())
	if !ok {
		a.Rev = 0
	}
	return err == nil && a.Rev == m.auto.Rev, err
}

// write puts one move into the ledgers.
func (s *Scheduler) write(tx *state.Tx, m move) error {
	if m.remove {
		if err := state.Sources.Delete(tx, m.id(), m.row.Rev); err != nil {
			return err
		}
		return stale(tx)
	}
	if m.fired.Source != m.row.Rec {
		if err := state.Sources.Put(tx, m.id(), m.row.Rev, m.fired.Source); err != nil {
			return err
		}
	}
	switched := m.auto.Rev > 0 && m.fired.Automation.Enabled != m.auto.Rec.Enabled
	if switched {
		if err := state.Automations.Put(tx, m.id(), m.auto.Rev, m.fired.Automation); err != nil {
			return err
		}
	}
	if m.fired.Run != nil {
		if err := record(tx, *m.fired.Run); err != nil {
			return err
		}
	}
	for _, n := range m.fired.Notices {
		if err := s.notify(tx, m.fired.Automation, n); err != nil {
			return err
		}
	}
	if switched || m.fired.Run != nil {
		return stale(tx)
	}
	return nil
}

// record adds a run, unless it has one already: a boot has one run for ever,
// also when the row that says so was lost.
func record(tx *state.Tx, r automation.Run) error {
	if _, known, err := state.Runs.Find(tx, r.ID); err != nil || known {
		return err
	}
	return state.Runs.Put(tx, r.ID, 0, r)
}

// runID is the id of a run that a source fires.
func (m move) runID(now time.Time) string { return m.id() + "@" + ulid.New(now) }
