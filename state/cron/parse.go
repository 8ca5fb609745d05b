package cron

import "strings"

// maxLength is how long an expression may be, in bytes.
const maxLength = 1024

// Parse reads an expression (see the package comment). The error is an *Error
// that names the field, what stands there, the rule and a way out. What can
// never match, as 31 February, is an error too.
func Parse(expr string) (Schedule, error) {
	p := parser{expr: strings.TrimSpace(expr)}
	p.s.expr = p.expr
	var fields [7]string
	n := p.split(&fields)
	if p.err == nil {
		p.parse(fields[:n])
	}
	if p.err == nil && !p.s.possible() {
		p.impossible(fields[:n])
	}
	if p.err != nil {
		return Schedule{}, p.err
	}
	return p.s, nil
}

// MustParse is Parse for expressions of the program itself.
func MustParse(expr string) Schedule {
	s, err := Parse(expr)
	if err != nil {
		panic(err)
	}
	return s
}

type parser struct {
	s    Schedule
	expr string
	f    *field // the one being read
	text string // all of it
	err  *Error // the first one
}

// fail records an error about a piece of the field being read.
func (p *parser) fail(text, why, hint string) {
	if p.err == nil {
		p.err = &Error{Expr: p.expr, Text: text, Why: why, Hint: hint}
		if p.f != nil {
			p.err.Field = p.f.name
		}
	}
}

// split cuts the expression into its fields, after putting in what a nickname
// stands for.
func (p *parser) split(fields *[7]string) int {
	expr := p.expr
	if len(expr) > maxLength {
		p.fail("", "it is too long", "")
		return 0
	}
	if strings.HasPrefix(expr, "@") {
		if expr = p.nickname(expr); p.err != nil {
			return 0
		}
	}
	n := 0
	for expr != "" {
		end := strings.IndexAny(expr, " \t\r\n")
		if end < 0 {
			end = len(expr)
		}
		if n < len(fields) {
			fields[n] = expr[:end]
		}
		n++
		expr = strings.TrimLeft(expr[end:], " \t\r\n")
	}
	if n < 5 || n > 7 {
		p.wrongCount(n, fields[0])
		return 0
	}
	return n
}

func (p *parser) wrongCount(n int, first string) {
	switch {
	case n == 0:
		p.fail("", "it is empty", `write minute, hour, day of month, month and day of week: "0 9 * * 1-5"`)
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		p.zoneInside()
	default:
		p.fail("", "it has "+number(n)+" fields, not 5, 6 (seconds first) or 7 (year last)",
			`write minute, hour, day of month, month and day of week: "0 9 * * 1-5"`)
	}
}

func (p *parser) zoneInside() {
	p.fail("", "a time zone is not part of an expression", "give the zone by itself: --tz Europe/Berlin")
}

func (p *parser) nickname(expr string) string {
	switch strings.ToLower(expr) {
	case "@hourly":
		return "0 * * * *"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@monthly":
		return "0 0 1 * *"
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@reboot":
		p.fail("", "@reboot is no time", "")
		return ""
	}
	hint := "write one of @hourly, @daily, @weekly, @monthly and @yearly"
	if strings.HasPrefix(strings.ToLower(expr), "@every") {
		hint = "write --every with a duration: --every 90m"
	}
	p.fail("", "there is no such nickname", hint)
	return ""
}

// parse reads 5 to 7 fields. Without a field for seconds, second 0 is meant.
func (p *parser) parse(fields []string) {
	if strings.HasPrefix(fields[0], "TZ=") || strings.HasPrefix(fields[0], "CRON_TZ=") {
		p.zoneInside()
		return
	}
	table := grammar[:6]
	if len(fields) == 5 {
		table, p.s.seconds = grammar[1:6], 1
	} else {
		p.s.hasSecond = true
	}
	if len(fields) == 7 {
		table, p.s.hasYear = grammar[:], true
	}
	for i := range table {
		p.f, p.text = &table[i], fields[i]
		p.field(fields[i])
		if p.err != nil {
			return
		}
	}
	p.f = nil
}

// impossible explains why no day matches.
func (p *parser) impossible(fields []string) {
	p.f = nil
	s := p.s
	s.hasYear = false
	const never = "no upcoming run time and would never fire"
	days := p.fieldAt(fields, monthDay)
	switch {
	case p.s.hasYear && s.possible():
		p.f = &grammar[year]
		p.fail(fields[6], "no day of these years matches: "+never, "take other years, or none")
	case p.s.monthDaysMissing():
		p.f = &grammar[monthDay]
		p.fail(days, monthList(p.s.months)+" "+hasNo(p.s.months)+" such day: "+never, "L is the last day of a month")
	default:
		p.fail("", "no day matches both day of month and day of week: "+never, "")
	}
}

// fieldAt is what stands in a field; with five there is none for seconds.
func (p *parser) fieldAt(fields []string, k kind) string {
	if len(fields) == 5 {
		k--
	}
	return fields[k]
}

// monthDaysMissing tells that no month that is asked for has such a day.
func (s *Schedule) monthDaysMissing() bool {
	for m := 1; m <= 12; m++ {
		n := daysIn(2000, m)
		if s.months&(1<<m) != 0 && (s.last || s.lastWork || (s.days|s.workdays)&(1<<n<<1-2) != 0) {
			return false
		}
	}
	return true
}

func hasNo(months uint16) string {
	if months&(months-1) == 0 {
		return "has no"
	}
	return "have no"
}
