package cron

import "math/bits"

// Schedule is a parsed expression. Its zero value matches nothing. Schedules
// can be compared with ==: equal ones were written the same.
type Schedule struct {
	expr string

	seconds, minutes uint64
	hours            uint32
	months           uint16 // bits 1 to 12

	days     uint32 // of the month, bits 1 to 31
	workdays uint32 // the weekdays nearest to these: 15W
	last     bool   // L
	lastWork bool   // LW

	weekdays uint8    // bits 0 (Sunday) to 6
	nth      [6]uint8 // weekdays of #1 to #5; nth[0] are those of #L

	years   [3]uint64 // bits from firstYear on; meaningful if hasYear
	hasYear bool

	daysWild, weekdaysWild bool // the field begins with * or is ?
	and                    bool // + before the day of week
	clockWild              bool // hour or minute begins with * or is ?
	hasSecond              bool // six or seven fields
}

// The years a year field may name.
const (
	firstYear = 1970
	lastYear  = 2099
)

// String is the expression as it was written, without blanks around it.
func (s Schedule) String() string { return s.expr }

// FixedTime tells that hour and minute are no wildcards: its times keep their
// place on the wall clock when the clocks change, see the package comment.
func (s Schedule) FixedTime() bool { return !s.clockWild }

// SubMinute tells that the schedule can match more than once in a minute.
func (s Schedule) SubMinute() bool { return bits.OnesCount64(s.seconds) > 1 }

// either tells that day of month and day of week are OR.
func (s *Schedule) either() bool { return !s.daysWild && !s.weekdaysWild && !s.and }

// yearMatches tells whether any day of that year can match.
func (s *Schedule) yearMatches(year int) bool {
	if !s.hasYear {
		return true
	}
	i := year - firstYear
	return i >= 0 && year <= lastYear && s.years[i/64]&(1<<(i%64)) != 0
}

// dayMask has the bits of the days (1 to 31) that match in a month.
func (s *Schedule) dayMask(year, month int) uint32 {
	if s.months&(1<<month) == 0 || !s.yearMatches(year) {
		return 0
	}
	n, first := daysIn(year, month), weekdayOf(dayNumber(year, month, 1))
	all := uint32(1)<<n<<1 - 2
	dom, dow := s.monthDays(n, first)&all, s.weekDays(n, first)&all
	if s.either() {
		return dom | dow
	}
	return dom & dow
}

// monthDays are the days of month of a month of n days that begins on first.
func (s *Schedule) monthDays(n, first int) uint32 {
	m := s.days
	if s.last {
		m |= 1 << n
	}
	if s.lastWork {
		m |= 1 << nearestWorkday(n, n, first)
	}
	for rest := s.workdays; rest != 0; rest &= rest - 1 {
		if d := bits.TrailingZeros32(rest); d <= n {
			m |= 1 << nearestWorkday(d, n, first)
		}
	}
	return m
}

// nearestWorkday is the Monday to Friday nearest to day d of a month of n days
// that begins on first, without leaving the month.
func nearestWorkday(d, n, first int) int {
	switch weekday := (first + d - 1) % 7; {
	case weekday == 6 && d == 1:
		return 3
	case weekday == 6:
		return d - 1
	case weekday == 0 && d == n:
		return d - 2
	case weekday == 0:
		return d + 1
	}
	return d
}

// weekDays are the days of week of such a month.
func (s *Schedule) weekDays(n, first int) uint32 {
	m := everyWeek(s.weekdays, first)
	for i := 1; i < len(s.nth); i++ {
		if s.nth[i] != 0 {
			m |= everyWeek(s.nth[i], first) & (0x7f << (7*i - 6))
		}
	}
	if s.nth[0] != 0 {
		m |= everyWeek(s.nth[0], first) & (0x7f << (n - 6))
	}
	return m
}

// everyWeek has the bits of all days of a month that begins on first whose
// weekday is in set.
func everyWeek(set uint8, first int) uint32 {
	week := uint64(set) // bit 0: the weekday of day 1
	week = (week>>first | week<<(7-first)) & 0x7f
	return uint32(week * (1 | 1<<7 | 1<<14 | 1<<21 | 1<<28) << 1)
}

// possible tells whether any day of the calendar can match. The calendar,
// weekdays included, repeats after 400 years.
func (s *Schedule) possible() bool {
	from, to := 2000, 2399
	if s.hasYear {
		from, to = firstYear, lastYear
	}
	for y := from; y <= to; y++ {
		for m := 1; m <= 12; m++ {
			if s.dayMask(y, m) != 0 {
				return true
			}
		}
	}
	return false
}

// SameAs tells schedules that match alike, however they were written.
func (s Schedule) SameAs(o Schedule) bool {
	s.expr, o.expr = "", ""
	s.hasSecond, o.hasSecond = false, false
	return s == o
}
