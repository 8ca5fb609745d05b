package task_test

import (
	"errors"
	"strings"
	"testing"

	"claw/state/task"
)

// TestVocabularies: spec/tasks-recovery.md 1.2, read strictly.
func TestVocabularies(t *testing.T) {
	tests := []struct {
		field, words string
		parse        func(string) (string, error)
		set          func(*task.Task, string)
	}{
		{
			"runtime", "subagent acp cli cron",
			func(s string) (string, error) { v, err := task.ParseRuntime(s); return string(v), err },
			func(t *task.Task, s string) { t.Runtime = task.Runtime(s) },
		},
		{
			"status", "queued running succeeded failed timed_out cancelled lost",
			func(s string) (string, error) { v, err := task.ParseStatus(s); return string(v), err },
			func(t *task.Task, s string) { t.Status = task.Status(s) },
		},
		{
			"deliveryStatus", "pending delivered session_queued failed parent_missing not_applicable",
			func(s string) (string, error) { v, err := task.ParseDeliveryStatus(s); return string(v), err },
			func(t *task.Task, s string) { t.DeliveryStatus = task.DeliveryStatus(s) },
		},
		{
			"notifyPolicy", "done_only state_changes silent",
			func(s string) (string, error) { v, err := task.ParseNotifyPolicy(s); return string(v), err },
			func(t *task.Task, s string) { t.NotifyPolicy = task.NotifyPolicy(s) },
		},
		{"scopeKind", "session system", task.ParseScope, func(t *task.Task, s string) { t.ScopeKind = s }},
		{"terminalOutcome", "succeeded blocked", task.ParseOutcome, func(t *task.Task, s string) { t.TerminalOutcome = s }},
	}
	for _, tt := range tests {
		for w := range strings.SplitSeq(tt.words, " ") {
			if got, err := tt.parse(w); got != w || err != nil {
				t.Errorf("%s %q: %q, %v", tt.field, w, got, err)
			}
		}
		for _, w := range []string{"asleep", strings.ToUpper(tt.words[:4]), " " + tt.words[:3]} {
			_, err := tt.parse(w)
			wantWordError(t, err, tt.field, w)
		}
		row := good()
		tt.set(&row, "asleep")
		wantWordError(t, task.Check(row), tt.field, "asleep")
	}
	if err := task.Check(good()); err != nil {
		t.Error(err)
	}
	if got, err := task.ParseOutcome(""); got != "" || err != nil {
		t.Errorf("no outcome: %q, %v", got, err)
	}
	if _, err := task.ParseStatus(""); err == nil {
		t.Error("no status passes")
	}
}

func wantWordError(t *testing.T, err error, field, value string) {
	t.Helper()
	var we *task.WordError
	if !errors.As(err, &we) || we.Field != field || we.Value != value || we.Remedy() == "" || !strings.Contains(err.Error(), field) {
		t.Errorf("%s %q: %v", field, value, err)
	}
}

func good() task.Task {
	return task.Task{
		Runtime: task.CLI, Status: task.Running, DeliveryStatus: task.DeliveryPending,
		NotifyPolicy: task.Silent, ScopeKind: task.ScopeSession,
	}
}

func FuzzParseStatus(f *testing.F) {
	for _, s := range []string{"queued", "timed_out", "", "Lost", "lost "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := task.ParseStatus(s)
		if err == nil && (string(got) != s || got.Terminal() == got.Active()) {
			t.Fatalf("%q: %q", s, got)
		}
	})
}
