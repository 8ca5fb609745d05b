package task

import (
	"strings"
	"time"
)

// Why a task is not cancelled; spec/tasks-recovery.md 1.5, word for word. To
// ReasonTerminal the recorded end is added.
const (
	ReasonNotFound   = "Task not found."
	ReasonTerminal   = "Task is already terminal"
	ReasonNoHandle   = "Cron task has no active cancellation handle."
	ReasonNoChild    = "Task has no cancellable child session."
	ReasonNotRunning = "Subagent was not running."
	ReasonNoSubagent = "Subagent task not found."
	ReasonMirror     = "Task is only a mirror of work that another program carries out."
	ReasonPending    = "Task was told to end, and has not ended yet."
)

// CancelledError is the error of a task that a person has cancelled.
const CancelledError = "Cancelled by operator."

// CancelResult is the answer to a wish to cancel. Cancelled means that the
// work has provably ended for it, not that somebody was asked.
type CancelResult struct {
	Found     bool   `json:"found"`
	Cancelled bool   `json:"cancelled"`
	Reason    string `json:"reason,omitempty"`
	Task      *Task  `json:"task,omitempty"`
}

// Hold is what is known of the means to end a task's work.
type Hold struct {
	Live  bool // there is something that can be told to end
	Known bool // the child session is known
}

// CancelRefusal is why t cannot be cancelled, as far as its row and what there
// is to hold it by say; empty: it can (spec/tasks-recovery.md 1.5). A cli task
// that nothing holds is a row only, and can. What claw did not start it does not
// end, as long as somebody carries it out.
func CancelRefusal(t Task, h Hold) string {
	switch {
	case t.Status.Terminal():
		return alreadyTerminal(t)
	case Mirror(t), t.External && h.Live:
		return ReasonMirror
	case t.Runtime == Cron && !h.Live:
		return ReasonNoHandle
	case t.Runtime != ACP && t.Runtime != Subagent:
		return ""
	case t.ChildSessionKey == "":
		return ReasonNoChild
	case t.Runtime == Subagent && !h.Known:
		return ReasonNoSubagent
	case t.Runtime == Subagent && !h.Live:
		return ReasonNotRunning
	}
	return ""
}

func alreadyTerminal(t Task) string {
	return ReasonTerminal + " (" + string(t.Status) + ")."
}

// Mirror tells a row that only repeats what another program says of its own
// work: claw has nothing to end it by (openclaw 149025).
func Mirror(t Task) bool { return strings.HasSuffix(t.Kind, nativeKind) }

// nativeKind ends the kinds of mirrors: codex-native, copilot-native.
const nativeKind = "-native"

// Cancel ends t for a person, for the reason given or else CancelledError. The
// error is a *MoveError.
func Cancel(t Task, reason string, now time.Time) (Task, error) {
	return Conclude(t, End{Status: Cancelled, At: now, Error: filled(reason, CancelledError)})
}

// CancelOutcome is the answer for the row as it stands after its work was told
// to end and waited for. An end that came by itself meanwhile is kept, and
// named (openclaw 144949).
func CancelOutcome(after Task) CancelResult {
	r := CancelResult{Found: true, Task: &after}
	switch {
	case after.Status == Cancelled:
		r.Cancelled = true
	case after.Status.Terminal():
		r.Reason = alreadyTerminal(after)
	default:
		r.Reason = ReasonPending
	}
	return r
}
