package task_test

import (
	"strings"
	"testing"

	"claw/state/task"
)

// TestCanMove is the matrix of spec/tasks-recovery.md 1.4.
func TestCanMove(t *testing.T) {
	const all = "queued running succeeded failed timed_out cancelled lost"
	legal := map[string]string{
		"queued":    all,
		"running":   "running succeeded failed timed_out cancelled lost", // what has started has started
		"succeeded": "succeeded failed timed_out cancelled",
		"failed":    "failed",
		"timed_out": "timed_out",
		"cancelled": "cancelled",
		"lost":      "lost",
		"asleep":    "",
	}
	for from, allowed := range legal {
		for to := range strings.SplitSeq(all+" asleep", " ") {
			err := task.CanMove(task.Status(from), task.Status(to))
			want := false
			for a := range strings.SplitSeq(allowed, " ") {
				want = want || a == to
			}
			if (err == nil) != want {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if err != nil && (!strings.Contains(err.Error(), from) || !strings.Contains(err.Error(), to)) {
				t.Errorf("%q does not name both ends", err)
			}
		}
	}
}

func TestTerminalAndActive(t *testing.T) {
	for status, terminal := range map[task.Status]bool{
		task.Queued: false, task.Running: false, task.Succeeded: true, task.Failed: true,
		task.TimedOut: true, task.Cancelled: true, task.Lost: true,
	} {
		if status.Terminal() != terminal || status.Active() == terminal {
			t.Errorf("%s", status)
		}
	}
	if s := task.Status("asleep"); s.Terminal() || s.Active() {
		t.Error("an unknown status is neither")
	}
}
