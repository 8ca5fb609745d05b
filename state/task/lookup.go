package task

import (
	"cmp"
	"slices"
	"strings"

	"claw/state/process"
)

// Lookup finds the task that a person or a program means and returns its index
// (spec/tasks-recovery.md 1.6): by its id, the slug of its process (the newest,
// for a slug comes back), its run's id, a beginning of one of these of
// process.MinPrefix characters that fits only one task, or the key of a session
// that owns it or that it runs in (the newest). The error is a
// *process.NotFoundError or a *process.AmbiguousError.
func Lookup(rows []Task, query string) (int, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		return -1, &process.NotFoundError{Query: query, Hint: lookupHint}
	}
	if i := Exact(rows, query); i >= 0 {
		return i, nil
	}
	if i, err := byPrefix(rows, query); i >= 0 || err != nil {
		return i, err
	}
	if i := newest(rows, func(t Task) bool { return t.OwnerKey == query || t.ChildSessionKey == query }); i >= 0 {
		return i, nil
	}
	return -1, &process.NotFoundError{Query: query, Hint: lookupHint}
}

// Exact is Lookup for what names a task whole: its id, slug or run; -1: none.
func Exact(rows []Task, query string) int {
	query = strings.TrimSpace(query)
	if query == "" {
		return -1
	}
	for _, fits := range [...]func(Task) bool{
		func(t Task) bool { return strings.EqualFold(t.ID, query) },
		func(t Task) bool { return t.Slug == query },
	} {
		if i := newest(rows, fits); i >= 0 {
			return i
		}
	}
	return ByRun(rows, query)
}

const lookupHint = "claw tasks list --all shows what there is"

// newest is the index of the newest task that fits; -1: none.
func newest(rows []Task, fits func(Task) bool) int {
	best := -1
	for i, t := range rows {
		if fits(t) && (best < 0 || Newest(t, rows[best]) < 0) {
			best = i
		}
	}
	return best
}

// ByRun is the index of the task of a run; -1: there is none. Of several the
// one counts that is more than a command, then the oldest, then the least id
// (spec/tasks-recovery.md 1.6).
func ByRun(rows []Task, runID string) int {
	best := -1
	rank := func(t Task) int {
		if t.Runtime == CLI {
			return 1
		}
		return 0
	}
	for i, t := range rows {
		if t.RunID == "" || !strings.EqualFold(t.RunID, runID) {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(rank(t), rank(rows[best])), t.CreatedAt.Compare(rows[best].CreatedAt), cmp.Compare(t.ID, rows[best].ID)) < 0 {
			best = i
		}
	}
	return best
}

// byPrefix is the only task that something begins with; -1 without an error
// when there is none. Tasks of the same slug are one name: the newest is meant.
func byPrefix(rows []Task, query string) (int, error) {
	if len(query) < process.MinPrefix {
		return -1, nil
	}
	refs := make([]process.Ref, 0, 2*len(rows))
	at := make([]int, 0, 2*len(rows))
	for i, t := range rows {
		for _, id := range [...]string{t.ID, t.RunID} {
			if id != "" {
				refs, at = append(refs, process.Ref{ID: id, Slug: Name(t)}), append(at, i)
			}
		}
	}
	i, err := process.Resolve(query, refs)
	if _, missing := err.(*process.NotFoundError); missing {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	return at[i], nil
}

// SortNewest puts the newest first.
func SortNewest(rows []Task) { slices.SortStableFunc(rows, Newest) }
