package cron

import (
	"math/bits"
	"strings"
	"time"
)

// maxTimes is how many times of day are listed one by one.
const maxTimes = 6

// Explain says a schedule in words: "every weekday at 09:00 Europe/Berlin",
// "every 15 minutes from 09:00 to 17:45 on weekdays UTC". The local zone is
// not named. Schedules that are said alike match alike.
func Explain(s Schedule, loc *time.Location) string {
	if s.seconds == 0 {
		return "never"
	}
	out := ""
	if times := s.times(); times != nil {
		out = s.dayLead() + " at " + list(times, "and")
	} else {
		out = s.interval() + s.dayTrail()
	}
	return out + s.yearPhrase() + zonePhrase(loc)
}

// Brief is Explain for a narrow column: "weekdays 09:00 Europe/Berlin", "daily
// 07:00", "Mon and Thu 08:00"; what has no short form is said in full.
func Brief(s Schedule, loc *time.Location) string {
	times := s.times()
	if times == nil || !s.daysWild || s.restrictedDays() || s.months != allMonths || s.hasYear || s.countsWeekdays() {
		return Explain(s, loc)
	}
	day := "daily"
	switch {
	case s.weekdays == workweek:
		day = "weekdays"
	case s.weekdays != everyWeekday:
		short := func(d int) string { return weekdayName(d % 7)[:3] }
		day = list(named(uint64(s.weekdays)>>1|uint64(s.weekdays&1)<<6, func(d int) string { return short(d + 1) }), "and")
	}
	return day + " " + list(times, "and") + zonePhrase(loc)
}

const (
	allMonths    = 1<<13 - 2
	allDays      = 1<<32 - 2
	workweek     = 0b0111110
	everyWeekday = 0b1111111
)

func zonePhrase(loc *time.Location) string {
	if loc == time.Local {
		return ""
	}
	return " " + orUTC(loc).String()
}

// times are the times of day, if they are few.
func (s *Schedule) times() []string {
	n := bits.OnesCount64(s.seconds) * bits.OnesCount64(s.minutes) * bits.OnesCount32(s.hours)
	if n == 0 || n > maxTimes {
		return nil
	}
	var out []string
	for _, h := range members(uint64(s.hours)) {
		for _, m := range members(s.minutes) {
			for _, sec := range members(s.seconds) {
				out = append(out, clock(h, m, sec, s.seconds != 1))
			}
		}
	}
	return out
}

func clock(h, m, sec int, seconds bool) string {
	out := two(h) + ":" + two(m)
	if seconds {
		out += ":" + two(sec)
	}
	return out
}

// interval says times of day that are many.
func (s *Schedule) interval() string {
	if s.seconds == 1 {
		return s.minutePhrase()
	}
	out := ""
	switch n := stepOf(s.seconds, 60); n {
	case 0:
		word := "at second "
		if bits.OnesCount64(s.seconds) > 1 {
			word = "at seconds "
		}
		out = word + list(runs(s.seconds), "and")
	case 1:
		out = "every second"
	default:
		out = "every " + number(n) + " seconds"
	}
	if s.minutes == 1<<60-1 && s.hours == 1<<24-1 {
		return out + atEvery(s.seconds)
	}
	if s.minutes == 1 {
		return out + " of minute 0" + s.hourPhrase(stepOf(uint64(s.hours), 24))
	}
	return out + " of " + strings.TrimPrefix(s.minutePhrase(), "at ")
}

// atEvery is what follows seconds that are listed.
func atEvery(seconds uint64) string {
	if stepOf(seconds, 60) == 0 {
		return " of every minute"
	}
	return ""
}

// minutePhrase says hours and minutes that are many.
func (s *Schedule) minutePhrase() string {
	hours := stepOf(uint64(s.hours), 24)
	from, to, together := contiguous(uint64(s.hours))
	step := stepOf(s.minutes, 60)
	switch {
	case s.minutes == 1 && hours == 1:
		return "every hour"
	case s.minutes == 1 && hours > 1:
		return "every " + number(hours) + " hours"
	case s.minutes == 1 && together:
		return "every hour from " + clock(from, 0, 0, false) + " to " + clock(to, 0, 0, false)
	case step > 0 && hours == 1:
		return everyMinutes(step)
	case step > 0 && together:
		return everyMinutes(step) + " from " + clock(from, 0, 0, false) + " to " + clock(to, 60-step, 0, false)
	case step > 0:
		return everyMinutes(step) + s.hourPhrase(hours)
	}
	word := "at minute "
	if bits.OnesCount64(s.minutes) > 1 {
		word = "at minutes "
	}
	return word + list(runs(s.minutes), "and") + s.hourPhrase(hours)
}

func everyMinutes(step int) string {
	if step == 1 {
		return "every minute"
	}
	return "every " + number(step) + " minutes"
}

func (s *Schedule) hourPhrase(step int) string {
	switch {
	case step == 1:
		return " of every hour"
	case step > 1:
		return " of every " + ordinal(step) + " hour from 00:00"
	case bits.OnesCount32(s.hours) == 1:
		return " of hour " + number(bits.TrailingZeros32(s.hours))
	}
	return " of hours " + list(runs(uint64(s.hours)), "and")
}

func (s *Schedule) yearPhrase() string {
	if !s.hasYear {
		return ""
	}
	var years []string
	for y := firstYear; y <= lastYear; y++ {
		if !s.yearMatches(y) {
			continue
		}
		from := y
		for y < lastYear && s.yearMatches(y+1) {
			y++
		}
		switch {
		case y == from:
			years = append(years, number(from))
		default:
			years = append(years, number(from)+" to "+number(y))
		}
	}
	if strings.Join(years, "") == number(firstYear)+" to "+number(lastYear) {
		return ", until " + number(lastYear)
	}
	return ", only in " + list(years, "and")
}
