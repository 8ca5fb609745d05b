package boot

import "time"

// Order is what a runner was told to do with itself: to end when what goes on
// has ended, at the latest when the budget is used up. It stands in the row of
// the boot it is for, so that no later one obeys it.
type Order struct {
	At       time.Time `json:"at"`
	BudgetMs int64     `json:"budgetMs"`          // how long what goes on may take; 0: not at all
	Restart  bool      `json:"restart,omitempty"` // another boot is to follow at once
}

// IsZero tells that nothing was ordered.
func (o Order) IsZero() bool { return o.At.IsZero() }

// Budget is how long what goes on may take.
func (o Order) Budget() time.Duration { return time.Duration(max(0, o.BudgetMs)) * time.Millisecond }

// OrderError refuses an order.
type OrderError struct {
	Reason string // ReasonEnded or ReasonDraining
}

// ReasonEnded: there is nobody any more who could obey.
const ReasonEnded = "ended"

func (e *OrderError) Error() string {
	if e.Reason == ReasonDraining {
		return "the runner is being drained: it ends, and does not start again"
	}
	return "the runner has ended"
}

// Remedy says what can be done instead.
func (e *OrderError) Remedy() string { return "claw runner run starts one" }

// Tell gives a boot an order; spec/tasks-recovery.md 4.2 and 4.9. Of two the
// stronger counts:
//
//	draining   + drain    it ends at once
//	draining   + restart  refused: whoever drains it wants it gone
//	restarting + restart  one restart for both, when the first is due
//	restarting + drain    it ends and is not started again, by the budget that is shorter
//
// The error is an *OrderError; the boot is then unchanged.
func (b Boot) Tell(o Order) (Boot, error) {
	was := b.Order
	switch {
	case b.Outcome != Open:
		return b, &OrderError{Reason: ReasonEnded}
	case was.IsZero():
		b.Order = o
	case was.Restart && o.Restart:
	case was.Restart:
		o.BudgetMs = min(o.BudgetMs, max(0, was.At.Add(was.Budget()).Sub(o.At).Milliseconds()))
		b.Order = o
	case o.Restart:
		return b, &OrderError{Reason: ReasonDraining}
	default:
		b.Order.BudgetMs = 0
	}
	return b, nil
}

// Note writes into the row of a boot that has died what became of it. The row
// stays open, for it was not ended, and counts as before. A boot that has ended,
// that lives, or that has been noted already is unchanged.
func (b Boot) Note(f Fate, now time.Time) Boot {
	if b.Outcome == Open && b.Found == "" && (f == Died || f == Outage || f == Unknown) {
		b.Found, b.FoundAt = f, now
	}
	return b
}
