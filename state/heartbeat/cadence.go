package heartbeat

import (
	"time"

	"claw/state/internal/digest"
)

// seekLimit is how far ahead a slot within active hours is looked for.
const seekLimit = 7 * 24 * time.Hour

// Phase is where in its interval an agent's heartbeat falls: the same after
// every restart, another for every agent (spec/heartbeat-automations.md 1.3).
// seed is what this machine always answers to.
func Phase(seed, agent string, every time.Duration) time.Duration {
	ms := every.Milliseconds()
	if ms <= 0 {
		return 0
	}
	return time.Duration(int64(digest.Prefix256(seed+":"+agent))%ms) * time.Millisecond
}

// Next is the first slot after now: times at phase, modulo every, since 1970.
// On a slot it is the next one. Without an interval it is zero.
func Next(now time.Time, every, phase time.Duration) time.Time {
	ms := every.Milliseconds()
	if ms <= 0 {
		return time.Time{}
	}
	since := (now.UnixMilli() - phase.Milliseconds()) % ms
	if since < 0 {
		since += ms
	}
	return time.UnixMilli(now.UnixMilli() - since + ms).In(now.Location())
}

// NextDue is the first slot after now that lies within hours, by the clock of
// loc. See Seek.
func NextDue(now time.Time, every, phase time.Duration, h Hours, loc *time.Location) time.Time {
	return Seek(Next(now, every, phase), every, phase, h, loc)
}

// Seek is slot, or the first one after it within hours, at most seven days on;
// slots less than a minute apart are looked at once a minute.
//
// When the interval never meets the window, such as 24h at another time of the
// day, it is the next opening of the window, and phase later, as far as that is
// within it, so that not all agents come at once. The seeds give the slot back
// there, and each of them is skipped as quiet-hours: such a heartbeat never
// runs (their #75487). A window of no width has no slot; it is the raw one.
func Seek(slot time.Time, every, phase time.Duration, h Hours, loc *time.Location) time.Time {
	if slot.IsZero() || !h.Restricted || h.width() <= 0 || every <= 0 {
		return slot
	}
	for at := slot; at.Sub(slot) <= seekLimit; at = at.Add(stride(every)) {
		if h.Inside(at.In(loc)) {
			return at
		}
	}
	return h.opening(slot.In(loc), phase%h.width()).In(slot.Location())
}

// stride is from one slot that Seek looks at to the next: a multiple of the
// interval, a minute at least.
func stride(every time.Duration) time.Duration {
	return every * ((time.Minute + every - 1) / every)
}

// AfterRun is when the monitor is due after a turn that started, or was
// skipped for good, at now (spec/heartbeat-automations.md 1.3). A scheduled
// one goes to the next slot. Another puts the periodic check off by one
// interval, but not beyond two intervals from the last check, so that a steady
// stream of completions does not replace it. A monitor that is not enabled is
// never due.
func (m Monitor) AfterRun(intent string, now time.Time, h Hours, loc *time.Location) time.Time {
	every, phase := m.every(), m.phase()
	at := Next(now, every, phase)
	if !m.Enabled || at.IsZero() {
		return time.Time{}
	}
	if intent != IntentScheduled {
		at = now.Add(every)
		if latest := m.CheckedAt.Add(2 * every); !m.CheckedAt.IsZero() && latest.Before(at) {
			at = later(now, latest)
		}
	}
	return Seek(at, every, phase, h, loc)
}

// The bounds of what an answer may propose for the next check.
const (
	SoonestCheck = time.Minute
	LatestCheck  = 24 * time.Hour
)

// Propose moves the schedule to the check that an answer has asked for at now,
// so long after it: within the bounds, and within hours. A monitor that is not
// enabled is never due.
func (m *Monitor) Propose(after time.Duration, now time.Time, h Hours, loc *time.Location) {
	if !m.Enabled || after <= 0 {
		return
	}
	at := now.Add(max(SoonestCheck, min(after, LatestCheck)))
	m.NextDue = Seek(at, m.every(), m.phase(), h, loc)
	m.Proposed = m.NextDue
}

// IsProposed tells that the next check is the one that an answer has asked
// for: it is neither put off nor brought forward.
func (m Monitor) IsProposed() bool { return !m.NextDue.IsZero() && m.NextDue.Equal(m.Proposed) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (m Monitor) every() time.Duration { return time.Duration(m.IntervalMs) * time.Millisecond }
func (m Monitor) phase() time.Duration { return time.Duration(m.PhaseMs) * time.Millisecond }
