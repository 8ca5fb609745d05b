package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/external"
)

// TestHooksShareTheBudget: turns that somebody outside has asked for take places
// of automations, and one is kept for webhooks where they are listened to
// (spec/tasks-recovery.md 5.3).
func TestHooksShareTheBudget(t *testing.T) {
	for _, tt := range []struct {
		name      string
		max       int
		keep      bool
		cli, http int
		want      int // of three automations that are due
	}{
		{"alone", 2, false, 0, 0, 2},
		{"beside one of the command line", 2, false, 1, 0, 1},
		{"beside a webhook", 2, false, 0, 1, 1},
		{"one is kept", 2, true, 0, 0, 1},
		{"the one that is kept is used", 3, true, 0, 1, 2},
		{"two of them are", 3, true, 0, 2, 1},
		{"a full house", 2, true, 1, 1, 0},
		{"one place cannot be kept", 1, true, 0, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.Command = []string{"true"}
			w.MaxTurns, w.KeepHTTP = tt.max, tt.keep
			for i := range 3 {
				w.add(fmt.Sprintf("job%d", i), "1m", func(a *automation.Automation) {
					a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
				})
			}
			err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
				for i := range tt.cli + tt.http {
					d := external.Dispatch{ID: fmt.Sprintf("H%d", i), Status: external.Running, Lane: external.LaneCLI}
					if i >= tt.cli {
						d.Lane = external.LaneHTTP
					}
					if err := state.Dispatches.Put(tx, d.ID, 0, d); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Minute)
			work, err := w.Pass(t.Context(), func(string) bool { return false })
			if err != nil || len(work.Start) != tt.want {
				t.Errorf("%d begin, want %d; %v", len(work.Start), tt.want, err)
			}
		})
	}
}
