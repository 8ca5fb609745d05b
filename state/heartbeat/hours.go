package heartbeat

import "time"

// Hours is the part of the day in which heartbeats run. The zero value does
// not restrict them.
type Hours struct {
	Start, End int  // minutes from midnight; End is not part of it, and may be 24*60
	Restricted bool // false: always
}

// ParseHours reads "HH:MM" twice; end may be "24:00". With a bound that is
// missing or malformed there is no restriction: rather too many heartbeats
// than never one (spec/heartbeat-automations.md 1.5).
func ParseHours(start, end string) (h Hours, restricted bool) {
	from, ok1 := minuteOf(start)
	to, ok2 := minuteOf(end)
	if !ok1 || !ok2 || from == 24*60 {
		return Hours{}, false
	}
	return Hours{Start: from, End: to, Restricted: true}, true
}

// minuteOf reads two digits, a colon and two digits, up to 24:00.
func minuteOf(s string) (minute int, ok bool) {
	if len(s) != 5 || s[2] != ':' {
		return 0, false
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	return h*60 + m, m < 60 && h*60+m <= 24*60
}

// Inside tells that the wall clock of t, which is in the zone of the hours
// already, shows one of them. An end before the start is a window over
// midnight; an end at the start is no window, never inside.
func (h Hours) Inside(t time.Time) bool {
	if !h.Restricted {
		return true
	}
	m := t.Hour()*60 + t.Minute()
	if h.End < h.Start {
		return m >= h.Start || m < h.End
	}
	return m >= h.Start && m < h.End
}

// width is how long the window is by the wall clock.
func (h Hours) width() time.Duration {
	m := h.End - h.Start
	if m < 0 {
		m += 24 * 60
	}
	return time.Duration(m) * time.Minute
}

// opening is the first time at or after t that is inside, so long after the
// window opens, or right when it does where a change of the clock leaves that
// time out. It is t when there is none within eight days.
func (h Hours) opening(t time.Time, after time.Duration) time.Time {
	for day := range 9 {
		for _, later := range [...]time.Duration{after, 0} {
			minute := h.Start + int(later/time.Minute)
			at := time.Date(t.Year(), t.Month(), t.Day()+day, 0, minute, 0, int(later%time.Minute), t.Location())
			if !at.Before(t) && h.Inside(at) {
				return at
			}
		}
	}
	return t
}

// ZoneNames are the names to try, in order, for the time zone of active hours
// as configured: zone is empty or "user" for the user's, "local" for the
// host's, else a name of the IANA data base; one that is not there falls back
// to the user's. The last is "Local", which is always there.
func ZoneNames(zone, user string) []string {
	var names []string
	if zone == "local" {
		return []string{"Local"}
	}
	if zone != "" && zone != "user" {
		names = append(names, zone)
	}
	if user != "" && user != "user" && user != "local" {
		names = append(names, user)
	}
	return append(names, "Local")
}
