package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"claw/state"
	"claw/state/automation"
)

// fill adds n automations that are due once a night, in one transaction.
func (w *world) fill(n int) {
	w.t.Helper()
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		for i := range n {
			a := automation.New(automation.Automation{
				ID: fmt.Sprintf("a%05d", i), Name: fmt.Sprintf("job%d", i), Enabled: true,
				Schedule: automation.Schedule{Kind: automation.KindCron, Expr: fmt.Sprintf("%d 3 * * *", i%60), TZ: "Europe/Berlin"},
				Payload:  automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}},
				Delivery: &automation.Delivery{Mode: "none"},
			}, tx.Now())
			if err := state.Automations.Add(tx, a.ID, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A quiet pass costs the same with ten automations and with thousands: it
// reads one row.
func BenchmarkQuietPass(b *testing.B) {
	for _, n := range []int{10, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			w.fill(n)
			w.pass()
			w.clock.Advance(time.Second)
			for b.Loop() {
				if work, err := w.Pass(b.Context(), nobody); err != nil || len(work.Start) > 0 {
					b.Fatal(work, err)
				}
			}
		})
	}
}

// A pass that has to look at everything.
func BenchmarkWholePass(b *testing.B) {
	for _, n := range []int{10, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			w.fill(n)
			for b.Loop() {
				if _, err := w.Plan(w.clock.Now()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
