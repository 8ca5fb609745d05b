package tasks_test

import (
	"errors"
	"testing"
	"time"

	"claw/runner/control"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/task"
	"claw/state/ulid"
)

func self() process.Identity { return proc.Self() }

// TestCancelRows: what needs no program to be ended; the others are scripts
// with the real one.
func TestCancelRows(t *testing.T) {
	tests := []struct {
		name      string
		setup     func(w *world) (id string)
		cancelled bool
		reason    string
		status    task.Status
	}{
		{"a row that nothing carries out (61610)", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "running"}).ID
		}, true, "", "cancelled"},
		{"one that is queued", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "cli", Status: "queued"}).ID
		}, true, "", "cancelled"},
		{"one that has ended", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon}).ID
		}, false, "Task is already terminal (failed).", "failed"},
		{"one that is lost, and nobody has written it yet", func(w *world) string { return w.command("tide-orbit", false).TaskID }, false, "Task is already terminal (lost).", "running"},
		{"an automation's run that nobody has", func(w *world) string {
			return w.add(time.Second, cron("daily@1", "running", "")).ID
		}, false, "Cron task has no active cancellation handle.", "running"},
		{"an automation's run between two turns", func(w *world) string {
			w.run("daily@1", automation.Running, "")
			return w.add(time.Second, cron("daily@1", "running", "")).ID
		}, false, "Cron task has no active cancellation handle.", "running"},
		{"a child that does not run", func(w *world) string {
			w.session("agent:main:sub:1")
			return w.add(time.Second, task.Task{Runtime: "subagent", ChildSessionKey: "agent:main:sub:1", Status: "running"}).ID
		}, false, "Subagent was not running.", "running"},
		{"a child nobody knows", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "subagent", ChildSessionKey: "agent:main:sub:1", Status: "running"}).ID
		}, false, "Subagent task not found.", "running"},
		{"a child without a session", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "acp", Status: "running"}).ID
		}, false, "Task has no cancellable child session.", "running"},
		{"a mirror (149025)", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "subagent", Kind: "codex-native", Status: "running"}).ID
		}, false, "Task is only a mirror of work that another program carries out.", "running"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			id := tt.setup(w)
			r, err := w.Cancel(t.Context(), id)
			if err != nil || !r.Found || r.Cancelled != tt.cancelled || r.Reason != tt.reason {
				t.Errorf("%+v, %v", r, err)
			}
			row, _ := w.get(id)
			if row.Status != tt.status {
				t.Errorf("written: %s", row.Status)
			}
			if tt.cancelled && (row.Error != "Cancelled by operator." || row.CleanupAfter.IsZero() || !row.EndedAt.Equal(noon)) {
				t.Errorf("%+v", row)
			}
		})
	}
}

func TestCancelUnknown(t *testing.T) {
	w := newWorld(t)
	w.command("tide-orbit", true)
	_, err := w.Cancel(t.Context(), "nothing-here")
	if r, ok := errors.AsType[*control.Refused](err); !ok || r.Kind != control.Missing || r.Remedy == "" {
		t.Error(err)
	}
}

