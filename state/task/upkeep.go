package task

import "time"

// Act is what maintenance does to a row.
type Act string

// The acts, in the order in which they are thought of
// (spec/tasks-recovery.md 1.10): at most one for each row and time.
const (
	ActNone      Act = ""
	ActRecover   Act = "recovered"      // how it ended is on record
	ActReconcile Act = "reconciled"     // it is lost
	ActPrune     Act = "pruned"         // it is past its time
	ActStamp     Act = "cleanupStamped" // how long it is kept is written into it
	ActOrder     Act = "normalised"     // its times are put in order
)

// Upkeep is what maintenance does to a row.
type Upkeep struct {
	Act   Act
	Code  Code // of ActRecover and ActReconcile, and of what is retained
	Until time.Time
	After Task // of ActPrune: as it was
}

// Maintain decides what maintenance does to a row, if anything. keep is as in
// Expires.
func Maintain(t Task, e Evidence, keep time.Duration, now time.Time) Upkeep {
	v := Judge(t, e, now)
	u := Upkeep{Code: v.Code, Until: v.Until, After: v.After}
	switch v.Decision {
	case Recover:
		u.Act = ActRecover
		return u
	case Reconcile:
		u.Act = ActReconcile
		return u
	}
	ordered := order(t, e)
	switch {
	case Expired(t, keep, now):
		u.Act = ActPrune
	case t.Status.Terminal() && t.CleanupAfter.IsZero():
		ordered.CleanupAfter = CleanupAfter(ordered)
		u.Act, u.After = ActStamp, ordered
	case inverted(t) && !inverted(ordered):
		u.Act, u.After = ActOrder, ordered
	}
	return u
}

// order is t with its times in order, as it would have been written: what
// provably goes on has not ended.
func order(t Task, e Evidence) Task {
	if t.Status.Active() && e.Live {
		t.EndedAt = time.Time{}
	}
	return Normalise(t)
}

// inverted tells times that cannot be (inconsistent_timestamps).
func inverted(t Task) bool {
	switch {
	case !t.StartedAt.IsZero() && t.StartedAt.Before(t.CreatedAt):
	case !t.EndedAt.IsZero() && t.EndedAt.Before(t.StartedAt):
	case !t.EndedAt.IsZero() && t.Status.Active():
	default:
		return false
	}
	return true
}
