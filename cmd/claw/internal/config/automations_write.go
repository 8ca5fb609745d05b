package config

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/state/automation"
)

// AutomationOf is what a person would write for an automation. What is the
// default by itself is not written.
func AutomationOf(a automation.Automation) Automation {
	t := NewAutomation()
	t.Key, t.Name, t.DisplayName, t.Description = a.DeclarationKey, a.Name, a.DisplayName, a.Description
	t.Enabled, t.Agent = a.Enabled, a.AgentID
	t.Missed, t.MissedLimit, t.MissedWindow = string(a.Missed.Policy), int64(a.Missed.Limit), time.Duration(a.Missed.WindowMs)*time.Millisecond
	t.Overlap = string(a.Overlap)
	t.ofSchedule(a)
	t.ofPayload(a)
	t.ofTarget(a)
	if p := a.Pacing; p != nil {
		t.PacingMin, t.PacingMax = time.Duration(p.MinMs)*time.Millisecond, time.Duration(p.MaxMs)*time.Millisecond
	}
	if a.Trigger != nil {
		t.TriggerScript, t.TriggerOnce = a.Trigger.Script, a.Trigger.Once
	}
	if f := a.FailureAlert; f != nil {
		t.AlertEnabled, t.AlertAfter, t.AlertCooldownSeconds = !f.Off, int64(f.After), (f.CooldownMs+999)/1000
		t.AlertMode, t.AlertChannel, t.AlertTo, t.AlertAccount, t.AlertSkipped = f.Mode, f.Channel, f.To, f.AccountID, f.IncludesSkipped
	}
	return t
}

func (a *Automation) ofSchedule(from automation.Automation) {
	s := from.Schedule
	a.TZ = s.TZ
	switch s.Kind {
	case automation.KindAt:
		a.At, a.KeepAfterRun = s.At.In(zoneOf(s.TZ)).Format(time.RFC3339Nano), !from.DeleteAfterRun
	case automation.KindEvery:
		a.Every = formatEvery(time.Duration(s.EveryMs) * time.Millisecond)
		if s.AnchorMs != 0 {
			a.Anchor = time.UnixMilli(s.AnchorMs).UTC().Format(time.RFC3339Nano)
		}
	case automation.KindCron:
		a.Cron = s.Expr
		if s.StaggerMs != nil {
			a.Stagger = time.Duration(*s.StaggerMs) * time.Millisecond
			a.Exact = *s.StaggerMs == 0
		}
	case automation.KindOnExit:
		a.OnExit, a.OnExitCwd = s.Command, s.Cwd
	case automation.KindStream:
		a.Stream, a.StreamCwd, a.StreamMode, a.StreamMatch = s.Argv, s.Cwd, s.Mode, s.Match
		a.StreamBatchMs, a.StreamMaxBatchBytes = s.BatchMs, s.MaxBatchBytes
	case automation.KindWatch:
		a.Watch, a.Recursive, a.Glob = s.Dir, s.Recursive, s.Glob
	case automation.KindBoot:
		a.Schedule = "@reboot"
	}
	a.DeleteAfterRun = from.DeleteAfterRun && s.Kind != automation.KindAt
}

// zoneOf is the zone that a time was written in: UTC where none is said.
func zoneOf(name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}

func (a *Automation) ofPayload(from automation.Automation) {
	p := from.Payload
	switch {
	case p.Kind == automation.PayloadCommand && len(p.Argv) == 3 && p.Argv[0] == "sh" && p.Argv[1] == "-lc":
		a.Command = p.Argv[2]
	case p.Kind == automation.PayloadCommand:
		a.Argv = p.Argv
	case p.Kind == automation.PayloadTurn:
		a.Message = p.Message
	case from.WakeMode == "next-heartbeat":
		a.Event = p.Text
	default:
		a.Reminder = p.Text
	}
	a.Cwd, a.Env, a.Input = p.Cwd, maps.Clone(p.Env), p.Input
	a.NoOutputTimeoutSeconds, a.OutputMaxBytes = int64(p.NoOutputTimeoutSeconds), p.OutputMaxBytes
	a.Model, a.Fallbacks, a.Thinking, a.LightContext = p.Model, p.Fallbacks, p.Thinking, p.LightContext
	if !slices.Equal(p.ToolsAllow, automation.AllTools) {
		a.Tools = p.ToolsAllow
	}
	if p.TimeoutSeconds != nil {
		a.TimeoutSeconds = int64(max(0, *p.TimeoutSeconds))
	}
}

