package flow_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/flow"
	"claw/state/task"
)

// TestAudit: the table of spec/tasks-recovery.md 1.9, with its bounds.
func TestAudit(t *testing.T) {
	const half = 30 * time.Minute
	bare := func(s flow.Status, change ...func(f *flow.Flow)) flow.Flow {
		f := made(t)
		f.Status = s
		for _, c := range change {
			c(&f)
		}
		return f
	}
	waits := func(f *flow.Flow) { f.WaitJSON = json.RawMessage("1") }
	wish := func(f *flow.Flow) { f.CancelRequestedAt = noon }
	ended := func(f *flow.Flow) { f.EndedAt = noon }
	running := []task.Task{child("1", "running")}
	done := []task.Task{child("1", "succeeded")}
	for _, tt := range []struct {
		name   string
		f      flow.Flow
		linked []task.Task
		age    time.Duration
		want   []string // severity and code
	}{
		{"running, 29:59", bare("running"), running, half - time.Second, nil},
		{"running, 30:00", bare("running"), running, half, []string{"error stale_running"}},
		{"waiting, 29:59", bare("waiting", waits), nil, half - time.Second, nil},
		{"waiting, 30:00", bare("waiting", waits), nil, half, []string{"warn stale_waiting"}},
		{"blocked, 30:00", bare("blocked", func(f *flow.Flow) { f.BlockedSummary = "x" }), nil, half, []string{"warn stale_blocked"}},
		{"blocked with an end", bare("blocked", ended), nil, half, nil},
		{"ended", bare("succeeded", ended), nil, half, nil},
		{"queued", bare("queued"), running, half, nil},
		{"running, without a task", bare("running"), nil, half, []string{"error stale_running", "error missing_linked_tasks"}},
		{"running, with one that has ended", bare("running"), done, half, []string{"error stale_running"}},
		{"waiting for nothing", bare("waiting"), nil, half, []string{"warn stale_waiting", "warn missing_linked_tasks"}},
		{"queued, without a task", bare("queued"), nil, half, []string{"warn missing_linked_tasks"}},
		{"mirrored, without a task", bare("running", func(f *flow.Flow) { f.SyncMode = flow.Mirrored }), nil, half, []string{"error stale_running"}},
		{"to be cancelled, 4:59", bare("running", wish), nil, 5*time.Minute - time.Second, nil},
		{"to be cancelled, 5:00", bare("running", wish), nil, 5 * time.Minute, []string{"warn cancel_stuck"}},
		{"to be cancelled, with a child", bare("running", wish), running, 5 * time.Minute, nil},
		{"cancelled (117713)", bare("cancelled", wish, ended), nil, half, nil},
		{"blocked by a task that is not its own (143739)", bare("blocked", func(f *flow.Flow) { f.BlockedTaskID = "2" }), done, 0, []string{"warn blocked_task_missing"}},
		{"blocked by one of its own", bare("blocked", func(f *flow.Flow) { f.BlockedTaskID = "1" }), done, 0, nil},
		{"failed, and blocked by a stranger", bare("failed", ended, func(f *flow.Flow) { f.BlockedTaskID = "2" }), done, 0, nil},
		{"changed before it was made", bare("running", func(f *flow.Flow) { f.UpdatedAt = noon.Add(-1) }), nil, 0, []string{"warn inconsistent_timestamps"}},
		{"ended before it was made", bare("failed", func(f *flow.Flow) { f.EndedAt = noon.Add(-1) }), nil, 0, []string{"warn inconsistent_timestamps"}},
		{"changed after its end", bare("failed", ended, func(f *flow.Flow) { f.UpdatedAt = noon.Add(1) }), nil, 0, []string{"warn inconsistent_timestamps"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, x := range flow.Audit(tt.f, tt.linked, noon.Add(tt.age)) {
				got = append(got, string(x.Severity)+" "+x.Code)
				if x.Hint == "" || x.Detail == "" || !slices.Contains(flow.FindCodes(), x.Code) {
					t.Errorf("%+v has no hint, no words or no code", x)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if x := flow.RestoreFailed(errors.New("no such file")); x.Code != "restore_failed" || x.Severity != task.SeverityError {
		t.Errorf("%+v", x)
	}
}

// TestMaintain: spec/tasks-recovery.md 3.6, 3.7.
func TestMaintain(t *testing.T) {
	ended := func(s flow.Status, age time.Duration) flow.Flow {
		f := full(t, s)
		f.EndedAt = noon.Add(-age)
		f.CreatedAt, f.UpdatedAt = f.EndedAt, f.EndedAt
		return f
	}
	wish := full(t, "waiting")
	wish.CancelRequestedAt = noon
	mirrored := flow.FromTask(child("1", "running"), "01FLOW")
	follows := mirrored
	follows.Status, follows.EndedAt, follows.UpdatedAt = "succeeded", noon.Add(time.Minute), noon.Add(time.Hour)
	owes := ended("succeeded", week)
	owes.StateJSON = json.RawMessage(`{"obligation":{"tell":"me"}}`)
	long := 10 * 24 * time.Hour
	for _, tt := range []struct {
		name   string
		f      flow.Flow
		linked []task.Task
		keep   time.Duration
		act    flow.Act
		status flow.Status
	}{
		{"in order", full(t, "running"), nil, week, "", "running"},
		{"to be cancelled, and nothing goes on", wish, []task.Task{child("1", "lost")}, week, "reconciled", "cancelled"},
		{"to be cancelled, with a child", wish, []task.Task{child("1", "queued")}, week, "", "waiting"},
		{"its task was lost (92285)", mirrored, []task.Task{child("1", "lost")}, week, "reconciled", "lost"},
		{"its task runs", mirrored, []task.Task{child("1", "running")}, week, "", "running"},
		{"its task is gone", mirrored, nil, week, "reconciled", "lost"},
		{"changed after its end", follows, []task.Task{child("1", "succeeded")}, week, "reconciled", "succeeded"},
		{"6 days, 23:59:59", ended("succeeded", week-time.Second), nil, week, "", "succeeded"},
		{"7 days", ended("succeeded", week), nil, week, "pruned", "succeeded"},
		{"7 days, kept for 10", ended("failed", week), nil, long, "", "failed"},
		{"10 days, kept for 10", ended("failed", long), nil, long, "pruned", "failed"},
		{"7 days, kept for one", ended("failed", week), nil, week / 7, "pruned", "failed"},
		{"for ever", ended("lost", 52*week), nil, 0, "", "lost"},
		{"with a child that goes on", ended("succeeded", week), []task.Task{child("1", "running")}, week, "", "succeeded"},
		{"something is owed", owes, nil, week, "", "succeeded"},
		{"blocked with an end", ended("blocked", week), nil, week, "pruned", "blocked"},
		{"blocked, and can be gone on with (117606)", func() flow.Flow { f := ended("blocked", 52*week); f.EndedAt = time.Time{}; return f }(), nil, week, "", "blocked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := flow.Maintain(tt.f, tt.linked, tt.keep, noon)
			if u.Act != tt.act || u.After.Status != tt.status {
				t.Errorf("%q %s, want %q %s", u.Act, u.After.Status, tt.act, tt.status)
			}
			want := tt.f.Revision
			if tt.act == flow.ActReconcile {
				want++
				if again := flow.Maintain(u.After, tt.linked, tt.keep, noon); again.Act == flow.ActReconcile {
					t.Errorf("twice: %+v", again)
				}
			}
			if u.After.Revision != want {
				t.Errorf("revision %d, want %d", u.After.Revision, want)
			}
			if v := flow.View(tt.f, tt.linked, noon); v.Revision != tt.f.Revision || v.Status != tt.status {
				t.Errorf("shown as %s at %d", v.Status, v.Revision)
			}
		})
	}
}

func TestOwes(t *testing.T) {
	for state, want := range map[string]bool{
		"": false, "1": false, "{}": false, `[{"obligation":1}]`: false, `{"obligation":null}`: false, `{"obligation":false}`: false,
		`{"obligations":[]}`: false, `{"obligations":{}}`: false, `{"obligation":""}`: false,
		`{"obligation":"tell me"}`: true, `{"obligations":["x"]}`: true, `{"obligation":true}`: true, `{"a":1,"obligation":{"x":1}}`: true,
	} {
		if got := flow.Owes(flow.Flow{StateJSON: json.RawMessage(state)}); got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
}

// TestCount: the wish of a flow that has ended is no longer pending (117713).
func TestCount(t *testing.T) {
	wish := full(t, "waiting")
	wish.CancelRequestedAt = noon
	over := flow.Close(wish, noon)
	got := flow.Count([]flow.Flow{full(t, "queued"), full(t, "running"), wish, over, full(t, "blocked"), full(t, "failed")})
	if want := (flow.Counts{Active: 3, Blocked: 1, Cancelled: 1, Total: 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
