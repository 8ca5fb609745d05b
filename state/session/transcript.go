package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// The types of a transcript's lines that claw writes; others are kept, and
// skipped when it is read (spec/tasks-recovery.md 6.6).
const (
	TypeSession = "session"
	TypeMessage = "message"
)

// The roles of messages.
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleToolResult = "toolResult"
)

// Header is the first line of a transcript.
type Header struct {
	Type      string    `json:"type"` // TypeSession
	ID        string    `json:"id"`   // Session.ID
	Cwd       string    `json:"cwd"`
	Timestamp time.Time `json:"timestamp"`
	Key       string    `json:"sessionKey,omitempty"`
	Agent     string    `json:"agent,omitempty"`
}

// Entry is every other line of a transcript.
type Entry struct {
	Type      string     `json:"type"` // TypeMessage
	ID        string     `json:"id"`
	ParentID  string     `json:"parentId,omitempty"` // the entry before; "" for the first
	Timestamp time.Time  `json:"timestamp"`
	Message   Message    `json:"message,omitzero"`
	Status    TurnStatus `json:"status,omitempty"` // of an answer that is not TurnSucceeded
	Error     string     `json:"error,omitempty"`
}

// Message is what one side said.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
	// Replaced says that the text was not UTF-8 as it came: each byte that
	// belonged to no character stands as U+FFFD.
	Replaced bool `json:"invalidUtf8,omitempty"`

	ToolCallID string `json:"toolCallId,omitempty"` // of RoleToolResult
	ToolName   string `json:"toolName,omitempty"`
	IsError    bool   `json:"isError,omitempty"`

	// What transcripts of other programs say; claw does not write it.
	StopReason json.RawMessage `json:"stopReason,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`
}

// IsZero tells a line that carries no message.
func (m Message) IsZero() bool { return m.Role == "" && m.Content == nil }

// Content is what a message consists of. It reads a plain string as one block
// of text, and whatever is no block as one of type "malformed".
type Content []Block

// Block is one part of a message. Those of type text, input_text and
// output_text have a text; toolCall (tool_use, function_call) calls a tool;
// tool_result is an answer to one within a user's message.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`       // what others call Arguments
	ToolUseID string          `json:"tool_use_id,omitempty"` // of tool_result
	IsError   bool            `json:"is_error,omitempty"`
}

const malformed = "malformed"

// UnmarshalJSON reads blocks, or a string.
func (c *Content) UnmarshalJSON(b []byte) error {
	*c = Content{}
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = append(*c, Block{Type: "text", Text: text})
		return nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(b, &raw) != nil {
		*c = append(*c, Block{Type: malformed})
		return nil
	}
	for _, r := range raw {
		var block Block
		if json.Unmarshal(r, &block) != nil || block.Type == "" {
			block = Block{Type: malformed}
		}
		*c = append(*c, block)
	}
	return nil
}

// Encode is a Header or an Entry as one line, its newline included.
func Encode(line any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read transcripts
	err := enc.Encode(line)
	return b.Bytes(), err
}

// Problem is a line of a transcript that could not be read.
type Problem struct {
	Line int    // from 1
	Why  string // in words
	Torn bool   // the last line, cut off in the middle
}

func (p Problem) Error() string { return "line " + strconv.Itoa(p.Line) + " " + p.Why }

// Transcript is what a transcript's file holds.
type Transcript struct {
	Header   Header // zero when there is none
	Entries  []Entry
	Problems []Problem
	Open     bool // the last line has no newline: whatever follows begins with one
}

// Decode reads a transcript. A line that cannot be read is a Problem and the
// rest goes on; of several entries with one id the first counts, for a line is
// written again when it is not known whether it was.
func Decode(data []byte) Transcript {
	var t Transcript
	t.Open = len(data) > 0 && data[len(data)-1] != '\n'
	seen := map[string]bool{}
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if why := t.read(line, seen); why != "" {
			t.Problems = append(t.Problems, Problem{Line: n, Why: why, Torn: !whole})
		}
	}
	return t
}

