package cron

import "strings"

// field is one of the seven: its name, the values it may hold, and names for
// them, three letters each, the first for min.
type field struct {
	kind     kind
	name     string
	min, max int
	names    string
}

type kind int

const (
	second kind = iota
	minute
	hour
	monthDay
	month
	weekDay
	year
)

var grammar = [...]field{
	{kind: second, name: "second", min: 0, max: 59},
	{kind: minute, name: "minute", min: 0, max: 59},
	{kind: hour, name: "hour", min: 0, max: 23},
	{kind: monthDay, name: "day of month", min: 1, max: 31},
	{kind: month, name: "month", min: 1, max: 12, names: "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
	{kind: weekDay, name: "day of week", min: 0, max: 7, names: "SUNMONTUEWEDTHUFRISAT"},
	{kind: year, name: "year", min: firstYear, max: lastYear},
}

// span is a range with a step.
type span struct{ from, to, step int }

// field reads one field: a list.
func (p *parser) field(text string) {
	wild := text[0] == '*' || text == "?"
	lastOfList := false
	switch p.f.kind {
	case minute, hour:
		p.s.clockWild = p.s.clockWild || wild
	case monthDay:
		p.s.daysWild = wild
	case weekDay:
		text, p.s.and = strings.CutPrefix(text, "+")
		p.s.weekdaysWild = strings.HasPrefix(text, "*") || text == "?"
		if rest, ok := strings.CutPrefix(upper(text), "L"); ok {
			text, lastOfList = rest, true
		}
	}
	if text == "" {
		p.fail(p.text, "there is no day of week in it", "the last Friday of a month is 5#L")
		return
	}
	for more := true; more && p.err == nil; {
		var part string
		part, text, more = strings.Cut(text, ",")
		p.part(part, lastOfList)
	}
}

// part reads one element of a list. lastOf says that an L before the list
// makes each of its weekdays the last one of the month.
func (p *parser) part(text string, lastOf bool) {
	switch {
	case text == "":
		p.fail(p.text, "there is an empty place in the list", "take out the comma that is too many")
		return
	case p.f.kind == monthDay && p.monthDay(upper(text)):
		return
	case p.f.kind == weekDay && p.weekDay(upper(text), lastOf):
		return
	}
	if r, ok := p.span(text); ok {
		p.add(r)
	}
}

// monthDay reads L, LW and 15W.
func (p *parser) monthDay(text string) bool {
	switch {
	case text == "L":
		p.s.last = true
	case text == "LW":
		p.s.lastWork = true
	case strings.HasPrefix(text, "L"):
		p.fail(text, "L stands alone here, or as LW", "the last day of a month is L, its last weekday LW")
	case strings.HasSuffix(text, "W"):
		d, ok := p.value(text[:len(text)-1], text)
		if ok {
			p.s.workdays |= 1 << d
		}
	default:
		return false
	}
	return true
}

// weekDay reads 5#2, MON-FRI#2, 5#L and 5L, and with lastOf the 5 of L5.
func (p *parser) weekDay(text string, lastOf bool) bool {
	days, nth, ok := strings.Cut(text, "#")
	switch {
	case lastOf && (ok || strings.ContainsAny(text, "*?/L")):
		p.fail(p.text, "after an L before the list there are only days and ranges", "write 5#L,6#2 for a mixed list")
		return true
	case lastOf:
		nth = "L"
	case !ok && strings.HasSuffix(text, "L"):
		days, nth = text[:len(text)-1], "L"
	case !ok:
		return false
	}
	if days == "" || strings.ContainsAny(days, "*?/") {
		p.fail(text, "what is counted must be a day or a range of days", "the second Friday of a month is 5#2, its last one 5#L")
		return true
	}
	i := 0
	if nth != "L" {
		if len(nth) != 1 || nth[0] < '1' || nth[0] > '5' {
			p.fail(text, "a month has the 1st to the 5th of a weekday, and L, the last", "the second Friday of a month is 5#2")
			return true
		}
		i = int(nth[0] - '0')
	}
	if r, ok := p.span(days); ok {
		for d := r.from; d <= r.to; d += r.step {
			p.s.nth[i] |= 1 << (d % 7)
		}
	}
	return true
}

// span reads *, */2, ?, 5, 5/2, 5-9 and 5-9/2.
func (p *parser) span(text string) (span, bool) {
	r := span{p.f.min, p.f.max, 1}
	if p.f.kind == weekDay {
		r.to = 6
	}
	size := r.to - r.from + 1
	body, step, stepped := strings.Cut(text, "/")
	switch {
	case body == "?" && (stepped || p.text != "?" && p.text != "+?"):
		p.fail(text, "? stands alone", "write *")
		return r, false
	case body == "*" || body == "?":
	case body == "":
		p.fail(text, "there is nothing before the step", "write */"+step)
		return r, false
	default:
		if !p.bounds(&r, body, stepped) {
			return r, false
		}
	}
	if stepped {
		n, ok := p.digits(step)
		if !ok || n == 0 {
			p.fail(text, "a step is a number from 1 on", "")
			return r, false
		}
		if n > size-1 {
			p.fail(text, "a step of "+number(n)+" does not fit: a "+p.f.name+" is "+p.f.limits(), p.f.everyHint(n))
			return r, false
		}
		r.step = n
	}
	return r, true
}

// bounds reads what stands before a step: one value, which with a step begins
// a range to the end, or two.
func (p *parser) bounds(r *span, body string, stepped bool) bool {
	from, to, ranged := strings.Cut(body, "-")
	var ok bool
	if r.from, ok = p.value(from, body); !ok {
		return false
	}
	switch {
	case !ranged && stepped:
		r.to = max(r.to, r.from) // to the end, and 7 is one too
		return true
	case !ranged:
		r.to = r.from
		return true
	}
	if r.to, ok = p.value(to, body); !ok {
		return false
	}
	if p.f.kind == weekDay && upper(to) == "SUN" && r.from > 0 {
		r.to = 7
	}
	if r.from > r.to {
		p.reversed(*r, from, to, body)
		return false
	}
	return true
}

func (p *parser) reversed(r span, from, to, body string) {
	hint := "write " + from + "-" + number(p.f.max) + "," + number(p.f.min) + "-" + to
	switch {
	case p.f.kind == year:
		hint = "write " + to + "-" + from
	case p.f.kind == weekDay && r.from == 7:
		hint = "write 0-" + to
	case p.f.kind == weekDay && r.to == 0:
		hint = "write " + from + "-7"
	}
	p.fail(body, "the range is the wrong way round", hint)
}

// value reads a number or a name; text is where it stands.
func (p *parser) value(s, text string) (int, bool) {
	if s == "" {
		p.fail(text, "a number is missing", p.f.lead()+" is "+p.f.limits())
		return 0, false
	}
	if len(s) == 3 && s[0] > '9' {
		name := upper(s)
		for i := 0; i < len(p.f.names); i += 3 {
			if p.f.names[i:i+3] == name {
				return p.f.min + i/3, true
			}
		}
	}
	n, ok := p.digits(s)
	if !ok {
		p.fail(text, quoted(s)+" is neither a number nor a name that is known here", p.f.lead()+" is "+p.f.limits())
		return 0, false
	}
	if n < p.f.min || n > p.f.max {
		p.fail(text, number(n)+" is out of range", p.f.lead()+" is "+p.f.limits())
		return 0, false
	}
	return n, true
}

// digits reads a number of at most six digits. Zeros may lead.
func (p *parser) digits(s string) (int, bool) {
	if s == "" || len(s) > 6 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// add puts the values of a span into the set of its field.
func (p *parser) add(r span) {
	for v := r.from; v <= r.to; v += r.step {
		switch p.f.kind {
		case second:
			p.s.seconds |= 1 << v
		case minute:
			p.s.minutes |= 1 << v
		case hour:
			p.s.hours |= 1 << v
		case monthDay:
			p.s.days |= 1 << v
		case month:
			p.s.months |= 1 << v
		case weekDay:
			p.s.weekdays |= 1 << (v % 7)
		case year:
			p.s.years[(v-firstYear)/64] |= 1 << ((v - firstYear) % 64)
		}
	}
}

func (f *field) lead() string {
	if f.kind == hour {
		return "an hour"
	}
	return "a " + f.name
}

func (f *field) limits() string {
	s := number(f.min) + " to " + number(f.max)
	if f.names != "" {
		s += ", or " + f.names[:3] + " to " + f.names[len(f.names)-3:]
	}
	return s
}

// everyHint helps who wants every 90 minutes.
func (f *field) everyHint(n int) string {
	switch f.kind {
	case second, minute, hour:
		return "for every " + number(n) + " " + f.name + "s write --every " + number(n) + f.name[:1]
	}
	return ""
}

// upper is strings.ToUpper for ASCII, without making a string when there is
// nothing to change.
func upper(s string) string {
	for i := range len(s) {
		if s[i] >= 'a' && s[i] <= 'z' {
			return strings.ToUpper(s)
		}
	}
	return s
}
