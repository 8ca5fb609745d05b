package automation

import (
	"strings"
	"time"

	"claw/state/cron"
	"claw/state/internal/digest"
)

// Zones finds a time zone by name; the empty one is the host's.
type Zones func(name string) (*time.Location, error)

// Slots are the instants at which a schedule is due. The zero value has none.
type Slots struct {
	kind   Kind
	at     time.Time // of at, or the anchor of every
	every  time.Duration
	cron   cron.Schedule
	loc    *time.Location
	offset time.Duration // stagger
}

// Slots compiles the schedule. Triggers have no slots. The error is an *Error.
func (a Automation) Slots(zone Zones) (Slots, error) {
	s := Slots{kind: a.Schedule.Kind}
	switch sch := a.Schedule; sch.Kind {
	case KindAt:
		s.at = sch.At
		if sch.TZ != "" {
			s.loc, _ = zone(sch.TZ) // it is for people only
		}
	case KindEvery:
		if sch.EveryMs <= 0 || sch.EveryMs > maxEveryMs {
			return Slots{}, refuse("every", itoa64(sch.EveryMs), "is not between 1 s and 10 years", "write a duration such as 30m")
		}
		if sch.AnchorMs < 0 {
			return Slots{}, refuse("every", itoa64(sch.AnchorMs), "is no time to count from", "leave the anchor out")
		}
		s.every, s.at = time.Duration(sch.EveryMs)*time.Millisecond, time.UnixMilli(sch.AnchorMs)
		if sch.AnchorMs == 0 {
			s.at = a.CreatedAt
		}
	case KindCron:
		return s.withCron(a, zone)
	}
	return s, nil
}

// The bounds of an interval: a second, and ten years.
const (
	leastEveryMs = 1000
	maxEveryMs   = 10 * 366 * 24 * 60 * 60 * 1000
)

func (s Slots) withCron(a Automation, zone Zones) (Slots, error) {
	c, err := cron.Parse(a.Schedule.Expr)
	if err != nil {
		return Slots{}, fromCron(err)
	}
	loc, err := zone(a.Schedule.TZ)
	if err != nil {
		return Slots{}, refuse("time zone", a.Schedule.TZ, "is not known here", "write an IANA name such as Europe/Berlin")
	}
	s.cron, s.loc, s.offset = c, loc, Offset(a.ID, a.Schedule.Stagger())
	return s, nil
}

// Next is the first slot strictly after t.
func (s Slots) Next(t time.Time) (time.Time, bool) {
	switch s.kind {
	case KindAt:
		return s.at, s.at.After(t)
	case KindEvery:
		if t.Before(s.at) {
			return s.at, true
		}
		return s.at.Add((t.Sub(s.at)/s.every + 1) * s.every), true
	case KindCron:
		next, ok := s.cron.Next(t.Add(-s.offset), s.loc)
		return next.Add(s.offset), ok
	}
	return time.Time{}, false
}

// Previous is the last slot strictly before t.
func (s Slots) Previous(t time.Time) (time.Time, bool) {
	switch s.kind {
	case KindAt:
		return s.at, s.at.Before(t)
	case KindEvery:
		if !t.After(s.at) {
			return time.Time{}, false
		}
		return s.at.Add((t.Sub(s.at) - 1) / s.every * s.every), true
	case KindCron:
		back, ok := s.cron.Previous(t.Add(-s.offset), s.loc)
		return back.Add(s.offset), ok
	}
	return time.Time{}, false
}

// Effect says what a change of the clocks does to a slot, see cron.Effect.
func (s Slots) Effect(slot time.Time) string {
	if s.kind != KindCron {
		return ""
	}
	return s.cron.Effect(slot.Add(-s.offset), s.loc)
}

// DefaultStagger is the window for expressions at the full hour.
const DefaultStagger = 5 * time.Minute

// Stagger is the window over which the schedule is spread: what is set, else
// the default of its expression; 0 is exact (2.6).
func (s Schedule) Stagger() time.Duration {
	switch {
	case s.Kind != KindCron:
		return 0
	case s.StaggerMs != nil:
		return time.Duration(max(0, *s.StaggerMs)) * time.Millisecond
	case onTheHour(s.Expr):
		return DefaultStagger
	}
	return 0
}

// onTheHour tells an expression that many are likely to use: minute 0 of hours
// among which is a wildcard.
func onTheHour(expr string) bool {
	f := strings.Fields(expr)
	if len(f) == 6 && f[0] == "0" {
		f = f[1:]
	}
	if len(f) != 5 || f[0] != "0" {
		return false
	}
	for part := range strings.SplitSeq(f[1], ",") {
		if part == "*" || strings.HasPrefix(part, "*/") {
			return true
		}
	}
	return false
}

// Offset is how much later than its expression an automation is due, within a
// window: the same for ever, whatever it is called.
func Offset(id string, window time.Duration) time.Duration {
	ms := window.Milliseconds()
	if ms <= 1 {
		return 0
	}
	return time.Duration(int64(digest.Prefix256(id))%ms) * time.Millisecond
}

// Words says a schedule for people: "every weekday at 09:00 Europe/Berlin",
// "every 6h", "at 2026-12-01 09:00 UTC". zone is the one times are said in; an
// expression keeps its own, and so does a time that was written in one.
func (s Slots) Words(zone *time.Location) string {
	switch s.kind {
	case KindAt:
		if s.loc != nil {
			zone = s.loc
		}
		return "at " + s.at.In(zone).Format("2006-01-02 15:04:05 MST")
	case KindEvery:
		return "every " + duration(s.every)
	case KindCron:
		out := cron.Explain(s.cron, s.loc)
		if s.offset > 0 {
			out += ", " + duration(s.offset) + " later"
		}
		return out
	}
	return ""
}
