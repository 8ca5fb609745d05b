package heartbeat

import (
	"slices"
	"time"

	"claw/state"
	"claw/state/heartbeat"
)

// Status is what is known about all heartbeats.
type Status struct {
	Enabled     bool          `json:"enabled"`     // heartbeat enable|disable
	CronEnabled bool          `json:"cronEnabled"` // cron.enabled: without it nothing runs by the clock
	Agents      []AgentStatus `json:"agents"`
}

// AgentStatus is one agent's monitor.
type AgentStatus struct {
	Agent    string           `json:"agentId"`
	Enabled  bool             `json:"enabled"` // it has a cadence
	EveryMs  int64            `json:"everyMs"`
	Session  string           `json:"sessionKey"`
	Hours    string           `json:"activeHours,omitempty"`
	NextDue  time.Time        `json:"nextDue,omitzero"`
	Last     *heartbeat.Event `json:"last"` // null: it has never been looked at
	Embedded bool             `json:"embedded"`
	Gate     bool             `json:"gate"`
	Checks   int              `json:"checks"` // executables in heartbeat.d
}

// Status reads how the heartbeats stand, as the next tick will find them;
// agents that are configured come first, by name, and then those whose row is
// left of an earlier configuration, as long as something is known of them. It
// writes nothing.
func (e *Engine) Status() (Status, error) {
	now := e.Clock.Now()
	s := Status{CronEnabled: e.CronEnabled, Agents: []AgentStatus{}}
	rows := map[string]heartbeat.Monitor{}
	err := e.Store.View(func(tx *state.Tx) error {
		off, err := switchedOff(tx)
		if err != nil {
			return err
		}
		s.Enabled = !off
		have, err := monitors(tx)
		for _, m := range append(have, e.converged(have, now)...) {
			rows[m.Agent] = m
		}
		return err
	})
	if err != nil {
		return s, err
	}
	names := slices.Clone(e.Agents)
	slices.Sort(names)
	for name, m := range rows {
		if !slices.Contains(e.Agents, name) && m.Last != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(e.Agents):])
	checks := len(e.checkFiles())
	for _, name := range names {
		m, set := rows[name], e.Settings(name)
		s.Agents = append(s.Agents, AgentStatus{
			Agent: name, Enabled: m.Enabled, EveryMs: m.IntervalMs, Session: e.sessionOf(name), Hours: m.Hours,
			NextDue: m.NextDue, Last: m.Last, Embedded: set.Embedded, Gate: set.Gate, Checks: checks,
		})
	}
	return s, nil
}
