package hook

import (
	"context"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"claw/runner/internal/http1"
	"claw/state/external"
)

// jsonOf is the JSON of a body: itself, or what GitHub puts into the field
// payload of a form, unless it is told to send JSON.
func jsonOf(r *http1.Request) []byte {
	kind, _, _ := mime.ParseMediaType(r.Get("content-type"))
	if kind != "application/x-www-form-urlencoded" {
		return r.Body
	}
	fields, err := url.ParseQuery(string(r.Body))
	if payload := fields.Get("payload"); err == nil && payload != "" {
		return []byte(payload)
	}
	return r.Body // curl -d says that it is a form, whatever it sends
}

// mapped carries out a mapping.
func (g *Gate) mapped(ctx context.Context, r *http1.Request, m external.Mapping, body map[string]any, sub string) http1.Response {
	came(r, body, sub)
	items, more := m.Items(body)
	if more {
		return http1.Error(400, m.ForEach+" has more than "+strconv.Itoa(external.MaxItems)+" items")
	}
	var reqs []external.Request
	var wakes []wakeBody
	for i, item := range items {
		req := m.Request(item)
		if strings.TrimSpace(req.Message) == "" {
			continue
		}
		if m.Action == external.Wake {
			wakes = append(wakes, wakeBody{Text: req.Message, Mode: m.Mode, AgentID: m.Agent, SessionKey: external.Render(m.SessionKey, item)})
			continue
		}
		if key := idempotency(r); key != "" {
			if req.IdempotencyKey = key; len(items) > 1 {
				req.IdempotencyKey += "#" + strconv.Itoa(i)
			}
		}
		req.Agent, req.Caller = first(req.Agent, g.Agent), g.caller(r)
		if req.SessionKey == "" {
			req.SessionKey = g.fresh(req)
			req.Source = external.SourceOf(req.SessionKey)
		}
		reqs = append(reqs, req)
	}
	switch {
	case len(wakes) > 0:
		return g.tellAll(ctx, wakes)
	case len(reqs) == 0:
		return http1.Response{Status: 204}
	}
	all, out := g.admit(ctx, reqs...)
	switch {
	case out.Status != 200:
		return out
	case len(items) == 1:
		return begun(all[0].ID)
	}
	ids := make([]string, len(all))
	for i, d := range all {
		ids[i] = d.ID
	}
	return answer(200, map[string]any{"ok": true, "runId": ids[0], "runIds": ids})
}

// tellAll queues several events. One that cannot be queued ends it; whoever posts
// the same again has those before it coalesced.
func (g *Gate) tellAll(ctx context.Context, wakes []wakeBody) http1.Response {
	for _, w := range wakes {
		if out := g.tell(ctx, w); out.Status != 200 || len(wakes) == 1 {
			return out
		}
	}
	return answer(200, map[string]any{"ok": true})
}

// came adds to a body what came with it, for templates.
func came(r *http1.Request, body map[string]any, sub string) {
	headers := map[string]any{}
	for name, values := range r.Header {
		if name != "authorization" && name != "x-openclaw-token" {
			headers[name] = values[0]
		}
	}
	query := map[string]any{}
	for name, value := range r.Query {
		query[name] = value
	}
	body["headers"], body["query"], body["path"] = headers, query, sub
}