func (t *Transcript) read(line []byte, seen map[string]bool) (why string) {
	var kind struct {
		Type string `json:"type"`
	}
	switch {
	case json.Unmarshal(line, &kind) != nil:
		return "is no JSON object"
	case kind.Type == "":
		return "has no type"
	case kind.Type == TypeSession:
		var h Header
		if json.Unmarshal(line, &h) != nil || h.ID == "" {
			return "is a header without an id"
		}
		if t.Header == (Header{}) {
			t.Header = h
		}
		return ""
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil || e.ID == "" {
		return "is an entry without an id, a time or a message"
	}
	if !seen[e.ID] {
		seen[e.ID] = true
		t.Entries = append(t.Entries, e)
	}
	return ""
}

// Missing is what has to be appended to the file that t was read from so that
// it has the header and all of these entries: nothing when it has. An entry
// without a parent gets the one before it.
func (t Transcript) Missing(h Header, entries ...Entry) ([]byte, error) {
	var b bytes.Buffer
	put := func(line any) error {
		if b.Len() == 0 && t.Open {
			b.WriteByte('\n')
		}
		encoded, err := Encode(line)
		b.Write(encoded)
		return err
	}
	if t.Header == (Header{}) {
		if err := put(h); err != nil {
			return nil, err
		}
	}
	have, last := map[string]bool{}, ""
	for _, e := range t.Entries {
		have[e.ID], last = true, e.ID
	}
	for _, e := range entries {
		if have[e.ID] {
			continue
		}
		if e.ParentID == "" {
			e.ParentID = last
		}
		if err := put(e); err != nil {
			return nil, err
		}
		have[e.ID], last = true, e.ID
	}
	return b.Bytes(), nil
}

// NewHeader is the header of a session's current transcript.
func NewHeader(s Session, cwd string) Header {
	at := s.StartedAt
	if at.IsZero() {
		at = s.CreatedAt
	}
	return Header{Type: TypeSession, ID: s.ID, Cwd: cwd, Timestamp: at, Key: s.Key, Agent: s.Agent}
}

// UserEntry is what the agent was told in a turn.
func UserEntry(t Turn) Entry {
	return textEntry(t.ID+"-user", t.CreatedAt, RoleUser, t.Message)
}

// AssistantEntry is what it answered, whole. Of a turn that did not succeed it
// says so.
func AssistantEntry(t Turn, reply string) Entry {
	e := textEntry(t.ID+"-assistant", t.EndedAt, RoleAssistant, reply)
	if t.Status != TurnSucceeded {
		e.Status, e.Error = t.Status, t.Error
	}
	return e
}

// ToolRespond is the name under which heartbeat respond stands in a transcript
// (spec/heartbeat-automations.md 1.11).
const ToolRespond = "heartbeat_respond"

// ResponseEntries are the structured answer of a turn as a call and its
// result; none when there was none.
func ResponseEntries(t Turn) []Entry {
	if t.Response == nil {
		return nil
	}
	arguments, err := json.Marshal(t.Response)
	if err != nil { // it has nothing that JSON cannot hold
		return nil
	}
	id := t.ID + "-respond"
	call := Entry{Type: TypeMessage, ID: id, Timestamp: t.EndedAt}
	call.Message = Message{Role: RoleAssistant, Content: Content{{Type: "toolCall", ID: id, Name: ToolRespond, Arguments: arguments}}}
	result := textEntry(id+"-result", t.EndedAt, RoleToolResult, "recorded")
	result.Message.ToolCallID, result.Message.ToolName = id, ToolRespond
	return []Entry{call, result}
}

// TurnEntries are all entries of a turn that ended, in order.
func TurnEntries(t Turn, reply string) []Entry {
	entries := append([]Entry{UserEntry(t)}, ResponseEntries(t)...)
	return append(entries, AssistantEntry(t, reply))
}

func textEntry(id string, at time.Time, role, text string) Entry {
	return Entry{
		Type: TypeMessage, ID: id, Timestamp: at,
		Message: Message{Role: role, Content: Content{{Type: "text", Text: text}}, Replaced: !utf8.ValidString(text)},
	}
}
