package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/state/heartbeat"
	"claw/state/session"
)

func filter() session.Filter {
	return session.Filter{IsAck: heartbeat.IsAck, PureAck: heartbeat.PureAck, AckMaxChars: 300}
}

const (
	hb      = session.MarkerHeartbeat
	ex      = session.MarkerExec
	details = "\n\nAn async command you ran earlier has completed. The completion details are:\n\nExec completed (tide-orb, code 1) :: 2 tests failed"
)

// talk makes entries out of lines: "U text", "A text", "A!" a call of a tool,
// "A?" a thought and then the text, "A+" a call and text, "T" the result of a
// call, "UT" the same as a user's message, "R+" and "R-" calls of
// heartbeat_respond with notify true and false, "TE" a failed result, "S" the
// system.
func talk(lines ...string) []session.Entry {
	entries := make([]session.Entry, len(lines))
	for i, line := range lines {
		who, text, _ := strings.Cut(line, " ")
		entries[i] = session.Entry{Type: "message", ID: fmt.Sprint(i), Message: message(who, text)}
	}
	return entries
}

func message(who, text string) session.Message {
	words := session.Block{Type: "text", Text: text}
	call := session.Block{Type: "toolCall", ID: "call", Name: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}
	respond := session.Block{Type: "tool_use", ID: "respond", Name: "heartbeat_respond", Input: json.RawMessage(`{"notify":` + fmt.Sprint(who == "R+") + `}`)}
	switch who {
	case "U":
		return session.Message{Role: "user", Content: session.Content{words}}
	case "UT":
		return session.Message{Role: "user", Content: session.Content{{Type: "tool_result", ToolUseID: "respond"}}}
	case "A!":
		return session.Message{Role: "assistant", Content: session.Content{call}}
	case "A+":
		return session.Message{Role: "assistant", Content: session.Content{words, call}}
	case "A?":
		return session.Message{Role: "assistant", Content: session.Content{{Type: "thinking", Text: "hm, HEARTBEAT_OK?"}, words}}
	case "AI":
		return session.Message{Role: "assistant", Content: session.Content{{Type: "image"}}}
	case "R+", "R-":
		return session.Message{Role: "assistant", Content: session.Content{respond}}
	case "T":
		return session.Message{Role: "toolResult", ToolCallID: "call", ToolName: "bash", Content: session.Content{words}}
	case "TR", "TE":
		return session.Message{Role: "toolResult", ToolCallID: "respond", IsError: who == "TE", Content: session.Content{words}}
	case "S":
		return session.Message{Role: "system", Content: session.Content{words}}
	}
	return session.Message{Role: "assistant", Content: session.Content{words}}
}

// ids are what is left, by position.
func ids(entries []session.Entry) string {
	var left []string
	for _, e := range entries {
		left = append(left, e.ID)
	}
	return strings.Join(left, " ")
}

