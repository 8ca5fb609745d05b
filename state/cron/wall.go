package cron

import "math/bits"

// A wall time is a reading of a clock on the wall, in seconds since its
// reading of 1 January 1970 00:00: no zone, no gaps, no repeats.

// nextWall is the first matching wall time from w on and before limit.
func (s *Schedule) nextWall(w, limit int64) (int64, bool) {
	number := floorDiv(w, daySeconds)
	year, month, day := date(number)
	mask := s.dayMask(year, month)
	if mask&(1<<day) != 0 {
		if clock, ok := s.nextClock(int(w - number*daySeconds)); ok {
			w = number*daySeconds + int64(clock)
			return w, w < limit
		}
	}
	mask &= ^uint32(0) << day << 1
	for first := number - int64(day) + 1; first*daySeconds < limit; mask = s.dayMask(year, month) {
		if mask != 0 {
			w = (first+int64(bits.TrailingZeros32(mask))-1)*daySeconds + int64(s.firstClock())
			return w, w < limit
		}
		first += int64(daysIn(year, month))
		if month++; month > 12 {
			year, month = year+1, 1
		}
	}
	return 0, false
}

// previousWall is the last matching wall time up to w and not before limit.
func (s *Schedule) previousWall(w, limit int64) (int64, bool) {
	number := floorDiv(w, daySeconds)
	year, month, day := date(number)
	mask := s.dayMask(year, month)
	if mask&(1<<day) != 0 {
		if clock, ok := s.previousClock(int(w - number*daySeconds)); ok {
			w = number*daySeconds + int64(clock)
			return w, w >= limit
		}
	}
	mask &= 1<<day - 1
	first := number - int64(day) + 1
	for {
		if mask != 0 {
			w = (first+int64(bits.Len32(mask))-2)*daySeconds + int64(s.lastClock())
			return w, w >= limit
		}
		if first*daySeconds <= limit {
			return 0, false
		}
		if month--; month < 1 {
			year, month = year-1, 12
		}
		first -= int64(daysIn(year, month))
		mask = s.dayMask(year, month)
	}
}

// nextClock is the first matching second of the day from clock on.
func (s *Schedule) nextClock(clock int) (int, bool) {
	h, m, sec := clock/3600, clock/60%60, clock%60
	if s.hours&(1<<h) != 0 {
		if s.minutes&(1<<m) != 0 {
			if rest := s.seconds >> sec << sec; rest != 0 {
				return h*3600 + m*60 + bits.TrailingZeros64(rest), true
			}
		}
		if rest := s.minutes >> (m + 1) << (m + 1); rest != 0 {
			return h*3600 + bits.TrailingZeros64(rest)*60 + bits.TrailingZeros64(s.seconds), true
		}
	}
	rest := s.hours >> (h + 1) << (h + 1)
	if rest == 0 {
		return 0, false
	}
	return bits.TrailingZeros32(rest)*3600 + s.firstClock()%3600, true
}

// previousClock is the last matching second of the day up to clock.
func (s *Schedule) previousClock(clock int) (int, bool) {
	h, m, sec := clock/3600, clock/60%60, clock%60
	if s.hours&(1<<h) != 0 {
		if s.minutes&(1<<m) != 0 {
			if rest := s.seconds & (2<<sec - 1); rest != 0 {
				return h*3600 + m*60 + bits.Len64(rest) - 1, true
			}
		}
		if rest := s.minutes & (1<<m - 1); rest != 0 {
			return h*3600 + (bits.Len64(rest)-1)*60 + bits.Len64(s.seconds) - 1, true
		}
	}
	rest := s.hours & (1<<h - 1)
	if rest == 0 {
		return 0, false
	}
	return (bits.Len32(rest)-1)*3600 + s.lastClock()%3600, true
}

func (s *Schedule) firstClock() int {
	return bits.TrailingZeros32(s.hours)*3600 + bits.TrailingZeros64(s.minutes)*60 + bits.TrailingZeros64(s.seconds)
}

func (s *Schedule) lastClock() int {
	return (bits.Len32(s.hours)-1)*3600 + (bits.Len64(s.minutes)-1)*60 + bits.Len64(s.seconds) - 1
}
