package heartbeat

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseEvery reads a cadence: numbers with ms, s, m, h or d in a row ("1h30m"),
// or a bare number of minutes, to the millisecond. Zero, blank and negative are 0 (disabled); so is
// what cannot be read, with ok false. spec/heartbeat-automations.md 1.1.
func ParseEvery(s string) (d time.Duration, ok bool) {
	all, negative := strings.CutPrefix(strings.ToLower(strings.TrimSpace(s)), "-")
	rest := all
	total := 0.0
	for rest != "" {
		number, tail := splitUnit(rest)
		end := strings.IndexFunc(tail, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(tail)
		}
		unit := everyUnit(tail[:end], number == all)
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || unit == 0 {
			return 0, false
		}
		total += v * float64(unit)
		rest = strings.TrimLeft(tail[end:], " ")
	}
	if total >= math.MaxInt64-float64(time.Millisecond) {
		return 0, false
	}
	if negative {
		total = 0
	}
	return time.Duration(math.Round(total/float64(time.Millisecond))) * time.Millisecond, true
}

func everyUnit(unit string, bare bool) time.Duration {
	switch unit {
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	case "":
		if bare {
			return time.Minute
		}
	}
	return 0
}

// interval is ParseEvery for what has no use for the difference between 0 and
// what cannot be read.
func interval(s string) time.Duration {
	d, _ := ParseEvery(s)
	return d
}

// splitUnit cuts "1.5h" into "1.5" and "h".
func splitUnit(s string) (number, unit string) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	return s[:n], strings.TrimLeft(s[n:], " ")
}
