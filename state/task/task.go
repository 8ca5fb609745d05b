package task

import (
	"time"

	"claw/state/delivery"
)

// Runtime is what carries a task out.
type Runtime string

// Status is where a task stands.
type Status string

// DeliveryStatus is what became of telling somebody; it never changes Status.
type DeliveryStatus string

// NotifyPolicy says when somebody is told.
type NotifyPolicy string

// The vocabularies; spec/tasks-recovery.md 1.2.
const (
	CLI      Runtime = "cli"
	Cron     Runtime = "cron"
	ACP      Runtime = "acp"
	Subagent Runtime = "subagent"

	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	TimedOut  Status = "timed_out"
	Cancelled Status = "cancelled"
	Lost      Status = "lost"

	DeliveryPending       DeliveryStatus = "pending"
	DeliveryDelivered     DeliveryStatus = "delivered"
	DeliverySessionQueued DeliveryStatus = "session_queued"
	DeliveryFailed        DeliveryStatus = "failed"
	DeliveryParentMissing DeliveryStatus = "parent_missing"
	DeliveryNotApplicable DeliveryStatus = "not_applicable"

	DoneOnly     NotifyPolicy = "done_only"
	StateChanges NotifyPolicy = "state_changes"
	Silent       NotifyPolicy = "silent"

	ScopeSession = "session"
	ScopeSystem  = "system"

	OutcomeSucceeded = "succeeded" // the run finished and its result landed
	OutcomeBlocked   = "blocked"   // the run finished, but what it was for did not happen
)

// Task is one row of ledgers/tasks.jsonl, keyed by ID; spec/tasks-recovery.md 1.2.
type Task struct {
	ID                  string         `json:"taskId"` // ULID
	Runtime             Runtime        `json:"runtime"`
	Kind                string         `json:"taskKind,omitempty"` // "exec"
	SourceID            string         `json:"sourceId,omitempty"`
	RunID               string         `json:"runId,omitempty"` // the process's ULID
	Slug                string         `json:"slug,omitempty"`  // the process's slug, for people
	RequesterSessionKey string         `json:"requesterSessionKey"`
	OwnerKey            string         `json:"ownerKey"`
	ChildSessionKey     string         `json:"childSessionKey,omitempty"` // where the work runs
	ParentFlowID        string         `json:"parentFlowId,omitempty"`    // the flow that it is part of
	ScopeKind           string         `json:"scopeKind"`                 // ScopeSession or ScopeSystem
	AgentID             string         `json:"agentId,omitempty"`
	Label               string         `json:"label,omitempty"`
	Task                string         `json:"task"`
	Status              Status         `json:"status"`
	DeliveryStatus      DeliveryStatus `json:"deliveryStatus"`
	NotifyPolicy        NotifyPolicy   `json:"notifyPolicy"`
	CreatedAt           time.Time      `json:"createdAt"`
	StartedAt           time.Time      `json:"startedAt,omitzero"`
	EndedAt             time.Time      `json:"endedAt,omitzero"`
	LastEventAt         time.Time      `json:"lastEventAt,omitzero"`
	CleanupAfter        time.Time      `json:"cleanupAfter,omitzero"`
	Error               string         `json:"error,omitempty"`
	ProgressSummary     string         `json:"progressSummary,omitempty"`
	TerminalSummary     string         `json:"terminalSummary,omitempty"`
	RequesterOrigin     delivery.Route `json:"requesterOrigin,omitzero"` // who is told directly
	DeliveryID          string         `json:"deliveryId,omitempty"`     // of the message about its end
	LastNotifiedAt      time.Time      `json:"lastNotifiedEventAt,omitzero"`
	TerminalOutcome     string         `json:"terminalOutcome,omitempty"` // OutcomeSucceeded or OutcomeBlocked; empty while unknown
	Executor            *Executor      `json:"executor,omitempty"`        // the process that carries it out, where that is known
	External            bool           `json:"external,omitempty"`        // claw did not start it: whoever did says how it goes, and ends
}
