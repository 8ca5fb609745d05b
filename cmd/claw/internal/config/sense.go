package config

import (
	"slices"
	"strings"

	"claw/state/session"
)

// faulty tells that the value of a key, or one of a table's, has been reported
// already: what follows from it need not be.
func (d *decoder) faulty(at []string, key string) bool {
	at = append(slices.Clip(at), key)
	return slices.ContainsFunc(d.problems, func(p located) bool {
		return len(p.path) >= len(at) && slices.Equal(p.path[:len(at)], at)
	})
}

// almostDefaults warns of an entry that is called nearly like the table of the
// defaults, as [agents.default] is: it gives the others nothing.
func (d *decoder) almostDefaults(section, name string) {
	if distance(strings.ToLower(name), "defaults") <= 1 {
		d.warn([]string{section, name}, "is one of the "+section+", and gives nothing to the others; did you mean ["+section+".defaults]?")
	}
}

// heartbeatSession warns of a session that the heartbeat of agent name cannot
// run in; spec/heartbeat-automations.md 1.1. written: it stands in the agent's
// own block.
func (d *decoder) heartbeatSession(a *Agent, name string, written bool) {
	key := a.Heartbeat.Session
	if key == "" || key == "main" {
		return
	}
	at := []string{"agents", "defaults", "heartbeat", "session"}
	if written {
		at[1] = name
	}
	k, err := session.Parse(key)
	switch foreign := name != "defaults" && k.Agent != "" && k.Agent != name; {
	case foreign && written:
		d.warn(at, quote(key)+" is of agent "+k.Agent+"; the main session is used")
	case foreign:
		d.warn(at, quote(key)+" is of agent "+k.Agent+"; agent "+name+" uses its main session")
	case !written: // told of the defaults themselves
	case err != nil:
		d.warn(at, quote(key)+` is not a session, such as "agent:main:ops" or "session:notes"; the main session is used`)
	case session.IsSubagent(key):
		d.warn(at, quote(key)+" is of a sub-agent, and those are not woken; the main session is used")
	}
}

// unusedChannel warns of what a channel has beside its type, and does not use.
func (d *decoder) unusedChannel(c *Channel, at []string) {
	if len(c.Command) > 0 && c.Type != "command" {
		d.warn(append(slices.Clip(at), "command"), "type is "+c.Type+", so the command is not used")
	}
	switch {
	case c.URL == "":
	case c.Type != "webhook":
		d.warn(append(slices.Clip(at), "url"), "type is "+c.Type+", so the url is not used")
	case !isWebAddress(c.URL):
		d.warn(append(slices.Clip(at), "url"), quote(c.URL)+` is not an address such as "https://example.org/hook"; nothing can be sent to it`)
	}
}

// isWebAddress tells what a webhook can be posted to: http or https, and a
// host.
func isWebAddress(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	known := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	return ok && known && host != "" && host[0] != ':' && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
