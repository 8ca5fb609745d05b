package session

import (
	"encoding/json"
	"slices"
	"strings"
)

// Filter takes the quiet wakes out of a conversation before an agent is shown
// it (spec/exec-process.md 5.4). The transcript itself is never rewritten.
type Filter struct {
	// IsAck tells an acknowledgement as heartbeat.IsAck does, PureAck one that
	// is nothing else.
	IsAck   func(text string, ackMaxChars int) bool
	PureAck func(text string) bool

	AckMaxChars int
	Prompts     []string // the configured and the default prompts of heartbeats
	Hints       []string // sentences about delivery that may go before a marker at the end
}

// MessageText is what a message says. nonText tells that it has a block of
// another kind; what the agent thought does not count (openclaw#95796).
func MessageText(m Message) (text string, nonText bool) {
	var b strings.Builder
	for _, block := range m.Content {
		switch block.Type {
		case "text", "input_text", "output_text":
			b.WriteString(block.Text)
		case "thinking", "reasoning", "redacted_thinking":
		default:
			nonText = true
		}
	}
	return b.String(), nonText
}

// told is the text of a user's message, without the envelope some displays put
// before it; ok is false for any other role.
func told(m Message) (text string, ok bool) {
	if m.Role != RoleUser {
		return "", false
	}
	text, _ = MessageText(m)
	return strings.TrimSpace(cutEnvelope(strings.TrimSpace(text))), true
}

// IsExecCompletion tells the message of a turn about ended commands: the
// marker alone, or on a line of its own before the details.
func IsExecCompletion(m Message) bool {
	text, ok := told(m)
	return ok && begins(text, MarkerExec)
}

