package cli

import (
	"strconv"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/state/process"
)

func itoa(n int) string { return strconv.Itoa(n) }

// endLine is text with a line end, or nothing.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// lastOf is the last line of s that is not blank.
func lastOf(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	return strings.TrimSpace(s[strings.LastIndexAny(s, "\r\n")+1:])
}

func joinNonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

func sizeOf(n int64) string { return process.FormatSize(n) }

// ago is a time for people: relative on a terminal, exact in a pipe.
func (a *app) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if !a.io.OutTTY {
		return t.Format(time.RFC3339)
	}
	return output.Ago(t, a.now())
}
