package external

import (
	"fmt"
	"slices"
	"time"

	"claw/state/delivery"
)

// Status is where a dispatch stands.
type Status string

// The statuses. Queued waits for its session, for a place and, after an agent
// that did not take it, for its next try. Running has a turn. The others are
// ends: of a turn, or (Refused) without one.
const (
	Queued  Status = "queued"
	Running Status = "running"
	OK      Status = "ok"
	Failed  Status = "error"
	Skipped Status = "skipped" // somebody has ended it on purpose
	Refused Status = "refused" // it was not begun, and never will be
)

// Ended tells an end.
func (s Status) Ended() bool { return s != Queued && s != Running }

// Lane is whose work it is: what shares a place with whom.
type Lane string

// The lanes; spec/tasks-recovery.md 5.3.
const (
	LaneCLI  Lane = "cli"  // claw hook dispatch: the places of automations
	LaneHTTP Lane = "http" // a webhook: of these places one is kept for it
)

// Dispatch is one row of ledgers/hooks.jsonl, keyed by ID: a turn that somebody
// outside has asked for.
type Dispatch struct {
	ID         string         `json:"runId"` // ULID
	Status     Status         `json:"status"`
	Lane       Lane           `json:"lane"`
	Name       string         `json:"name"`
	Agent      string         `json:"agentId"`
	SessionKey string         `json:"sessionKey"`
	Source     Source         `json:"externalContentSource"`
	Message    string         `json:"message,omitempty"` // wrapped; taken out at the end: the turn has it
	Deliver    bool           `json:"deliver,omitempty"`
	Route      delivery.Route `json:"route,omitzero"`     // fixed at acceptance
	Announce   string         `json:"announce"`           // the session that is told of the end, fixed at acceptance
	WakeMode   string         `json:"wakeMode,omitempty"` // when it is: WakeNow, WakeNext; empty: a failure now
	Patient    bool           `json:"patient,omitempty"`  // nobody waits for its beginning
	Model      string         `json:"model,omitempty"`
	Thinking   string         `json:"thinking,omitempty"`
	TimeoutMs  int64          `json:"timeoutMs,omitempty"`
	Tools      []string       `json:"tools,omitzero"`
	// Digest is of caller, idempotency key and every field; empty: no key.
	Digest   string   `json:"digest,omitempty"`
	Warnings []string `json:"suspicious,omitempty"` // phrases of those who want to mislead, for the log

	AcceptedAt time.Time `json:"acceptedAt"`
	Deadline   time.Time `json:"deadline,omitzero"` // it begins before, or never; zero: whenever it can
	NotBefore  time.Time `json:"notBefore,omitzero"`
	StartedAt  time.Time `json:"startedAt,omitzero"` // when its first turn was admitted
	EndedAt    time.Time `json:"endedAt,omitzero"`
	Tries      int       `json:"tries,omitempty"` // turns that were admitted
	TurnID     string    `json:"turnId,omitempty"`
	TaskID     string    `json:"taskId,omitempty"`
	Reason     Reason    `json:"reason,omitempty"` // of Refused
	Error      string    `json:"error,omitempty"`
	Report     *Report   `json:"report,omitempty"`
}

// Clone is d with lists of its own.
func (d Dispatch) Clone() Dispatch {
	d.Tools, d.Warnings = slices.Clone(d.Tools), slices.Clone(d.Warnings)
	if d.Report != nil {
		r := *d.Report
		d.Report = &r
	}
	return d
}

// When the main session is woken for what it is told of the end.
const (
	WakeNow  = "now"
	WakeNext = "next-heartbeat"
)

// Wakes tells that the main session is woken for what it is told of the end.
func (d Dispatch) Wakes() bool {
	return d.WakeMode == WakeNow || d.WakeMode == "" && d.Status != OK
}

// StartDeadline is how long after its acceptance, the queue included, a dispatch
// may begin.
const StartDeadline = 15 * time.Second

// How long a key is remembered after the end (what a configuration may say), how
// many are, and how long it may be.
const (
	KeyWindow    = 5 * time.Minute
	MinKeyWindow = time.Minute
	MaxKeyWindow = 24 * time.Hour
	MaxKeys      = 1000
	MaxKey       = 256
)

