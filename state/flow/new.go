package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/task"
)

// How much a record may hold. What is larger belongs into a file, and its path
// into the record.
const (
	MaxJSON = 64 << 10 // bytes of stateJson, and of waitJson
	MaxText = 2000     // bytes of a goal, a step, a summary, a controller, a key
)

// InputError is a value that cannot stand in a flow.
type InputError struct {
	Field string // the key in the record: "controllerId"
	Why   string
	Hint  string
}

func (e *InputError) Error() string { return e.Field + " " + e.Why }

// Remedy says what to write instead.
func (e *InputError) Remedy() string { return e.Hint }

// New is the managed flow that f describes, at revision 0: it needs an owner, a
// controller and a goal; what it does not say is queued and done_only. id is a
// ULID, now the wall clock. The error is an *InputError.
func New(f Flow, id string, now time.Time) (Flow, error) {
	f.ID, f.SyncMode, f.Revision, f.CreatedAt, f.UpdatedAt = id, Managed, 0, now, now
	if f.Status == "" {
		f.Status = Queued
	}
	if f.NotifyPolicy == "" {
		f.NotifyPolicy = task.DoneOnly
	}
	f.OwnerKey, f.ControllerID, f.Goal = strings.TrimSpace(f.OwnerKey), strings.TrimSpace(f.ControllerID), strings.TrimSpace(f.Goal)
	for _, r := range [...]struct{ field, value, hint string }{
		{"ownerKey", f.OwnerKey, "name the session that it belongs to"},
		{"controllerId", f.ControllerID, "name the program that manages it, such as release"},
		{"goal", f.Goal, "say in a few words what it is to come to"},
	} {
		if r.value == "" {
			return f, &InputError{r.field, "is required", r.hint}
		}
	}
	if !slices.Contains([]Status{Queued, Running, Waiting}, f.Status) {
		return f, &InputError{"status", "cannot be " + string(f.Status) + " in a new flow", "queued, running or waiting"}
	}
	if _, err := task.ParseNotifyPolicy(string(f.NotifyPolicy)); err != nil {
		return f, &InputError{"notifyPolicy", "cannot be " + string(f.NotifyPolicy), "done_only, state_changes or silent"}
	}
	return f, f.bounded()
}

// bounded is nil when every text and value of f is within its bound.
func (f Flow) bounded() error {
	for _, t := range [...]struct{ field, text string }{
		{"ownerKey", f.OwnerKey},
		{"controllerId", f.ControllerID},
		{"goal", f.Goal},
		{"currentStep", f.CurrentStep},
		{"blockedTaskId", f.BlockedTaskID},
		{"blockedSummary", f.BlockedSummary},
	} {
		if len(t.text) > MaxText {
			return &InputError{t.field, fmt.Sprintf("has %d bytes, at most %d are kept", len(t.text), MaxText), "shorten it"}
		}
		if !utf8.ValidString(t.text) {
			return &InputError{t.field, "is not UTF-8", "write it in UTF-8"}
		}
	}
	return nil
}

// JSON is a value as it is kept: whole, compact, at most MaxJSON bytes. null and
// nothing are nil. field is the key in the record. The error is an *InputError.
func JSON(field, text string) (json.RawMessage, error) {
	if len(text) > 8*MaxJSON || !utf8.ValidString(text) {
		return nil, &InputError{field, "is too large, or not UTF-8", fmt.Sprintf("at most %d bytes of JSON", MaxJSON)}
	}
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		return nil, &InputError{field, "is not JSON: " + err.Error(), `write one value, such as {"sha":"4f2a"}`}
	}
	if out.Len() > MaxJSON {
		return nil, &InputError{field, fmt.Sprintf("has %d bytes, at most %d are kept", out.Len(), MaxJSON), "keep it in a file, and its path here"}
	}
	if out.String() == "null" {
		return nil, nil
	}
	return out.Bytes(), nil
}

// ParseStatus reads a status strictly; the error is a *task.WordError.
func ParseStatus(s string) (Status, error) {
	if slices.Contains(Statuses(), Status(s)) {
		return Status(s), nil
	}
	words := make([]string, 0, len(Statuses()))
	for _, w := range Statuses() {
		words = append(words, string(w))
	}
	return "", &task.WordError{Field: "status", Value: s, Hint: strings.Join(words, ", ")}
}

// Check is nil when every word of a stored row is in its vocabulary, else a
// *task.WordError for the first that is not: such a row may come from a newer
// claw, and is not guessed at.
func Check(f Flow) error {
	if f.SyncMode != Managed && f.SyncMode != Mirrored {
		return &task.WordError{Field: "syncMode", Value: string(f.SyncMode), Hint: "managed, task_mirrored"}
	}
	if _, err := ParseStatus(string(f.Status)); err != nil {
		return err
	}
	_, err := task.ParseNotifyPolicy(string(f.NotifyPolicy))
	return err
}
