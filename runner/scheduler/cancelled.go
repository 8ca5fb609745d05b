package scheduler

import (
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/session"
)

// cancelled is the outcome of a turn whose agent was ended on purpose: as with
// a command that was, it is neither a failure nor tried again. A turn that gave
// way to a later slot is told apart by its run (automation.Finish).
func cancelled(tx *state.Tx, t session.Turn, out outcome) (outcome, error) {
	if stopped, err := Stopped(tx, t); err != nil || !stopped {
		return out, err
	}
	out.end.Status, out.end.Category, out.end.Error = automation.Cancelled, "", "it was ended on purpose"
	return out, nil
}

// Stopped tells a turn whose agent was ended on purpose.
func Stopped(tx *state.Tx, t session.Turn) (bool, error) {
	if t.Status != session.TurnFailed || t.ProcessID == "" {
		return false, nil
	}
	row, ok, err := state.Processes.Find(tx, t.ProcessID)
	return err == nil && ok && row.Rec.Exit != nil && row.Rec.Exit.Reason == process.ReasonManualCancel, err
}
