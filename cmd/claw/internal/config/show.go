package config

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Origin is what kind of place a value came from.
type Origin string

// The origins.
const (
	FromDefault Origin = "default"
	FromFile    Origin = "file"
	FromEnv     Origin = "env"
)

// Source is where a value came from.
type Source struct {
	Kind Origin `json:"source"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // 1-based; 0 unknown
	Env  string `json:"env,omitempty"`  // the variable's name
}

// String is "default", "claw.toml:12" or "CLAW_BASH_YIELD_MS".
func (s Source) String() string {
	switch {
	case s.Kind == FromEnv:
		return s.Env
	case s.Kind == FromFile && s.Line > 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	case s.Kind == FromFile:
		return s.File
	}
	return string(FromDefault)
}

// origin remembers one value that is not a default.
type origin struct {
	key  string   // dotted
	path []string // in the file
	env  string   // or the variable
}

func (c *Config) setOrigin(o origin) {
	c.origins = append(slices.DeleteFunc(c.origins, func(old origin) bool { return old.key == o.key }), o)
}

func (c *Config) origin(key string) (origin, bool) {
	i := slices.IndexFunc(c.origins, func(o origin) bool { return o.key == key })
	if i < 0 {
		return origin{}, false
	}
	return c.origins[i], true
}

// IsSet tells whether a key, written in full ("tools.exec.backgroundMs"), has
// its value from the file or the environment.
func (c *Config) IsSet(key string) bool {
	_, ok := c.origin(key)
	return ok
}

// Source tells where the first of the keys that is set has its value from.
func (c *Config) Source(keys ...string) Source {
	for _, key := range keys {
		if o, ok := c.origin(key); ok && o.env != "" {
			return Source{Kind: FromEnv, Env: o.env}
		} else if ok {
			return c.fileSource(o.path)
		}
	}
	return Source{Kind: FromDefault}
}

func (c *Config) fileSource(path []string) Source {
	return Source{Kind: FromFile, File: c.file, Line: c.doc.line(path)}
}

// File is the configuration file that was looked for, and whether it was read.
func (c *Config) File() (name string, read bool) { return c.file, c.doc != nil }

// Setting is one key with its effective value.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // int64, bool, string, []string, [][]string; sizes and durations as claw.toml spells them
	Source        // inlined in JSON: source, file, line, env

	text string // the value in TOML; "" when the key is better left out
}

// Provenance lists every key that has a value, in the order of the manual.
// Environment variables of agents and channels are listed without their
// values: they may be secrets.
func (c *Config) Provenance() []Setting {
	all := settings(c, c, rootFields, "")
	for _, m := range c.Hooks.Mappings {
		all = append(all, settings(c, &m, mappingFields, "hooks.mappings."+keyString([]string{m.Name})+".")...)
	}
	all = append(all, c.declarations()...)
	all = append(all, settings(c, &c.Agents.Defaults, agentFields, "agents.defaults.")...)
	for _, name := range c.Agents.Names() {
		a := c.Agents.Entries[name]
		all = append(all, settings(c, &a, agentFields, "agents."+name+".", "agents.defaults.")...)
	}
	all = append(all, settings(c, &c.Channels, channelDefaultFields, "channels.defaults.")...)
	for _, name := range c.Channels.Names() {
		ch, at := c.Channels.Entries[name], "channels."+name+"."
		all = append(all, settings(c, &ch, channelFields, at, "channels.defaults.")...)
		for _, id := range slices.Sorted(maps.Keys(ch.Accounts)) {
			a := ch.Accounts[id]
			all = append(all, settings(c, &a, accountFields, at+"accounts."+keyString([]string{id})+".", at, "channels.defaults.")...)
		}
	}
	return all
}

// settings gives one table, found at prefix. What is not set there may be inherited
// from other tables, the nearest first.
func settings[T any](c *Config, v *T, fields []field[T], prefix string, inherited ...string) (all []Setting) {
	for i := range fields {
		f := &fields[i]
		value, text := f.show(f.at(v))
		if value == nil {
			continue
		}
		keys := []string{prefix + f.name}
		for _, table := range inherited {
			keys = append(keys, table+f.name)
		}
		all = append(all, Setting{Key: keys[0], Value: value, Source: c.Source(keys...), text: text})
	}
	return all
}

// declarations are the keys that are written in [[automation]] tables.
func (c *Config) declarations() (all []Setting) {
	for _, a := range c.Automations {
		at := keyString(a.at) + "."
		for _, s := range settings(c, &a, automationFields, at) {
			if c.IsSet(s.Key) {
				key, _ := strings.CutPrefix(s.Key, at)
				s.Key = c.doc.shownKey(a.at) + "." + key
				all = append(all, s)
			}
		}
	}
	return all
}

// show gives the value at p for JSON and as TOML, nil for what is empty: such
// a key is simply absent. An environment is its names, and has no TOML.
func (r rule) show(p any) (value any, text string) {
	switch p := p.(type) {
	case *bool:
		return *p, fmt.Sprint(*p)
	case *int64:
		switch {
		case *p < 0 || *p == 0 && r.min > 0:
			return nil, "" // not set
		case r.kind == size:
			return exactSize(*p), tomlString(exactSize(*p))
		}
		return *p, fmt.Sprint(*p)
	case *time.Duration:
		switch {
		case r.kind == span && *p == 0:
			return nil, ""
		case r.kind == keep && *p == 0:
			return false, "false"
		}
		return formatEvery(*p), tomlString(formatEvery(*p))
	case *string:
		switch {
		case *p == "":
		case r.kind == secret:
			return []string{r.name}, ""
		default:
			return *p, tomlString(*p)
		}
	case *[]int64:
		if len(*p) > 0 {
			return *p, tomlList(*p, func(n int64) string { return fmt.Sprint(n) })
		}
	case *[]string:
		if len(*p) > 0 {
			return *p, tomlList(*p, tomlString)
		}
	case *[][]string:
		if len(*p) > 0 {
			return *p, tomlList(*p, func(argv []string) string { return tomlList(argv, tomlString) })
		}
	case *map[string]string:
		if len(*p) > 0 {
			return slices.Sorted(maps.Keys(*p)), ""
		}
	}
	return nil, ""
}

func tomlList[T any](items []T, one func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = one(item)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// tomlString quotes as a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Show writes every effective value and where it came from: as lines in the
// syntax of claw.toml with the source as a comment, or as one JSON object
// {"schemaVersion","file","read","settings":[…],"warnings":[…]}.
func (c *Config) Show(w io.Writer, asJSON bool) error {
	if asJSON {
		return c.showJSON(w)
	}
	var b strings.Builder
	for _, s := range c.Provenance() {
		line := fmt.Sprintf("%s = %s", s.Key, s.text)
		if s.text == "" { // an environment: the names only
			line = fmt.Sprintf("# %s sets %s, values not shown", s.Key, strings.Join(s.Value.([]string), " "))
		}
		fmt.Fprintf(&b, "%-48s # %s\n", line, visible(s.Source.String()))
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "# %s\n", visible(warning.String()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Config) showJSON(w io.Writer) error {
	out := struct {
		SchemaVersion int       `json:"schemaVersion"` // fields may be added; ignore unknown ones
		File          string    `json:"file"`
		Read          bool      `json:"read"`
		Settings      []Setting `json:"settings"`
		Warnings      []string  `json:"warnings"`
	}{1, c.file, c.doc != nil, c.Provenance(), make([]string, 0, len(c.Warnings))}
	for _, warning := range c.Warnings {
		out.Warnings = append(out.Warnings, warning.String())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// shownKey is document.shownKey for a key that has its value from the file.
func (c *Config) shownKey(key string) string {
	if o, ok := c.origin(key); ok && o.path != nil {
		return c.doc.shownKey(o.path)
	}
	return key
}
