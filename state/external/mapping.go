package external

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"unicode"
)

// Mapping makes a request of what is posted to a path of its own;
// spec/heartbeat-automations.md 3.2. The texts are templates over the body; in
// them headers.NAME, query.NAME and path are what came with it.
type Mapping struct {
	Name           string // what the hook is called; a template
	Path           string // below the base path, without a slash in front
	Source         string // the body's "source"; empty: any
	Needs          string // a path that the body must have; empty: none
	Action         Action
	Agent          string
	SessionKey     string
	Message        string
	IdempotencyKey string
	ForEach        string // a path to a list: one request for each of it
	Mode           string // of a wake: now or next-heartbeat
	WakeMode       string // as of a Request
	Queue          bool   // it may wait for its turn as long as that takes
	Secret         string // the file with the secret of signatures; empty: only the token is taken
	Quiet          bool   // the reply is not delivered
	Channel        string
	To             string
	Account        string
	Model          string
	Thinking       string
	TimeoutSeconds int64
}

// Action is what a mapping does.
type Action string

// The actions.
const (
	Wake Action = "wake"
	Ask  Action = "agent"
)

// MaxItems is how many requests one body may become.
const MaxItems = 200

// Gmail is the preset of that name: what gog posts, a request for each message,
// and what Gmail itself pushes through Pub/Sub, which says only that there is
// something; spec/heartbeat-automations.md 3.3.
func Gmail() []Mapping {
	return []Mapping{
		{
			Name: "Gmail", Path: "gmail", Needs: "messages", Action: Ask, SessionKey: "hook:gmail:{{messages[0].id}}", ForEach: "messages",
			IdempotencyKey: "{{messages[0].id}}",
			Message:        "New mail from {{messages[0].from}}\nSubject: {{messages[0].subject}}\n{{messages[0].snippet}}\n{{messages[0].body}}",
		},
		{
			Name: "Gmail", Path: "gmail", Needs: "message.data", Action: Ask, SessionKey: "hook:gmail:{{message.messageId}}",
			IdempotencyKey: "{{message.messageId}}",
			Message:        "The mailbox {{data.emailAddress}} has changed (history {{data.historyId}}).",
		},
	}
}

// Match is the first mapping for a body.
func Match(all []Mapping, path string, data map[string]any) (Mapping, bool) {
	for _, m := range all {
		if m.Path != "" && m.Path != path {
			continue
		}
		if s, _ := data["source"].(string); m.Source != "" && m.Source != s {
			continue
		}
		if _, ok := Lookup(data, m.Needs); m.Needs != "" && !ok {
			continue
		}
		return m, true
	}
	return Mapping{}, false
}

// Unpack adds to a body what Pub/Sub has wrapped: message.data, decoded, as
// "data".
func Unpack(body map[string]any) {
	v, _ := Lookup(body, "message.data")
	s, ok := v.(string)
	if _, taken := body["data"]; !ok || taken {
		return
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		if raw, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")); err != nil {
			return
		}
	}
	if data, err := Decode(raw); err == nil {
		body["data"] = data
	}
}

// Decode is JSON as Render wants it.
func Decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, &json.SyntaxError{Offset: d.InputOffset()}
	}
	return v, nil
}

// Items are the bodies that a body is for a mapping: itself, or for each of a
// list one in which the list has that alone. more: there are too many.
func (m Mapping) Items(body map[string]any) (items []map[string]any, more bool) {
	if m.ForEach == "" {
		return []map[string]any{body}, false
	}
	v, _ := Lookup(body, m.ForEach)
	list, _ := v.([]any)
	if len(list) > MaxItems {
		return nil, true
	}
	for _, item := range list {
		one := maps.Clone(body)
		put(one, strings.Split(m.ForEach, "."), []any{item})
		one["item"] = item
		items = append(items, one)
	}
	return items, false
}

// put sets a value at a path of names, and copies what is above it.
func put(m map[string]any, path []string, v any) {
	for len(path) > 1 {
		next, ok := m[path[0]].(map[string]any)
		if !ok {
			return
		}
		next = maps.Clone(next)
		m[path[0]] = next
		m, path = next, path[1:]
	}
	m[path[0]] = v
}

// Request is what one body asks for by a mapping.
func (m Mapping) Request(body map[string]any) Request {
	name := m.Name
	if name == "" {
		name = m.Path
	}
	key := keyOf(Render(m.SessionKey, body))
	message := Render(m.Message, body)
	if m.Message == "" {
		message = whole(body)
	}
	r := Request{
		Name: Render(name, body), Agent: m.Agent, SessionKey: key, Message: message, Source: SourceOf(key), Deliver: !m.Quiet,
		Channel: m.Channel, To: m.To, Account: m.Account, Model: m.Model, Thinking: m.Thinking, TimeoutSeconds: m.TimeoutSeconds,
		Lane: LaneHTTP, Patient: m.Queue || m.ForEach != "", WakeMode: m.WakeMode, IdempotencyKey: Line(Render(m.IdempotencyKey, body), MaxKey),
	}
	return r
}

// whole is a body as it came.
func whole(body map[string]any) string {
	body = maps.Clone(body)
	for _, added := range [...]string{"headers", "query", "path", "item"} {
		delete(body, added)
	}
	return asJSON(body, "  ")
}

// keyOf is a session's key of what a template has made: what may not be in one is
// "-", and it is not longer than one may be.
func keyOf(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(s, "-"))
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}