// TestCancelLosesTheRace: what ended while it was told to end keeps its end
// (144949); what does not end in time is not called cancelled (118358).
func TestCancelLosesTheRace(t *testing.T) {
	w := newWorld(t)
	w.Patience = 1 // nanosecond: one look
	p := w.command("tide-orbit", true)
	r, err := w.Cancel(t.Context(), "tide-orbit")
	if err != nil || r.Cancelled || r.Reason != task.ReasonPending {
		t.Fatalf("it holds its life-line: %+v, %v", r, err)
	}
	code := 0
	w.update(func(tx *state.Tx) error {
		_, err := settle.Conclude(tx, p.ID, settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: noon})
		return err
	})
	r, err = w.Cancel(t.Context(), "tide-orbit")
	if err != nil || r.Cancelled || r.Reason != "Task is already terminal (succeeded)." {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNotify: spec/tasks-recovery.md 1.7.
func TestNotify(t *testing.T) {
	w := newWorld(t)
	p := w.command("tide-orbit", true)
	w.clock.Advance(time.Minute)
	row, err := w.Notify(t.Context(), "tide-orbit", task.StateChanges)
	stored, _ := w.get(p.TaskID)
	if err != nil || row.NotifyPolicy != task.StateChanges || stored.NotifyPolicy != task.StateChanges || !stored.LastEventAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v, %v", stored, err)
	}
	before := w.position()
	if _, err := w.Notify(t.Context(), "tide-orbit", task.StateChanges); err != nil || w.position() != before {
		t.Errorf("the same again: %v", err)
	}
	if _, err := w.Notify(t.Context(), "nothing-here", task.Silent); err == nil {
		t.Error("an unknown task")
	}
}

// TestFind: names are those of package task; several are told apart.
func TestFind(t *testing.T) {
	w := newWorld(t)
	a, b := w.command("tide-orbit", true), w.command("tide-reef", true)
	for query, want := range map[string]string{"tide-orbit": a.TaskID, "tide-r": b.TaskID, a.TaskID: a.TaskID, b.ID: b.TaskID} {
		if got, err := w.Find(query); err != nil || got.ID != want {
			t.Errorf("%s: %s, %v", query, got.ID, err)
		}
	}
	_, err := w.Find("tide")
	if r, ok := errors.AsType[*control.Refused](err); !ok || r.Kind != control.Invalid || r.Text != `"tide" fits tide-orbit, tide-reef` {
		t.Error(err)
	}
}

// TestList: filters, order, counts.
func TestList(t *testing.T) {
	w := newWorld(t)
	list, err := w.List(tasks.Filter{})
	if err != nil || list.Tasks == nil || list.Status != nil || list.Runtime != nil {
		t.Errorf("empty: %+v, %v", list, err)
	}
	old := w.add(time.Hour, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon})
	newer := w.add(time.Minute, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon})
	w.add(time.Second, task.Task{Runtime: "acp", Status: "running"})
	list, err = w.List(tasks.Filter{Status: "failed", Runtime: "cli", Limit: 1})
	if err != nil || list.Count != 1 || list.Total != 2 || list.Tasks[0].ID != newer.ID || *list.Status != "failed" || *list.Runtime != "cli" || list.Summary.Total != 3 {
		t.Errorf("%+v, %v (not %s)", list, err, old.ID)
	}
}

// TestAuditFilters: spec/tasks-recovery.md 1.7; the summary ignores them.
func TestAuditFilters(t *testing.T) {
	w := newWorld(t)
	w.command("tide-orbit", true)
	w.command("amber-reef", true)
	w.add(time.Minute, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon})
	w.clock.Advance(31 * time.Minute)
	for _, tt := range []struct {
		f                          tasks.AuditFilter
		count, filtered, displayed int
	}{
		{tasks.AuditFilter{}, 3, 3, 3},
		{tasks.AuditFilter{Severity: "error"}, 3, 2, 2},
		{tasks.AuditFilter{Severity: "error", Limit: 1}, 3, 2, 1},
		{tasks.AuditFilter{Code: "missing_cleanup"}, 3, 1, 1},
		{tasks.AuditFilter{Code: "lost"}, 3, 0, 0},
	} {
		a, err := w.Audit(tt.f)
		if err != nil || a.Count != tt.count || a.FilteredCount != tt.filtered || a.Displayed != tt.displayed || len(a.Findings) != tt.displayed {
			t.Errorf("%+v: %+v, %v", tt.f, a, err)
		}
		if a.Summary.Errors != 2 || a.Summary.Warnings != 1 || a.Summary.Combined.Total != 3 || a.Findings == nil {
			t.Errorf("%+v", a.Summary)
		}
	}
}
