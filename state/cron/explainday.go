package cron

import "math/bits"

// restrictedDays tells that not every day of a month matches.
func (s *Schedule) restrictedDays() bool {
	return s.days != allDays
}

// countsWeekdays tells that there is a # or L among the days of week.
func (s *Schedule) countsWeekdays() bool { return s.nth != [6]uint8{} }

// restrictedWeekdays tells that not every weekday matches.
func (s *Schedule) restrictedWeekdays() bool { return s.weekdays != everyWeekday }

// dayLead begins a sentence: "every weekday", "on the 1st of every month".
func (s *Schedule) dayLead() string {
	dom, dow := s.dayParts()
	if s.onlyWeekdays(dom, dow) {
		switch {
		case dow == "":
			return "every day" + s.monthTrail()
		case s.weekdays == workweek:
			return "every weekday" + s.monthTrail()
		}
		return "every " + weekdayList(s.weekdays, "and", "") + s.monthTrail()
	}
	return s.dayPhrase(dom, dow)
}

// dayTrail ends one: " on weekdays", " on the 1st of every month".
func (s *Schedule) dayTrail() string {
	dom, dow := s.dayParts()
	if s.onlyWeekdays(dom, dow) {
		switch {
		case dow == "":
			return s.monthTrail()
		case s.weekdays == workweek:
			return " on weekdays" + s.monthTrail()
		}
		return " on " + weekdayList(s.weekdays, "and", "s") + s.monthTrail()
	}
	return " " + s.dayPhrase(dom, dow)
}

// onlyWeekdays tells that there is at most a plain list of weekdays.
func (s *Schedule) onlyWeekdays(dom, dow string) bool {
	return dom == "" && (dow == "" || !s.countsWeekdays())
}

// dayParts are the two fields in words, empty for every day. With OR, a field
// that has every day makes the other one meaningless.
func (s *Schedule) dayParts() (dom, dow string) {
	if s.restrictedDays() {
		dom = s.monthDayList()
	}
	if s.restrictedWeekdays() {
		dow = s.weekDayList()
	}
	if s.either() && (dom == "" || dow == "") {
		return "", ""
	}
	return dom, dow
}

// dayPhrase joins them.
func (s *Schedule) dayPhrase(dom, dow string) string {
	of := " of every month"
	if s.months != allMonths {
		of = " of " + monthList(s.months)
	}
	switch {
	case dow == "":
		return "on " + dom + of
	case dom == "":
		return "on " + dow + of
	case s.either() && s.countsWeekdays():
		return "on " + dom + " and on " + dow + of
	case s.either():
		return "on " + dom + of + " and every " + weekdayList(s.weekdays, "and", "") + s.monthTrail()
	}
	return "on " + dom + of + " if it is a " + dow
}

func (s *Schedule) monthTrail() string {
	if s.months == allMonths {
		return ""
	}
	return " in " + monthList(s.months)
}

// monthDayList is "the 1st and 15th", "days 1 to 9 and 20", "the last day".
func (s *Schedule) monthDayList() string {
	var words []string
	switch n := bits.OnesCount32(s.days); {
	case n == 0:
	case n <= 3:
		words = append(words, "the "+list(named(uint64(s.days), ordinal), "and"))
	default:
		words = append(words, "days "+list(runs(uint64(s.days)), "and"))
	}
	if s.workdays != 0 {
		words = append(words, "the weekday nearest the "+list(named(uint64(s.workdays), ordinal), "and the"))
	}
	if s.last {
		words = append(words, "the last day")
	}
	if s.lastWork {
		words = append(words, "the last weekday")
	}
	return list(words, "and")
}

// weekDayList is "Monday or Friday", "the 2nd Friday", "the last Friday".
func (s *Schedule) weekDayList() string {
	var words []string
	if s.weekdays != 0 {
		words = append(words, weekdayList(s.weekdays, "or", ""))
	}
	for i := 1; i < len(s.nth); i++ {
		if s.nth[i] != 0 {
			words = append(words, "the "+ordinal(i)+" "+weekdayList(s.nth[i], "or", ""))
		}
	}
	if s.nth[0] != 0 {
		words = append(words, "the last "+weekdayList(s.nth[0], "or", ""))
	}
	return list(words, "or")
}
