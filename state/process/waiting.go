package process

import (
	"strconv"
	"time"
)

// Actions are the actions of the process tool, in the seeds' order.
const Actions = "list, poll, log, write, send-keys, submit, paste, kill, clear, remove"

// Idle is how long a process has printed nothing: since its last output, or
// since it was started when it has printed nothing yet. Writing input to it
// does not count (spec/exec-process.md 2.4).
func Idle(p Process, lastOutput, now time.Time) time.Duration {
	if lastOutput.Before(p.StartedAt) {
		lastOutput = p.StartedAt
	}
	if lastOutput.IsZero() {
		return 0
	}
	return max(0, now.Sub(lastOutput))
}

// WaitingForInput guesses whether a running process sits at a prompt: its
// input can still be written, and it has been idle for the threshold
// (InputWaitIdle).
func WaitingForInput(p Process, idle, threshold time.Duration) bool {
	return p.Phase == Running && p.StdinOpen && idle >= threshold
}

// WaitingHint tells an agent what WaitingForInput means and what it can do.
func WaitingHint(idle time.Duration) string {
	return "No new output for " + Runtime(idle) + "; it may be waiting for input. " +
		"Look at its log, then answer with process write, send-keys, submit or paste."
}

// FollowUp is the sentence that tells an agent how it will learn of the end of
// a process it has left running, by what it is going to be told
// (spec/exec-process.md 1.4, variants a, b and c).
func FollowUp(notifyOnExit, emptySuccess bool) string {
	const act = " To act on it meanwhile, use process (" + Actions + ")."
	switch {
	case notifyOnExit && emptySuccess:
		return "You will be woken when it ends, so stop polling." + act
	case notifyOnExit:
		return "You will be woken when it fails or ends with output, so stop polling; " +
			"a success without output is silent: collect it with process poll if that matters." + act
	}
	return "Nothing will wake you when it ends: use process poll with a timeout before you end this turn." + act
}

// RunningText is the text of a result that left the command running
// (spec/exec-process.md 1.4): the warnings, who it is, and FollowUp.
func RunningText(p Process) string {
	pid := "n/a"
	if p.Root.PID > 0 {
		pid = strconv.Itoa(p.Root.PID)
	}
	return warningsText(p) + "Command still running (session " + p.Slug + ", pid " + pid + "). " +
		FollowUp(p.NotifyOnExit, p.NotifyOnExitEmptySuccess)
}