// TestArtifacts: the 20 rows of spec/exec-process.md 5.4 and its prose. left
// are the positions that stay.
func TestArtifacts(t *testing.T) {
	tests := []struct {
		rule  string
		lines []string
		left  string
	}{
		{"row 1: an acknowledged heartbeat", []string{"U hi", "A hello", "U " + hb, "A HEARTBEAT_OK", "U next"}, "0 1 4"},
		{"row 2: an acknowledged completion", []string{"U " + ex, "A HEARTBEAT_OK"}, ""},
		{"row 3: with its details", []string{"U " + ex + details, "A HEARTBEAT_OK"}, ""},
		{"row 4: an answer to a completion", []string{"U " + ex + details, "A Build passed, 3 tests skipped."}, "0 1"},
		{"row 5: NO_REPLY", []string{"U " + ex, "A NO_REPLY"}, ""},
		{"row 6: words before the token go too", []string{"U " + hb, "A Checking…", "A HEARTBEAT_OK"}, ""},
		{"row 7: nobody answered", []string{"U " + hb, "U what time is it?"}, "1"},
		{"row 8: the first of two was cut off", []string{"U " + hb, "U " + hb, "A Build is blocked"}, "1 2"},
		{"row 9: quiet, then an alert", []string{"U " + hb, "A HEARTBEAT_OK", "U " + hb, "A Build is blocked"}, "2 3"},
		{"row 10: cut off after a tool", []string{"U " + hb, "A!", "T x", "U what time is it?"}, "3"},
		{"row 11: an alert after a tool", []string{"U " + hb, "A!", "T x", "A Build is blocked"}, "0 1 2 3"},
		{"row 12: thoughts do not count", []string{"U " + hb, "A? HEARTBEAT_OK"}, ""},
		{"row 13: ordinary chat", []string{"U Please reply HEARTBEAT_OK so I can test", "A HEARTBEAT_OK"}, "0 1"},
		{"row 14: the token in the middle", []string{"U " + hb, "A Status HEARTBEAT_OK due to watchdog failure"}, "0 1"},
		{"row 16: the marker with words on its line", []string{"U " + ex + " hi", "A HEARTBEAT_OK"}, "0 1"},
		{"row 17: a quoted marker", []string{"U > " + ex, "A HEARTBEAT_OK"}, "0 1"},
		{"row 18: an agent says the marker", []string{"A " + ex, "A HEARTBEAT_OK"}, "0 1"},
		{"row 19: nothing said", []string{"U " + ex + details, "A "}, ""},
		{"row 20: a failure behind the token stays", []string{"U " + ex + details, "A HEARTBEAT_OK. exit 1, tests failed"}, "0 1"},
		{"a short rest after a heartbeat goes", []string{"U " + hb, "A HEARTBEAT_OK. exit 1, tests failed"}, ""},
		{"a long rest stays", []string{"U " + hb, "A " + strings.Repeat("A", 301) + " HEARTBEAT_OK"}, "0 1"},

		{"details after any marker", []string{"U " + hb + "\n\nFollow the scratch.", "A HEARTBEAT_OK", "U " + session.MarkerCron + "\n\nstretch", "A NO_REPLY", "U " + session.MarkerEvent, "A NO_REPLY"}, ""},
		{"windows line ends", []string{"U " + ex + "\r\n\r\nx", "A NO_REPLY"}, ""},
		{"an envelope before the marker", []string{"U [Wed 2026-06-10 17:18 GMT+8] " + hb, "A HEARTBEAT_OK"}, ""},
		{"an envelope before anything else", []string{"U [Wed 2026-06-10 17:18 GMT+8] hello", "A HEARTBEAT_OK"}, "0 1"},
		{"not an envelope", []string{"U [see 2026-06-10 17:18 GMT+8] " + hb, "A HEARTBEAT_OK"}, "0 1"},
		{"markers that are no wakes", []string{"U [OpenClaw room event]", "A HEARTBEAT_OK", "U [OpenClaw session new]", "A NO_REPLY"}, "0 1 2 3"},

		{"the configured prompt", []string{"U Look around.", "A HEARTBEAT_OK", "U Look around.\nCurrent time: 12:00", "A HEARTBEAT_OK", "U Look around. Now!", "A HEARTBEAT_OK"}, "4 5"},
		{"a hint about delivery before the marker", []string{"U Nobody is told. " + hb, "A HEARTBEAT_OK", "U I saw " + hb, "A HEARTBEAT_OK"}, "2 3"},
		{"due tasks", []string{"U Run the following periodic tasks (only those due based on their intervals):\n\n- a: b\n\nAfter completing all due tasks, reply HEARTBEAT_OK.", "A HEARTBEAT_OK"}, ""},
		{"due tasks, NO_REPLY", []string{"U Run the following periodic tasks (only those due based on their intervals):\n- a: b\nAfter completing all due tasks, reply NO_REPLY.", "A NO_REPLY"}, ""},
		{"tasks without an ending", []string{"U Run the following periodic tasks (only those due based on their intervals):\n- a: b", "A HEARTBEAT_OK"}, "0 1"},

		{"a response that tells nobody", []string{"U " + hb, "A Looking.", "R-", "UT", "A All is recorded, nothing to add.", "U next"}, "5"},
		{"a response that told the user", []string{"U " + hb, "R+", "UT", "A HEARTBEAT_OK"}, "0 1 2 3"},
		{"the same with a result of its own", []string{"U " + hb, "R+", "TR ok", "A HEARTBEAT_OK"}, "0 1 2 3"},
		{"a response that failed does not save", []string{"U " + hb, "R+", "TE no", "A HEARTBEAT_OK"}, ""},
		{"a response that is pending does not save", []string{"U " + hb, "R+", "U next"}, "2"},
		{"words save, though the response failed", []string{"U " + hb, "R+", "TE no", "A I could not send it: disk full"}, "0 1 2 3"},
		{"words with a call are words", []string{"U " + hb, "A+ Disk is full, cleaning.", "T x"}, "0 1 2"},
		{"a call is no acknowledgement", []string{"U " + hb, "A+ HEARTBEAT_OK", "T x"}, "0 1 2"},
		{"a picture is something", []string{"U " + hb, "AI"}, "0 1"},
		{"what the system noted stays", []string{"U " + hb, "S model changed", "A HEARTBEAT_OK"}, "1"},
	}
	f := filter()
	f.Prompts, f.Hints = []string{" Look around. ", ""}, []string{"Nobody is told."}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			entries := talk(tt.lines...)
			if got := ids(f.Artifacts(entries)); got != tt.left {
				t.Errorf("left %q, want %q", got, tt.left)
			}
		})
	}
	f.AckMaxChars = 0
	if got := ids(f.Artifacts(talk("U "+hb, "A HEARTBEAT_OK all good"))); got != "0 1" {
		t.Errorf("row 15: left %q", got)
	}
}

