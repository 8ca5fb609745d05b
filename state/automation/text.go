package automation

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"claw/state/cron"
)

// Error refuses something a person wrote: Field is what it is about, Value
// what was written, Hint a way out, which may be empty.
type Error struct {
	Field, Value, Why, Hint string
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Field + " " + e.Why
	}
	return e.Field + " " + strconv.Quote(clip(e.Value)) + " " + e.Why
}

// Remedy is the hint.
func (e *Error) Remedy() string { return e.Hint }

func refuse(field, value, why, hint string) *Error { return &Error{field, value, why, hint} }

// fromCron carries an expression's error over.
func fromCron(err error) *Error {
	if e, ok := errors.AsType[*cron.Error](err); ok {
		why := e.Why
		if e.Field != "" {
			why = e.Field + " " + strconv.Quote(clip(e.Text)) + ": " + why
		}
		return refuse("cron expression", e.Expr, "cannot be used: "+why, e.Hint)
	}
	return refuse("cron expression", "", err.Error(), "")
}

func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func itoa(n int) string     { return strconv.Itoa(n) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

// duration writes 90 s as 1m30s and 6 h as 6h.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// stamp writes an instant in a reason; reasons are kept, so it has its zone.
func stamp(t time.Time) string {
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02T15:04:05.000Z07:00")
	}
	return t.Format(time.RFC3339)
}

// plural is "1 run", "2 runs".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return itoa(n) + " " + word + "s"
}

// typed is a kind as a person writes it.
func (k Kind) typed() string {
	if k == KindBoot {
		return "@reboot"
	}
	return string(k)
}