// begins tells that text is line, or has it as its first line.
func begins(text, line string) bool {
	rest, ok := strings.CutPrefix(text, line)
	return ok && (rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n"))
}

// IsHeartbeat tells the message of any wake, the one about ended commands
// included.
func (f Filter) IsHeartbeat(m Message) bool {
	text, ok := told(m)
	if !ok {
		return false
	}
	for _, marker := range [...]string{MarkerHeartbeat, MarkerExec, MarkerCron, MarkerEvent} {
		if begins(text, marker) || strings.HasSuffix(text, marker) && f.hinted(text) {
			return true
		}
	}
	for _, p := range f.Prompts {
		if p = strings.TrimSpace(p); p != "" && begins(text, p) {
			return true
		}
	}
	return isTasks(text)
}

func (f Filter) hinted(text string) bool {
	return slices.ContainsFunc(f.Hints, func(hint string) bool {
		hint = strings.TrimSpace(hint)
		return hint != "" && strings.HasPrefix(text, hint)
	})
}

const (
	tasksOpening = "Run the following periodic tasks (only those due based on their intervals):"
	tasksEnding  = "After completing all due tasks, "
)

// isTasks tells the prompt of a tasks: block by its first line and the line
// that says how to answer.
func isTasks(text string) bool {
	if !begins(text, tasksOpening) {
		return false
	}
	for line := range strings.Lines(text) {
		_, ending, ok := strings.Cut(line, tasksEnding)
		if ok && (strings.HasPrefix(ending, "reply HEARTBEAT_OK") || strings.HasPrefix(ending, "reply NO_REPLY") || strings.Contains(ending, ToolRespond)) {
			return true
		}
	}
	return false
}

// IsHeartbeatOK tells an acknowledgement: text alone, calling no tool. Saying
// nothing is one. exec says that it answers a turn about ended commands, where
// a token with other words is an answer (a failure would be hidden).
func (f Filter) IsHeartbeatOK(m Message, exec bool) bool {
	text, nonText := MessageText(m)
	switch {
	case m.Role != RoleAssistant || nonText:
		return false
	case strings.TrimSpace(text) == "":
		return true
	case exec:
		return f.PureAck(text)
	}
	return f.IsAck(text, f.AckMaxChars)
}

// Artifacts is the conversation without the wakes that came to nothing, their
// prompts included. It returns its input when nothing is to be removed.
func (f Filter) Artifacts(entries []Entry) []Entry {
	drop := map[int]bool{}
	for i, e := range entries {
		if !f.IsHeartbeat(e.Message) {
			continue
		}
		end := spanEnd(entries, i+1)
		if f.quiet(e.Message, entries[i+1:end]) {
			for j := i; j < end; j++ {
				drop[j] = conversational(entries[j].Message)
			}
		}
	}
	if len(drop) == 0 {
		return entries
	}
	var kept []Entry
	for i, e := range entries {
		if !drop[i] {
			kept = append(kept, e)
		}
	}
	return kept
}

// spanEnd is where the next thing that was told to the agent begins.
func spanEnd(entries []Entry, from int) int {
	for i := from; i < len(entries); i++ {
		if m := entries[i].Message; m.Role == RoleUser && !onlyResults(m) {
			return i
		}
	}
	return len(entries)
}

// conversational tells what belongs to a span; notes of the system and
// compactions in between are nobody's answer.
func conversational(m Message) bool {
	return m.Role == RoleUser || m.Role == RoleAssistant || isResult(m)
}

func isResult(m Message) bool { return m.Role == RoleToolResult || m.Role == "tool" }

// onlyResults tells a user's message that consists of nothing but results of
// tools.
func onlyResults(m Message) bool {
	return len(m.Content) > 0 && !slices.ContainsFunc(m.Content, func(b Block) bool { return b.Type != "tool_result" })
}

// quiet tells that what followed a wake came to nothing: an acknowledgement or
// a response that tells nobody, or no word at all. A response that told the
// user, and is known to have arrived, keeps everything.
func (f Filter) quiet(wake Message, span []Entry) bool {
	exec, acked, silenced, spoke := IsExecCompletion(wake), false, false, false
	for i, e := range span {
		m := e.Message
		if m.Role != RoleAssistant {
			continue
		}
		for _, call := range responses(m) {
			if !notifies(call) {
				silenced = true
			} else if succeeded(call.ID, span[i+1:]) {
				return false
			}
		}
		acked = acked || f.IsHeartbeatOK(m, exec)
		spoke = spoke || speaks(m)
	}
	return acked || silenced || !spoke
}

// speaks tells that there is something to read or to look at.
func speaks(m Message) bool {
	text, _ := MessageText(m)
	return strings.TrimSpace(text) != "" || slices.ContainsFunc(m.Content, func(b Block) bool {
		switch b.Type {
		case "text", "input_text", "output_text", "thinking", "reasoning", "redacted_thinking":
			return false
		}
		return !isCall(b)
	})
}

func isCall(b Block) bool {
	return b.Type == "toolCall" || b.Type == "tool_use" || b.Type == "tool_call" || b.Type == "function_call" || b.Type == "toolUse"
}

// responses are the calls of heartbeat_respond in a message.
func responses(m Message) []Block {
	var calls []Block
	for _, b := range m.Content {
		if isCall(b) && b.Name == ToolRespond {
			calls = append(calls, b)
		}
	}
	return calls
}

func notifies(call Block) bool {
	args := call.Arguments
	if args == nil {
		args = call.Input
	}
	var text string
	if json.Unmarshal(args, &text) == nil { // arguments as a string of JSON
		args = json.RawMessage(text)
	}
	var a struct {
		Notify any `json:"notify"`
	}
	return json.Unmarshal(args, &a) == nil && a.Notify == true
}

// succeeded tells that the result of a call is among entries and no error.
func succeeded(id string, entries []Entry) bool {
	for _, e := range entries {
		if isResult(e.Message) && e.Message.ToolCallID == id && id != "" {
			return !e.Message.IsError
		}
		for _, b := range e.Message.Content {
			if b.Type == "tool_result" && b.ToolUseID == id && id != "" {
				return !b.IsError
			}
		}
	}
	return false
}
