package task_test

import (
	"testing"

	"claw/state/automation"
	"claw/state/task"
)

func TestOfRun(t *testing.T) {
	for run, want := range map[automation.Status]task.Status{
		automation.Succeeded: "succeeded", automation.Failed: "failed", automation.TimedOut: "timed_out", automation.Cancelled: "cancelled",
		automation.Replaced: "cancelled", automation.Skipped: "cancelled", automation.Unknown: "lost", automation.Interrupted: "lost", automation.Missed: "failed",
	} {
		if got := task.OfRun(run); got != want {
			t.Errorf("%s: %s, want %s", run, got, want)
		}
	}
}
