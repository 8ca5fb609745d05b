package event

import (
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/process"
)

// The end of the output that a notice shows: lines, and characters in all.
const (
	noticeLines       = 3
	noticeFailedLines = 10
	noticeChars       = 1500
)

// Failed tells the end of a command or a task that did not succeed: an
// acknowledgement must not swallow it. A code other than zero is a failure
// here, whatever the verb says.
func Failed(e Event) bool {
	if c, ok := Parse(e.Text); ok && IsExec(e) {
		return !c.Finished && !c.Success()
	}
	if e.Kind != KindExec && e.Kind != KindTask {
		return false
	}
	for _, verb := range [...]string{"failed: ", "timed out: ", "lost: "} { // spec/tasks-recovery.md 2.4
		if strings.HasPrefix(e.Text, "Background task "+verb) {
			return true
		}
	}
	return false
}

// Notice is an event as a person is told it, in a line and, for a command, the
// last lines of its output:
//
//	./train.sh finished in 3h12m (exit 0)
//	epoch 40/40 · val_loss 0.231
//
// A failure names the exit code or the signal. What is no completion is its
// own text.
func Notice(e Event) string {
	c, ok := Parse(e.Text)
	if !ok || c.Finished || !IsExec(e) {
		return capped(strings.TrimSpace(e.Text), detailsBudget)
	}
	s := called(e, c) + " " + ending(e, c)
	if e.Cause != "" {
		s += ": " + process.Collapse(e.Cause)
	}
	limit := noticeLines
	if Failed(e) {
		limit = noticeFailedLines
	}
	if end := lastLines(outputOf(e, c), limit); end != "" {
		s += "\n" + end
	}
	return s
}

// called is what a person knows the command by.
func called(e Event, c Parsed) string {
	for _, name := range [...]string{e.Name, e.Command} {
		if name = process.Collapse(name); name != "" {
			return process.Elide(name, process.CommandWidth)
		}
	}
	return "command " + c.ID
}

// ending is "finished in 3h12m (exit 0)" and its like.
func ending(e Event, c Parsed) string {
	verb, word := "failed", " after "
	switch {
	case e.Outcome == "timed_out":
		verb = "timed out"
	case e.Outcome == "lost":
		verb = "was lost"
	case e.Outcome == "cancelled":
		verb = "was cancelled"
	case c.Success():
		verb, word = "finished", " in "
	}
	if e.DurationMs > 0 {
		verb += word + process.HumanDuration(time.Duration(e.DurationMs)*time.Millisecond)
	}
	result := c.Result
	if code, ok := strings.CutPrefix(result, "code "); ok {
		result = "exit " + code
	}
	return verb + " (" + result + ")"
}

// outputOf is the end of what the command printed, as far as the event has it.
func outputOf(e Event, c Parsed) string {
	if tail := strings.TrimSpace(e.Details); tail != "" {
		return tail
	}
	first, _, _ := strings.Cut(e.Text, "\n")
	if _, shown, ok := strings.Cut(first, " :: "); ok && c.Output != "" {
		return strings.TrimSpace(shown)
	}
	return ""
}

// lastLines is the end of s, with a line "…" where something is left out.
func lastLines(s string, limit int) string {
	lines := splitLines(s)
	cut := len(lines) > limit
	if cut {
		lines = lines[len(lines)-limit:]
	}
	end := strings.Join(lines, "\n")
	if utf8.RuneCountInString(end) > noticeChars {
		end, cut = process.Last(end, noticeChars), true
	}
	if cut {
		return "…\n" + end
	}
	return end
}
