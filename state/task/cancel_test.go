package task_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/task"
)

// TestCancelRefusal: the table of spec/tasks-recovery.md 1.5.
func TestCancelRefusal(t *testing.T) {
	const child = "agent:main:subagent:1"
	tests := []struct {
		name string
		t    task.Task
		h    task.Hold
		want string
	}{
		{"already terminal", task.Task{Runtime: "cli", Status: "succeeded"}, task.Hold{Live: true}, "Task is already terminal (succeeded)."},
		{"lost", task.Task{Runtime: "cli", Status: "lost"}, task.Hold{}, "Task is already terminal (lost)."},
		{"cron without a handle", task.Task{Runtime: "cron", Status: "running"}, task.Hold{}, "Cron task has no active cancellation handle."},
		{"cron with one", task.Task{Runtime: "cron", Status: "running"}, task.Hold{Live: true}, ""},
		{"acp without a child", task.Task{Runtime: "acp", Status: "running"}, task.Hold{Live: true}, "Task has no cancellable child session."},
		{"acp with one", task.Task{Runtime: "acp", Status: "running", ChildSessionKey: child}, task.Hold{}, ""},
		{"subagent without a child", task.Task{Runtime: "subagent", Status: "running"}, task.Hold{Live: true}, "Task has no cancellable child session."},
		{"subagent that does not run", task.Task{Runtime: "subagent", Status: "running", ChildSessionKey: child}, task.Hold{Known: true}, "Subagent was not running."},
		{"subagent that nobody knows", task.Task{Runtime: "subagent", Status: "running", ChildSessionKey: child}, task.Hold{}, "Subagent task not found."},
		{"subagent that runs", task.Task{Runtime: "subagent", Status: "running", ChildSessionKey: child}, task.Hold{Live: true, Known: true}, ""},
		{"a mirror", task.Task{Runtime: "subagent", Kind: "codex-native", Status: "running", ChildSessionKey: child}, task.Hold{Live: true, Known: true}, "Task is only a mirror of work that another program carries out."},
		{"cli that runs", task.Task{Runtime: "cli", Status: "running"}, task.Hold{Live: true}, ""},
		{"cli that is only a row", task.Task{Runtime: "cli", Status: "queued"}, task.Hold{}, ""},
	}
	for _, tt := range tests {
		if got := task.CancelRefusal(tt.t, tt.h); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCancel(t *testing.T) {
	row := task.Task{Runtime: task.CLI, Status: task.Running, CreatedAt: at(0), StartedAt: at(1)}
	got, err := task.Cancel(row, "", at(60))
	if err != nil || got.Status != task.Cancelled || got.Error != "Cancelled by operator." || !got.EndedAt.Equal(at(60)) || !got.LastEventAt.Equal(at(60)) || !got.CleanupAfter.Equal(at(60+7*86400)) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, _ := task.Cancel(row, "not needed any more", at(60)); got.Error != "not needed any more" {
		t.Errorf("%+v", got)
	}
	failed, _ := task.Conclude(row, task.End{Status: task.Failed, At: at(50)})
	if got, err := task.Cancel(failed, "", at(60)); err == nil || !cmp.Equal(failed, got) {
		t.Error("a failure was cancelled")
	}
}

// TestCancelOutcome: what came meanwhile is kept and named (openclaw 144949).
func TestCancelOutcome(t *testing.T) {
	for status, want := range map[task.Status]task.CancelResult{
		"cancelled": {Found: true, Cancelled: true},
		"succeeded": {Found: true, Reason: "Task is already terminal (succeeded)."},
		"timed_out": {Found: true, Reason: "Task is already terminal (timed_out)."},
		"running":   {Found: true, Reason: "Task was told to end, and has not ended yet."},
	} {
		row := task.Task{ID: "T", Status: status}
		want.Task = &row
		if diff := cmp.Diff(want, task.CancelOutcome(row)); diff != "" {
			t.Errorf("%s: %s", status, diff)
		}
	}
}
