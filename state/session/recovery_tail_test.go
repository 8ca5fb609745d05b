package session_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"claw/state/session"
)

// said makes a conversation. Each word is one entry: "u" somebody speaks, "a" an
// answer, "a!" one that failed, "a-" one that was cut off before a word, "a~" in
// the middle, "c:NAME" an answer that calls a tool, "r" the result of the last
// call, "p" one that waits for an approval, "s" a note of the system.
func said(words string) []session.Entry {
	var all []session.Entry
	call := 0
	for i, w := range strings.Fields(words) {
		e := session.Entry{Type: session.TypeMessage, ID: "e" + strconv.Itoa(i)}
		text := func(role, s string) {
			e.Message = session.Message{Role: role, Content: session.Content{{Type: "text", Text: s}}}
		}
		kind, name, _ := strings.Cut(w, ":")
		switch kind {
		case "u":
			text(session.RoleUser, "do it")
		case "a":
			text(session.RoleAssistant, "done")
		case "a!":
			text(session.RoleAssistant, "")
			e.Status, e.Error = session.TurnFailed, "overloaded"
		case "a-":
			text(session.RoleAssistant, " ")
			e.Status, e.Error = session.TurnLost, "its supervisor died"
		case "a~":
			text(session.RoleAssistant, "I am about to")
			e.Status = session.TurnLost
		case "c":
			call++
			e.Message = session.Message{Role: session.RoleAssistant, Content: session.Content{{Type: "toolCall", ID: strconv.Itoa(call), Name: name}}}
		case "r", "p":
			text(session.RoleToolResult, "out")
			e.Message.ToolCallID = strconv.Itoa(call)
			if kind == "p" {
				e.Message.Details = json.RawMessage(`{"status":"approval-pending"}`)
			}
		case "s":
			text("system", "note")
		}
		all = append(all, e)
	}
	return all
}

