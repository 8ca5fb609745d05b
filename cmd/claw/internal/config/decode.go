package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// located is a problem or warning whose line is not known yet: lines cost a
// pass over the file each, so they are looked up only for what is shown.
type located struct {
	path    []string
	order   int // position among the keys of the file
	problem Problem
}

// decoder carries one file into a Config. Nothing stops it early: every
// problem is collected.
type decoder struct {
	doc      *document
	cfg      *Config
	home     string
	problems []located
	apart    bool // what is wrong with the table of an automation is kept with it
}

// decode fills c from the text of the file called name.
func (c *Config) decode(name, home string, data []byte) error {
	doc, err := parse(name, data)
	if err != nil {
		return err
	}
	c.doc = doc
	d := &decoder{doc: doc, cfg: c, home: home, apart: true}
	root, mappings := d.withoutMappings(doc.values())
	walk(d, c, rootFields, root, nil, "", "agents", "channels", automationSection)
	d.channels(d.table(root, "channels"))
	d.agents(d.table(root, "agents"))
	d.automations(root)
	d.mappings(mappings)
	return d.err()
}

// table gives the table called key, or nil when there is none; anything else
// under that key is a problem.
func (d *decoder) table(parent map[string]any, key string, above ...string) map[string]any {
	raw, ok := parent[key]
	if !ok {
		return nil
	}
	t, ok := raw.(map[string]any)
	if !ok {
		d.report(slices.Concat(above, []string{key}), quote(raw)+" is not a table", "", "")
	}
	return t
}

// walk puts every value of a table where its field says. rel is the table's
// name relative to the field list, own are first words that the caller reads.
func walk[T any](d *decoder, dst *T, fields []field[T], table map[string]any, above []string, rel string, own ...string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		name, at := rel+key, append(slices.Clip(above), key)
		sub, isTable := table[key].(map[string]any)
		f := find(fields, name)
		switch {
		case rel == "" && slices.Contains(own, key):
		case f != nil:
			d.assign(at, f.rule, f.at(dst), table[key])
		case len(below(fields, name+".")) == 0:
			d.unknown(at, name, append(below(fields, rel), own...), elsewhere(fields, key))
		case isTable:
			walk(d, dst, fields, sub, at, name+".")
		default:
			d.report(at, quote(table[key])+" is not a table", "", "")
		}
	}
}

// elsewhere finds the full name of a key that exists, but in another table.
func elsewhere[T any](fields []field[T], key string) string {
	for i := range fields {
		if n := fields[i].name; strings.EqualFold(n[strings.LastIndexByte(n, '.')+1:], key) {
			return n
		}
	}
	return ""
}

// assign stores one value, and remembers where it came from.
func (d *decoder) assign(at []string, r rule, dst, raw any) {
	odd, err := r.set(dst, raw, d.home)
	var bad *valueError
	if errors.As(err, &bad) {
		d.report(at, bad.text, bad.nearest, bad.hint)
		return
	}
	d.cfg.origins = append(d.cfg.origins, origin{key: keyString(at), path: at})
	if odd != "" {
		d.warn(at, odd)
	}
}

// warn keeps the first few: each costs a look for its line.
func (d *decoder) warn(at []string, text string) {
	if len(d.cfg.Warnings) == maxProblems {
		return
	}
	d.cfg.Warnings = append(d.cfg.Warnings, Warning{
		Source: d.cfg.fileSource(at), Key: d.doc.shownKey(at), Text: text,
	})
}

// unknown reports a key that is not in the schema: as one of the seeds that
// claw does not have, as one that belongs elsewhere, or with its neighbours.
func (d *decoder) unknown(at []string, name string, siblings []string, other string) {
	if remedy, ok := foreignRemedy(name); ok {
		d.report(at, "not a key of claw", "", d.doc.shownKey(at)+": "+remedy)
		return
	}
	near := nearest(at[len(at)-1], siblings)
	if near == "" {
		near = other
	}
	hint := ""
	if near == "" {
		hint = "valid here: " + strings.Join(siblings, ", ")
	}
	d.report(at, "unknown key", near, hint)
}

func (d *decoder) report(at []string, rule, near, hint string) {
	d.problems = append(d.problems, located{
		path: slices.Clone(at), order: d.doc.order(at),
		problem: Problem{File: d.doc.name, Key: d.doc.shownKey(at), Rule: rule, Nearest: near, Hint: hint},
	})
}

// err gives what was collected in the order of the file, with lines.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b located) int { return cmp.Compare(a.order, b.order) })
	e := &Error{}
	if more := len(d.problems) - maxProblems; more > 0 {
		e.More, d.problems = more, d.problems[:maxProblems]
	}
	e.Problems = d.doc.lines(d.problems)
	return e
}