// ofTarget leaves out what automation.New would fill in.
func (a *Automation) ofTarget(from automation.Automation) {
	event := from.Payload.Kind == automation.PayloadEvent
	usual, mode := "isolated", "announce"
	if event {
		usual, mode = "main", "none"
	}
	switch {
	case from.SessionTarget != usual && from.SessionTarget != "":
		a.Session = from.SessionTarget
	case from.SessionKey != "":
		a.Session = from.SessionKey
	}
	if d := from.Delivery; d != nil && *d != (automation.Delivery{Mode: mode}) {
		a.DeliveryMode, a.DeliveryChannel, a.DeliveryTo, a.DeliveryThread = d.Mode, d.Channel, d.To, d.ThreadID
		a.DeliveryAccount, a.DeliveryURL, a.DeliveryBestEffort = d.AccountID, d.URL, d.BestEffort
	}
}

// entry is one key that is written, with its value.
type entry struct {
	key   string
	value any // string, int64, bool, []string, map[string]string
}

// entries are the keys that differ from an automation of which nothing is
// written.
func (a Automation) entries() (all []entry) {
	bare := NewAutomation()
	for i := range automationFields {
		f := &automationFields[i]
		if v := f.plain(f.at(&a)); !alike(v, f.plain(f.at(&bare))) {
			all = append(all, entry{f.name, v})
		}
	}
	return all
}

// plain is a value as a person writes it; nil lists are nil.
func (r rule) plain(p any) any {
	switch p := p.(type) {
	case *bool:
		return *p
	case *int64:
		return *p
	case *time.Duration:
		return formatEvery(*p)
	case *string:
		return *p
	case *[]string:
		if *p == nil {
			return nil
		}
		return *p
	case *map[string]string:
		if len(*p) == 0 {
			return nil
		}
		return *p
	}
	return nil
}

func alike(a, b any) bool {
	switch v := a.(type) {
	case []string:
		w, ok := b.([]string)
		return ok && slices.Equal(v, w)
	case map[string]string:
		w, ok := b.(map[string]string)
		return ok && maps.Equal(v, w)
	}
	if _, list := b.([]string); list {
		return false
	}
	if _, table := b.(map[string]string); table {
		return false
	}
	return a == b
}

// WriteAutomations writes what ReadAutomations reads: [[automation]] tables, or
// {"automations": [{…}]} with the same keys.
func WriteAutomations(w io.Writer, all []Automation, form string) error {
	if form == "json" {
		return writeJSON(w, all)
	}
	var b strings.Builder
	for i, a := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[[" + automationSection + "]]\n")
		for _, e := range a.entries() {
			b.WriteString(e.key + " = " + tomlValue(e.value) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return tomlList(v, tomlString)
	case map[string]string:
		pairs := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, keyString([]string{name})+" = "+tomlString(v[name]))
		}
		return "{ " + strings.Join(pairs, ", ") + " }"
	}
	return `""`
}

func writeJSON(w io.Writer, all []Automation) error {
	tables := make([]json.RawMessage, len(all))
	for i, a := range all {
		table := map[string]any{}
		for _, e := range a.entries() {
			at, key, nested := strings.Cut(e.key, ".")
			if !nested {
				table[e.key] = e.value
				continue
			}
			sub, ok := table[at].(map[string]any)
			if !ok {
				sub = map[string]any{}
				table[at] = sub
			}
			sub[key] = e.value
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(table); err != nil {
			return err
		}
		tables[i] = b.Bytes()
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"automations": tables})
}

// Difference is one key by which two automations differ.
type Difference struct {
	Key string `json:"key"`
	Old string `json:"old"` // as claw.toml has it; empty: not written. Of an environment the names only
	New string `json:"new"`
}

// Differences are the keys by which they differ, in the order of the manual.
func Differences(old, now Automation) (all []Difference) {
	for i := range automationFields {
		f := &automationFields[i]
		was, is := f.plain(f.at(&old)), f.plain(f.at(&now))
		if !alike(was, is) {
			all = append(all, Difference{f.name, f.shown(was), f.shown(is)})
		}
	}
	return all
}

// shown is a value for people: empty for what is not written, and the names
// alone of an environment, whose values may be secrets.
func (r rule) shown(v any) string {
	if env, ok := v.(map[string]string); ok {
		return strings.Join(slices.Sorted(maps.Keys(env)), " ") + " (values not shown)"
	}
	bare := NewAutomation()
	if alike(v, r.plain(find(automationFields, r.name).at(&bare))) && r.kind != boolean {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	return tomlValue(v)
}
