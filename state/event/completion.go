package event

import (
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/process"
	"claw/state/session"
)

// The kinds: a background command ended; a reminder is due; another task
// ended; and whatever else a session is to be told.
const (
	KindExec  = "exec"
	KindCron  = "cron"
	KindTask  = "task"
	KindEvent = "event"
	// KindRestart is what a session is to go on with after a restart of the
	// runner that was asked for (spec/tasks-recovery.md 4.9).
	KindRestart = "restart"
)

// MaxDetails is how many characters of the end of its output an event carries
// (design.md section 7, spec/exec-process.md 5.2).
const MaxDetails = 8000

// The budgets of spec/exec-process.md 4.1 and 5.2, in characters.
const (
	snippetSource = 400 // of the end of the output
	snippetBudget = 180 // what is left of it in the text
	detailsBudget = MaxDetails
)

// ShouldQueue says whether the end of a process is an event, and when it is
// not, why (spec/exec-process.md 4.2). It reads the row as it is when the end
// is written, with Exit and Tail set. A timeout, a signal, a loss and a code
// other than zero are never silent for want of output.
func ShouldQueue(p process.Process) (ok bool, why string) {
	switch {
	case p.Live() || p.Exit == nil:
		return false, "it has not ended"
	case p.TurnID != "":
		return false, "it is an agent's, and its end is the end of a turn"
	case p.Removed:
		return false, "it was removed"
	case !p.Background:
		return false, "it ended in the foreground, its caller has the result"
	case !p.NotifyOnExit:
		return false, "notifyOnExit is off"
	case p.EventID != "":
		return false, "its end has been told already"
	case p.Polled:
		return false, "a poll has shown the end"
	case p.Session == "":
		return false, "it belongs to no session"
	case p.Exit.Reason == process.ReasonManualCancel && len(p.Leftover) == 0:
		return false, "it was cancelled on purpose"
	case quietSuccess(p) && !p.NotifyOnExitEmptySuccess:
		return false, "it succeeded without output"
	}
	return true, ""
}

func quietSuccess(p process.Process) bool {
	return process.TaskStatus(p) == "succeeded" && strings.TrimSpace(p.Tail) == ""
}

// Completion is the queued row for the end of a process. id is a new ULID.
// Exactly one is made of one process: ShouldQueue refuses the second.
func Completion(id string, p process.Process, now time.Time) Event {
	return Event{
		ID:         id,
		State:      Queued,
		Kind:       KindExec,
		SessionKey: p.Session,
		Agent:      p.Agent,
		ContextKey: ContextKey(p.Slug),
		Text:       FormatCompletion(p),
		Details:    Details(p.Tail),
		ProcessID:  p.ID,
		TaskID:     p.TaskID,
		Tools:      session.LimitTo(p.Tools),
		CreatedAt:  now,
		Command:    p.Command,
		Name:       p.Label,
		DurationMs: durationMs(p),
		Outcome:    process.TaskStatus(p),
		Cause:      cause(p.Exit),
	}
}

// durationMs is how long a process that ended ran; one that never ran, 0.
func durationMs(p process.Process) int64 {
	if p.StartedAt.IsZero() || p.EndedAt.Before(p.StartedAt) {
		return 0
	}
	return p.EndedAt.Sub(p.StartedAt).Milliseconds()
}

func cause(e *process.Exit) string {
	if e == nil {
		return ""
	}
	return e.Error
}

// ContextKey is what completions of one process are known by in the queue.
func ContextKey(slug string) string { return "exec:" + strings.ToLower(slug) }

// FormatCompletion is the text of an end (spec/exec-process.md 4.1):
//
//	Exec completed (tide-orbit, code 0) :: first done
//
// The verb follows process.Status, not the code. The slug is whole, unlike the
// seeds' eight characters, so that it can be polled as it is read. After a
// timeout a blank line and process.RetrySafety follow.
func FormatCompletion(p process.Process) string {
	verb := "completed"
	if process.Status(p) == process.StatusFailed {
		verb = "failed"
	}
	s := "Exec " + verb + " (" + p.Slug + ", " + process.Label(p.Exit) + ")"
	if snippet := Snippet(p.Tail); snippet != "" {
		s += " :: " + snippet
	}
	if p.Exit != nil && p.Exit.TimedOut {
		s += "\n\n" + process.RetrySafety
	}
	return s
}

// Snippet is one line out of the end of some output: its last 400 characters
// with white space collapsed, and of these both ends when they are more than
// 180. The seeds keep the beginning only and lose the final error line.
func Snippet(tail string) string {
	s := process.Collapse(process.Last(tail, snippetSource))
	if utf8.RuneCountInString(s) <= snippetBudget {
		return s
	}
	head := (snippetBudget - 1) / 2
	return process.First(s, head) + "…" + process.Last(s, snippetBudget-1-head)
}

// Details is the tail as it goes into the prompt, lines and all: trimmed at
// both ends and at most 8000 characters, the last ones, with a mark where the
// beginning was cut off.
func Details(tail string) string {
	s := strings.TrimSpace(tail)
	if utf8.RuneCountInString(s) <= detailsBudget {
		return s
	}
	const mark = "[truncated]\n\n"
	return mark + process.Last(s, detailsBudget-len(mark))
}
