package flow

import (
	"cmp"
	"slices"
	"strings"

	"claw/state/process"
)

// Newest orders flows as lists show them: by creation, the latest first, ties by
// id, the least first (spec/tasks-recovery.md 1.6).
func Newest(a, b Flow) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// Sort puts the newest first.
func Sort(rows []Flow) { slices.SortFunc(rows, Newest) }

// Latest is the index of the newest flow that has not ended, else of the newest
// (openclaw 119129); -1: there is none.
func Latest(rows []Flow) int {
	best := -1
	for i, f := range rows {
		if best < 0 || cmp.Or(ended(f)-ended(rows[best]), Newest(f, rows[best])) < 0 {
			best = i
		}
	}
	return best
}

func ended(f Flow) int {
	if f.Terminal() {
		return 1
	}
	return 0
}

// Lookup is the index of the flow that a token means: its id, a beginning of it
// of process.MinPrefix characters that fits only one, or the key of its owner,
// of whose flows Latest counts. The error is a *process.NotFoundError or a
// *process.AmbiguousError.
func Lookup(rows []Flow, token string) (int, error) {
	token = strings.TrimSpace(token)
	missing := &process.NotFoundError{Query: token, Hint: "claw tasks flow list shows what there is"}
	if token == "" {
		return -1, missing
	}
	var fit []int
	var owned []Flow
	var at []int
	for i, f := range rows {
		switch {
		case strings.EqualFold(f.ID, token):
			return i, nil
		case len(token) >= process.MinPrefix && len(token) < len(f.ID) && strings.EqualFold(f.ID[:len(token)], token):
			fit = append(fit, i)
		case f.OwnerKey == token:
			owned, at = append(owned, f), append(at, i)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return -1, ambiguous(rows, fit, token)
	case len(owned) > 0:
		return at[Latest(owned)], nil
	}
	return -1, missing
}

func ambiguous(rows []Flow, fit []int, token string) error {
	refs := make([]process.Ref, len(fit))
	for i, at := range fit {
		refs[i] = process.Ref{ID: rows[at].ID, Slug: rows[at].ID}
	}
	_, err := process.Resolve(token, refs)
	return err
}
