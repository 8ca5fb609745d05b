package subagent

import (
	"slices"
	"time"

	"claw/state/delivery"
	"claw/state/session"
)

// Kind is what is asked for.
type Kind string

// The kinds.
const (
	Detached   Kind = "run"
	Completion Kind = "complete"
)

// Status is where a run stands.
type Status string

// The statuses.
const (
	Queued  Status = "queued"
	Running Status = "running"
	Ended   Status = "ended"
)

// Outcome is how a run ended: by how its agent did, never by what it said.
type Outcome string

// The outcomes.
const (
	OK       Outcome = "ok"
	Failed   Outcome = "error"
	TimedOut Outcome = "timeout"
	Unknown  Outcome = "unknown" // nobody knows what the agent did
)

// Reason is why a run ended.
type Reason string

// The reasons.
const (
	Complete Reason = "complete"
	Broke    Reason = "error"
	Killed   Reason = "killed"
)

// Cleanup is what becomes of the session of a run that has ended.
type Cleanup string

// The cleanups. What is kept is put aside after a time, too; see Limits.Archive.
const (
	Keep   Cleanup = "keep"
	Delete Cleanup = "delete"
)

// Minimal is the one prompt mode that can be asked for; without it the agent has
// its full prompt.
const Minimal = "minimal"

// CurrentRequester is the one way of telling the end that can be asked for.
const CurrentRequester = "current-requester"

// Run is one row of ledgers/subagents.jsonl, keyed by ID.
type Run struct {
	ID         string `json:"runId"` // ULID
	Kind       Kind   `json:"kind"`
	Status     Status `json:"status"`
	Agent      string `json:"agentId"`
	SessionKey string `json:"childSessionKey,omitempty"`
	TaskID     string `json:"taskId,omitempty"` // none of a completion
	// Caller is the session whose turn has asked, and CallerTurn that turn; empty:
	// a person has.
	Caller      string `json:"controllerSessionKey,omitempty"`
	CallerTurn  string `json:"callerTurnId,omitempty"`
	CallerAgent string `json:"callerAgentId,omitempty"` // whose limits count
	Depth       int    `json:"depth"`                   // 1: asked for by a person, or by an agent that nobody has asked so

	Task       string   `json:"task,omitempty"` // as it was asked
	Label      string   `json:"label,omitempty"`
	System     string   `json:"extraSystemPrompt,omitempty"`
	Model      string   `json:"model,omitempty"`
	Thinking   string   `json:"thinking,omitempty"`
	Tools      []string `json:"tools,omitzero"` // nil: all
	PromptMode string   `json:"promptMode,omitempty"`
	TimeoutMs  int64    `json:"runTimeoutMs,omitempty"` // 0: the agent's; less: none
	Cleanup    Cleanup  `json:"cleanup,omitempty"`

	TurnID    string    `json:"turnId,omitempty"` // the newest
	Tries     int       `json:"tries,omitempty"`  // turns that were admitted since it was asked for, or resumed
	Resumed   int       `json:"resumed,omitempty"`
	NotBefore time.Time `json:"notBefore,omitzero"`
	Deadline  time.Time `json:"deadline,omitzero"` // of a completion

	CreatedAt   time.Time `json:"createdAt"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`
	CancelledAt time.Time `json:"cancelledAt,omitzero"` // somebody wants its end
	ArchivedAt  time.Time `json:"archivedAt,omitzero"`  // its session was put aside

	Outcome Outcome `json:"outcome,omitempty"`
	Reason  Reason  `json:"endedReason,omitempty"`
	Error   string  `json:"error,omitempty"`
	Result  string  `json:"resultText,omitempty"` // frozen at the end, see Freeze

	Announce Announce `json:"delivery"`
}

// Clone is a copy that shares nothing.
func (r Run) Clone() Run {
	r.Tools = slices.Clone(r.Tools)
	return r
}

// Ended tells an end.
func (r Run) Ended() bool { return r.Status == Ended }

// Timeout is how long one turn of it may take, where the agent's own is other;
// 0: the agent's; less: none.
func (r Run) Timeout() time.Duration { return time.Duration(r.TimeoutMs) * time.Millisecond }

// Stale tells a row that is so old that it does not count as active any more
// (spec/tasks-recovery.md 6.5).
func (r Run) Stale(now time.Time) bool {
	begun := r.StartedAt
	if begun.IsZero() {
		begun = r.CreatedAt
	}
	return now.Sub(begun) > max(session.ResumeAge, r.Timeout()+session.ResumeSlack)
}

// Active tells a run that takes a place.
func (r Run) Active(now time.Time) bool { return !r.Ended() && !r.Stale(now) }

// Title is what a run is called where it is told of: its label, or the first
// words of its task.
func (r Run) Title() string {
	if r.Label != "" {
		return r.Label
	}
	return line(r.Task, 60)
}

// State is where telling of the end stands.
type State string

// The states; spec/tasks-recovery.md 6.5.
const (
	NotRequired State = "not_required"
	Pending     State = "pending"
	Delivered   State = "delivered"
	Failing     State = "failed" // an attempt has failed, and another follows
	Suspended   State = "suspended"
	Discarded   State = "discarded"
)

// Announce is the telling of an end. Requester, SessionID, Route and Tools were
// captured by claw from the turn that asked.
type Announce struct {
	State     State          `json:"state"`
	Requester string         `json:"requesterSessionKey,omitempty"`
	SessionID string         `json:"requesterSessionId,omitempty"` // its conversation: a new one is not told
	Route     delivery.Route `json:"requesterOrigin,omitzero"`
	Tools     session.Limit  `json:"requesterTools,omitempty"` // whoever acts on it may use no more
	Agent     string         `json:"requesterAgentId,omitempty"`
	Attempts  int            `json:"attempts,omitempty"` // that failed
	NextAt    time.Time      `json:"nextAt,omitzero"`
	Why       string         `json:"why,omitempty"`
	EventID   string         `json:"eventId,omitempty"` // with which the requester's session was told
	EndedAt   time.Time      `json:"endedAt,omitzero"`  // delivered, suspended or discarded
}

// Due tells an announcement that waits for an attempt.
func (a Announce) Due() bool { return a.State == Pending || a.State == Failing }

// Key is the idempotency key of an announcement: one for a child's session and its
// run, whatever becomes of the attempts.
func (r Run) Key() string { return "announce:" + r.SessionKey + ":" + r.ID }
