package task

import (
	"cmp"
	"slices"
	"time"
)

// CronKept is how many rows of one automation are kept, of each class: those
// that were lost, and the others (spec/tasks-recovery.md 1.11).
const CronKept = 2000

// Expires is when a row that has ended may go; zero: never, as one that has
// not ended. A stamp that is too late for a lost row does not count. keep is
// how long whatever belongs to a task is kept (state.retentionDays): longer
// than Retention it holds for the row as well, 0 is for ever.
func Expires(t Task, keep time.Duration) time.Time {
	if !t.Status.Terminal() {
		return time.Time{}
	}
	own := CleanupAfter(t)
	switch {
	case t.Status == Lost:
		if !t.CleanupAfter.IsZero() && t.CleanupAfter.Before(own) {
			return t.CleanupAfter
		}
		return own
	case keep == 0:
		return time.Time{}
	}
	at := t.CleanupAfter
	if at.IsZero() {
		at = own
	}
	if long := own.Add(keep - Retention); keep > Retention && long.After(at) {
		return long
	}
	return at
}

// Expired tells a row that is to go.
func Expired(t Task, keep time.Duration, now time.Time) bool {
	at := Expires(t, keep)
	return !at.IsZero() && !now.Before(at)
}

// Surplus gives the indices of the rows that are beyond the newest CronKept of
// their automation and class, in order.
func Surplus(rows []Task) []int {
	type class struct {
		job  string
		lost bool
	}
	of := map[class][]int{}
	for i, t := range rows {
		if t.Runtime == Cron && t.SourceID != "" && t.Status.Terminal() {
			c := class{t.SourceID, t.Status == Lost}
			of[c] = append(of[c], i)
		}
	}
	var gone []int
	for _, all := range of {
		if len(all) <= CronKept {
			continue
		}
		slices.SortFunc(all, func(a, b int) int { return Newest(rows[a], rows[b]) })
		gone = append(gone, all[CronKept:]...)
	}
	slices.Sort(gone)
	return gone
}

// Newest orders tasks as lists show them: by creation, the latest first, ties
// by id, the greatest first (spec/tasks-recovery.md 1.6).
func Newest(a, b Task) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
}
