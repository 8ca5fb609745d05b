package task

import (
	"strconv"
	"strings"
	"time"

	"claw/state/process"
)

// titleWidth is how many characters of a title a message shows.
const titleWidth = 80

// Title names a task in messages: its label, else what kind of task it is,
// else its text; on one line, at most 80 characters.
func Title(t Task) string {
	title := process.Collapse(t.Label)
	switch {
	case title != "":
	case t.Runtime == ACP:
		title = "ACP background task"
	case t.Runtime == Subagent:
		title = "Subagent task"
	default:
		title = process.Collapse(t.Task)
	}
	if title == "" {
		title = "Background task"
	}
	return process.Elide(title, titleWidth)
}

// named is the title with the run, which is a slug where there is one: whole,
// so that it can be typed.
func named(t Task) string {
	run := t.Slug
	if run == "" {
		run = process.First(t.RunID, 8)
	}
	if run == "" {
		return Title(t)
	}
	return Title(t) + " (run " + run + ")"
}

// sentence puts a message together; more may be empty.
func sentence(what string, t Task, more ...string) string {
	s := "Background task " + what + ": " + named(t) + "."
	for _, m := range more {
		if m = process.Collapse(m); m != "" {
			return s + " " + m
		}
	}
	return s
}

// Message is the text about the end of a task (spec/tasks-recovery.md 2.4):
//
//	Background task done: npm run (run tide-orbit). built in 61.2s
//
// It is empty for a task that has not ended.
func Message(t Task) string {
	switch t.Status {
	case Succeeded:
		if t.TerminalOutcome == OutcomeBlocked {
			return sentence("blocked", t, t.TerminalSummary)
		}
		return sentence("done", t, t.TerminalSummary)
	case TimedOut:
		return sentence("timed out", t)
	case Cancelled:
		return sentence("cancelled", t)
	case Lost:
		return sentence("lost", t, t.Error, t.TerminalSummary, "Its backing session disappeared.")
	case Failed:
		return sentence("failed", t, t.Error, t.TerminalSummary)
	}
	return ""
}

// review is Message for a parent that looks first.
func review(t Task) string {
	return sentence("ready for review", t, t.TerminalSummary) + " Verify the result before you tell anybody that it is done."
}

// FollowUp is what the session is told in addition about a blocked task.
func FollowUp(t Task) string {
	summary := process.Collapse(t.TerminalSummary)
	if summary == "" {
		summary = "It is blocked and needs follow-up."
	}
	return "Task needs follow-up: " + named(t) + ". " + summary
}

// ChangeMessage is the text about a change before the end; empty for progress
// without words and for what is no such change.
func ChangeMessage(t Task, c Change) string {
	switch c.Kind {
	case string(Queued):
		return sentence("accepted", t)
	case string(Running):
		return sentence("started", t)
	case Progress:
		if process.Collapse(c.Summary) != "" {
			return sentence("update", t, c.Summary)
		}
	}
	return ""
}

// Headline is the end of a background command in one line for people:
//
//	./train.sh finished in 3h12m (exit 0)
func Headline(t Task, p process.Process) string {
	start := t.StartedAt
	if start.IsZero() {
		start = t.CreatedAt
	}
	took := process.HumanDuration(max(0, t.EndedAt.Sub(start)))
	return called(t) + " " + ending(t.Status) + " " + took + howEnded(p)
}

// called is the name a command was given, else all of it that fits.
func called(t Task) string {
	if t.Label != "" && t.Label != process.Name(t.Task) {
		return Title(t)
	}
	if command := process.Collapse(t.Task); command != "" {
		return process.Elide(command, titleWidth)
	}
	return Title(t)
}

func ending(s Status) string {
	switch s {
	case Succeeded:
		return "finished in"
	case TimedOut:
		return "timed out after"
	case Cancelled:
		return "was cancelled after"
	case Lost:
		return "was lost after"
	}
	return "failed after"
}

func howEnded(p process.Process) string {
	switch {
	case p.Exit == nil:
		return ""
	case p.Exit.Signal != "":
		return " (" + p.Exit.Signal + ")"
	case p.Exit.Code != nil:
		return " (exit " + strconv.Itoa(*p.Exit.Code) + ")"
	}
	return ""
}

// Findings is what stands under the Headline: what went wrong, and the last
// line of the output.
func Findings(t Task) string {
	lines := make([]string, 0, 2)
	if t.Error != "" && t.Status != Cancelled {
		lines = append(lines, process.Collapse(t.Error))
	}
	if t.TerminalSummary != "" {
		lines = append(lines, t.TerminalSummary)
	}
	if len(lines) == 0 {
		return "(no output)"
	}
	return strings.Join(lines, "\n")
}

// Told is the row after its delivery has come to state: delivered, failed,
// pending again, or settled by a person. Status, times and outcome stay as
// they are: execution and delivery never rewrite one another
// (spec/tasks-recovery.md 2.5).
func Told(t Task, s DeliveryStatus, at time.Time) Task {
	t.DeliveryStatus = s
	if s == DeliveryDelivered {
		t.LastNotifiedAt = at
	}
	return t
}
