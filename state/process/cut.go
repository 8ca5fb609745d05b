package process

import (
	"strings"
	"unicode/utf8"
)

// Elide shortens s to at most max characters by cutting out its middle, by the
// rule of spec/exec-process.md 2.1: floor((max-3)/2) characters of each end
// around "...". A text that fits is returned as it is.
func Elide(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	half := max(0, (limit-3)/2)
	return First(s, half) + "..." + Last(s, half)
}

// First is the first n characters of s. Bytes that are no character count as
// one each and stay as they are.
func First(s string, n int) string {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return s[:i]
}

// Last is the last n characters of s, counted like First.
func Last(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	return s[i:]
}

// Collapse makes one line of s: every run of white space becomes one space,
// and both ends are trimmed.
func Collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
