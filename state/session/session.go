package session

import (
	"time"

	"claw/state/delivery"
)

// Status is where a session stands: new, running, or how its last turn ended.
type Status string

// The statuses; spec/tasks-recovery.md 6.6.
const (
	New         Status = "new"
	Running     Status = "running"
	Done        Status = "done"
	Failed      Status = "failed"
	Timeout     Status = "timeout"
	Killed      Status = "killed"
	Interrupted Status = "interrupted"
)

// Session is one row of ledgers/sessions.jsonl, keyed by Key.
type Session struct {
	Key       string         `json:"key"`
	ID        string         `json:"sessionId"` // ULID of the current transcript
	Agent     string         `json:"agent"`
	Status    Status         `json:"status"`
	TurnID    string         `json:"turnId,omitempty"` // the newest turn; the claim while Running
	Turns     int            `json:"turns"`            // admitted in this transcript
	Route     delivery.Route `json:"route,omitzero"`   // where it was last spoken to: target "last"
	Parent    string         `json:"spawnedBy,omitempty"`
	CreatedAt time.Time      `json:"createdAt"`
	StartedAt time.Time      `json:"startedAt,omitzero"` // of the newest turn
	EndedAt   time.Time      `json:"endedAt,omitzero"`
	UpdatedAt time.Time      `json:"updatedAt"` // not moved by a quiet wake
}
