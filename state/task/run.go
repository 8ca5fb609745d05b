package task

import (
	"claw/state/automation"
	"claw/state/external"
)

// OfRun is the end of an automation's run in the words of the task ledger. A
// run of which nobody knows how it ended is lost.
func OfRun(s automation.Status) Status {
	switch s {
	case automation.Succeeded:
		return Succeeded
	case automation.TimedOut:
		return TimedOut
	case automation.Cancelled, automation.Replaced, automation.Skipped:
		return Cancelled
	case automation.Unknown, automation.Interrupted:
		return Lost
	}
	return Failed
}

// OfHook is the end of a dispatch in the words of the task ledger.
func OfHook(s external.Status) Status {
	switch s {
	case external.OK:
		return Succeeded
	case external.Skipped, external.Refused:
		return Cancelled
	}
	return Failed
}
