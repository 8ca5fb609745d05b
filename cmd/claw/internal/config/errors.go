package config

import (
	"fmt"
	"slices"
	"strings"
)

// maxProblems bounds what one Error lists; the rest is counted.
const maxProblems = 20

// Problem is one thing that is wrong with a configuration file.
type Problem struct {
	File    string // as opened
	Line    int    // 1-based; 0 when the whole file is meant
	Col     int    // 1-based, in bytes; only for text that is not TOML
	Key     string // dotted; "" when the whole file is meant
	Rule    string // what is broken, with the offending value quoted
	Nearest string // the nearest valid key or value, "" when nothing is near
	Hint    string // one remedy sentence, without a full stop; may be empty
}

// Error is "claw.toml:12: tools.exec.backgroundMss: unknown key; did you mean backgroundMs?".
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Col > 0 {
		fmt.Fprintf(&b, ":%d", p.Col)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Rule)
	if p.Nearest != "" {
		b.WriteString("; did you mean " + p.Nearest + "?")
	}
	return visible(b.String())
}

// Error is every problem of one file, in the order of its lines.
type Error struct {
	Problems []Problem // at least one, at most 20
	More     int       // further problems that are not listed
}

// Error gives one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", e.Problems[0].File, e.More))
	}
	return strings.Join(lines, "\n")
}

// Remedy gives the remedies of all problems, one a line, each once.
func (e *Error) Remedy() string {
	var hints []string
	for _, p := range e.Problems {
		if p.Hint != "" && !slices.Contains(hints, p.Hint) {
			hints = append(hints, p.Hint)
		}
	}
	return strings.Join(hints, "\n")
}

// Warning is something that was accepted although it is not what was written.
type Warning struct {
	Source Source
	Key    string
	Text   string // "5 is below 10; 10 is used"
}

// String is the warning as one line, beginning with where it comes from.
func (w Warning) String() string {
	return fmt.Sprintf("%s: %s: %s", w.Source, w.Key, w.Text)
}

// visible keeps text of others on one line: control characters are escaped.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fileError is a file that cannot be used at all.
func fileError(file, rule, hint string) *Error {
	return &Error{Problems: []Problem{{File: file, Rule: rule, Hint: hint}}}
}

// Nearest finds the name that was probably meant by word, or "" when none is
// near: at most a third of it (at least 2) is edited. Case does not count.
func Nearest(word string, names []string) string { return nearest(word, names) }

// nearest finds the candidate with the fewest edits from word, or "" when all
// are further away than a third of it (at least 2). Case does not count.
func nearest(word string, candidates []string) string {
	if len(word) > 64 { // nobody mistypes a key into that
		return ""
	}
	best, limit := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < limit && d < len(c) {
			best, limit = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance in bytes: insertions,
// deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			step := 1
			if a[i-1] == b[j-1] {
				step = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+step)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