// lines are problems with their lines, in the order of these.
func (doc *document) lines(found []located) []Problem {
	out := make([]Problem, len(found))
	for i, l := range found {
		out[i] = l.problem
		out[i].Line = doc.line(l.path)
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// keyString is a dotted key as it would be written, quoted where it must be.
func keyString(path []string) string { return toml.Key(path).String() }

// agents reads [agents]: the defaults first, then every entry over a copy.
func (d *decoder) agents(table map[string]any) {
	all := &d.cfg.Agents
	if t := d.table(table, "defaults", "agents"); t != nil {
		d.agent(&all.Defaults, t, "defaults")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name == "defaults" || !d.named("agents", name) {
			continue
		}
		t := d.table(table, name, "agents")
		if t == nil {
			continue
		}
		d.almostDefaults("agents", name)
		a := all.Defaults
		a.HasHeartbeat = false
		d.agent(&a, t, name)
		if all.Entries == nil {
			all.Entries = map[string]Agent{}
		}
		all.Entries[name] = a
	}
}

func (d *decoder) agent(a *Agent, t map[string]any, name string) {
	at := []string{"agents", name}
	walk(d, a, agentFields, t, at, "")
	_, a.HasHeartbeat = t["heartbeat"]
	block, _ := t["heartbeat"].(map[string]any)
	_, written := block["session"].(string)
	d.heartbeatSession(a, name, written)
	if _, ok := block["target"].(string); !ok {
		return // inherited and checked there, or already reported
	}
	valid := append([]string{"last", "none"}, d.cfg.Channels.reachable()...)
	if !slices.Contains(valid, a.Heartbeat.Target) {
		d.report(append(at, "heartbeat", "target"), fmt.Sprintf("%q is not a channel", a.Heartbeat.Target),
			nearest(a.Heartbeat.Target, valid), "one of "+strings.Join(valid, ", "))
	}
}

// reachable are the names a delivery can be sent to.
func (c Channels) reachable() []string {
	names := append(builtins(), c.Names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// channels reads [channels]: the defaults, every channel over them, and every
// account over its channel.
func (d *decoder) channels(table map[string]any) {
	all := &d.cfg.Channels
	if t := d.table(table, "defaults", "channels"); t != nil {
		walk(d, all, channelDefaultFields, t, []string{"channels", "defaults"}, "")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name == "defaults" || !d.named("channels", name) {
			continue
		}
		if t := d.table(table, name, "channels"); t != nil {
			if all.Entries == nil {
				all.Entries = map[string]Channel{}
			}
			d.almostDefaults("channels", name)
			all.Entries[name] = d.channel(t, name)
		}
	}
	if valid := all.reachable(); !slices.Contains(valid, all.Default) {
		d.report([]string{"channels", "defaults", "channel"}, fmt.Sprintf("%q is not a channel", all.Default),
			nearest(all.Default, valid), "one of "+strings.Join(valid, ", "))
	}
}

func (d *decoder) channel(t map[string]any, name string) Channel {
	at := []string{"channels", name}
	c := defaultChannel()
	c.Heartbeat = d.cfg.Channels.Heartbeat
	walk(d, &c, channelFields, t, at, "", "accounts")
	d.channelType(&c, name)
	accounts := d.table(t, "accounts", at...)
	for _, id := range slices.Sorted(maps.Keys(accounts)) {
		sub := d.table(accounts, id, append(at, "accounts")...)
		if sub == nil {
			continue
		}
		a := Account{To: c.To, Heartbeat: c.Heartbeat}
		walk(d, &a, accountFields, sub, append(at, "accounts", id), "")
		if c.Accounts == nil {
			c.Accounts = map[string]Account{}
		}
		c.Accounts[id] = a
	}
	return c
}

// channelType fills in an absent type and refuses one that cannot work.
func (d *decoder) channelType(c *Channel, name string) {
	if c.Type == "" {
		switch {
		case len(c.Command) > 0:
			c.Type = "command"
		case slices.Contains(builtins(), name):
			c.Type = name
		}
	}
	at := []string{"channels", name}
	switch {
	case d.faulty(at, "type") || d.faulty(at, "command") || d.faulty(at, "url"):
		return // reported; what it was to be is not known
	case c.Type == "":
		d.report(at, "neither command nor type is set", "", `set command = ["program", …] or type = "inbox"`)
	case c.Type == "command" && len(c.Command) == 0:
		d.report(at, "type is command, but command is not set", "", `set command = ["program", …]`)
	case c.Type == "webhook" && c.URL == "":
		d.report(at, "type is webhook, but url is not set", "", `set url = "https://…"`)
	default:
		d.unusedChannel(c, at)
	}
}

// named refuses names that could not stand in a session key or a file name.
func (d *decoder) named(section, name string) bool {
	ok := name != "" && len(name) <= 64
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		ok = ok && (letter || i > 0 && (c == '-' || c == '_'))
	}
	if !ok {
		d.report([]string{section, name}, "not a usable name", "", "names are 1 to 64 letters, digits, - and _, and begin with a letter or digit")
	}
	return ok
}
