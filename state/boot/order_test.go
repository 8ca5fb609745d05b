package boot_test

import (
	"errors"
	"testing"
	"time"

	"claw/state/boot"
	"claw/state/process"
)

func drain(at int, budget time.Duration) boot.Order {
	return boot.Order{At: ms(at), BudgetMs: budget.Milliseconds()}
}

func restart(at int, budget time.Duration) boot.Order {
	o := drain(at, budget)
	o.Restart = true
	return o
}

// spec/tasks-recovery.md 4.2, 4.9 and scenarios 2, 34, 35.
func TestTell(t *testing.T) {
	const five = 5 * time.Minute
	for _, tt := range []struct {
		name    string
		was     boot.Order
		outcome boot.Outcome
		told    boot.Order
		want    boot.Order
		refused string
	}{
		{name: "the first order counts as it is", told: drain(10, five), want: drain(10, five)},
		{name: "a second drain is immediate", was: drain(10, five), told: drain(50, five), want: drain(10, 0)},
		{name: "also where it brings a budget of hours", was: drain(10, five), told: drain(50, 5*time.Hour), want: drain(10, 0)},
		{name: "two restarts are one, when the first is due", was: restart(10, five), told: restart(50, time.Second), want: restart(10, five)},
		{name: "what is drained does not restart", was: drain(10, five), told: restart(50, five), want: drain(10, five), refused: boot.ReasonDraining},
		{name: "a drain takes the restart back", was: restart(0, five), told: drain(60_000, time.Minute), want: drain(60_000, time.Minute)},
		{name: "and does not make it last longer", was: restart(0, five), told: drain(60_000, time.Hour), want: drain(60_000, 4*time.Minute)},
		{name: "nor when the budget was over", was: restart(0, time.Second), told: drain(60_000, time.Hour), want: drain(60_000, 0)},
		{name: "what has ended is told nothing", outcome: boot.CleanStop, told: restart(10, five), refused: boot.ReasonEnded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := boot.Boot{ID: "a", StartedAt: ms(0), Outcome: tt.outcome, Order: tt.was}
			got, err := b.Tell(tt.told)
			refused, is := errors.AsType[*boot.OrderError](err)
			switch {
			case tt.refused == "" && err != nil, tt.refused != "" && (!is || refused.Reason != tt.refused || refused.Error() == "" || refused.Remedy() == ""):
				t.Errorf("error %v, want %q", err, tt.refused)
			case got.Order != tt.want:
				t.Errorf("%+v, want %+v", got.Order, tt.want)
			}
			got.Order = b.Order
			if got != b {
				t.Errorf("more has changed than the order: %+v", got)
			}
		})
	}
	if (boot.Order{BudgetMs: -5, At: ms(0)}).Budget() != 0 || !(boot.Order{}).IsZero() || drain(1, 0).IsZero() {
		t.Error("budgets")
	}
}

// What was found is said once, and changes nothing about what counts.
func TestNote(t *testing.T) {
	b := boot.Begin("a", process.Identity{}, "1", boot.Breaker{}, ms(0))
	for _, f := range []boot.Fate{boot.Alive, boot.Ended, ""} {
		if got := b.Note(f, ms(5)); got != b {
			t.Errorf("%s: %+v", f, got)
		}
	}
	for _, f := range []boot.Fate{boot.Died, boot.Outage, boot.Unknown} {
		got := b.Note(f, ms(5))
		if got.Found != f || !got.FoundAt.Equal(ms(5)) || got.Outcome != boot.Open {
			t.Errorf("%s: %+v", f, got)
		}
		if again := got.Note(boot.Died, ms(9)); again != got {
			t.Errorf("%s, and then again: %+v", f, again)
		}
		if seen := boot.Assess([]boot.Boot{got}, "", ms(6)); len(seen.Unclean) != 1 {
			t.Errorf("%s: it does not count any more", f)
		}
	}
	ended, _ := b.End(boot.CleanStop, "", ms(1))
	if got := ended.Note(boot.Died, ms(5)); got != ended {
		t.Errorf("one that has ended: %+v", got)
	}
}

func TestContinuationWaitsForTheEndOfItsRunner(t *testing.T) {
	c := boot.Continuation{ID: "c", BootID: "a"}
	for alive, want := range map[string]bool{"a": false, "b": true, "": true} {
		if c.Due(alive) != want {
			t.Errorf("with %q alive: %v", alive, !want)
		}
	}
}
