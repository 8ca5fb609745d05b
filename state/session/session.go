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

	// Tools are what turns may use that nobody asks for, in the session of an
	// automation: what its last run might, see Limit. Empty: nothing is said.
	Tools Limit `json:"tools,omitempty"`

	Recovery Cycle   `json:"recovery,omitzero"`         // what becomes of a turn that was cut off
	Resumes  Resumes `json:"subagentRecovery,omitzero"` // the same of a sub-agent
}

// Renewed is s with a new transcript: the one way beyond a tombstone. What the
// cycle before still owes a person is for whoever calls it to ask (Cycle.Owes
// after Cycle.Close).
func (s Session) Renewed(id string, now time.Time) Session {
	s.ID, s.Turns, s.Status, s.TurnID, s.UpdatedAt = id, 0, New, "", now
	s.StartedAt, s.EndedAt = time.Time{}, time.Time{}
	s.Recovery, s.Resumes = Cycle{}, Resumes{}
	return s
}
