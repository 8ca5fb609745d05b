package cron

import (
	"strings"
	"time"
)

// maxMissing is how many wall times of a gap are named.
const maxMissing = 3

// Effect says what a change of the clocks does to an occurrence, as Next gave
// it, and is empty for nearly all of them: "02:30 does not exist that day;
// runs when the clock jumps", "01:30 comes twice that day; runs the first
// time".
func (s Schedule) Effect(at time.Time, loc *time.Location) string {
	loc = orUTC(loc)
	t := at.Unix()
	p := periodAt(t, loc)
	jump := p.jump(loc)
	if t == p.start && s.runsAtJump(p, jump) {
		return s.inGap(p, jump)
	}
	if text := s.afterCorrection(at, p, jump, loc); text != "" {
		return text
	}
	wall := wallClock(t + p.offset)
	if jump < 0 && jump >= -maxShift && t < p.afterRepeat(jump) {
		return wall + " comes twice that day; this is the second time"
	}
	if p.end > latest {
		return ""
	}
	if back := -periodAt(p.end, loc).jump(loc); back > 0 && back <= maxShift && t >= p.end-back {
		if s.clockWild {
			return wall + " comes twice that day; this is the first time"
		}
		return wall + " comes twice that day; runs the first time"
	}
	return ""
}

// inGap names the times that are missing.
func (s *Schedule) inGap(p period, jump int64) string {
	end := p.start + p.offset
	var missing []string
	more := false
	for w, ok := s.nextWall(end-jump, end); ok; w, ok = s.nextWall(w+1, end) {
		if len(missing) == maxMissing {
			more = true
			break
		}
		missing = append(missing, wallClock(w))
	}
	switch {
	case more:
		return strings.Join(missing, ", ") + " and more do not exist that day; runs once, when the clock jumps"
	case len(missing) == 1:
		return missing[0] + " does not exist that day; runs when the clock jumps"
	}
	return list(missing, "and") + " do not exist that day; runs once, when the clock jumps"
}

// afterCorrection says that times before this one fell into a change of more
// than three hours.
func (s *Schedule) afterCorrection(at time.Time, p period, jump int64, loc *time.Location) string {
	if jump <= maxShift {
		return ""
	}
	before, ok := s.Previous(at, loc)
	w, missed := s.nextWall(p.start+p.offset-jump, p.start+p.offset)
	if !missed || ok && before.Unix() >= p.start {
		return ""
	}
	y, m, d := date(floorDiv(w, daySeconds))
	return number(d) + " " + monthName(m) + " " + number(y) + " " + wallClock(w) +
		" was left out by a correction of the clock; it is not made up"
}

// wallClock is the time of day, with seconds if there are any.
func wallClock(w int64) string {
	c := int(floorMod(w, daySeconds))
	return clock(c/3600, c/60%60, c%60, c%60 != 0)
}
