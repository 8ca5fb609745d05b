package scheduler

import (
	"context"

	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// RunOptions say how an automation is started by hand.
type RunOptions struct {
	Due bool // only if a slot has come that is not decided yet
}

// NotDue is why Run with RunOptions.Due has started nothing.
const NotDue automation.Code = "not-due"

// Run queues a run by hand. It takes no slot, shifts no cadence and uses up no
// one-shot, and runs although the automation is off; whoever makes the next
// pass starts it. why is empty, or says why nothing was queued
// (spec/heartbeat-automations.md 2.12): automation.CodeRunning, r is then the
// run that goes on, or NotDue. The error is a *Refused.
func (s *Scheduler) Run(ctx context.Context, query string, o RunOptions) (r automation.Run, why automation.Code, err error) {
	err = s.manage(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err == nil {
			err = s.mayTouch(row.Rec)
		}
		if err != nil {
			return err
		}
		mine, err := openRunsOf(tx, row.ID)
		if err != nil {
			return err
		}
		r, why = s.byHand(tx, row.Rec, mine, o)
		if why != "" {
			return nil
		}
		return state.Runs.Add(tx, r.ID, r)
	})
	return r, why, err
}

func (s *Scheduler) byHand(tx *state.Tx, a automation.Automation, open []automation.Run, o RunOptions) (automation.Run, automation.Code) {
	r, why := automation.Manual(a, a.ID+"@"+ulid.New(tx.Now()), open, tx.Now())
	switch {
	case why == automation.CodeRunning && len(open) > 0:
		return open[0], why
	case why == "" && o.Due && !automation.Due(a, tx.Now(), s.Zone):
		return automation.Run{AutomationID: a.ID, Name: a.Name}, NotDue
	}
	return r, why
}

func openRuns(tx *state.Tx) ([]automation.Run, error) {
	rows, err := state.Runs.All(tx)
	var open []automation.Run
	for _, row := range rows {
		if row.Rec.Status.Open() {
			open = append(open, row.Rec)
		}
	}
	return open, err
}

func openRunsOf(tx *state.Tx, id string) (mine []automation.Run, err error) {
	open, err := openRuns(tx)
	for _, r := range open {
		if r.AutomationID == id {
			mine = append(mine, r)
		}
	}
	return mine, err
}
