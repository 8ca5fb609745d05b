package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/state/automation"
)

// automationSection is the array of tables that declares automations.
const automationSection = "automation"

// automations reads every [[automation]] table. What it says is checked by
// Declared.
func (d *decoder) automations(root map[string]any) {
	raw, ok := root[automationSection]
	if !ok {
		return
	}
	tables, ok := tablesOf(raw)
	if !ok {
		d.report([]string{automationSection}, quote(raw)+" is not a list of tables", "", "write each as [[automation]]")
		return
	}
	d.cfg.Automations = d.tables(tables)
}

// shownKey is a key as it is told: an automation by its name, and not by its
// number.
func (doc *document) shownKey(at []string) string {
	if _, n, key, ok := inArray(at); ok {
		name := "number " + strconv.Itoa(n+1)
		if n < len(doc.tables) && doc.tables[n] != "" {
			name = doc.tables[n]
		}
		at = slices.Concat([]string{at[0], name}, key)
	}
	return keyString(at)
}

// tablesOf is a list of tables, however it was written.
func tablesOf(raw any) ([]map[string]any, bool) {
	if tables, ok := raw.([]map[string]any); ok {
		return tables, true
	}
	items, ok := raw.([]any)
	tables := make([]map[string]any, len(items))
	for i, item := range items {
		t, isTable := item.(map[string]any)
		ok, tables[i] = ok && isTable, t
	}
	return tables, ok
}

func (d *decoder) tables(tables []map[string]any) []Automation {
	all := make([]Automation, len(tables))
	for i, t := range tables {
		name, _ := t["name"].(string)
		d.doc.tables = append(d.doc.tables, name)
		a := NewAutomation()
		a.at = []string{automationSection, strconv.Itoa(i)}
		before := len(d.problems)
		walk(d, &a, automationFields, t, a.at, "")
		if strings.TrimSpace(a.Name) == "" && !d.faulty(a.at, "name") {
			d.report(a.at, "the automation has no name", "", `set name = "…"`)
		}
		if own := d.problems[before:]; d.apart && len(own) > 0 && identified(a, own) {
			a.wrong, d.problems = slices.Clone(own), d.problems[:before]
		}
		all[i] = a
	}
	return all
}

// identified tells that it is certain which automation a table is, whatever else
// is wrong with it: then that one stays as it is, and the others are read. With a
// key or a name that is not to be read, those would be taken away that it means,
// and the file is refused whole.
func identified(a Automation, wrong []located) bool {
	return strings.TrimSpace(a.Name) != "" && !slices.ContainsFunc(wrong, func(l located) bool {
		key := l.path[len(l.path)-1]
		return len(l.path) == 3 && (key == "key" || key == "name" || l.problem.Nearest == "key" || l.problem.Nearest == "name")
	})
}

// Table is a declared automation, or why it is none.
type Table struct {
	Automation automation.Automation // with its DeclarationKey, also of one that is wrong
	Source     Source
	Problem    *Problem // nil: it is in order

	more []Problem // that are wrong with it besides
}

// Declared makes automations of the [[automation]] tables. One that is wrong
// does not touch the others.
func (c *Config) Declared(now time.Time, zone automation.Zones) []Table {
	tables := make([]Table, len(c.Automations))
	seen := map[string]int{}
	for i, a := range c.Automations {
		tables[i] = c.declared(a, now, zone)
		for _, word := range [...]string{"key " + tables[i].Automation.DeclarationKey, "name " + strings.ToLower(a.Name)} {
			if first, twice := seen[word]; twice && tables[i].Problem == nil {
				what, _, _ := strings.Cut(word, " ")
				c.spoil(&tables[i], a, &FieldError{Key: what, Text: "the " + what + " is that of another table, on line " + strconv.Itoa(tables[first].Source.Line), Hint: "give each table a " + what + " of its own"})
			} else if !twice {
				seen[word] = i
			}
		}
	}
	return tables
}

func (c *Config) declared(a Automation, now time.Time, zone automation.Zones) Table {
	t := Table{Source: c.fileSource(a.at)}
	past := a
	made, err := a.Build(now, zone)
	if made.Schedule.Kind == automation.KindAt && made.Schedule.At.Before(now) {
		made, err = past.Build(made.Schedule.At, zone) // it may have been due long ago, and is a table all the same
	}
	if made.DeclarationKey == "" {
		made.DeclarationKey = a.Name
	}
	made.DeleteAfterRun = false // the table would make it anew
	made.Owner = automation.OwnerConfig
	if made.Payload.Kind == automation.PayloadTurn && made.Payload.ToolsAllow == nil {
		made.Payload.ToolsAllow = slices.Clone(automation.AllTools)
	}
	t.Automation = made
	if len(a.wrong) > 0 {
		all := c.doc.lines(a.wrong)
		t.Problem, t.more = &all[0], all[1:]
		return t
	}
	if err == nil {
		err = a.steady(made, now, zone)
	}
	if err == nil {
		err = c.knows(a)
	}
	if wrong, ok := errors.AsType[*FieldError](err); ok {
		c.spoil(&t, a, wrong)
	}
	return t
}

