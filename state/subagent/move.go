package subagent

import (
	"errors"
	"time"

	"claw/state/session"
)

// ErrGone: a run does not begin: it has begun already, has ended, or is not to.
var ErrGone = errors.New("the run has begun already, or is not to begin")

// Begin is r with a turn.
func Begin(r Run, turnID string, now time.Time) (Run, error) {
	if r.Status != Queued || !r.CancelledAt.IsZero() {
		return r, ErrGone
	}
	r.Status, r.TurnID, r.NotBefore = Running, turnID, time.Time{}
	r.Tries++
	if r.StartedAt.IsZero() {
		r.StartedAt = now
	}
	return r, nil
}

// maxTries is how often an agent is asked that says each time that it has not
// taken the task. The first pause is the grace of spec/tasks-recovery.md 6.5.
const maxTries = 3

var pauses = [...]time.Duration{15 * time.Second, time.Minute}

// Retry is r waiting for another try after an agent that did nothing; false when
// it was tried often enough, is not wanted any more, or is a completion, whose
// caller waits.
func Retry(r Run, now time.Time) (Run, bool) {
	if r.Kind != Detached || r.Status != Running || r.Tries >= maxTries || !r.CancelledAt.IsZero() {
		return r, false
	}
	r.Status, r.TurnID, r.NotBefore = Queued, "", now.Add(pauses[min(max(r.Tries, 1), len(pauses))-1])
	return r, true
}

// Resume is r waiting to be carried on with after it was cut off.
func Resume(r Run) Run {
	r.Status, r.TurnID, r.Tries, r.NotBefore = Queued, "", 0, time.Time{}
	r.Resumed++
	return r
}

// End is how a run ended.
type End struct {
	Outcome Outcome
	Reason  Reason
	Error   string
	Reply   string
	At      time.Time
}

// EndOf is how a turn ended. stopped: on purpose.
func EndOf(t session.Turn, reply string, stopped bool) End {
	e := End{Outcome: Failed, Reason: Broke, Error: t.Error, At: t.EndedAt}
	switch {
	case stopped:
		e.Reason = Killed
	case t.Status == session.TurnSucceeded:
		e.Outcome, e.Reason, e.Error, e.Reply = OK, Complete, "", reply
	case t.Status == session.TurnTimedOut:
		e.Outcome = TimedOut
	case t.Status == session.TurnLost:
		e.Outcome = Unknown
	}
	return e
}

// CutOff tells a turn that something other than its agent has ended.
func CutOff(t session.Turn, stopped bool) bool {
	signalled := t.Status == session.TurnFailed && t.ExitCode == nil && t.ProcessID != ""
	return !stopped && (t.Status == session.TurnLost || signalled)
}

// Close writes an end, with what is to be told of it. What has ended stays as it
// is: an end is told once, and never changes.
func Close(r Run, e End) (Run, bool) {
	if r.Ended() {
		return r, false
	}
	at := e.At
	if at.Before(r.CreatedAt) {
		at = r.CreatedAt
	}
	if at.Before(r.StartedAt) {
		at = r.StartedAt
	}
	r.Status, r.EndedAt, r.Outcome, r.Reason, r.Error = Ended, at, e.Outcome, e.Reason, e.Error
	if e.Outcome == OK && r.Kind != Completion { // whose answer is its caller's alone
		r.Result = Freeze(e.Reply)
	}
	if r.Announce.State != Pending {
		return r, true
	}
	if e.Outcome == OK && Quiet(e.Reply) {
		r.Announce.State, r.Announce.Why, r.Announce.EndedAt = NotRequired, "it asked for no announcement", at
	}
	return r, true
}

// Observation is the answer to a wait.
type Observation struct {
	RunID      string     `json:"runId"`
	Status     string     `json:"status"` // ok, error, timeout or pending
	SessionKey string     `json:"sessionKey,omitempty"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	EndedAt    *time.Time `json:"endedAt,omitempty"` // none: it was the wait that ended
	StopReason string     `json:"stopReason,omitempty"`
	Error      string     `json:"error,omitempty"`
	Liveness   string     `json:"livenessState,omitempty"` // queued or running
	Provider   bool       `json:"providerStarted"`         // an agent was started for it
	Phase      string     `json:"timeoutPhase,omitempty"`  // wait: the wait ended; run: the run did
	Reply      string     `json:"terminalReply,omitempty"`
}

// Observe is what is seen of r when a wait ends. With waited the wait has ended,
// and not only looked: a run that goes on is then a timeout of the wait.
func Observe(r Run, waited bool) Observation {
	o := Observation{RunID: r.ID, SessionKey: r.SessionKey, Provider: !r.StartedAt.IsZero()}
	if !r.StartedAt.IsZero() {
		o.StartedAt = &r.StartedAt
	}
	if !r.Ended() {
		if o.Status, o.Liveness = "pending", string(r.Status); waited {
			o.Status, o.Phase = "timeout", "wait"
		}
		return o
	}
	o.EndedAt, o.StopReason, o.Error, o.Reply = &r.EndedAt, string(r.Reason), r.Error, r.Result
	switch r.Outcome {
	case OK:
		o.Status = "ok"
	case TimedOut:
		o.Status, o.Phase = "timeout", "run"
	default:
		o.Status = "error"
	}
	return o
}
