package cron

import "time"

// maxShift is the largest change of a zone's clocks, in seconds, that is a
// shift; what is larger is a correction (design.md 7).
const maxShift = 3 * 60 * 60

// horizon is how far Next and Previous look, in seconds. Without a year field
// no two matches of a possible schedule are further apart than 40 years: the
// leap days of one weekday around the year 2100.
const horizon = 41 * 366 * daySeconds

// The instants that are looked at, in Unix seconds: the years 1 to 9999.
const (
	earliest = -62135596800
	latest   = 253402300799
)

// period is a time in which a zone does not change its clocks.
type period struct {
	offset     int64 // seconds east of UTC
	start, end int64 // Unix seconds; end is not part of it
}

func periodAt(t int64, loc *time.Location) period {
	at := time.Unix(t, 0).In(loc)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	p := period{offset: int64(offset), start: earliest, end: latest + 1}
	if !start.IsZero() {
		p.start = max(start.Unix(), earliest)
	}
	if !end.IsZero() {
		p.end = min(end.Unix(), latest+1)
	}
	if p.end <= t {
		// By a zone's rule for years to come, Go 1.26 ends every year after
		// 365 days, and is a day short of the last one of leap years.
		p.end = t + 60*60
	}
	return p
}

// jump is by how many seconds the clocks were changed at the start of p:
// positive is forward.
func (p period) jump(loc *time.Location) int64 {
	if p.start <= earliest {
		return 0
	}
	_, before := time.Unix(p.start-1, 0).In(loc).Zone()
	return p.offset - int64(before)
}

// Next is the first occurrence strictly after that instant, in a zone (nil is
// UTC). Occurrences lie on whole seconds, and the second that is going on at
// after is past. False when there is none within the horizon: the year field
// has run out, or the schedule is the zero one.
func (s Schedule) Next(after time.Time, loc *time.Location) (time.Time, bool) {
	loc = orUTC(loc)
	t, limit := s.forward(after.Unix() + 1)
	for t <= limit && s.seconds != 0 {
		p := periodAt(t, loc)
		if !s.clockWild && t-p.start < maxShift {
			jump := p.jump(loc)
			if t == p.start && s.runsAtJump(p, jump) {
				return time.Unix(t, 0).In(loc), true
			}
			t = max(t, p.afterRepeat(jump))
		}
		if w, ok := s.nextWall(t+p.offset, min(p.end, limit+1)+p.offset); ok {
			return time.Unix(w-p.offset, 0).In(loc), true
		}
		t = p.end
	}
	return time.Time{}, false
}

// Previous is the last occurrence strictly before that instant, by the same
// rules.
func (s Schedule) Previous(before time.Time, loc *time.Location) (time.Time, bool) {
	loc = orUTC(loc)
	last := before.Unix()
	if before.Nanosecond() == 0 {
		last--
	}
	t, limit := s.backward(last)
	for t >= limit && s.seconds != 0 {
		p := periodAt(t, loc)
		w, ok := s.previousWall(t+p.offset, max(p.start, limit)+p.offset)
		at := w - p.offset
		if !s.clockWild && (!ok || at-p.start < maxShift) {
			jump := p.jump(loc)
			ok = ok && at >= p.afterRepeat(jump)
			if !ok && s.runsAtJump(p, jump) {
				at, ok = p.start, true
			}
		}
		if ok {
			return time.Unix(at, 0).In(loc), true
		}
		t = p.start - 1
	}
	return time.Time{}, false
}

// runsAtJump tells that fixed times lie in the gap before p.
func (s *Schedule) runsAtJump(p period, jump int64) bool {
	if s.clockWild || jump <= 0 || jump > maxShift {
		return false
	}
	_, ok := s.nextWall(p.start+p.offset-jump, p.start+p.offset)
	return ok
}

// afterRepeat is when p begins to show wall times that were not shown just
// before it.
func (p period) afterRepeat(jump int64) int64 {
	if jump < 0 && jump >= -maxShift {
		return min(p.start-jump, p.end)
	}
	return p.start
}

// forward is where Next begins to look, and where it ends.
func (s *Schedule) forward(t int64) (from, limit int64) {
	if s.hasYear {
		return max(t, dayNumber(firstYear-1, 12, 30)*daySeconds), dayNumber(lastYear+1, 1, 2) * daySeconds
	}
	t = max(t, earliest)
	return t, min(t+horizon, latest)
}

// backward is where Previous begins to look, and where it ends.
func (s *Schedule) backward(t int64) (from, limit int64) {
	if s.hasYear {
		return min(t, dayNumber(lastYear+1, 1, 2)*daySeconds), dayNumber(firstYear-1, 12, 30) * daySeconds
	}
	t = min(t, latest)
	return t, max(t-horizon, earliest)
}

func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}
