package task_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/task"
)

// TestAudit: the table of spec/tasks-recovery.md 1.9; bounds are inclusive.
func TestAudit(t *testing.T) {
	const sec = time.Second
	stamped := at(0).Add(1000 * day)
	tests := []struct {
		name string
		t    task.Task
		age  time.Duration
		want string // severity code, for each finding
	}{
		{"queued 9:59", task.Task{Status: "queued"}, 10*time.Minute - sec, ""},
		{"queued 10:00", task.Task{Status: "queued"}, 10 * time.Minute, "warn stale_queued"},
		{"running 29:59", task.Task{Status: "running"}, 30*time.Minute - sec, ""},
		{"running 30:00", task.Task{Status: "running"}, 30 * time.Minute, "error stale_running"},
		{"lost and kept", task.Task{Status: "lost", EndedAt: at(0), CleanupAfter: at(3600)}, time.Hour - sec, "warn lost"},
		{"lost and past its time", task.Task{Status: "lost", EndedAt: at(0), CleanupAfter: at(3600)}, time.Hour, "error lost"},
		{"lost and not stamped", task.Task{Status: "lost", EndedAt: at(0)}, sec, "error lost"},
		{"delivery failed", task.Task{Status: "failed", EndedAt: at(0), CleanupAfter: stamped, DeliveryStatus: "failed", NotifyPolicy: "done_only"}, sec, "warn delivery_failed"},
		{"delivery of what is silent", task.Task{Status: "failed", EndedAt: at(0), CleanupAfter: stamped, DeliveryStatus: "failed", NotifyPolicy: "silent"}, sec, ""},
		{"delivered", task.Task{Status: "failed", EndedAt: at(0), CleanupAfter: stamped, DeliveryStatus: "delivered", NotifyPolicy: "done_only"}, sec, ""},
		{"no cleanup", task.Task{Status: "succeeded", EndedAt: at(0)}, sec, "warn missing_cleanup"},
		{"cleanup", task.Task{Status: "succeeded", EndedAt: at(0), CleanupAfter: stamped}, 900 * day, ""},
		{"started before it was created", task.Task{Status: "running", StartedAt: at(-1)}, sec, "warn inconsistent_timestamps"},
		{"ended before it started", task.Task{Status: "failed", StartedAt: at(5), EndedAt: at(4), CleanupAfter: stamped}, sec, "warn inconsistent_timestamps"},
		{"active with an end", task.Task{Status: "running", EndedAt: at(0)}, sec, "warn inconsistent_timestamps"},
		{"started in the instant of its creation", task.Task{Status: "running", StartedAt: at(0)}, sec, ""},
		{"a cancel is no finding", task.Task{Status: "cancelled", EndedAt: at(0), CleanupAfter: stamped}, sec, ""},
		{"several", task.Task{Status: "lost", StartedAt: at(-5), DeliveryStatus: "failed", NotifyPolicy: "done_only"}, sec, "error lost, warn delivery_failed, warn inconsistent_timestamps"},
		{"the clock went back", task.Task{Status: "running"}, -day, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.t.ID, tt.t.Slug, tt.t.CreatedAt, tt.t.LastEventAt = "01JE8A", "tide-orbit", at(0), at(0)
			var got []string
			for _, f := range task.Audit(tt.t, task.Known{Keep: week}, at(0).Add(tt.age)) {
				got = append(got, string(f.Severity)+" "+f.Code)
				if f.Kind != "task" || f.Detail == "" || !strings.HasPrefix(f.Hint, "claw ") || f.Token != "tide-orbit" || f.Status != tt.t.Status {
					t.Errorf("%+v", f)
				}
				if *f.AgeMs != max(0, tt.age).Milliseconds() {
					t.Errorf("age %d", *f.AgeMs)
				}
			}
			if g := strings.Join(got, ", "); g != tt.want {
				t.Errorf("%q, want %q", g, tt.want)
			}
		})
	}
}

// TestAuditReference: the age counts from the last event, else the start, else
// the creation.
func TestAuditReference(t *testing.T) {
	row := task.Task{Status: task.Running, CreatedAt: mins(0), StartedAt: mins(10), LastEventAt: mins(20)}
	if found := task.Audit(row, task.Known{}, mins(49)); len(found) != 0 {
		t.Error(found)
	}
	row.LastEventAt = time.Time{}
	if found := task.Audit(row, task.Known{}, mins(40)); len(found) != 1 {
		t.Error(found)
	}
}

// TestAuditHints: each finding names the command that repairs it.
func TestAuditHints(t *testing.T) {
	exec := task.Task{ID: "T", Slug: "tide-orbit", Kind: "exec", CreatedAt: at(0), LastEventAt: at(0)}
	with := func(change func(*task.Task)) task.Task { row := exec; change(&row); return row }
	tests := []struct{ name, hint, detail string }{
		{"stale_queued", "claw tasks cancel tide-orbit", "10m"},
		{"stale_running", "claw process log tide-orbit", "it runs, and may only be quiet"},
		{"lost", "claw tasks show tide-orbit", "backing session missing; kept for another"},
		{"delivery_failed", "claw deliveries retry 01D, or claw tasks notify tide-orbit silent", "channel desktop"},
		{"missing_cleanup", "claw tasks maintenance --apply", "how long it is kept"},
		{"inconsistent_timestamps", "claw tasks maintenance --apply", "it has an end and has not ended"},
	}
	rows := map[string]task.Task{
		"stale_queued":  with(func(t *task.Task) { t.Status = "queued" }),
		"stale_running": with(func(t *task.Task) { t.Status = "running" }),
		"lost":          with(func(t *task.Task) { t.Status, t.EndedAt, t.CleanupAfter = "lost", at(0), at(86400) }),
		"delivery_failed": with(func(t *task.Task) {
			t.Status, t.DeliveryStatus, t.DeliveryID, t.RequesterOrigin = "failed", "failed", "01D", desk
		}),
		"missing_cleanup": with(func(t *task.Task) { t.Status = "failed" }),
		"inconsistent_timestamps": with(func(t *task.Task) {
			t.Status, t.EndedAt = "queued", at(0)
		}),
	}
	for _, tt := range tests {
		ok := false
		for _, f := range task.Audit(rows[tt.name], task.Known{Live: true, Keep: week}, mins(40)) {
			ok = ok || f.Code == tt.name && strings.Contains(f.Hint, tt.hint) && (tt.name == "stale_queued" || strings.Contains(f.Detail, tt.detail))
		}
		if !ok {
			t.Errorf("%s: %+v", tt.name, task.Audit(rows[tt.name], task.Known{Live: true, Keep: week}, mins(40)))
		}
	}
	if len(tests) != len(task.FindCodes()) {
		t.Error("a code without a test")
	}
}

