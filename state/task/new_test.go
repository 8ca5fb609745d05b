package task_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/task"
)

var t0 = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func at(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }

// TestNewDefaults: spec/tasks-recovery.md 1.1 and 1.2.
func TestNewDefaults(t *testing.T) {
	type telling struct {
		Owner, Requester, Scope string
		Delivery                task.DeliveryStatus
		Policy                  task.NotifyPolicy
		Status                  task.Status
	}
	tests := []struct {
		name string
		in   task.Task
		want telling
	}{
		{"acp", task.Task{Runtime: task.ACP, OwnerKey: "o"}, telling{"o", "o", "session", "pending", "done_only", "queued"}},
		{"subagent", task.Task{Runtime: task.Subagent, RequesterSessionKey: "r"}, telling{"r", "r", "session", "pending", "done_only", "queued"}},
		{"cron", task.Task{Runtime: task.Cron, OwnerKey: "o"}, telling{"o", "o", "session", "pending", "silent", "queued"}},
		{"cli", task.Task{Runtime: task.CLI, OwnerKey: "o", RequesterSessionKey: "r"}, telling{"o", "r", "session", "pending", "silent", "queued"}},
		{"nobody", task.Task{Runtime: task.ACP}, telling{"", "", "system", "not_applicable", "silent", "queued"}},
		{"system with an owner", task.Task{Runtime: task.ACP, OwnerKey: "o", ScopeKind: "system"}, telling{"o", "o", "system", "not_applicable", "silent", "queued"}},
		{
			"explicit",
			task.Task{Runtime: task.CLI, OwnerKey: "o", DeliveryStatus: "delivered", NotifyPolicy: "state_changes", Status: "running"},
			telling{"o", "o", "session", "delivered", "state_changes", "running"},
		},
		{"unknown status", task.Task{Runtime: task.CLI, OwnerKey: "o", Status: "asleep"}, telling{"o", "o", "session", "pending", "silent", "queued"}},
	}
	for _, tt := range tests {
		got, err := task.New(tt.in, t0)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := task.Check(got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		g := telling{got.OwnerKey, got.RequesterSessionKey, got.ScopeKind, got.DeliveryStatus, got.NotifyPolicy, got.Status}
		if diff := cmp.Diff(tt.want, g); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	_, err := task.New(task.Task{ScopeKind: task.ScopeSession}, t0)
	if !errors.Is(err, task.ErrOwnerRequired) || err.Error() != "Task ownerKey is required." {
		t.Errorf("no owner: %v", err)
	}
}

func TestNewTimesAndTexts(t *testing.T) {
	got, _ := task.New(task.Task{OwnerKey: "o"}, at(5))
	if !got.CreatedAt.Equal(at(5)) || !got.LastEventAt.Equal(at(5)) || !got.StartedAt.IsZero() {
		t.Errorf("%+v", got)
	}
	got, _ = task.New(task.Task{
		OwnerKey: "o", StartedAt: at(3), Status: task.Succeeded,
		ProgressSummary: " a\n b ", TerminalSummary: " \n ",
	}, at(5))
	if !got.CreatedAt.Equal(at(3)) || !got.LastEventAt.Equal(at(3)) {
		t.Errorf("%+v", got)
	}
	if got.ProgressSummary != "a b" || got.TerminalSummary != "" || got.TerminalOutcome != task.OutcomeSucceeded {
		t.Errorf("%+v", got)
	}
	got, _ = task.New(task.Task{OwnerKey: "o", Status: task.Succeeded, TerminalOutcome: task.OutcomeBlocked}, t0)
	if got.TerminalOutcome != task.OutcomeBlocked {
		t.Errorf("outcome %q", got.TerminalOutcome)
	}
	got, _ = task.New(task.Task{OwnerKey: "o", Status: task.Failed}, t0)
	if got.TerminalOutcome != "" {
		t.Errorf("outcome %q", got.TerminalOutcome)
	}
}

// TestNormalise: -1 is a time that is not set.
func TestNormalise(t *testing.T) {
	tests := []struct {
		name     string
		in, want [4]int // created, started, last event, ended
	}{
		{"in order", [4]int{1, 2, 3, 4}, [4]int{1, 2, 3, 4}},
		{"started before the row", [4]int{5, 3, 6, 7}, [4]int{3, 3, 6, 7}},
		{"ended before it started", [4]int{5, 6, 7, 4}, [4]int{4, 6, 7, 6}},
		{"last event before the start", [4]int{5, 6, 2, -1}, [4]int{2, 6, 6, -1}},
		{"never started", [4]int{5, -1, 4, 9}, [4]int{4, -1, 4, 9}},
		{"only created", [4]int{5, -1, -1, -1}, [4]int{5, -1, -1, -1}},
		{"only ended", [4]int{-1, -1, -1, 5}, [4]int{5, -1, -1, 5}},
	}
	when := func(s int) time.Time {
		if s < 0 {
			return time.Time{}
		}
		return at(s)
	}
	for _, tt := range tests {
		in := task.Task{CreatedAt: when(tt.in[0]), StartedAt: when(tt.in[1]), LastEventAt: when(tt.in[2]), EndedAt: when(tt.in[3])}
		want := task.Task{CreatedAt: when(tt.want[0]), StartedAt: when(tt.want[1]), LastEventAt: when(tt.want[2]), EndedAt: when(tt.want[3])}
		if diff := cmp.Diff(want, task.Normalise(in)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestNormaliseOnce: a row in order stays as it is, and is in the order that
// the audit's inconsistent_timestamps wants (spec/tasks-recovery.md 1.9).
func TestNormaliseOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) time.Time {
			if s := rapid.IntRange(-3, 10).Draw(t, name); s >= 0 {
				return at(s)
			}
			return time.Time{}
		}
		once := task.Normalise(task.Task{CreatedAt: draw("created"), StartedAt: draw("started"), LastEventAt: draw("last"), EndedAt: draw("ended")})
		if diff := cmp.Diff(once, task.Normalise(once)); diff != "" {
			t.Fatal(diff)
		}
		if !once.StartedAt.IsZero() && once.StartedAt.Before(once.CreatedAt) || !once.EndedAt.IsZero() && once.EndedAt.Before(once.StartedAt) {
			t.Fatalf("%+v", once)
		}
	})
}
