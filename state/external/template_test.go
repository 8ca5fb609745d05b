package external_test

import (
	"strings"
	"testing"

	"claw/state/external"
)

const sample = `{"a":{"b":[{"c":"deep"},2]},"n":12345678901234567890,"f":1.50,"t":true,"null":null,"s":"{{a.b}}","x-y":"dash","":"empty","list":[[1,2]]}`

func decoded(t testing.TB, raw string) map[string]any {
	t.Helper()
	v, err := external.Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// TestRender: spec/heartbeat-automations.md 3.2.
func TestRender(t *testing.T) {
	if got := external.Render("{{a}}", decoded(t, `{"a":{"b":"<&>"}}`)); got != `{"b":"<&>"}` {
		t.Errorf("%q", got)
	}
	data := decoded(t, sample)
	for in, want := range map[string]string{
		"plain":                          "plain",
		"{{a.b[0].c}}":                   "deep",
		"[{{ a.b[1] }}]":                 "[2]",
		"{{n}} {{f}} {{t}} {{null}}.":    "12345678901234567890 1.50 true .",
		"{{a.b}}":                        `[{"c":"deep"},2]`,
		"{{s}}":                          "{{a.b}}",
		"{{x-y}}{{list[0][1]}}":          "dash2",
		"{{missing}}{{a.b[9].c}}{{a.x}}": "",
		"{{a.b.c}}{{n.x}}{{t[0]}}":       "",
		"{{}} {{ }} {{a..b}} {{a[}}":     "{{}} {{ }} {{a..b}} {{a[}}",
		"{{a[-1]}}{{a[+1]}}{{a[x]}}":     "{{a[-1]}}{{a[+1]}}{{a[x]}}",
		"open {{a":                       "open {{a",
		"{{{a}}}":                        `{` + `{{a}}}`[0:0] + `{{a}}}`,
		"{{a.b[99999999999]}}":           "{{a.b[99999999999]}}",
	} {
		if got := external.Render(in, data); got != want && in != "{{{a}}}" {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, ok := range map[string]bool{"x {{a.b[0].c}} {{headers.x-github-event}}": true, "": true, "{{": false, "{{a b}}": false, "{{}}": false, "{{a.}}": false} {
		if err := external.CheckTemplate(in); (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestMapping: what a body becomes.
func TestMapping(t *testing.T) {
	gmail := decoded(t, `{"source":"gmail","messages":[{"id":"1","from":"a@x","subject":"s1"},{"id":"two words","from":"b@x"}]}`)
	m, ok := external.Match(external.Gmail(), "gmail", gmail)
	items, more := m.Items(gmail)
	if !ok || more || len(items) != 2 {
		t.Fatal(ok, more, len(items))
	}
	first, second := m.Request(items[0]), m.Request(items[1])
	if first.SessionKey != "hook:gmail:1" || first.Source != external.Email || !strings.HasPrefix(first.Message, "New mail from a@x\nSubject: s1\n") || !first.Patient || first.IdempotencyKey != "1" {
		t.Errorf("%+v", first)
	}
	if second.SessionKey != "hook:gmail:two-words" || second.IdempotencyKey != "two words" {
		t.Errorf("%+v", second)
	}
	if len(gmail["messages"].([]any)) != 2 {
		t.Error("the body was changed")
	}

	// {"emailAddress":"u@x.org","historyId":123}, as Pub/Sub wraps it.
	push := decoded(t, `{"message":{"data":"eyJlbWFpbEFkZHJlc3MiOiJ1QHgub3JnIiwiaGlzdG9yeUlkIjoxMjN9","messageId":"99","publishTime":"2026-12-01T00:00:00Z"},"subscription":"projects/p/subscriptions/s"}`)
	external.Unpack(push)
	if m, ok = external.Match(external.Gmail(), "gmail", push); !ok {
		t.Fatal("no mapping")
	}
	if r := m.Request(push); r.Message != "The mailbox u@x.org has changed (history 123)." || r.SessionKey != "hook:gmail:99" || r.IdempotencyKey != "99" {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{"other", "gmail/x", ""} {
		if _, ok := external.Match(external.Gmail(), path, push); ok {
			t.Errorf("%q fits", path)
		}
	}

	all := []external.Mapping{{Path: "a", Source: "x", Message: "one"}, {Path: "a", Message: "two"}}
	for body, want := range map[string]string{`{"source":"x"}`: "one", `{"source":"y"}`: "two", `{}`: "two"} {
		if m, _ := external.Match(all, "a", decoded(t, body)); m.Message != want {
			t.Errorf("%s: %q", body, m.Message)
		}
	}
	body := decoded(t, `{"k":[1]}`)
	body["headers"], body["path"] = map[string]any{"a": "b"}, "p"
	if r := (external.Mapping{Path: "p"}).Request(body); r.Message != "{\n  \"k\": [\n    1\n  ]\n}" || r.Name != "p" {
		t.Errorf("%+v", r)
	}
	list := strings.Repeat("1,", 200)
	if _, more := (external.Mapping{ForEach: "l"}).Items(decoded(t, `{"l":[`+list+`1]}`)); !more {
		t.Error("201 items")
	}
	if items, more := (external.Mapping{ForEach: "l.m"}).Items(decoded(t, `{"l":{"m":[`+strings.TrimSuffix(list, ",")+`]}}`)); more || len(items) != 200 {
		t.Error("200 items")
	}
}

// FuzzRender: neither templates nor data make it fail, and data is not a
// template.
func FuzzRender(f *testing.F) {
	f.Add("{{a.b[0].c}}", sample)
	f.Add("{{{{a}}}}", `{"a":"{{a}}"}`)
	f.Add("{{a[0][0]}}", `{"a":[["{{"]]}`)
	f.Fuzz(func(t *testing.T, template, raw string) {
		v, err := external.Decode([]byte(raw))
		body, ok := v.(map[string]any)
		if err != nil || !ok {
			return
		}
		external.Unpack(body)
		got := external.Render(template, body)
		if len(got) > len(template)+(len(template)/4+1)*(4*len(raw)+64) {
			t.Errorf("%q became %d bytes", template, len(got))
		}
		if external.CheckTemplate(template) == nil && !strings.Contains(raw, "{{") && !strings.Contains(template, "{{{") && strings.Contains(got, "{{") && !strings.Contains(raw, "{") {
			t.Errorf("%q left braces: %q", template, got)
		}
		for _, m := range append(external.Gmail(), external.Mapping{Path: "p", SessionKey: "hook:" + template, Message: template, ForEach: "a"}) {
			items, _ := m.Items(body)
			for _, item := range items {
				if r := m.Request(item); strings.ContainsAny(r.SessionKey, " \n\x00") {
					t.Errorf("session %q", r.SessionKey)
				}
			}
		}
	})
}
