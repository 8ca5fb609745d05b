package event

import "time"

// State is what became of an event.
type State string

// An event stays queued until a turn that showed it has succeeded (consumed)
// or a terminal poll has made it pointless (retired). Nothing is dropped.
const (
	Queued   State = "queued"
	Consumed State = "consumed"
	Retired  State = "retired"
)

// Event is one row of ledgers/events.jsonl, keyed by ID.
type Event struct {
	ID         string    `json:"id"` // ULID
	State      State     `json:"state"`
	Kind       string    `json:"kind"` // "exec" for a completion
	SessionKey string    `json:"sessionKey"`
	Agent      string    `json:"agent,omitempty"`
	ContextKey string    `json:"contextKey,omitempty"` // "exec:<slug>", lower case
	Text       string    `json:"text"`                 // the one-line summary, see FormatCompletion
	Details    string    `json:"details,omitempty"`    // multi-line tail for the prompt, capped
	ProcessID  string    `json:"processId,omitempty"`
	TaskID     string    `json:"taskId,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // when it was consumed or retired
}
