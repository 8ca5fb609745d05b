package heartbeat

import (
	"fmt"
	"time"
)

// Wanted is what configuration asks of one agent's monitor. Agents that run no
// heartbeats are not in the list.
type Wanted struct {
	Agent string
	Every time.Duration // 0: the row is kept, and disabled
	Hours Hours
	Loc   *time.Location // of the hours; nil is UTC
	// HoursLabel is the hours and their zone as they are compared, and shown:
	// see Hours.Label.
	HoursLabel string
}

// Label is the hours in a zone, "09:00-22:00 Europe/Berlin"; empty when they
// do not restrict.
func (h Hours) Label(zone string) string {
	if !h.Restricted {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d %s", h.Start/60, h.Start%60, h.End/60, h.End%60, zone)
}

// Key is the declaration key of an agent's monitor.
func Key(agent string) string { return "heartbeat:" + agent }

// NewMonitor is the row of an agent that has none: disabled, never run.
func NewMonitor(agent string) Monitor { return identified(Monitor{Agent: agent}) }

func identified(m Monitor) Monitor {
	m.Key, m.Name, m.Display = Key(m.Agent), "heartbeat-"+m.Agent, "Heartbeat ("+m.Agent+")"
	return m
}

// Converge makes the rows what configuration asks for and returns those that
// differ (spec/heartbeat-automations.md 1.2, 1.3): a missing one is made, an
// agent that is gone has its row disabled, and so has every agent while cron
// is off. Nothing is deleted: the row remembers what was last sent. It returns
// nothing when it is applied again.
//
// A row that changes neither interval, phase nor hours keeps its next due,
// also one that has passed: that is a check which is owed. One that is further
// ahead than it can have been set by the present clock is set again; what an
// answer has proposed may be as far ahead as LatestCheck.
func Converge(rows []Monitor, wanted []Wanted, now time.Time, seed string, cronEnabled bool) (changed []Monitor) {
	have := make(map[string]Monitor, len(rows))
	for _, m := range rows {
		have[m.Key] = m
	}
	asked := make(map[string]bool, len(wanted))
	for _, w := range wanted {
		old, known := have[Key(w.Agent)]
		m := converged(old, w, now, seed, cronEnabled)
		asked[m.Key] = true
		if !known || !same(old, m) {
			changed = append(changed, m)
		}
	}
	for _, m := range rows {
		if !asked[m.Key] && (m.Enabled || !m.NextDue.IsZero()) {
			m.Enabled, m.NextDue = false, time.Time{}
			changed = append(changed, m)
		}
	}
	return changed
}

// same compares what Converge sets.
func same(a, b Monitor) bool {
	return a.Key == b.Key && a.Agent == b.Agent && a.Name == b.Name && a.Display == b.Display && a.Enabled == b.Enabled &&
		a.IntervalMs == b.IntervalMs && a.PhaseMs == b.PhaseMs && a.Hours == b.Hours && a.NextDue.Equal(b.NextDue) && a.CheckedAt.Equal(b.CheckedAt)
}

func converged(old Monitor, w Wanted, now time.Time, seed string, cronEnabled bool) Monitor {
	m := old
	m.Agent = w.Agent
	m = identified(m)
	m.IntervalMs, m.PhaseMs = max(0, w.Every.Milliseconds()), Phase(seed, w.Agent, w.Every).Milliseconds()
	m.Hours = w.HoursLabel
	m.Enabled = cronEnabled && m.IntervalMs > 0
	if !m.Enabled {
		m.NextDue = time.Time{}
		return m
	}
	if m.CheckedAt.IsZero() {
		m.CheckedAt = now
	}
	if m.stale(old, now, w) {
		m.NextDue = NextDue(now, m.every(), m.phase(), w.Hours, w.zone())
	}
	return m
}

// stale tells that the next due of old does not hold for m.
func (m Monitor) stale(old Monitor, now time.Time, w Wanted) bool {
	if !old.Enabled || old.NextDue.IsZero() || old.IntervalMs != m.IntervalMs || old.PhaseMs != m.PhaseMs || old.Hours != m.Hours {
		return true
	}
	limit := now.Add(m.every())
	if m.IsProposed() {
		limit = now.Add(max(m.every(), LatestCheck))
	}
	if !m.NextDue.After(limit) {
		return false // as always without a clock that was put back, or hours
	}
	// The slots that Seek steps through begin with the limit, and those that
	// led to the next due may lie up to one stride later.
	return m.NextDue.After(Seek(limit, m.every(), m.phase(), w.Hours, w.zone()).Add(stride(m.every())))
}

func (w Wanted) zone() *time.Location {
	if w.Loc == nil {
		return time.UTC
	}
	return w.Loc
}
