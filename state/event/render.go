package event

import (
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/process"
)

// cutMark is where the middle of a text was left out, truncated what follows
// it (spec/exec-process.md 5.2).
const (
	cutMark   = "\n…\n"
	truncated = "\n\n[truncated]"
)

// capped keeps both ends of a text of more than limit characters, and says so.
func capped(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	if limit <= utf8.RuneCountInString(cutMark) {
		return strings.TrimLeft(truncated, "\n")
	}
	room := limit - utf8.RuneCountInString(cutMark)
	head := room / 3 // the end of an output says more than its beginning
	return process.First(s, head) + cutMark + process.Last(s, room-head) + truncated
}

// Line is an event as a system line of a prompt, every further line prefixed
// as well, so that none can pass for the user's:
//
//	System: [2026-11-30 22:10 UTC] text
//	System: more text
//
// What somebody else wrote begins with "System (untrusted): ". loc is the
// user's zone.
func Line(e Event, loc *time.Location) string {
	prefix := "System: "
	if e.Untrusted {
		prefix = "System (untrusted): "
	}
	text := neutralLines(capped(strings.TrimSpace(e.Text), detailsBudget))
	at := "[" + e.CreatedAt.In(loc).Format("2006-01-02 15:04 MST") + "] "
	return prefix + at + strings.ReplaceAll(text, "\n", "\n"+prefix)
}

// Lines is Line for several.
func Lines(events []Event, loc *time.Location) []string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = Line(e, loc)
	}
	return lines
}
