package automation

import (
	"strings"
	"time"
	"unicode/utf8"
)

// OnExitEnded is what follows from the end of the command of an on-exit
// (spec/heartbeat-automations.md 3.4): it is switched off, and its run queued
// under id, once, in this order within one transaction. What could not be
// started or waited for is tried again after 1 s, 5 s, 30 s, and then every
// 5 min. An end that nobody knows never fires: a run with the status unknown is
// on record, and a person is told.
func OnExitEnded(a Automation, src Source, end SourceEnd, id string, now time.Time) Fired {
	src.Owner = nil
	if end.Error != "" && !end.Unknown {
		src.Failures++
		ladder := [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute}
		src.Status, src.Error, src.RetryAt = SourceRestarting, end.Error, now.Add(step(ladder[:], src.Failures))
		return Fired{Automation: a, Source: src}
	}
	src.Status, src.Failures, src.Error, src.RetryAt = SourceStopped, 0, "", time.Time{}
	a.Enabled = false
	run := Fire(a, id, now)
	if !end.Unknown {
		src.FiredAt = now
		run.Input = OnExitText(end)
		return Fired{Automation: a, Source: src, Run: &run}
	}
	src.Status, src.Exhausted, src.Error = SourceError, true, "nobody knows how its command ended"
	run.Status, run.Code, run.EndedAt = Unknown, CodeOwnerDied, now
	run.Error = "nobody knows how its command ended, so that nothing was started"
	run.Why = run.Error
	a.State.AutoDisabled = &AutoDisabled{Reason: ReasonUnknown, At: now}
	notice := Notice{
		AutomationID: a.ID, Name: a.Name, Code: ReasonUnknown,
		Text: a.Name + " did not fire: nobody knows how its command ended (" + clip(a.Schedule.Command) + ")",
		Hint: "to run the command again and wait for it: claw cron enable " + a.Name,
	}
	return Fired{Automation: a, Source: src, Run: &run, Notices: []Notice{notice}}
}

// maxTail is how much of the output an on-exit passes on, in bytes.
const maxTail = 4000

// OnExitText is what the run of an on-exit is told, one fact a line:
//
//	exit: 2
//	duration: 1m30s
//	output:
//	what the command wrote last
//
// or "signal: SIGKILL" in place of the exit code; "output" only when there is
// some, and "[truncated]" before what is not all of it.
func OnExitText(end SourceEnd) string {
	var b strings.Builder
	switch {
	case end.Code != nil:
		b.WriteString("exit: " + itoa(*end.Code))
	case end.Signal != "":
		b.WriteString("signal: " + end.Signal)
	default:
		b.WriteString("exit: unknown")
	}
	b.WriteString("\nduration: " + duration(end.lasted().Round(time.Millisecond)))
	if tail := bounded(end.Tail); tail != "" {
		b.WriteString("\noutput:\n" + tail)
	}
	return b.String()
}

// bounded is the end of an output, from the beginning of a line if there is
// one.
func bounded(text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD"), " \t\r\n")
	if len(text) <= maxTail {
		return text
	}
	whole := text[len(text)-maxTail-1] == '\n'
	text = text[len(text)-maxTail:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && !whole {
		text = text[i+1:]
	}
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return Truncated + "\n" + text
}

// Truncated stands where something was left out.
const Truncated = "[truncated]"
