package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// splitUnit cuts "1.5h" into "1.5" and "h".
func splitUnit(s string) (number, unit string) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	return s[:n], strings.TrimLeft(s[n:], " ")
}

// exactSize is the shortest spelling that process.ParseSize reads back unchanged:
// "64MiB", "1500".
func exactSize(n int64) string {
	for _, u := range [...]struct {
		factor int64
		name   string
	}{{1 << 50, "PiB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n > 0 && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseEvery reads a cadence: numbers with ms, s, m, h or d in a row ("1h30m"),
// or a bare number of minutes. Zero, blank and negative are 0 (disabled); so is
// what cannot be read, with ok false. spec/heartbeat-automations.md 1.1.
func parseEvery(s string) (d time.Duration, ok bool) {
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
	if total >= math.MaxInt64 {
		return 0, false
	}
	if negative {
		total = 0
	}
	return time.Duration(total).Truncate(time.Millisecond), true
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

// formatEvery is the spelling parseEvery reads back, "0m" for disabled.
func formatEvery(d time.Duration) string {
	if d == 0 {
		return "0m"
	}
	s := d.String()
	if d%time.Minute == 0 {
		s = strings.TrimSuffix(s, "0s")
	}
	if d%time.Hour == 0 {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
