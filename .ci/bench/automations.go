package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// makeAutomations writes n automations with one expression of six fields, each
// of which runs the command.
func (c instance) makeAutomations(n int, expr string, command []string) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Update(context.Background(), func(tx *state.Tx) error {
		for i := range n {
			a := automation.New(automation.Automation{
				ID: ulid.New(time.Now()), Name: fmt.Sprintf("job-%05d", i), Enabled: true,
				Schedule: automation.Schedule{Kind: automation.KindCron, Expr: expr},
				Payload:  automation.Payload{Kind: automation.PayloadCommand, Argv: command},
			}, time.Now())
			if err := state.Automations.Add(tx, a.ID, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// settleRuns has the ends of commands written that a runner has left, and tells
// what is wrong with the records: a slot that has none or two, a command that
// ran without one, or one that did not succeed.
func (c instance) settleRuns() error {
	c.env = append(slices.Clip(c.env), "CLAW_SKIP_CRON=1")
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if _, err := c.run("heartbeat", "tick"); err != nil {
			return err
		}
		runs, err := c.runs()
		if err != nil {
			return err
		}
		running := 0
		for _, r := range runs {
			if r.Status == automation.Running {
				running++
			}
		}
		if running == 0 {
			return complete(runs)
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d runs have not ended after %v", running, patience)
		}
	}
}

func (c instance) runs() (list []automation.Run, err error) {
	s, err := c.store()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	err = s.View(func(tx *state.Tx) error {
		rows, err := state.Runs.All(tx)
		for _, row := range rows {
			list = append(list, row.Rec)
		}
		for row, err := range state.Runs.Archived(tx) {
			if err != nil {
				return err
			}
			list = append(list, row.Rec)
		}
		return err
	})
	return list, err
}

// complete tells whether the runs of each automation follow one another without
// a gap, and which ended as they should not.
func complete(runs []automation.Run) error {
	slices.SortFunc(runs, func(a, b automation.Run) int { return a.Slot.Compare(b.Slot) })
	step, last := map[string]time.Duration{}, map[string]time.Time{}
	for _, r := range runs {
		switch r.Status {
		case automation.Succeeded, automation.Skipped, automation.Missed, automation.Queued:
		default:
			return fmt.Errorf("%s: %s %s", r.ID, r.Status, r.Error)
		}
		if before, ok := last[r.Name]; ok {
			gap := r.Slot.Sub(before)
			if step[r.Name] == 0 {
				step[r.Name] = gap
			}
			if gap != step[r.Name] {
				return fmt.Errorf("%s has no record, or two, between %v and %v", r.Name, before, r.Slot)
			}
		}
		if last[r.Name] = r.Slot; !r.Through.IsZero() {
			last[r.Name] = r.Through
		}
	}
	return nil
}