// TestSortFindings: errors before warnings, older ones first, then by
// creation.
func TestSortFindings(t *testing.T) {
	f := func(id string, s task.Severity, age int64, created int) task.Finding {
		return task.Finding{Severity: s, AgeMs: &age, Task: task.Task{ID: id, CreatedAt: at(created)}}
	}
	all := []task.Finding{f("f", "warn", 1, 0), f("d", "warn", 9, 2), f("b", "error", 5, 0), f("e", "warn", 9, 3), f("a", "error", 7, 9), f("c", "warn", 9, 1)}
	task.SortFindings(all)
	var got string
	for _, x := range all {
		got += x.Task.ID
	}
	if got != "abcdef" {
		t.Error(got)
	}
}

// TestAge: spec/tasks-recovery.md 1.7.
func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "fresh", 999 * time.Millisecond: "fresh", time.Second: "1s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m",
		time.Hour: "1h0m", 125 * time.Minute: "2h5m", 24*time.Hour - 1: "23h59m", day: "1d0h", 3*day + 4*time.Hour + 5*time.Minute: "3d4h",
	} {
		if got := task.Age(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// TestSummarise: spec/tasks-recovery.md 1.8; a cancel is no failure.
func TestSummarise(t *testing.T) {
	rows := []task.Task{
		{Status: "queued", Runtime: "acp"},
		{Status: "running", Runtime: "cli"},
		{Status: "running", Runtime: "cron"},
		{Status: "succeeded", Runtime: "cli"},
		{Status: "failed", Runtime: "cli"},
		{Status: "timed_out", Runtime: "cli"},
		{Status: "cancelled", Runtime: "cli"},
		{Status: "lost", Runtime: "cli"},
	}
	want := task.Summary{
		Total: 8, Active: 3, Terminal: 5, Failures: 3,
		ByStatus:  map[task.Status]int{"queued": 1, "running": 2, "succeeded": 1, "failed": 1, "timed_out": 1, "cancelled": 1, "lost": 1},
		ByRuntime: map[task.Runtime]int{"cli": 6, "cron": 1, "acp": 1, "subagent": 0},
	}
	if diff := cmp.Diff(want, task.Summarise(rows)); diff != "" {
		t.Error(diff)
	}
	if s := task.Summarise(nil); len(s.ByStatus) != 7 || len(s.ByRuntime) != 4 {
		t.Errorf("%+v", s)
	}
	age := int64(0)
	found := []task.Finding{{Severity: "error", Code: "lost", AgeMs: &age}, {Severity: "warn", Code: "lost", AgeMs: &age}}
	wantFound := task.FindingSummary{Total: 2, Errors: 1, Warnings: 1, ByCode: map[string]int{"lost": 2, "stale_running": 0}}
	if diff := cmp.Diff(wantFound, task.SummariseFindings(found, []string{"lost", "stale_running"})); diff != "" {
		t.Error(diff)
	}
}

// TestBlocks: spec/tasks-recovery.md 1.12.
func TestBlocks(t *testing.T) {
	for status := range strings.SplitSeq(allStatuses, " ") {
		if got := task.Blocks(task.Task{Status: task.Status(status)}); got != (status == "running") {
			t.Errorf("%s: %v", status, got)
		}
	}
	if task.Blocks(task.Task{Status: task.Running, EndedAt: at(1)}) {
		t.Error("one with an end blocks")
	}
}

// TestSetPolicy: spec/tasks-recovery.md 1.7; nothing moves after the end.
func TestSetPolicy(t *testing.T) {
	row := task.Task{Status: task.Running, NotifyPolicy: task.Silent, LastEventAt: at(1)}
	if got := task.SetPolicy(row, task.DoneOnly, at(9)); got.NotifyPolicy != task.DoneOnly || !got.LastEventAt.Equal(at(9)) {
		t.Errorf("%+v", got)
	}
	if got := task.SetPolicy(row, task.DoneOnly, at(0)); !got.LastEventAt.Equal(at(1)) {
		t.Errorf("back in time: %+v", got)
	}
	row.Status = task.Failed
	if got := task.SetPolicy(row, task.StateChanges, at(9)); got.NotifyPolicy != task.StateChanges || !got.LastEventAt.Equal(at(1)) {
		t.Errorf("%+v", got)
	}
	for want, row := range map[string]task.Task{
		"ended":      {Status: task.Failed, OwnerKey: "o"},
		"automation": {Status: task.Running, Runtime: task.Cron},
		"nobody":     {Status: task.Running, Runtime: task.CLI},
	} {
		if got := task.Untold(row); !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
	if got := task.Untold(task.Task{Status: task.Running, Runtime: task.CLI, RequesterOrigin: desk}); got != "" {
		t.Errorf("%q", got)
	}
}
