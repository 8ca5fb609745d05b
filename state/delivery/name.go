package delivery

import (
	"strconv"
	"strings"
	"time"
)

// stamp is a moment as it stands in a key: milliseconds since 1970.
func stamp(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }

// shortLength is how many characters of an id its short form has. They are
// from its end, which is random; the beginning is the time.
const shortLength = 6

// MinMatch is how many characters of an id are enough to name it, if they fit
// only one.
const MinMatch = 4

// Short is what people see and type: "d-" and the last six characters of the
// id, lower case.
func Short(id string) string {
	return "d-" + strings.ToLower(id[max(0, len(id)-shortLength):])
}

// NotFoundError: no delivery is called so.
type NotFoundError struct {
	Query string
	Hint  string
}

func (e *NotFoundError) Error() string { return "no delivery " + strconv.Quote(e.Query) }

// Remedy says where names are to be seen.
func (e *NotFoundError) Remedy() string { return e.Hint }

// AmbiguousError: the name fits several.
type AmbiguousError struct {
	Query      string
	Candidates []string // ids
}

func (e *AmbiguousError) Error() string {
	return strconv.Quote(e.Query) + " fits " + strconv.Itoa(len(e.Candidates)) + " deliveries"
}

// Remedy lists some of them by their ids, which fit nothing else.
func (e *AmbiguousError) Remedy() string {
	shown := e.Candidates[:min(len(e.Candidates), 8)]
	return "type more of it: " + strings.Join(shown, ", ")
}

// Resolve finds the delivery that a person means and returns its index in
// ids: its ULID, its short form, or MinMatch or more characters from the
// beginning or the end of the ULID; without case. The error is a
// *NotFoundError or an *AmbiguousError.
func Resolve(query string, ids []string) (int, error) {
	hint := "claw deliveries list shows what there is"
	q := strings.ToUpper(strings.TrimSpace(query))
	suffix, isShort := strings.CutPrefix(q, "D-")
	if len(suffix) < MinMatch {
		return -1, &NotFoundError{query, "give at least " + strconv.Itoa(MinMatch) + " characters of its id"}
	}
	found := -1
	var all []string
	for i, id := range ids {
		up := strings.ToUpper(id)
		if up == q {
			return i, nil
		}
		if strings.HasSuffix(up, suffix) || !isShort && strings.HasPrefix(up, q) {
			found, all = i, append(all, id)
		}
	}
	switch len(all) {
	case 0:
		return -1, &NotFoundError{query, hint}
	case 1:
		return found, nil
	}
	return -1, &AmbiguousError{query, all}
}
