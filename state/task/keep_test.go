package task_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/task"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// TestExpires: spec/tasks-recovery.md 1.11.
func TestExpires(t *testing.T) {
	tests := []struct {
		name string
		t    task.Task
		keep time.Duration
		want time.Time
	}{
		{"seven days after the end", task.Task{Status: "failed", CreatedAt: at(0), LastEventAt: at(2), EndedAt: at(3)}, week, at(3).Add(week)},
		{"else after the last event", task.Task{Status: "cancelled", CreatedAt: at(0), LastEventAt: at(2)}, week, at(2).Add(week)},
		{"else after the creation", task.Task{Status: "succeeded", CreatedAt: at(0)}, week, at(0).Add(week)},
		{"lost: a day", task.Task{Status: "lost", EndedAt: at(3)}, week, at(3).Add(day)},
		{"a stamp counts", task.Task{Status: "failed", EndedAt: at(3), CleanupAfter: at(100)}, week, at(100)},
		{"on a lost row, if it is not too late", task.Task{Status: "lost", EndedAt: at(3), CleanupAfter: at(100)}, week, at(100)},
		{"a too long one on a lost row does not", task.Task{Status: "lost", EndedAt: at(3), CleanupAfter: at(3).Add(week)}, week, at(3).Add(day)},
		{"longer by configuration", task.Task{Status: "failed", EndedAt: at(3), CleanupAfter: at(3).Add(week)}, 30 * day, at(3).Add(30 * day)},
		{"shorter is the archive's business", task.Task{Status: "failed", EndedAt: at(3), CleanupAfter: at(3).Add(week)}, day, at(3).Add(week)},
		{"for ever", task.Task{Status: "failed", EndedAt: at(3), CleanupAfter: at(3).Add(week)}, 0, time.Time{}},
		{"lost ones all the same", task.Task{Status: "lost", EndedAt: at(3)}, 0, at(3).Add(day)},
		{"running: never", task.Task{Status: "running", CreatedAt: at(0), CleanupAfter: at(1)}, week, time.Time{}},
		{"queued: never", task.Task{Status: "queued", CreatedAt: at(0)}, week, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := task.Expires(tt.t, tt.keep)
			if !got.Equal(tt.want) {
				t.Fatalf("%v, want %v", got, tt.want)
			}
			if got.IsZero() {
				if task.Expired(tt.t, tt.keep, at(0).Add(1000*day)) {
					t.Error("it has expired")
				}
				return
			}
			if task.Expired(tt.t, tt.keep, got.Add(-1)) || !task.Expired(tt.t, tt.keep, got) {
				t.Error("the bound belongs to what has expired")
			}
		})
	}
}

// TestSurplus: the newest 2,000 of an automation and class.
func TestSurplus(t *testing.T) {
	var rows []task.Task
	add := func(n int, job string, s task.Status, r task.Runtime) {
		for range n {
			i := len(rows)
			rows = append(rows, task.Task{ID: fmt.Sprintf("%06d", i), Runtime: r, SourceID: job, Status: s, CreatedAt: at(i)})
		}
	}
	add(2003, "a", "succeeded", "cron") // 0…2002
	add(2001, "a", "lost", "cron")      // 2003…4003
	add(2000, "b", "failed", "cron")
	add(2100, "a", "succeeded", "cli")
	add(2100, "a", "running", "cron")
	add(2100, "", "failed", "cron")
	if diff := cmp.Diff([]int{0, 1, 2, 2003}, task.Surplus(rows)); diff != "" {
		t.Error(diff)
	}
	slices.Reverse(rows)
	if got := task.Surplus(rows); len(got) != 4 || rows[got[3]].ID != "000000" {
		t.Errorf("in another order: %v", got)
	}
}

// TestMaintain: one act a row, in the order of spec/tasks-recovery.md 1.10:
// recovery, lost, prune, stamp.
func TestMaintain(t *testing.T) {
	now := at(0).Add(30 * day)
	kept := now.Add(time.Hour)
	cron := task.Task{Runtime: "cron", RunID: "a@1", CreatedAt: at(0)}
	with := func(base task.Task, change func(*task.Task)) task.Task { change(&base); return base }
	tests := []struct {
		name string
		t    task.Task
		e    task.Evidence
		want task.Act
	}{
		{"the record of its end comes first", with(cron, func(t *task.Task) { t.Status, t.Error, t.EndedAt = "lost", task.MissingError, at(1) }), task.Evidence{History: &task.End{Status: "succeeded", At: at(5)}}, "recovered"},
		{"lost", with(cron, func(t *task.Task) { t.Status = "running" }), task.Evidence{}, "reconciled"},
		{"past its time", with(cron, func(t *task.Task) { t.Status, t.EndedAt = "failed", at(1) }), task.Evidence{}, "pruned"},
		{"lost and past its time", with(cron, func(t *task.Task) { t.Status, t.EndedAt = "lost", now.Add(-day) }), task.Evidence{}, "pruned"},
		{"not stamped", with(cron, func(t *task.Task) { t.Status, t.EndedAt = "failed", now.Add(-time.Hour) }), task.Evidence{}, "cleanupStamped"},
		{"stamped", with(cron, func(t *task.Task) { t.Status, t.EndedAt, t.CleanupAfter = "failed", now.Add(-time.Hour), kept }), task.Evidence{}, ""},
		{"times that cannot be", with(cron, func(t *task.Task) {
			t.Status, t.CreatedAt, t.StartedAt, t.EndedAt, t.CleanupAfter = "failed", now, now.Add(-time.Hour), now, kept
		}), task.Evidence{}, "normalised"},
		{"it runs and has an end", with(cron, func(t *task.Task) { t.Status, t.EndedAt = "running", at(9) }), task.Evidence{Live: true}, "normalised"},
		{"it runs", with(cron, func(t *task.Task) { t.Status = "running" }), task.Evidence{Live: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := task.Maintain(tt.t, tt.e, week, now)
			if u.Act != tt.want {
				t.Fatalf("%q, want %q", u.Act, tt.want)
			}
			if u.Act == task.ActPrune || u.Act == task.ActNone {
				return
			}
			if found := task.Audit(u.After, task.Known{Live: tt.e.Live, Keep: week}, u.After.CreatedAt); len(found) != 0 && found[0].Code != task.FindLost {
				t.Errorf("what is left to find: %+v", found)
			}
			if again := task.Maintain(u.After, tt.e, 0, now); again.Act != task.ActNone {
				t.Errorf("again: %q", again.Act)
			}
		})
	}
}
