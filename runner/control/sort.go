package control

import (
	"cmp"
	"slices"

	"claw/state/process"
)

// sortByEnd puts the latest end first; of two ends at the same instant the
// later start is the later end.
func sortByEnd(ps []process.Process) {
	slices.SortStableFunc(ps, func(a, b process.Process) int {
		return cmp.Or(b.EndedAt.Compare(a.EndedAt), cmp.Compare(b.ID, a.ID))
	})
}