// steady refuses what means another thing each time it is read.
func (a Automation) steady(made automation.Automation, now time.Time, zone automation.Zones) error {
	later, err := a.Build(now.Add(time.Second), zone)
	if err == nil && !later.Schedule.At.Equal(made.Schedule.At) {
		return wrong(a.schedules()[0].key, quote(a.schedules()[0].value)+" is counted from now, which is another time whenever the file is read", "write a time such as 2026-12-01T09:00")
	}
	if a.Session == "current" {
		return wrong("session", "there is no current session in a file", "write isolated, session:ID or a key")
	}
	return nil
}

// knows refuses agents and channels that are not there.
func (c *Config) knows(a Automation) error {
	for _, ch := range [...]given{{"delivery.channel", a.DeliveryChannel}, {"failureAlert.channel", a.AlertChannel}} {
		if valid := append([]string{"last"}, c.Channels.reachable()...); ch.value != "" && !slices.Contains(valid, ch.value) {
			return &FieldError{Key: ch.key, Text: quote(ch.value) + " is not a channel", Hint: "one of " + strings.Join(valid, ", "), near: nearest(ch.value, valid)}
		}
	}
	if names := c.AgentNames(); a.Agent != "" && len(c.Agents.Entries) > 0 && !slices.Contains(names, a.Agent) {
		return &FieldError{Key: "agent", Text: quote(a.Agent) + " is not an agent", Hint: "one of " + strings.Join(names, ", "), near: nearest(a.Agent, names)}
	}
	return nil
}

func (c *Config) spoil(t *Table, a Automation, e *FieldError) {
	at := a.at
	if e.Key != "" {
		at = slices.Concat(at, strings.Split(e.Key, "."))
	}
	t.Problem = &Problem{File: c.file, Line: c.doc.line(at), Key: c.doc.shownKey(at), Rule: e.Text, Hint: e.Hint, Nearest: e.near}
}

// CheckDeclared gives what is wrong with the [[automation]] tables as one
// *Error, or nil.
func (c *Config) CheckDeclared(now time.Time, zone automation.Zones) error {
	e := &Error{}
	for _, t := range c.Declared(now, zone) {
		if t.Problem != nil {
			e.Problems = append(append(e.Problems, *t.Problem), t.more...)
		}
	}
	if more := len(e.Problems) - maxProblems; more > 0 {
		e.More, e.Problems = more, e.Problems[:maxProblems]
	}
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// ReadAutomations reads what WriteAutomations has written, or a claw.toml: its
// [[automation]] tables. form is "toml" or "json". What they say is not checked
// yet; the error is an *Error.
func ReadAutomations(name string, data []byte, form, home string) ([]Automation, error) {
	if len(data) > maxFile {
		return nil, tooLarge(name)
	}
	c := defaults()
	c.file = name
	if form != "json" {
		doc, err := parse(name, data)
		if err != nil {
			return nil, err
		}
		c.doc = doc
		d := &decoder{doc: doc, cfg: c, home: home}
		d.automations(doc.values())
		return c.Automations, d.err()
	}
	tables, err := jsonTables(name, data)
	if err != nil {
		return nil, err
	}
	c.doc = &document{name: name}
	d := &decoder{doc: c.doc, cfg: c, home: home}
	return d.tables(tables), d.err()
}

// jsonTables reads {"automations": [{…}]}, or the list alone.
func jsonTables(name string, data []byte) ([]map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return nil, fileError(name, "not valid JSON: "+err.Error(), "claw cron export --format json writes what can be read")
	}
	if outer, ok := raw.(map[string]any); ok {
		raw = outer["automations"]
	}
	tables, ok := tablesOf(numbers(raw))
	if !ok {
		return nil, fileError(name, "there is no list of automations in it", `write {"automations": [{…}]}, as claw cron export --format json does`)
	}
	return tables, nil
}

// numbers makes whole numbers of those that are, as TOML has them.
func numbers(raw any) any {
	switch v := raw.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return raw
}
