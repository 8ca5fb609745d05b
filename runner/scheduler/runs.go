package scheduler

import (
	"cmp"
	"slices"
	"time"

	"claw/state"
	"claw/state/automation"
)

// RunFilter narrows a list of runs; empty fields do not.
type RunFilter struct {
	AutomationID string
	Status       automation.Status
}

// Runs are the records of runs, the newest first, those that have left the
// ledger included. Nothing is written.
func (s *Scheduler) Runs(f RunFilter) ([]automation.Run, error) {
	list := []automation.Run{}
	add := func(r automation.Run) {
		if (f.AutomationID == "" || r.AutomationID == f.AutomationID) && (f.Status == "" || r.Status == f.Status) {
			list = append(list, r)
		}
	}
	err := s.Store.View(func(tx *state.Tx) error {
		list = list[:0]
		rows, err := state.Runs.All(tx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			add(row.Rec)
		}
		for row, err := range state.Runs.Archived(tx) {
			if err != nil {
				return err
			}
			add(row.Rec)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b automation.Run) int {
		return cmp.Or(when(b).Compare(when(a)), cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(b.ID, a.ID))
	})
	return list, err
}

// when is where a run stands in time.
func when(r automation.Run) time.Time {
	switch {
	case !r.Through.IsZero():
		return r.Through
	case !r.Slot.IsZero():
		return r.Slot
	}
	return r.QueuedAt
}

// RunOf is the record of one run, wherever it is kept; false when there is
// none.
func (s *Scheduler) RunOf(id string) (r automation.Run, ok bool, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Runs.Find(tx, id)
		r, ok = row.Rec, found
		return err
	})
	return r, ok, err
}

// Gone finds an automation that was removed by the runs that are left of it.
func (s *Scheduler) Gone(name string) (id string, err error) {
	runs, err := s.Runs(RunFilter{})
	for _, r := range runs {
		if r.Name == name || r.AutomationID == name {
			return r.AutomationID, err
		}
	}
	return "", err
}
