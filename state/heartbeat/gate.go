package heartbeat

import (
	"slices"
	"time"
)

// The reasons of a deferral (spec/heartbeat-automations.md 1.4).
const (
	ReasonNotDue     = "not-due"
	ReasonMinSpacing = "min-spacing"
	ReasonFlood      = "flood"
)

// The cooldown: so many starts in so long are a flood, and so long lies
// between two turns that nobody asked for at once.
const (
	floodStarts = 5
	floodWindow = time.Minute
	minSpacing  = 30 * time.Second
	keepStarts  = 6
)

// Deferral is a wake that is put off, not dropped.
type Deferral struct {
	Deferred bool
	Reason   string    // not-due, min-spacing or flood
	RetryAt  time.Time // the earliest at which the gate lets it pass
	// Advance tells that the monitor's slot has passed meanwhile and moves on,
	// so that it is not due all the time of the deferral.
	Advance bool
}

// Gate is the cooldown, asked before Decide. Manual wakes always pass,
// immediate ones unless there is a flood of turns.
func Gate(m Monitor, intent string, now time.Time) Deferral {
	if intent == IntentManual {
		return Deferral{}
	}
	if at := floodUntil(m.Starts, now); at.After(now) {
		return m.deferred(ReasonFlood, at, now)
	}
	switch intent {
	case IntentImmediate:
		return Deferral{}
	case IntentScheduled:
		return m.notDue(now)
	case IntentEvent:
		if len(m.Starts) == 0 {
			return Deferral{}
		}
		if d := m.notDue(now); d.Deferred {
			return d
		}
	}
	return m.spacing(now)
}

func (m Monitor) deferred(reason string, at, now time.Time) Deferral {
	return Deferral{Deferred: true, Reason: reason, RetryAt: at, Advance: !m.NextDue.IsZero() && !now.Before(m.NextDue)}
}

func (m Monitor) notDue(now time.Time) Deferral {
	if now.Before(m.NextDue) {
		return m.deferred(ReasonNotDue, m.NextDue, now)
	}
	return Deferral{}
}

func (m Monitor) spacing(now time.Time) Deferral {
	if len(m.Starts) == 0 {
		return Deferral{}
	}
	last := m.Starts[len(m.Starts)-1]
	if at := last.Add(minSpacing); !last.After(now) && now.Before(at) {
		return m.deferred(ReasonMinSpacing, at, now)
	}
	return Deferral{}
}

// floodUntil is when the fifth start before now is a minute old. Starts after
// now are of a clock that was put back; they hold nothing up.
func floodUntil(starts []time.Time, now time.Time) time.Time {
	past := slices.DeleteFunc(slices.Clone(starts), func(at time.Time) bool { return at.After(now) })
	if len(past) < floodStarts {
		return time.Time{}
	}
	return past[len(past)-floodStarts].Add(floodWindow)
}

// Started is starts with one more, the newest six of them. Skips for a busy
// session are no starts (spec/heartbeat-automations.md 1.4).
func Started(starts []time.Time, at time.Time) []time.Time {
	out := append(slices.Clone(starts), at)
	return out[max(0, len(out)-keepStarts):]
}
