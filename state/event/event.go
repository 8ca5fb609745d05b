package event

import (
	"time"

	"claw/state/delivery"
	"claw/state/session"
)

// State is what became of an event.
type State string

// An event stays queued until a turn that showed it has succeeded (consumed)
// or a terminal poll has made it pointless (retired). Nothing is dropped.
const (
	Queued   State = "queued"
	Consumed State = "consumed"
	Retired  State = "retired"
	// Unknown: the turn that showed it was cut off, so that nobody knows what
	// the agent did about it. It is not shown again by itself.
	Unknown State = "unknown"
	// Relayed: turns that showed it kept failing, and it was sent to the person
	// as it is.
	Relayed State = "relayed"
)

// Event is one row of ledgers/events.jsonl, keyed by ID.
type Event struct {
	ID         string    `json:"id"` // ULID
	State      State     `json:"state"`
	Kind       string    `json:"kind"` // KindExec, KindCron, KindTask, KindRestart or KindEvent
	SessionKey string    `json:"sessionKey"`
	Agent      string    `json:"agent,omitempty"`
	ContextKey string    `json:"contextKey,omitempty"` // "exec:<slug>", lower case
	Text       string    `json:"text"`                 // the one-line summary, see FormatCompletion
	Details    string    `json:"details,omitempty"`    // multi-line tail for the prompt, capped
	ProcessID  string    `json:"processId,omitempty"`
	TaskID     string    `json:"taskId,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // when it stopped being queued

	Route     delivery.Route `json:"route,omitzero"`      // where it came from, if it did from outside
	Untrusted bool           `json:"untrusted,omitempty"` // its text is somebody else's
	// Tools are what a turn that shows it may use: no more than whoever caused
	// it.
	Tools     session.Limit `json:"tools,omitempty"`
	NextTurn  bool          `json:"nextTurn,omitempty"` // waits for the next turn or heartbeat, wakes nobody
	TurnID    string        `json:"turnId,omitempty"`   // the last turn that showed it
	Failures  int           `json:"failures,omitempty"` // turns that showed it and failed
	NotBefore time.Time     `json:"notBefore,omitzero"` // after a failure: not shown again before

	// Of the command that ended, for Notice.
	Command    string `json:"command,omitempty"`    // for reading, as in the process's row
	Name       string `json:"name,omitempty"`       // the name it was given, --name; of a reminder that of its automation
	DurationMs int64  `json:"durationMs,omitempty"` // how long it ran; 0 not known
	Outcome    string `json:"outcome,omitempty"`    // in the words of the task ledger, see process.TaskStatus
	Cause      string `json:"cause,omitempty"`      // one sentence: why it could not start, or what was lost
}
