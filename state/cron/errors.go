package cron

import "strconv"

// Error says why an expression is not one. Field is "minute", "day of month"
// and so on, or empty when it is the whole that is wrong; Text is what stands
// there; Hint is a way out and may be empty.
type Error struct {
	Expr  string
	Field string
	Text  string
	Why   string
	Hint  string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return "cron expression " + quoted(e.Expr) + ": " + e.Why
	}
	return "cron expression " + quoted(e.Expr) + ": " + e.Field + " " + quoted(e.Text) + ": " + e.Why
}

// maxQuoted is how much of an expression an error repeats.
const maxQuoted = 80

func quoted(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted] + "…"
	}
	return strconv.Quote(s)
}
