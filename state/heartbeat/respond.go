package heartbeat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"claw/state/process"
	"claw/state/session"
)

// NoChange is the outcome of a structured answer that found nothing.
const NoChange = "no_change"

// MaxNote is how many characters of a silent answer are kept for the next
// turn.
const MaxNote = 1000

// Outcomes are those a structured answer may have
// (spec/heartbeat-automations.md 1.11).
func Outcomes() []string { return []string{NoChange, "progress", "done", "blocked", "needs_attention"} }

// Priorities are those a structured answer may have.
func Priorities() []string { return []string{"low", "normal", "high"} }

// ResponseError says which field of a structured answer cannot be used.
type ResponseError struct {
	Field string // as in JSON
	Why   string // "is missing"
	Hint  string // what is possible
}

func (e *ResponseError) Error() string { return e.Field + " " + e.Why }

// Remedy is what can be done about it.
func (e *ResponseError) Remedy() string { return e.Hint }

// Check says what is wrong with a structured answer that somebody gives
// deliberately: nil or a *ResponseError. It is stricter than ParseResponse,
// which reads what a model wrote and drops what is optional and wrong.
func Check(r session.Response) error {
	switch {
	case !slices.Contains(Outcomes(), r.Outcome):
		return oneOf("outcome", r.Outcome, Outcomes())
	case strings.TrimSpace(r.Summary) == "":
		return &ResponseError{Field: "summary", Why: "is empty", Hint: "say in a sentence what was found"}
	case r.Priority != "" && !slices.Contains(Priorities(), r.Priority):
		return oneOf("priority", r.Priority, Priorities())
	case r.Scratch != nil:
		return CheckScratch(*r.Scratch)
	}
	return nil
}

// CheckScratch says why text cannot be a scratch: nil or a *ResponseError.
func CheckScratch(text string) error {
	switch {
	case len(text) > MaxScratch:
		return &ResponseError{Field: "scratch", Why: "is longer than 256 KiB", Hint: "keep what the next heartbeat needs"}
	case !utf8.ValidString(text):
		return &ResponseError{Field: "scratch", Why: "is not UTF-8 text", Hint: "write it as text"}
	}
	return nil
}

func oneOf(field, have string, want []string) error {
	why := "is missing"
	if have != "" {
		why = "cannot be " + process.First(have, 40)
	}
	return &ResponseError{Field: field, Why: why, Hint: "one of " + strings.Join(want, ", ")}
}

// ParseResponse reads the structured answer that a reply ends with: a JSON
// object on its last line or in a last code fence, or the whole reply as one
// object of several lines. rest is what stands before it. Without one, or when
// a required field is missing or wrong, ok is false and rest is the reply: it
// is a text then. Optional fields that are wrong are dropped.
func ParseResponse(reply string) (resp session.Response, rest string, ok bool) {
	text := strings.TrimSpace(reply)
	head, last := cutLastLine(text)
	if last == "```" {
		head, last = cutFence(head)
	}
	if resp, ok := decodeResponse(last); ok {
		return resp, head, true
	}
	if resp, ok := decodeResponse(text); ok {
		return resp, "", true
	}
	return session.Response{}, reply, false
}

// cutLastLine cuts trimmed text before its last line.
func cutLastLine(text string) (head, last string) {
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return "", text
	}
	return strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
}

// cutFence cuts text, whose closing fence is gone, at the last opening one.
func cutFence(text string) (head, block string) {
	i := strings.LastIndex("\n"+text, "\n```")
	if i < 0 {
		return text, ""
	}
	_, block, _ = strings.Cut(text[i:], "\n")
	return strings.TrimSpace(text[:i]), strings.TrimSpace(block)
}

// decodeResponse reads one JSON object and nothing after it.
func decodeResponse(text string) (resp session.Response, ok bool) {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return resp, false
	}
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(strings.NewReader(text))
	if dec.Decode(&fields) != nil {
		return resp, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return resp, false
	}
	notify := string(bytes.TrimSpace(fields["notify"]))
	resp = session.Response{
		Outcome:          textOf(fields, "outcome"),
		Notify:           notify == "true",
		Summary:          textOf(fields, "summary"),
		NotificationText: textOf(fields, "notificationText", "notification_text"),
		Reason:           textOf(fields, "reason"),
		Priority:         textOf(fields, "priority"),
		NextCheck:        textOf(fields, "nextCheck", "next_check"),
	}
	if !slices.Contains(Priorities(), resp.Priority) {
		resp.Priority = ""
	}
	var scratch *string
	if json.Unmarshal(fields["scratch"], &scratch) == nil && scratch != nil && CheckScratch(*scratch) == nil {
		resp.Scratch = scratch
	}
	return resp, Check(resp) == nil && (notify == "true" || notify == "false")
}

// textOf is the first of the named fields that is a text and not blank, trimmed.
func textOf(fields map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			continue
		}
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// Notification is what a person is told by an answer with notify.
func Notification(r session.Response) string {
	if s := strings.TrimSpace(r.NotificationText); s != "" {
		return s
	}
	return strings.TrimSpace(r.Summary)
}
