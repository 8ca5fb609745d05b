package event

import (
	"slices"
	"strings"
	"unicode/utf8"

	"claw/state/process"
)

// noOutput is what stands for the output of a command that failed in silence
// (spec/exec-process.md 5.2): there is nothing to be fetched.
const noOutput = " without captured stdout/stderr. There is no output to ask for or to fetch: " +
	"name the exit status or the signal."

// maxRun is how many characters of a run id are shown.
const maxRun = 256

// Detail is what a prompt shows of one completion: its text, and below it the
// lines of output when they say more than the text does. A success that has
// nothing but its name and code is dropped, and is "". A failure without
// output says so.
func Detail(e Event) string {
	return strings.Join(ExecDetails([]Event{e}), "\n")
}

// ExecDetails is Detail for all events of one prompt, in their order. Together
// they have at most 8000 characters, marks of what was cut not counted; those
// that need little get it, the others share the rest evenly and keep both ends.
func ExecDetails(shown []Event) []string {
	var parts []part
	for _, e := range shown {
		if head, ok := headOf(e); ok {
			parts = append(parts, part{head: head, tail: tailOf(e)})
		}
	}
	share := fairShare(parts, detailsBudget)
	details := make([]string, len(parts))
	for i, p := range parts {
		details[i] = p.within(share)
	}
	return details
}

// part is one event of a prompt.
type part struct{ head, tail string }

func (p part) size() int {
	return utf8.RuneCountInString(p.head) + 1 + utf8.RuneCountInString(p.tail)
}

func (p part) within(limit int) string {
	head := utf8.RuneCountInString(p.head)
	switch {
	case head >= limit:
		return capped(p.head, limit)
	case p.tail == "":
		return p.head
	}
	return p.head + "\n" + capped(p.tail, limit-head-1)
}

// fairShare is the most that one part may have so that all have at most total.
func fairShare(parts []part, total int) int {
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = p.size()
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > total {
			return total / left
		}
		total -= size
	}
	return detailsBudget
}

// headOf is the text of a completion as a prompt shows it. ok is false when
// there is nothing to tell.
func headOf(e Event) (text string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(e.Text), "\n")
	rest = strings.Trim(rest, "\r\n ")
	c, known := Parse(first)
	silent := strings.TrimSpace(c.Output) == "" && strings.TrimSpace(e.Details) == ""
	switch {
	case !known || c.Finished:
	case c.Success() && silent && rest == "":
		return "", false
	case !c.Success() && silent:
		first = "Exec failed (" + c.inside() + ")" + noOutput
	case utf8.RuneCountInString(c.Run) > maxRun:
		first = c.short()
	}
	if rest != "" {
		first += "\n\n" + neutralLines(rest)
	}
	return first, first != ""
}

// inside is what stands between the parentheses, a long run id cut.
func (c Parsed) inside() string {
	s := c.ID + ", " + c.Result
	if c.Run == "" {
		return s
	}
	run := EscapeRun(process.First(c.Run, maxRun))
	if utf8.RuneCountInString(c.Run) > maxRun {
		run += "...(truncated)"
	}
	return s + ", run " + run
}

func (c Parsed) short() string {
	verb := "completed"
	if c.Failed {
		verb = "failed"
	}
	s := "Exec " + verb + " (" + c.inside() + ")"
	if strings.TrimSpace(c.Output) != "" {
		s += " :: " + c.Output
	}
	return s
}

// tailOf is the output below the text, neutralised; "" when the text shows all
// of it.
func tailOf(e Event) string {
	tail := strings.TrimSpace(e.Details)
	if c, ok := Parse(e.Text); ok && !strings.ContainsAny(tail, breaks) {
		if shown, _, _ := strings.Cut(c.Output, "\n"); tail == shown {
			return ""
		}
	}
	return neutralLines(tail)
}
