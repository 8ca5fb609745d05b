package process

import (
	"fmt"
	"strconv"
	"time"
)

// Runtime writes a duration as the seeds' list does (spec/exec-process.md
// 2.1): up to two units without a space, a zero second unit left out. "450ms",
// "45s", "2m5s", "1h30m", "1d2h"; "n/a" for nothing.
func Runtime(d time.Duration) string {
	if d.Round(time.Millisecond) <= 0 {
		return "n/a"
	}
	return twoUnits(d, "%d", false)
}

// HumanDuration writes a duration for people (tour.md): "450ms", "12s",
// "1m04s", "3h12m", "1d02h". The second unit is always there, two digits wide,
// so that columns line up. Nothing, or less, is "0s".
func HumanDuration(d time.Duration) string {
	if d.Round(time.Millisecond) <= 0 {
		return "0s"
	}
	return twoUnits(d, "%02d", true)
}

// twoUnits writes d > 0, rounded to milliseconds below a second and to seconds
// above. format is how the second unit is written; keepZero keeps it at zero.
func twoUnits(d time.Duration, format string, keepZero bool) string {
	if ms := d.Round(time.Millisecond).Milliseconds(); ms < 1000 {
		return strconv.FormatInt(ms, 10) + "ms"
	}
	s := int64(d.Round(time.Second) / time.Second)
	first, second, units := s/86400, s%86400/3600, "dh"
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 3600:
		first, second, units = s/60, s%60, "ms"
	case s < 86400:
		first, second, units = s/3600, s%3600/60, "hm"
	}
	out := strconv.FormatInt(first, 10) + units[:1]
	if second == 0 && !keepZero {
		return out
	}
	return out + fmt.Sprintf(format, second) + units[1:]
}
