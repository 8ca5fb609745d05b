package session

import (
	"slices"
	"strconv"
	"strings"

	"claw/state/process"
)

// MinPrefix is how many characters of a key are enough, if they fit only one.
const MinPrefix = 4

// NotFoundError: no session has such a key.
type NotFoundError struct {
	Query string
	Hint  string
}

func (e *NotFoundError) Error() string { return "no session is called " + strconv.Quote(e.Query) }

// Remedy says where keys are to be seen.
func (e *NotFoundError) Remedy() string { return e.Hint }

// AmbiguousError: what was typed fits several sessions. Candidates are their
// keys, sorted.
type AmbiguousError = process.AmbiguousError

// Match finds which of keys a person means: the key itself, else the only one
// that differs in case alone, else the main session of the agent of that name,
// else the only one that begins with the query, which must then have MinPrefix
// characters. The error is a *NotFoundError or an *AmbiguousError.
func Match(query string, keys []string) (string, error) {
	query = strings.TrimSpace(query)
	if query != "" && slices.Contains(keys, query) {
		return query, nil
	}
	begins := func(key string) bool { _, ok := cutFold(key, query); return ok && len(query) >= MinPrefix }
	for _, fits := range [...]func(string) bool{
		func(key string) bool { return strings.EqualFold(key, query) },
		func(key string) bool { return strings.EqualFold(key, Main(query)) },
		begins,
	} {
		switch found := fitting(keys, fits); len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return "", &AmbiguousError{Query: query, Candidates: found, Hint: "type more of the key, or the whole of it"}
		}
	}
	if len(query) < MinPrefix {
		return "", &NotFoundError{query, "give the whole key, an agent's name, or at least " + strconv.Itoa(MinPrefix) + " characters of the key"}
	}
	return "", &NotFoundError{query, "claw sessions list shows what there is"}
}

// fitting are the keys that fit, each once, sorted.
func fitting(keys []string, fits func(string) bool) []string {
	var found []string
	for _, key := range keys {
		if fits(key) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