// Answers tells that d is the answer to a request with its digest, too: it is
// not settled yet, or has ended within the window. A refusal is not kept: whoever
// was refused may try again, and so may one that will be: it is too late.
func (d Dispatch) Answers(digest string, now time.Time, window time.Duration) bool {
	switch {
	case d.Digest == "" || d.Digest != digest || d.Status == Refused || d.Late(now):
		return false
	case !d.Status.Ended():
		return true
	}
	return now.Sub(d.EndedAt).Abs() < window
}

// Reason is why a dispatch was refused.
type Reason string

// The reasons, as whoever asked reads them. The first three are
// spec/tasks-recovery.md 5.2, word for word.
const (
	ReasonAgent     Reason = "agentId is required"
	ReasonKey       Reason = "sessionKey must start with hook: and contain no whitespace or control characters"
	ReasonSource    Reason = "externalContentSource must be email"
	ReasonEmpty     Reason = "message is required"
	ReasonTooLong   Reason = "message is too long"
	ReasonIdemKey   Reason = "idempotencyKey must have at most 256 characters"
	ReasonTimeout   Reason = "timeoutSeconds must not be negative"
	ReasonUnknown   Reason = "agent not found"
	ReasonAccount   Reason = "delivery target is not valid"
	ReasonLate      Reason = "not started before the deadline"
	ReasonHeld      Reason = "nothing begins now"
	ReasonEnding    Reason = "claw is about to end"
	ReasonWithdrawn Reason = "cancelled before it started"
	ReasonPrepare   Reason = "the agent could not be prepared"
)

// Class is the HTTP status of a reason; spec/tasks-recovery.md 5.2.
func (r Reason) Class() int {
	switch r {
	case ReasonLate, ReasonHeld, ReasonEnding:
		return 503
	case ReasonWithdrawn:
		return 409
	case ReasonPrepare:
		return 502
	case ReasonUnknown:
		return 404
	}
	return 400
}

// MoveError is a move that a dispatch cannot make.
type MoveError struct{ From, To Status }

func (e *MoveError) Error() string {
	return fmt.Sprintf("a dispatch cannot go from %s to %s", e.From, e.To)
}

// Begin is d with a turn, in the transaction of the turn's admission. The error
// is a *MoveError: it is not to begin any more.
func Begin(d Dispatch, turnID string, now time.Time) (Dispatch, error) {
	if d.Status != Queued || d.Late(now) {
		return d, &MoveError{d.Status, Running}
	}
	d.Status, d.TurnID, d.Tries = Running, turnID, d.Tries+1
	if d.StartedAt.IsZero() {
		d.StartedAt = now
	}
	d.Deadline, d.NotBefore = time.Time{}, time.Time{}
	return d, nil
}

// Late tells that d has waited for too long to begin.
func (d Dispatch) Late(now time.Time) bool {
	return d.Status == Queued && !d.Deadline.IsZero() && !now.Before(d.Deadline)
}

// Refuse ends a dispatch that has not begun. One that has is left alone: ok is
// false.
func Refuse(d Dispatch, why Reason, detail string, now time.Time) (after Dispatch, ok bool) {
	if d.Status != Queued {
		return d, false
	}
	d.Status, d.Reason, d.Error, d.EndedAt, d.Message = Refused, why, detail, now, ""
	if d.Error == "" {
		d.Error = string(why)
	}
	return d, true
}

// maxTries is how often an agent is asked that says each time that it has not
// taken the message, and how long it is left alone in between.
const maxTries = 3

var pauses = [...]time.Duration{time.Minute, 5 * time.Minute}

// Retry is d waiting for another try after an agent that did nothing: it has
// been promised, so it has no deadline any more. ok is false when it has been
// tried often enough.
func Retry(d Dispatch, now time.Time) (after Dispatch, ok bool) {
	if d.Status != Running || d.Tries >= maxTries {
		return d, false
	}
	d.Status, d.NotBefore, d.TurnID = Queued, now.Add(pauses[min(d.Tries, len(pauses))-1]), ""
	return d, true
}

// Close writes how the turn of a dispatch ended.
func Close(d Dispatch, r Report, now time.Time) Dispatch {
	d.Status, d.Error, d.Report, d.EndedAt, d.Message = r.Status, r.Error, &r, now, ""
	return d
}
