package task

import "claw/state/automation"

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
