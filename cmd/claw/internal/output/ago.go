package output

import "time"

// Ago writes a time for people, seen from now: "just now", "12s ago", "41m ago", "5h ago",
// "yesterday", "4 days ago", beyond 30 days the date; for the future "in 14h",
// "tomorrow". Days are those of now's zone. The zero time is "never".
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	past := !t.After(now)
	d := now.Sub(t).Abs()
	days := civilDays(t, now)
	switch {
	case d < time.Second && past:
		return "just now"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return direction(itoa(int(d/time.Second))+"s", past)
	case d < time.Hour:
		return direction(itoa(int(d/time.Minute))+"m", past)
	case d < 24*time.Hour || days == 0: // a day of 25 hours
		return direction(itoa(int(d/time.Hour))+"h", past)
	case days == 1 && past:
		return "yesterday"
	case days == 1:
		return "tomorrow"
	case days <= 30:
		return direction(itoa(days)+" days", past)
	}
	return t.In(now.Location()).Format(time.DateOnly)
}

func direction(s string, past bool) string {
	if past {
		return s + " ago"
	}
	return "in " + s
}

// civilDays is how many midnights lie between a and b on b's calendar.
func civilDays(a, b time.Time) int {
	day := func(t time.Time) int64 {
		y, m, d := t.In(b.Location()).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
	}
	return int(max(day(a)-day(b), day(b)-day(a)))
}
