package process

import (
	"slices"
	"strconv"
	"strings"
)

// Ref is what a process can be called.
type Ref struct {
	ID   string // ULID
	Slug string
}

// MinPrefix is how many characters of a slug or ULID are enough, if they fit
// only one.
const MinPrefix = 4

// NotFoundError: nothing is called so.
type NotFoundError struct {
	Query string
	Hint  string
}

func (e *NotFoundError) Error() string { return "No session found for " + e.Query }

// Remedy says where names are to be seen.
func (e *NotFoundError) Remedy() string { return e.Hint }

// AmbiguousError: the beginning fits several processes.
type AmbiguousError struct {
	Query      string
	Candidates []string // slugs, sorted
	Hint       string
}

const shownCandidates = 8

func (e *AmbiguousError) Error() string {
	shown, more := e.Candidates, ""
	if len(shown) > shownCandidates {
		more = " and " + strconv.Itoa(len(shown)-shownCandidates) + " more"
		shown = shown[:shownCandidates]
	}
	return strconv.Quote(e.Query) + " fits " + strings.Join(shown, ", ") + more
}

// Remedy says how to name one of them.
func (e *AmbiguousError) Remedy() string { return e.Hint }

// Resolve finds which of refs a person means and returns its index: an exact
// slug, an exact ULID, else the only one whose slug or ULID begins with the
// query, which must have MinPrefix characters (design.md 1). ULIDs are
// compared without case. A slug can come back after its process is gone; of
// several with the same slug the newest is meant, the one with the greatest
// ULID. The error is a *NotFoundError or an *AmbiguousError.
func Resolve(query string, refs []Ref) (int, error) {
	query = strings.TrimSpace(query)
	if i := newest(refs, func(r Ref) bool { return r.Slug == query }); i >= 0 && query != "" {
		return i, nil
	}
	if i := newest(refs, func(r Ref) bool { return strings.EqualFold(r.ID, query) }); i >= 0 && query != "" {
		return i, nil
	}
	if len(query) < MinPrefix {
		return -1, &NotFoundError{query, "give the whole name, or at least " + strconv.Itoa(MinPrefix) + " characters of it"}
	}
	return resolvePrefix(query, refs)
}

func resolvePrefix(query string, refs []Ref) (int, error) {
	fits := func(r Ref) bool { return beginsSlug(query, r.Slug) || hasPrefixFold(r.ID, query) }
	var slugs []string
	for _, r := range refs {
		if fits(r) {
			slugs = append(slugs, r.Slug)
		}
	}
	slices.Sort(slugs)
	slugs = slices.Compact(slugs)
	switch len(slugs) {
	case 0:
		return -1, &NotFoundError{query, "claw process list --all shows what there is"}
	case 1:
		return newest(refs, fits), nil
	}
	return -1, &AmbiguousError{query, slugs, "type more of the name"}
}

// beginsSlug tells a slug that query is the beginning of. "tide-orbit" is no
// beginning of "tide-orbit-2": it is the whole name of another process, one
// that has expired, and what was meant for that one must not hit its namesake.
func beginsSlug(query, slug string) bool {
	rest, ok := strings.CutPrefix(slug, query)
	wholeName := strings.Contains(query, "-") && strings.HasPrefix(rest, "-")
	return ok && !wholeName
}

// newest is the index of the fitting ref with the greatest ULID, or -1.
func newest(refs []Ref, fits func(Ref) bool) int {
	best := -1
	for i, r := range refs {
		if fits(r) && (best < 0 || r.ID > refs[best].ID) {
			best = i
		}
	}
	return best
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
