package heartbeat_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/heartbeat"
	"claw/state/session"
)

func scratch(s string) *string { return &s }

// spec/heartbeat-automations.md 1.11.
func TestParseResponse(t *testing.T) {
	quiet := session.Response{Outcome: "no_change", Summary: "nothing new"}
	const line = `{"outcome":"no_change","notify":false,"summary":"nothing new"}`
	for _, c := range []struct {
		rule, in string
		want     session.Response
		rest     string
		ok       bool
	}{
		{"the object alone", line, quiet, "", true},
		{"on the last line", "Looked at the mail.\n\n" + line + "\n", quiet, "Looked at the mail.", true},
		{"in a fence", "Done.\n```json\n" + line + "\n```", quiet, "Done.", true},
		{"of several lines in a fence", "Done.\n```json\n{\n \"outcome\": \"no_change\",\n \"notify\": false,\n \"summary\": \"nothing new\"\n}\n```\n", quiet, "Done.", true},
		{"the whole reply, of several lines", "{\n\"outcome\":\"no_change\",\n\"notify\":false,\n\"summary\":\"nothing new\"}", quiet, "", true},
		{"not on the last line", line + "\nand more", session.Response{}, line + "\nand more", false},
		{"of several lines below a text", "Done.\n{\n\"outcome\":\"no_change\",\"notify\":false,\"summary\":\"x\"}", session.Response{}, "Done.\n{\n\"outcome\":\"no_change\",\"notify\":false,\"summary\":\"x\"}", false},
		{
			"every field", `{"outcome":"needs_attention","notify":true,"summary":" disk ","notificationText":"Disk is full","reason":"r","priority":"high","nextCheck":"1h","scratch":"watch /var"}`,
			session.Response{Outcome: "needs_attention", Notify: true, Summary: "disk", NotificationText: "Disk is full", Reason: "r", Priority: "high", NextCheck: "1h", Scratch: scratch("watch /var")},
			"", true,
		},
		{
			"aliases", `{"outcome":"done","notify":true,"summary":"s","notification_text":"n","next_check":"2h"}`,
			session.Response{Outcome: "done", Notify: true, Summary: "s", NotificationText: "n", NextCheck: "2h"},
			"", true,
		},
		{
			"a blank field leaves the alias", `{"outcome":"done","notify":true,"summary":"s","notificationText":" ","notification_text":"n"}`,
			session.Response{Outcome: "done", Notify: true, Summary: "s", NotificationText: "n"},
			"", true,
		},
		{"an invalid priority is dropped", `{"outcome":"no_change","notify":false,"summary":"nothing new","priority":"urgent"}`, quiet, "", true},
		{"optional fields of another type are dropped", `{"outcome":"no_change","notify":false,"summary":"nothing new","nextCheck":5,"scratch":[],"reason":{}}`, quiet, "", true},
		{"scratch null is not given", `{"outcome":"no_change","notify":false,"summary":"nothing new","scratch":null}`, quiet, "", true},
		{"scratch may be emptied", `{"outcome":"no_change","notify":false,"summary":"s","scratch":""}`, session.Response{Outcome: "no_change", Summary: "s", Scratch: scratch("")}, "", true},
		{"unknown fields do no harm", `{"outcome":"no_change","notify":false,"summary":"nothing new","mood":1}`, quiet, "", true},

		{"no outcome", `{"notify":false,"summary":"s"}`, session.Response{}, `{"notify":false,"summary":"s"}`, false},
		{"an outcome of its own", `{"outcome":"fine","notify":false,"summary":"s"}`, session.Response{}, `{"outcome":"fine","notify":false,"summary":"s"}`, false},
		{"no notify", `{"outcome":"done","summary":"s"}`, session.Response{}, `{"outcome":"done","summary":"s"}`, false},
		{"notify as a text", `{"outcome":"done","notify":"false","summary":"s"}`, session.Response{}, `{"outcome":"done","notify":"false","summary":"s"}`, false},
		{"notify null", `{"outcome":"done","notify":null,"summary":"s"}`, session.Response{}, `{"outcome":"done","notify":null,"summary":"s"}`, false},
		{"a blank summary", `{"outcome":"done","notify":true,"summary":" "}`, session.Response{}, `{"outcome":"done","notify":true,"summary":" "}`, false},
		{"names in other letters are others", `{"Outcome":"done","Notify":true,"Summary":"s"}`, session.Response{}, `{"Outcome":"done","Notify":true,"Summary":"s"}`, false},
		{"something after the object", line + " {}", session.Response{}, line + " {}", false},
		{"an array", "[" + line + "]", session.Response{}, "[" + line + "]", false},
		{"torn", line[:30], session.Response{}, line[:30], false},
		{"another object", `{"action":"NO_REPLY"}`, session.Response{}, `{"action":"NO_REPLY"}`, false},
		{"a text stays as it is", " hello\n", session.Response{}, " hello\n", false},
		{"nothing", "", session.Response{}, "", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, rest, ok := heartbeat.ParseResponse(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" || rest != c.rest || ok != c.ok {
				t.Errorf("%t, rest %q\n%s", ok, rest, diff)
			}
		})
	}
}

