package output

import "strings"

// SGR parameters; they are put together with a semicolon by paint.
const (
	bold    = "1;"
	dim     = "2;"
	red     = "31;"
	green   = "32;"
	yellow  = "33;"
	magenta = "35;"
	cyan    = "36;"
)

// paint wraps text in a style, where there is colour.
func paint(text, style string, colored bool) string {
	if !colored || style == "" || text == "" {
		return text
	}
	return "\x1b[" + strings.TrimSuffix(style, ";") + "m" + text + "\x1b[0m"
}

// styleOf is the colour of a state, by its first word. What goes on is cyan, what
// went well green, what did not red, what needs a look yellow or magenta, and
// what is over or not yet there is dim.
func styleOf(state string) string {
	word, _, _ := strings.Cut(state, " ")
	switch word {
	case "starting", "running":
		return cyan
	case "succeeded", "completed", "delivered", "sent", "ok":
		return green
	case "failed":
		return red
	case "timed_out", "unknown", "not ready", "blocked":
		return yellow
	case "lost", "damaged":
		return magenta
	case "queued", "cancelled", "skipped", "missed", "disabled", "consumed", "retired":
		return dim
	}
	return ""
}