// TestTail: spec/tasks-recovery.md 4.6, 5 and 6.
func TestTail(t *testing.T) {
	for words, want := range map[string]session.Tail{
		"":                              session.TailEmpty,
		"s s":                           session.TailEmpty,
		"u":                             session.TailUser,
		"u a u":                         session.TailUser,
		"u s":                           session.TailUser,
		"u a-":                          session.TailUser,
		"u a- s a-":                     session.TailUser,
		"u a~":                          session.TailPartial,
		"u a":                           session.TailAnswered,
		"u a s":                         session.TailAnswered,
		"u a a-":                        session.TailAnswered,
		"u a!":                          session.TailFailed,
		"u a! u":                        session.TailUser,
		"u c:exec":                      session.TailPartial,
		"u c:exec a-":                   session.TailPartial,
		"u c:exec r":                    session.TailResult,
		"u c:exec r a-":                 session.TailResult,
		"u c:exec r a~":                 session.TailPartial,
		"u c:exec r c:read":             session.TailPartial,
		"u c:exec r a":                  session.TailAnswered,
		"u c:message":                   session.TailUnsafe,
		"u c:Message a-":                session.TailUnsafe,
		"u c:message r":                 session.TailResult,
		"u c:message r a-":              session.TailResult,
		"u c:exec p":                    session.TailApproval,
		"u c:exec p a-":                 session.TailApproval,
		"u c:exec p u":                  session.TailUser,
		"r":                             session.TailResult,
		strings.Repeat("s ", 100) + "u": session.TailUser,
		"u" + strings.Repeat(" s", 100): session.TailUser,
		"u" + strings.Repeat(" a-", 19): session.TailUser,
		"u" + strings.Repeat(" a-", 20): session.TailEmpty, // 20 messages are looked at
	} {
		if got := session.TailOf(said(words)); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

// The answer of the turn that was cut off is unfinished, whatever its status:
// an agent that was killed from outside is recorded as failed.
func TestTailOfATurnThatWasKilled(t *testing.T) {
	cut := turn()
	cut.Status, cut.Error = session.TurnFailed, "the agent was ended by SIGKILL"
	for reply, want := range map[string]session.Tail{"": session.TailUser, "half": session.TailPartial} {
		entries := session.TurnEntries(cut, reply)
		if got := session.TailOf(entries, cut.ID); got != want {
			t.Errorf("reply %q: %s, want %s", reply, got, want)
		}
		if got := session.TailOf(entries, "another"); got != session.TailFailed {
			t.Errorf("reply %q, of another turn: %s", reply, got)
		}
	}
}

// Two calls at once of which one has an answer: what was being sent counts.
func TestTailOfSeveralCalls(t *testing.T) {
	for second, want := range map[string]session.Tail{"read": session.TailResult, "message": session.TailUnsafe} {
		entries := said("u c:exec r")
		entries[1].Message.Content = append(entries[1].Message.Content, session.Block{Type: "tool_use", ID: "2", Name: second})
		if got := session.TailOf(entries); got != want {
			t.Errorf("%s: %s, want %s", second, got, want)
		}
	}
}

// Transcripts of other programs: results within a user's message, and their own
// words for why the agent stopped.
func TestTailOfForeignTranscripts(t *testing.T) {
	for lines, want := range map[string]session.Tail{
		`{"type":"message","id":"1","message":{"role":"user","content":"hi"}}`: session.TailUser,
		`{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"exec"}]}}
{"type":"message","id":"2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}}`: session.TailResult,
		`{"type":"message","id":"1","message":{"role":"assistant","content":[],"stopReason":"error"}}`: session.TailFailed,
		`{"type":"message","id":"1","message":{"role":"user","content":"hi"}}
{"type":"message","id":"2","message":{"role":"assistant","content":[],"stopReason":"aborted"}}`: session.TailUser,
		`{"type":"message","id":"1","message":{"role":"user","content":"hi"}}
{"type":"message","id":"2","message":{"role":"assistant","content":"I","stopReason":"aborted"}}`: session.TailPartial,
		`{"type":"message","id":"1","message":{"role":"assistant","content":"I","stopReason":7,"details":[1]}}`:                                 session.TailAnswered,
		`{"type":"message","id":"1","message":{"role":"toolResult","toolCallId":"x","content":"wait","details":{"status":"approval-pending"}}}`: session.TailApproval,
		`{"type":"message","id":"1","message":{"role":"toolResult","toolCallId":"x","content":"ok","details":"approval-pending"}}`:              session.TailResult,
		`{"type":"compaction","id":"1","summary":"…"}`:                                                                                          session.TailEmpty,
	} {
		tr := session.Decode([]byte(lines))
		if len(tr.Problems) > 0 {
			t.Errorf("%s: %v", lines, tr.Problems)
		}
		if got := session.TailOf(tr.Entries); got != want {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

// TestFinalReply: the transcript is written before the end of the turn is.
func TestFinalReply(t *testing.T) {
	whole := session.TurnEntries(turn(), "all is well")
	if reply, ok := session.FinalReply(whole, turn().ID); !ok || reply != "all is well" {
		t.Errorf("%q, %v", reply, ok)
	}
	if _, ok := session.FinalReply(whole, "another"); ok {
		t.Error("the answer of another turn")
	}
	cut := turn()
	cut.Status = session.TurnLost
	if reply, ok := session.FinalReply(session.TurnEntries(cut, "all is"), cut.ID); ok {
		t.Errorf("half an answer: %q", reply)
	}
	if _, ok := session.FinalReply([]session.Entry{session.UserEntry(turn())}, turn().ID); ok {
		t.Error("there is no answer")
	}
}

// FuzzTail: no conversation is too odd to look at its end, and one that ends
// with a call to send something is never continued.
func FuzzTail(f *testing.F) {
	for _, words := range []string{"u", "u a-", "u c:exec r", "u c:message", "u c:exec p"} {
		var b strings.Builder
		for _, e := range said(words) {
			line, err := session.Encode(e)
			if err != nil {
				f.Fatal(err)
			}
			b.Write(line)
		}
		f.Add([]byte(b.String()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries := session.Decode(data).Entries
		tail := session.TailOf(entries, "e1")
		if v := session.Judge(interrupted(t, 0), session.Evidence{Tail: tail, ReadOnly: true}, at); v.Why == "" {
			t.Errorf("%s: %+v", tail, v)
		}
		unsafe := append(entries[:len(entries):len(entries)], said("c:message")...)
		if got := session.TailOf(unsafe, "e0"); got != session.TailUnsafe {
			t.Errorf("%s after %s", got, fmt.Sprint(entries))
		}
	})
}
