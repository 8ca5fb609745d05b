package automation

import (
	"strconv"
	"strings"
	"time"
)

// ParseAt reads when a one-shot is due (spec/heartbeat-automations.md 2.3):
//
//	20m +1.5h 90s            from now; units ms s m h d
//	1796112000000            digits only: Unix milliseconds
//	2026-12-01               midnight, in loc
//	2026-12-01T09:00[:SS]    in loc; a space for the T, and 24:00, are fine
//	2026-12-01T09:00Z +01:00 as it says
//
// loc nil is UTC, not the host's zone. A local time that the clocks leave out
// is refused, one that comes twice is the first. The error is an *Error.
func ParseAt(text string, now time.Time, loc *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, ok := relative(text); ok {
		return now.Add(d).Truncate(time.Millisecond), nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && isDigits(text) {
		if ms > maxUnixMs {
			return time.Time{}, refuse("at", text, "is too far ahead", "digits alone are Unix milliseconds")
		}
		return time.UnixMilli(ms), nil
	}
	c, ok := civilTime(text)
	if !ok {
		return time.Time{}, refuse("at", text, "is neither a time nor a duration", "write 2026-12-01T09:00, with --tz for a zone, or 20m for in 20 minutes")
	}
	if c.hasOffset {
		return c.wall.Add(-c.offset), nil
	}
	if loc == nil {
		loc = time.UTC
	}
	return local(c.wall, loc, text)
}

// maxUnixMs is the end of the year 9999.
const maxUnixMs = 253402300799999

// relative reads 20m, +1.5h.
func relative(text string) (time.Duration, bool) {
	body := strings.TrimPrefix(text, "+")
	n := 0
	for n < len(body) && (body[n] >= '0' && body[n] <= '9' || body[n] == '.') {
		n++
	}
	whole, fraction, dotted := strings.Cut(body[:n], ".")
	if !isDigits(whole) || dotted && !isDigits(fraction) || n > 12 {
		return 0, false
	}
	unit, ok := unitOf(body[n:])
	value, err := strconv.ParseFloat(body[:n], 64)
	if d := value * float64(unit); ok && err == nil && d < 100*366*24*float64(time.Hour) {
		return time.Duration(d), true
	}
	return 0, false
}

func unitOf(s string) (time.Duration, bool) {
	switch s {
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	}
	return 0, false
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// civil is a date and time as written: wall is in UTC whatever the zone.
type civil struct {
	wall      time.Time
	offset    time.Duration
	hasOffset bool
}

func civilTime(text string) (civil, bool) {
	if len(text) < len("2026-12-01") {
		return civil{}, false
	}
	day, err := time.Parse("2006-01-02", text[:10])
	if err != nil {
		return civil{}, false
	}
	rest := text[10:]
	if rest == "" {
		return civil{wall: day}, true
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return civil{}, false
	}
	c := civil{wall: day}
	rest, ok := c.zone(strings.TrimSpace(rest[1:]))
	if !ok {
		return civil{}, false
	}
	clock, ok := clockTime(rest)
	c.wall = day.Add(clock)
	return c, ok
}

// zone takes Z or an offset off the end.
func (c *civil) zone(s string) (rest string, ok bool) {
	if body, ok := strings.CutSuffix(strings.ToUpper(s), "Z"); ok {
		c.hasOffset = true
		return strings.TrimSpace(body), true
	}
	i := strings.LastIndexAny(s, "+-")
	if i < 0 {
		return s, true
	}
	digits := strings.Replace(s[i+1:], ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	n, err := strconv.Atoi(digits)
	if len(digits) != 4 || !isDigits(digits) || err != nil || n/100 > 23 || n%100 > 59 {
		return "", false
	}
	c.hasOffset, c.offset = true, time.Duration(n/100)*time.Hour+time.Duration(n%100)*time.Minute
	if s[i] == '-' {
		c.offset = -c.offset
	}
	return strings.TrimSpace(s[:i]), true
}

// clockTime reads 09:00, 09:00:30, 09:00:30.5 and 24:00.
func clockTime(s string) (time.Duration, bool) {
	if s == "24:00" || s == "24:00:00" {
		return 24 * time.Hour, true
	}
	for _, layout := range [...]string{"15:04", "15:04:05", "15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil && len(s) >= 5 && s[2] == ':' {
			return t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Truncate(time.Millisecond), true
		}
	}
	return 0, false
}

// local finds the instant of a wall time in a zone: the first of two, and none
// in a gap.
func local(wall time.Time, loc *time.Location, text string) (time.Time, error) {
	var found time.Time
	for _, near := range [...]time.Duration{-36 * time.Hour, 0, 36 * time.Hour} { // no change is larger than a day
		_, offset := wall.Add(near).In(loc).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if _, o := at.In(loc).Zone(); o == offset && (found.IsZero() || at.Before(found)) {
			found = at.In(loc)
		}
	}
	if found.IsZero() {
		return found, refuse("at", text, "does not exist in "+loc.String()+": the clocks are set forward over it", "take a time before or after it")
	}
	return found, nil
}

// ParseSchedule reads the positional form: "every 6h" is an interval, five to
// seven words or a nickname a cron expression, anything else a time as for
// ParseAt. tz names the zone for the last two, zone finds it. The error is an
// *Error.
func ParseSchedule(text, tz string, now time.Time, zone Zones) (Schedule, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 2 && strings.EqualFold(words[0], "every"):
		if tz != "" {
			return Schedule{}, refuse("time zone", tz, "means nothing with every", "leave --tz out: an interval is the same everywhere")
		}
		return ParseEvery(words[1])
	case len(words) == 2 && strings.EqualFold(words[0], "@every"):
		return Schedule{}, refuse("schedule", text, "is no nickname of a cron expression", `write "every `+words[1]+`"`)
	case len(words) == 1 && strings.EqualFold(words[0], "@reboot"):
		return Schedule{Kind: KindBoot, TZ: tz}, nil
	case len(words) >= 5 || len(words) == 1 && strings.HasPrefix(words[0], "@"):
		s := Schedule{Kind: KindCron, Expr: strings.Join(words, " "), TZ: tz}
		_, err := Automation{Schedule: s}.Slots(zone)
		return s, err
	}
	var loc *time.Location
	if tz != "" {
		l, err := zone(tz)
		if err != nil {
			return Schedule{}, refuse("time zone", tz, "is not known here", "write an IANA name such as Europe/Berlin")
		}
		loc = l
	}
	at, err := ParseAt(text, now, loc)
	if err != nil {
		err = meantElse(words, err)
	}
	return Schedule{Kind: KindAt, At: at, TZ: tz}, err
}

// meantElse is a better error for what was rather meant to be an expression.
func meantElse(words []string, err error) error {
	const field = "0123456789*/,-?#ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if len(words) == 0 || len(words) < 3 && words[0][0] != '*' {
		return err
	}
	for i, w := range words {
		if strings.Trim(w, field) != "" || i < 2 && !strings.ContainsRune("0123456789*", rune(w[0])) {
			return err
		}
	}
	return refuse("cron expression", strings.Join(words, " "), "has "+plural(len(words), "field")+" of the five", "write minute, hour, day of month, month and day of week")
}

// ParseEvery reads an interval: 30m, 1.5h, 1h30m. The error is an *Error.
func ParseEvery(text string) (Schedule, error) {
	d, ok := relative(text)
	if !ok || strings.HasPrefix(text, "+") {
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			return Schedule{}, refuse("every", text, "is no duration", "write 30m, 6h or 1h30m")
		}
	}
	ms := d.Milliseconds()
	if ms <= 0 || ms > maxEveryMs {
		return Schedule{}, refuse("every", text, "is not between 1 s and 10 years", "write 30m, 6h or 1h30m")
	}
	return Schedule{Kind: KindEvery, EveryMs: ms}, nil
}
