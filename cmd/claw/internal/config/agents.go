package config

import "time"

// AgentNames lists the configured agents, sorted; main when there is none.
func (c *Config) AgentNames() []string {
	if names := c.Agents.Names(); len(names) > 0 {
		return names
	}
	return []string{"main"}
}

// Agent is what holds for an agent; one that is not configured has the
// defaults.
func (c *Config) Agent(name string) Agent {
	if entry, ok := c.Agents.Entries[name]; ok {
		return entry
	}
	return c.Agents.Defaults
}

// Enrolled tells whether an agent has heartbeats: as soon as one agent has a
// heartbeat block of its own, only those that have one; else all when the
// defaults have one, else main or the first (spec/heartbeat-automations.md
// 1.1).
func (c *Config) Enrolled(name string) bool {
	anyOwn := false
	for _, e := range c.Agents.Entries {
		anyOwn = anyOwn || e.HasHeartbeat
	}
	switch {
	case anyOwn:
		return c.Agents.Entries[name].HasHeartbeat
	case c.IsSet("agents.defaults.heartbeat.every"):
		return true
	}
	return name == c.AgentNames()[0] || name == "main"
}

// The longest that a heartbeat may take where nothing is set.
const longestHeartbeat = 10 * time.Minute

// HeartbeatTimeout is how long a heartbeat of an agent may take: its own
// timeout, else the agent's where one is set, else the smaller of ten minutes
// and the interval (spec/heartbeat-automations.md 1.1). Less than 0 is no limit.
func (c *Config) HeartbeatTimeout(name string) time.Duration {
	e := c.Agent(name)
	set := c.IsSet("agents."+name+".timeoutSeconds") || c.IsSet("agents.defaults.timeoutSeconds")
	switch {
	case e.Heartbeat.TimeoutSeconds > 0:
		return time.Duration(e.Heartbeat.TimeoutSeconds) * time.Second
	case set && e.TimeoutSeconds == 0:
		return -1
	case set:
		return time.Duration(e.TimeoutSeconds) * time.Second
	case e.Heartbeat.Every <= 0: // a heartbeat by hand where none is scheduled
		return longestHeartbeat
	}
	return max(time.Second, min(longestHeartbeat, e.Heartbeat.Every))
}

// Visibility is what an account of a channel shows of heartbeats: account over
// channel over defaults. Each has what is below it merged already.
func (c Channels) Visibility(channel, account string) Visibility {
	ch, ok := c.Entries[channel]
	if !ok {
		return c.Heartbeat
	}
	if acc, ok := ch.Accounts[account]; ok {
		return acc.Heartbeat
	}
	return ch.Heartbeat
}
