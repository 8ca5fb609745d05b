package process

import (
	"strconv"
	"strings"
)

// RetrySafety is the paragraph that follows every timeout, in a result, a
// poll, a log and an event: a command that was cut off may have half happened.
const RetrySafety = "The command may already have had side effects before it was stopped. " +
	"Check what it changed before running it again, and do not blindly rerun work that is not idempotent."

// LongWorkHint follows RetrySafety where the caller was waiting.
const LongWorkHint = "For work that takes longer, start it with background or yieldMs and a larger timeout " +
	"(0 for none); do not append a trailing & to the command."

// DiscardedNote goes before output whose beginning the retention cap took
// (spec/exec-process.md 1.8); poll, log and a foreground result all say it.
const DiscardedNote = "[earlier output was discarded at the retention cap and cannot be recovered]"

// NoOutput stands for the output of a command that printed nothing.
const NoOutput = "(no output)"

// ReasonText says in a sentence or a few paragraphs why a process failed, or
// that it exited with a code other than 0; empty while it runs and after a
// plain success. Texts of spec/exec-process.md 1.4.
func ReasonText(p Process) string {
	e, over := p.ended()
	if !over {
		return ""
	}
	switch e.Reason {
	case ReasonOverallTimeout:
		return paragraphs("Command timed out"+afterSeconds(p.TimeoutMs)+".", RetrySafety, LongWorkHint)
	case ReasonNoOutputTimeout:
		return paragraphs("Command timed out waiting for output: it printed nothing for too long.", RetrySafety, LongWorkHint)
	case ReasonSpawnError:
		return spawnText(e)
	case ReasonLost:
		return lostText(e)
	}
	if e.Signal != "" {
		return signalText(e)
	}
	return exitText(e)
}

func afterSeconds(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return " after " + strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " seconds"
}

func spawnText(e Exit) string {
	lead := "Command could not be started"
	switch e.SpawnCode {
	case codeNotFound:
		lead = textNotFound
	case codeNotRunnable:
		lead = "Command not executable"
	}
	return withCause(lead, e.Error)
}

func lostText(e Exit) string {
	return withCause("The supervisor of this command died before the end; its exit code is unknown", e.Error)
}

func withCause(lead, cause string) string {
	if cause == "" {
		return lead
	}
	return lead + ": " + cause
}

func signalText(e Exit) string {
	s := "Command aborted by signal " + e.Signal
	if e.Core {
		s += " (core dumped)"
	}
	return s
}

const (
	textNotFound    = "Command not found"
	textNotRunnable = "Command not executable (permission denied)"
)

func exitText(e Exit) string {
	switch {
	case e.Code == nil:
		return "Command aborted before exit code was captured"
	case e.Reason == ReasonManualCancel:
		return "Command was cancelled and exited with code " + strconv.Itoa(*e.Code)
	case *e.Code == 0:
		return ""
	case *e.Code == codeNotFound:
		return textNotFound
	case *e.Code == codeNotRunnable:
		return textNotRunnable
	}
	return "Command exited with code " + strconv.Itoa(*e.Code)
}

// ResultText is the text of a foreground result (spec/exec-process.md 1.4):
// the retention note when output was discarded, the warnings, the output
// trimmed at both ends, and why it failed.
func ResultText(p Process, output string, discarded bool) string {
	head := ""
	if discarded {
		head = DiscardedNote + "\n\n"
	}
	head += warningsText(p)
	output, reason := strings.TrimSpace(output), ReasonText(p)
	if Status(p) == StatusFailed {
		return head + paragraphs(output, reason)
	}
	if output == "" {
		output = NoOutput
	}
	if reason != "" {
		reason = "(" + reason + ")"
	}
	return head + paragraphs(output, reason)
}

// warningsText is one warning a line and a blank line, or nothing.
func warningsText(p Process) string {
	if len(p.Warnings) == 0 {
		return ""
	}
	return strings.Join(p.Warnings, "\n") + "\n\n"
}

// EndSentence ends a poll or a log of a finished process: how it exited, and
// after a timeout RetrySafety (spec/exec-process.md 2.2).
func EndSentence(p Process) string {
	e, over := p.ended()
	if !over {
		return "Process still running."
	}
	s := "Process exited with " + Label(&e) + "."
	if e.TimedOut {
		s = paragraphs(s, RetrySafety)
	}
	return s
}

// paragraphs joins what is not empty with blank lines.
func paragraphs(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p)
	}
	return b.String()
}