func TestParseResponseDropsAScratchThatIsTooLong(t *testing.T) {
	for n, want := range map[int]bool{heartbeat.MaxScratch: true, heartbeat.MaxScratch + 1: false} {
		in := `{"outcome":"done","notify":false,"summary":"s","scratch":"` + strings.Repeat("x", n) + `"}`
		if got, _, ok := heartbeat.ParseResponse(in); !ok || (got.Scratch != nil) != want {
			t.Errorf("%d bytes: ok %t, scratch %t", n, ok, got.Scratch != nil)
		}
	}
}

func TestCheck(t *testing.T) {
	fine := session.Response{Outcome: "done", Summary: "s"}
	with := func(f func(*session.Response)) session.Response { r := fine; f(&r); return r }
	for _, c := range []struct {
		rule string
		in   session.Response
		want string // field and why
	}{
		{"the least", fine, ""},
		{"every outcome and priority", with(func(r *session.Response) { r.Outcome, r.Priority = "needs_attention", "low" }), ""},
		{"no outcome", with(func(r *session.Response) { r.Outcome = "" }), "outcome is missing"},
		{"another outcome", with(func(r *session.Response) { r.Outcome = "fine" }), "outcome cannot be fine"},
		{"no summary", with(func(r *session.Response) { r.Summary = "\n" }), "summary is empty"},
		{"another priority", with(func(r *session.Response) { r.Priority = "urgent" }), "priority cannot be urgent"},
		{"a long scratch", with(func(r *session.Response) { r.Scratch = scratch(strings.Repeat("x", 256*1024+1)) }), "scratch is longer than 256 KiB"},
		{"a scratch of bytes", with(func(r *session.Response) { r.Scratch = scratch("\xff") }), "scratch is not UTF-8 text"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := heartbeat.Check(c.in)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e, ok := errors.AsType[*heartbeat.ResponseError](err); !ok || e.Error() != c.want || e.Remedy() == "" {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestNotification(t *testing.T) {
	if got := heartbeat.Notification(session.Response{Summary: "s", NotificationText: " n "}); got != "n" {
		t.Error(got)
	}
	if got := heartbeat.Notification(session.Response{Summary: " s "}); got != "s" {
		t.Error(got)
	}
}

// What is read can be written by somebody careful, and is read again.
func FuzzParseResponse(f *testing.F) {
	f.Add(`{"outcome":"done","notify":true,"summary":"s","priority":"low","scratch":""}`)
	f.Add("x\n```json\n{\n\"outcome\":\"blocked\",\"notify\":false,\"summary\":\"s\"}\n```")
	f.Add("```\n```\n{}")
	f.Fuzz(func(t *testing.T, in string) {
		got, rest, ok := heartbeat.ParseResponse(in)
		if !ok {
			if rest != in || !cmp.Equal(got, session.Response{}) {
				t.Fatalf("%q: no answer, but %q and %+v", in, rest, got)
			}
			return
		}
		if err := heartbeat.Check(got); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if !strings.Contains(in, rest) {
			t.Fatalf("%q: rest %q is made up", in, rest)
		}
		line, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, ok := heartbeat.ParseResponse("before\n" + string(line)); !ok || !cmp.Equal(again, got) {
			t.Fatalf("%s: read as %+v", line, again)
		}
	})
}
