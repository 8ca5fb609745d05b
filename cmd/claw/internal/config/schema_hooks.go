package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claw/state/external"
)

// HookMapping is one [hooks.mappings.NAME] table.
type HookMapping struct {
	Name string // of the table
	external.Mapping
}

// mappingFields are the keys of [hooks.mappings.NAME].
var mappingFields = []field[HookMapping]{
	{rule{name: "path", kind: text, help: "What follows the base path; the table's name when absent."}, func(m *HookMapping) any { return &m.Path }},
	{rule{name: "source", kind: text, help: "Only bodies whose \"source\" is this."}, func(m *HookMapping) any { return &m.Source }},
	{rule{name: "secretFile", kind: path, help: "File with a secret: requests to this path may be signed with it (X-Hub-Signature-256, as GitHub does) instead of having the token."}, func(m *HookMapping) any { return &m.Secret }},
	{rule{name: "action", kind: choice, oneOf: []string{"agent", "wake"}, help: "Ask an agent in a turn of its own, or tell its main session."}, func(m *HookMapping) any { return (*string)(&m.Action) }},
	{rule{name: "agent", kind: text, help: "The agent; hooks.agent when absent."}, func(m *HookMapping) any { return &m.Agent }},
	{rule{name: "name", kind: text, help: "What it is called where it is told of; a template."}, func(m *HookMapping) any { return &m.Mapping.Name }},
	{rule{name: "session", kind: text, help: "The session, hook:...; a template; one for each request when absent."}, func(m *HookMapping) any { return &m.SessionKey }},
	{rule{name: "message", kind: text, help: "What the agent is shown: a template over the body, such as {{a.b[0].c}}, {{headers.x-github-event}} or {{query.x}}. Where it comes out blank nothing is done, and the answer is 204. The whole body when absent."}, func(m *HookMapping) any { return &m.Message }},
	{rule{name: "idempotencyKey", kind: text, help: "A template; the same request under the same key is seen to once."}, func(m *HookMapping) any { return &m.IdempotencyKey }},
	{rule{name: "forEach", kind: text, help: "A list in the body: a request for each of it, at most 200, in which it is {{item}}."}, func(m *HookMapping) any { return &m.ForEach }},
	{rule{name: "queue", kind: boolean, help: "Answer as soon as it is written down, and let it wait for its turn as long as that takes; with forEach always. For what is not sent again, or waits less than 15 seconds, as GitHub."}, func(m *HookMapping) any { return &m.Queue }},
	{rule{name: "wakeMode", kind: choice, oneOf: []string{"now", "next-heartbeat"}, help: "When the agent's main session is woken for what it is told of the end; a failure now, the rest later, when absent."}, func(m *HookMapping) any { return &m.WakeMode }},
	{rule{name: "mode", kind: choice, oneOf: []string{"now", "next-heartbeat"}, help: "With wake: when."}, func(m *HookMapping) any { return &m.Mode }},
	{rule{name: "quiet", kind: boolean, help: "The reply is only recorded, and sent to nobody."}, func(m *HookMapping) any { return &m.Quiet }},
	{rule{name: "channel", kind: text, help: "Where the reply goes; where the agent's main session was last spoken to when absent."}, func(m *HookMapping) any { return &m.Channel }},
	{rule{name: "to", kind: text, help: "Recipient there."}, func(m *HookMapping) any { return &m.To }},
	{rule{name: "accountId", kind: text, help: "Account there."}, func(m *HookMapping) any { return &m.Account }},
	{rule{name: "model", kind: text, help: "Model of the turn; the agent's when absent."}, func(m *HookMapping) any { return &m.Model }},
	{rule{name: "thinking", kind: text, help: "What {thinking} stands for in the agent's argv."}, func(m *HookMapping) any { return &m.Thinking }},
	{rule{name: "timeoutSeconds", kind: seconds, help: "Seconds the turn may take; the agent's when absent."}, func(m *HookMapping) any { return &m.TimeoutSeconds }},
}

func newMapping(name string) HookMapping {
	return HookMapping{Name: name, Mapping: external.Mapping{Path: name, Action: external.Ask, Mode: "now"}}
}

// withoutMappings is the root without [hooks.mappings], and that.
func (d *decoder) withoutMappings(root map[string]any) (rest, mappings map[string]any) {
	hooks, ok := root["hooks"].(map[string]any)
	if _, there := hooks["mappings"]; !ok || !there {
		return root, nil
	}
	mappings = d.table(hooks, "mappings", "hooks")
	hooks, rest = maps.Clone(hooks), maps.Clone(root)
	delete(hooks, "mappings")
	rest["hooks"] = hooks
	return rest, mappings
}

// mappings reads [hooks.mappings], in the order of the file: the first that fits
// counts.
func (d *decoder) mappings(tables map[string]any) {
	order := func(name string) int { return d.doc.order([]string{"hooks", "mappings", name}) }
	names := slices.SortedFunc(maps.Keys(tables), func(a, b string) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	for _, name := range names {
		at := []string{"hooks", "mappings", name}
		t := d.table(tables, name, "hooks", "mappings")
		if t == nil || !d.named("hooks.mappings", name) {
			continue
		}
		m := newMapping(name)
		walk(d, &m, mappingFields, t, at, "")
		m.Path = strings.Trim(m.Path, "/")
		if m.Path == "wake" || m.Path == "agent" {
			d.report(append(at, "path"), fmt.Sprintf("%q is claw's own", m.Path), "", "choose another path")
		}
		for key, text := range map[string]string{"name": m.Mapping.Name, "session": m.SessionKey, "message": m.Message, "idempotencyKey": m.IdempotencyKey} {
			if err := external.CheckTemplate(text); err != nil {
				d.report(append(slices.Clip(at), key), err.Error(), "", "")
			}
		}
		d.cfg.Hooks.Mappings = append(d.cfg.Hooks.Mappings, m)
	}
}
