package scheduler

import (
	"slices"

	"claw/state"
	"claw/state/automation"
)

// closed is what follows from a run that the plan has ended: one that was being
// carried out is reported and its task ends, one that was skipped may be worth
// an alert. What that changes in the automation goes into the plan.
func (s *Scheduler) closed(tx *state.Tx, sh *sheet, p *automation.Plan, r automation.Run) (automation.Run, error) {
	was := sh.runs[r.ID].Rec.Status
	if was != automation.Running && r.Status != automation.Skipped {
		return r, nil
	}
	if was == automation.Running {
		if err := endTask(tx, r, tx.Now()); err != nil {
			return r, err
		}
	}
	a, at := planned(sh, p, r.AutomationID)
	if a.ID == "" {
		return r, nil
	}
	before := a.State
	a, r, _, err := s.report(tx, a, r, "")
	switch {
	case err != nil || slices.Contains(p.Deleted, a.ID):
	case at >= 0:
		p.Automations[at] = a
	case a.State != before:
		p.Automations = append(p.Automations, a)
	}
	return r, err
}

// planned is an automation as the plan leaves it, with its place there, or -1.
func planned(sh *sheet, p *automation.Plan, id string) (automation.Automation, int) {
	for i, a := range p.Automations {
		if a.ID == id {
			return a, i
		}
	}
	return sh.auto(id).Rec, -1
}
