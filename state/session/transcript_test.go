package session_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/state/session"
)

var at = time.Date(2026, 11, 30, 22, 10, 0, 0, time.UTC)

func turn() session.Turn {
	return session.Turn{ID: "01T", SessionID: "01S", Message: "hi <b>", Status: session.TurnSucceeded, CreatedAt: at, EndedAt: at.Add(time.Second)}
}

func header() session.Header {
	return session.NewHeader(session.Session{Key: "agent:main:main", ID: "01S", Agent: "main", CreatedAt: at}, "/work")
}

func encode(t testing.TB, lines ...any) []byte {
	t.Helper()
	var all []byte
	for _, l := range lines {
		b, err := session.Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// TestLines: the format of spec/tasks-recovery.md 6.6, byte for byte.
func TestLines(t *testing.T) {
	answer := session.AssistantEntry(turn(), "hello")
	answer.ParentID = "01T-user"
	got := string(encode(t, header(), session.UserEntry(turn()), answer))
	want := `{"type":"session","id":"01S","cwd":"/work","timestamp":"2026-11-30T22:10:00Z","sessionKey":"agent:main:main","agent":"main"}
{"type":"message","id":"01T-user","timestamp":"2026-11-30T22:10:00Z","message":{"role":"user","content":[{"type":"text","text":"hi <b>"}]}}
{"type":"message","id":"01T-assistant","parentId":"01T-user","timestamp":"2026-11-30T22:10:01Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReplyThatIsNotText(t *testing.T) {
	reply := "a\xffb\x00\u2028ü"
	line := encode(t, session.AssistantEntry(turn(), reply))
	if !utf8.Valid(line) || bytes.Count(line, []byte("\n")) != 1 {
		t.Fatalf("%q is no line of text", line)
	}
	got := session.Decode(line).Entries[0].Message
	if text, _ := session.MessageText(got); text != "a\uFFFDb\x00\u2028ü" || !got.Replaced {
		t.Errorf("got %q, flagged %v", text, got.Replaced)
	}
	if session.AssistantEntry(turn(), "ü\uFFFD").Message.Replaced {
		t.Error("UTF-8 is flagged")
	}
}

func TestAnAnswerThatFailedSaysSo(t *testing.T) {
	failed := turn()
	failed.Status, failed.Error = session.TurnTimedOut, "it took too long"
	if e := session.AssistantEntry(failed, "half"); e.Status != "timed_out" || e.Error != "it took too long" {
		t.Errorf("%+v", e)
	}
	if e := session.AssistantEntry(turn(), "whole"); e.Status != "" || e.Error != "" {
		t.Errorf("%+v", e)
	}
}

func TestDecodeGoesOn(t *testing.T) {
	user, answer := encode(t, session.UserEntry(turn())), encode(t, session.AssistantEntry(turn(), "hello"))
	good := string(encode(t, header())) + string(user)
	tests := []struct {
		rule, data    string
		entries, line int // of the problem; 0 none
		torn, open    bool
	}{
		{"empty", "", 0, 0, false, false},
		{"in order", good + string(answer), 2, 0, false, false},
		{"blank lines", "\n" + good + "\n\n" + string(answer), 2, 0, false, false},
		{"torn tail", good + string(answer[:40]), 1, 3, true, true},
		{"whole, but the newline is missing", good + strings.TrimSpace(string(answer)), 2, 0, false, true},
		{"damaged in the middle", good + "\x00\x00\x00\n" + string(answer), 2, 3, false, false},
		{"an array", good + "[]\n" + string(answer), 2, 3, false, false},
		{"no type", good + "{}\n" + string(answer), 2, 3, false, false},
		{"no id", good + `{"type":"message"}` + "\n" + string(answer), 2, 3, false, false},
		{"bad time", good + `{"type":"message","id":"x","timestamp":"soon"}` + "\n" + string(answer), 2, 3, false, false},
		{"another type is kept", good + `{"type":"compaction","id":"c","timestamp":"2026-11-30T22:10:00Z","summary":"…"}` + "\n" + string(answer), 3, 0, false, false},
		{"written twice", good + string(user) + string(answer) + string(answer), 2, 0, false, false},
		{"no header", string(user), 1, 0, false, false},
		{"header without id", `{"type":"session"}` + "\n" + string(user), 1, 1, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := session.Decode([]byte(tt.data))
			if len(got.Entries) != tt.entries || got.Open != tt.open {
				t.Errorf("%d entries, open %v", len(got.Entries), got.Open)
			}
			if tt.line == 0 {
				if len(got.Problems) != 0 {
					t.Fatalf("problems %v", got.Problems)
				}
				return
			}
			if len(got.Problems) != 1 || got.Problems[0].Line != tt.line || got.Problems[0].Torn != tt.torn {
				t.Errorf("problems %+v", got.Problems)
			}
		})
	}
}

func TestContentOfOthers(t *testing.T) {
	for in, want := range map[string]session.Content{
		`"plain"`:                      {{Type: "text", Text: "plain"}},
		`[{"type":"text","text":"a"}]`: {{Type: "text", Text: "a"}},
		`[1,{"text":"no type"},null]`:  {{Type: "malformed"}, {Type: "malformed"}, {Type: "malformed"}},
		`{"type":"text"}`:              {{Type: "malformed"}},
		`[]`:                           {},
	} {
		var got session.Content
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestMissingIsIdempotent: whatever a crash left of a transcript, writing what
// is missing completes it, and once more writes nothing.
func TestMissingIsIdempotent(t *testing.T) {
	responded := turn()
	responded.Response = &session.Response{Outcome: "done", Notify: true, Summary: "s"}
	entries := session.TurnEntries(responded, "hello")
	whole := complete(t, nil, entries)
	if got := len(session.Decode(whole).Entries); got != 4 {
		t.Fatalf("%d entries", got)
	}
	for n := range whole {
		data := complete(t, whole[:n], entries)
		got := session.Decode(data)
		if got.Header != header() || !slicesEqualIDs(got.Entries, entries) {
			t.Fatalf("cut at %d: %+v", n, got)
		}
		parent := ""
		for _, e := range got.Entries {
			if e.ParentID != parent {
				t.Errorf("cut at %d: the parent of %s is %q, want %q", n, e.ID, e.ParentID, parent)
			}
			parent = e.ID
		}
		if again := complete(t, data, entries); !bytes.Equal(again, data) {
			t.Fatalf("cut at %d: written again: %s", n, again[len(data):])
		}
	}
}

func complete(t *testing.T, data []byte, entries []session.Entry) []byte {
	t.Helper()
	more, err := session.Decode(data).Missing(header(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(data), more...)
}

func slicesEqualIDs(a, b []session.Entry) bool {
	ids := func(entries []session.Entry) (s []string) {
		for _, e := range entries {
			s = append(s, e.ID)
		}
		return s
	}
	return cmp.Equal(ids(a), ids(b))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"session","id":"s","cwd":"/","timestamp":"2026-11-30T22:10:00Z"}` + "\n" + `{"type":"message","id":"a","timestamp":"2026-11-30T22:10:00Z","message":{"role":"user","content":"x"}}`))
	f.Add([]byte("{\"type\":\"message\"\n\n[]\nnull\n\xff"))
	f.Add([]byte(`{"type":"message","id":"a","timestamp":"2026-11-30T22:10:00Z","message":{"role":"assistant","content":[{"type":"toolCall","arguments":"{"},7]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := session.Decode(data)
		if lines := bytes.Count(data, []byte("\n")) + 1; len(got.Entries)+len(got.Problems) > lines {
			t.Fatalf("%d entries and %d problems of %d lines", len(got.Entries), len(got.Problems), lines)
		}
		// What is read can be written and is then read as the same.
		again := session.Decode(encodeAll(t, got.Entries))
		if len(again.Problems) != 0 || !slicesEqualIDs(again.Entries, got.Entries) {
			t.Fatalf("%+v became %+v", got, again)
		}
		// Whatever there is, a turn can be added behind it.
		more, err := got.Missing(header(), session.UserEntry(turn()))
		if err != nil {
			t.Fatal(err)
		}
		after := session.Decode(append(bytes.Clone(data), more...))
		if len(after.Problems) != len(got.Problems) || len(after.Entries) < len(got.Entries) || len(after.Entries) == 0 {
			t.Fatalf("%+v became %+v", got, after)
		}
		f := filter()
		f.Artifacts(got.Entries)
		if n := utf8.RuneCountInString(session.Context(got.Entries, f, 300)); n > 300 {
			t.Fatalf("%d characters", n)
		}
	})
}

func encodeAll(t *testing.T, entries []session.Entry) []byte {
	lines := make([]any, len(entries))
	for i, e := range entries {
		lines[i] = e
	}
	return encode(t, lines...)
}
