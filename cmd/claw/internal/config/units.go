package config

import (
	"strconv"
	"strings"
	"time"
)

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

// formatEvery is the spelling heartbeat.ParseEvery reads back, "0m" for disabled.
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