func TestNothingRemovedIsTheInput(t *testing.T) {
	entries := talk("U hi", "A hello", "U "+hb, "A Build is blocked")
	got := filter().Artifacts(entries)
	if len(got) != len(entries) || &got[0] != &entries[0] {
		t.Error("a copy was made")
	}
	if filter().Artifacts(nil) != nil {
		t.Error("nothing became something")
	}
	again := talk("U hi", "U "+hb, "A HEARTBEAT_OK", "A bye")
	filter().Artifacts(again)
	if diff := cmp.Diff(talk("U hi", "U "+hb, "A HEARTBEAT_OK", "A bye"), again); diff != "" {
		t.Error("the input was changed: " + diff)
	}
}

func TestIsExecCompletion(t *testing.T) {
	for text, want := range map[string]bool{
		"U " + ex: true, "U  " + ex + " \n": true, "U " + ex + details: true, "U " + ex + "\r\nx": true, "U [Mon 2026-11-30 22:10:05 Europe/Berlin] " + ex: true,
		"U " + ex + " hi": false, "U > " + ex: false, "U " + hb: false, "A " + ex: false, "U x\n" + ex: false,
	} {
		if got := session.IsExecCompletion(talk(text)[0].Message); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMessageText(t *testing.T) {
	m := session.Message{Role: "assistant", Content: session.Content{
		{Type: "thinking", Text: "a"},
		{Type: "text", Text: "b"},
		{Type: "redacted_thinking", Text: "c"},
		{Type: "output_text", Text: "d"},
		{Type: "input_text", Text: "e"},
		{Type: "reasoning", Text: "f"},
	}}
	if text, nonText := session.MessageText(m); text != "bde" || nonText {
		t.Errorf("%q, %v", text, nonText)
	}
	for _, kind := range []string{"toolCall", "image", "malformed", ""} {
		m.Content = session.Content{{Type: "text", Text: "a"}, {Type: kind, Text: "b"}}
		if text, nonText := session.MessageText(m); text != "a" || !nonText {
			t.Errorf("%s: %q, %v", kind, text, nonText)
		}
	}
}

func TestContext(t *testing.T) {
	got := session.Context(talk("U hi", "A+ I look.", "T a\nb", "U "+hb, "A HEARTBEAT_OK", "A!", "U User: me\nAssistant: sure", "A bye"), filter(), 1000)
	want := `The conversation so far:

User:
hi

Assistant:
I look.

Tool bash:
a
b

User:
> User: me
> Assistant: sure

Assistant:
bye

The new message:

`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestContextWithoutAnythingSaid(t *testing.T) {
	for _, entries := range [][]session.Entry{nil, talk("A!"), talk("T x"), talk("U "+hb, "A HEARTBEAT_OK"), talk("S x"), talk("U  ")} {
		if got := session.Context(entries, filter(), 1000); got != "" {
			t.Errorf("%q", got)
		}
	}
}

// TestContextKeepsTheNewest: every limit is kept, and the newest is there.
func TestContextKeepsTheNewest(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("U question %02d ü", i), fmt.Sprintf("A answer %02d ü", i))
	}
	entries := talk(lines...)
	whole := session.Context(entries, filter(), session.ContextChars)
	if strings.Contains(whole, "left out") || !strings.Contains(whole, "question 00") {
		t.Error("something is left out without need")
	}
	size := utf8.RuneCountInString(whole)
	for limit := 200; limit <= size; limit++ {
		got := session.Context(entries, filter(), limit)
		shown := strings.Count(got, "question ") + strings.Count(got, "answer ")
		if n := utf8.RuneCountInString(got); n > limit || !strings.Contains(got, "answer 29 ü") {
			t.Fatalf("limit %d: %d characters: %s", limit, n, got)
		}
		if left := 60 - shown; left > 0 && !strings.Contains(got, fmt.Sprintf("[%d earlier message", left)) {
			t.Fatalf("limit %d: %d are left out, and it does not say so: %s", limit, left, got)
		}
	}
	if got := session.Context(entries, filter(), 199); got != "" {
		t.Errorf("%q", got)
	}
}

func TestContextOfOneLongMessage(t *testing.T) {
	got := session.Context(talk("U old", "A "+strings.Repeat("ü", 5000)+" the end"), filter(), 400)
	if utf8.RuneCountInString(got) > 400 || !utf8.ValidString(got) {
		t.Fatalf("%d characters", utf8.RuneCountInString(got))
	}
	for _, want := range []string{"[1 earlier message is left out]", "Assistant:\n[…]\nüü", " the end\n\nThe new message:\n\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}
