package flow

import (
	"encoding/json"
	"time"

	"claw/state/delivery"
	"claw/state/task"
)

// Mode says who changes a flow.
type Mode string

// The modes.
const (
	Managed  Mode = "managed"       // its controller does
	Mirrored Mode = "task_mirrored" // it follows its one task
)

// Status is where a flow stands.
type Status string

// The statuses. Blocked is an end only in a flow that has EndedAt.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Waiting   Status = "waiting"
	Blocked   Status = "blocked"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Lost      Status = "lost"
)

// Statuses are all of them, in the order of the spec.
func Statuses() []Status {
	return []Status{Queued, Running, Waiting, Blocked, Succeeded, Failed, Cancelled, Lost}
}

// Flow is one row of ledgers/flows.jsonl, keyed by ID; spec/tasks-recovery.md
// 3.1.
type Flow struct {
	ID                string            `json:"flowId"` // ULID
	SyncMode          Mode              `json:"syncMode"`
	OwnerKey          string            `json:"ownerKey"` // the session that it belongs to
	RequesterOrigin   delivery.Route    `json:"requesterOrigin,omitzero"`
	ControllerID      string            `json:"controllerId,omitempty"` // who manages it; empty in a mirrored one
	Revision          int64             `json:"revision"`               // 0 when it is new, then one more with each write
	Status            Status            `json:"status"`
	NotifyPolicy      task.NotifyPolicy `json:"notifyPolicy"`
	Goal              string            `json:"goal"`
	CurrentStep       string            `json:"currentStep,omitempty"`
	BlockedTaskID     string            `json:"blockedTaskId,omitempty"`
	BlockedSummary    string            `json:"blockedSummary,omitempty"`
	StateJSON         json.RawMessage   `json:"stateJson,omitempty"` // the controller's own; at most MaxJSON bytes
	WaitJSON          json.RawMessage   `json:"waitJson,omitempty"`  // what it waits for; at most MaxJSON bytes
	CancelRequestedAt time.Time         `json:"cancelRequestedAt,omitzero"`
	CreatedAt         time.Time         `json:"createdAt"`
	UpdatedAt         time.Time         `json:"updatedAt"`
	EndedAt           time.Time         `json:"endedAt,omitzero"`
}

// Terminal tells a flow that has ended: a blocked one may be gone on with unless
// it has an end (spec/tasks-recovery.md 3.1).
func (f Flow) Terminal() bool {
	switch f.Status {
	case Succeeded, Failed, Cancelled, Lost:
		return true
	case Blocked:
		return !f.EndedAt.IsZero()
	}
	return false
}

// Cancelling tells a flow that is to be cancelled and has not ended: the wish
// of one that has ended is no longer pending (openclaw 117713).
func (f Flow) Cancelling() bool { return !f.CancelRequestedAt.IsZero() && !f.Terminal() }

// written is f after one write at now. A clock that was set back moves nothing
// back.
func (f Flow) written(now time.Time) Flow {
	f.Revision++
	f.UpdatedAt = latest(now, f.UpdatedAt, f.CreatedAt)
	return f
}

// latest is the last of some times.
func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
