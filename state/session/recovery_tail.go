package session

import (
	"encoding/json"
	"strings"
)

// How far back the end of a conversation is looked at (spec/tasks-recovery.md
// 4.6).
const (
	TailMessages = 20
	TailBytes    = 256 << 10
)

// Tail is what the end of a conversation says about going on from there.
type Tail string

// The tails. The first three can be continued.
const (
	TailUser     Tail = "user"     // somebody had spoken
	TailResult   Tail = "result"   // a tool had answered
	TailPartial  Tail = "partial"  // the agent was speaking, or had called a tool whose answer is missing
	TailUnsafe   Tail = "unsafe"   // it was sending something, and whether it did is not known
	TailFailed   Tail = "failed"   // the agent, or its provider, had failed
	TailApproval Tail = "approval" // it waited for somebody's approval, which is stale
	TailAnswered Tail = "answered" // it had finished
	TailEmpty    Tail = "empty"    // nothing was said
)

// TailOf looks at the end of a conversation. cutOff are the turns whose answers
// are known to be unfinished, whatever their entries say. Notes of the system
// and answers that were cut off before a word are passed over.
func TailOf(entries []Entry, cutOff ...string) Tail {
	answered := map[string]bool{} // calls of tools
	result := false
	for i, seen := len(entries)-1, 0; i >= 0 && seen < TailMessages; i-- {
		switch m := entries[i].Message; {
		case awaitsApproval(m):
			return TailApproval
		case isResult(m), m.Role == RoleUser && onlyResults(m):
			noteAnswers(m, answered)
			result = true
		case m.Role == RoleUser:
			return or(result, TailResult, TailUser)
		case m.Role == RoleAssistant:
			tail := answerTail(entries[i], answered, unfinished(entries[i], cutOff))
			if tail == TailUnsafe || tail != "" && !result {
				return tail
			}
			if result {
				return TailResult
			}
		default:
			continue // a note of the system
		}
		seen++
	}
	return or(result, TailResult, TailEmpty)
}

func or(yes bool, a, b Tail) Tail {
	if yes {
		return a
	}
	return b
}

// unfinished tells an answer of a turn that was cut off.
func unfinished(e Entry, cutOff []string) bool {
	if e.Status == TurnLost || stopped(e.Message, "aborted") {
		return true
	}
	for _, id := range cutOff {
		if id != "" && (e.ID == id+"-assistant" || e.ID == id+"-respond") {
			return true
		}
	}
	return false
}

func noteAnswers(m Message, answered map[string]bool) {
	answered[m.ToolCallID] = true
	for _, b := range m.Content {
		answered[b.ToolUseID] = true
	}
}

// missing are the calls of a message that have no answer.
func missing(m Message, answered map[string]bool) []Block {
	var calls []Block
	for _, b := range m.Content {
		if isCall(b) && (b.ID == "" || !answered[b.ID]) {
			calls = append(calls, b)
		}
	}
	return calls
}

// answerTail is what an answer at the end says; "" when it was cut off before
// it said anything.
func answerTail(e Entry, answered map[string]bool, cutOff bool) Tail {
	dangling := missing(e.Message, answered)
	text, _ := MessageText(e.Message)
	switch failed := e.Status != "" && e.Status != TurnSucceeded || stopped(e.Message, "error"); {
	case sends(dangling):
		return TailUnsafe
	case failed && !cutOff:
		return TailFailed
	case len(dangling) > 0:
		return TailPartial
	case !cutOff:
		return TailAnswered
	case strings.TrimSpace(text) == "":
		return ""
	}
	return TailPartial
}

// sends tells that among calls is one that speaks to somebody outside. Whether
// it got there cannot be asked of the conversation, and the agent would say it
// again.
func sends(calls []Block) bool {
	for _, b := range calls {
		switch strings.ToLower(b.Name) {
		case "message", "send", "send_message", "sessions_send", "mail", "reply":
			return true
		}
	}
	return false
}

// awaitsApproval tells the answer of a tool that was never allowed to run.
func awaitsApproval(m Message) bool {
	var details struct {
		Status any `json:"status"`
	}
	return isResult(m) && json.Unmarshal(m.Details, &details) == nil && details.Status == "approval-pending"
}

// stopped tells why somebody else's agent stopped to speak: claw itself writes
// the status of a turn instead.
func stopped(m Message, how string) bool {
	var why string
	return json.Unmarshal(m.StopReason, &why) == nil && why == how
}

// FinalReply is the whole answer of a turn, where the conversation has it as
// one that was finished: the transcript is written before the end of a turn is,
// and may have outlived all else that was known of it.
func FinalReply(entries []Entry, turnID string) (reply string, ok bool) {
	for _, e := range entries {
		if e.ID == turnID+"-assistant" && e.Status == "" && e.Message.Role == RoleAssistant {
			text, _ := MessageText(e.Message)
			return text, true
		}
	}
	return "", false
}
