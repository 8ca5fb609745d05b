package scheduler

import (
	"strings"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// declaredSum is the digest of the tables of claw.toml; empty: there are none.
func (s *Scheduler) declaredSum() string {
	if len(s.Declared) == 0 {
		return ""
	}
	s.sumOnce.Do(func() { s.sum = automation.DigestAll(s.Declared) })
	return s.sum
}

// refusedMark follows the digest where a table could not be converged: it is
// tried again when somebody has changed an automation.
const refusedMark = " incomplete"

// converged tells that the automations are what claw.toml declares, as far as
// they can be.
func (s *Scheduler) converged(a automation.Agenda) bool {
	sum := s.declaredSum()
	return a.Declared == sum || sum != "" && a.Declared == sum+refusedMark && !a.Stale
}

// converge makes the automations what the tables of claw.toml declare. False
// when they are already. A table that cannot be is told, once, and stops none
// of the others.
func (s *Scheduler) converge(tx *state.Tx) (bool, error) {
	row, err := agenda(tx)
	if err != nil || s.converged(row.Rec) {
		return false, err
	}
	rows, err := state.Automations.All(tx)
	if err != nil {
		return false, err
	}
	d := automation.Declare(records(rows), s.Declared, tx.Now(), s.Zone)
	if err := s.carryDeclared(tx, rows, d); err != nil {
		return false, err
	}
	known := row.Rec.Declared
	row.Rec.Stale, row.Rec.Declared = true, s.declaredSum()
	if len(d.Errors) > 0 {
		row.Rec.Declared += refusedMark
		if row.Rec.Declared != known {
			if err := s.tellRefused(tx, d.Errors); err != nil {
				return false, err
			}
		}
	}
	return true, state.Agendas.Put(tx, automation.AgendaID, row.Rev, row.Rec)
}

func records(rows []state.Row[automation.Automation]) []automation.Automation {
	list := make([]automation.Automation, len(rows))
	for i, row := range rows {
		list[i] = row.Rec
	}
	return list
}

func (s *Scheduler) carryDeclared(tx *state.Tx, rows []state.Row[automation.Automation], d automation.Declared) error {
	old := make(map[string]state.Row[automation.Automation], len(rows))
	for _, row := range rows {
		old[row.ID] = row
	}
	for _, id := range d.Remove { // first: a table may take the name of one that is gone
		if err := state.Automations.Delete(tx, id, old[id].Rev); err != nil {
			return err
		}
		if err := retire(tx, ContextKey(id)); err != nil {
			return err
		}
	}
	for i, a := range d.Put {
		if a.ID == "" { // in the order of the tables
			a.ID = ulid.New(tx.Now().Add(time.Duration(i) * time.Millisecond))
		}
		if err := state.Automations.Put(tx, a.ID, old[a.ID].Rev, a); err != nil {
			return err
		}
	}
	return putRuns(tx, d.Runs)
}

// putRuns writes what became of slots.
func putRuns(tx *state.Tx, runs []automation.Run) error {
	for _, r := range runs {
		was, _, err := state.Runs.Get(tx, r.ID)
		if err != nil {
			return err
		}
		if err := state.Runs.Put(tx, r.ID, was.Rev, r); err != nil {
			return err
		}
	}
	return nil
}

// tellRefused tells a person which tables count for nothing.
func (s *Scheduler) tellRefused(tx *state.Tx, refused []automation.DeclareError) error {
	for _, e := range refused {
		hint := e.Err.Remedy()
		if hint == "" {
			hint = "claw config check shows where it stands"
		}
		err := s.notify(tx, automation.Automation{}, automation.Notice{
			AutomationID: e.Key, Name: e.Name, Code: "declared", Text: "the [[automation]] table " + e.Name + " of claw.toml counts for nothing: " + e.Err.Error(), Hint: hint,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DeclaredErrors are the tables of claw.toml that cannot be converged. Nothing
// is written.
func (s *Scheduler) DeclaredErrors() (refused []automation.DeclareError, err error) {
	if len(s.Declared) == 0 {
		return nil, nil
	}
	err = s.Store.View(func(tx *state.Tx) error {
		rows, err := state.Automations.All(tx)
		refused = automation.Declare(records(rows), s.Declared, tx.Now(), s.Zone).Errors
		return err
	})
	return refused, err
}

// shown are the automations as they would be after a convergence. One that is
// not written yet has no ID.
func (s *Scheduler) shown(tx *state.Tx) ([]state.Row[automation.Automation], error) {
	rows, err := state.Automations.All(tx)
	if err != nil {
		return nil, err
	}
	row, err := agenda(tx)
	if err != nil || s.converged(row.Rec) {
		return rows, err
	}
	d := automation.Declare(records(rows), s.Declared, tx.Now(), s.Zone)
	var list []state.Row[automation.Automation]
	gone := strings.Join(d.Remove, " ")
	for _, row := range rows {
		if strings.Contains(gone, row.ID) {
			continue
		}
		for i := range d.Put {
			if d.Put[i].ID == row.ID {
				row.Rec = d.Put[i]
			}
		}
		list = append(list, row)
	}
	for _, a := range d.Put {
		if a.ID == "" {
			list = append(list, state.Row[automation.Automation]{Rec: a})
		}
	}
	return list, nil
}
