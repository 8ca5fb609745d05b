package tasks_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/runner/poke"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/process"
	"claw/state/task"
	"claw/state/ulid"
)

// TestWhatIsThere: a list shows each row as it really is, a preview says what
// apply does, apply does it once (spec/tasks-recovery.md 1.7, 1.10, 8).
func TestWhatIsThere(t *testing.T) {
	const agoLong = time.Hour
	tests := []struct {
		name  string
		setup func(w *world) (id string)
		shown task.Status
		act   task.Act
		code  task.Code
	}{
		{"a command that runs", func(w *world) string { return w.command("tide-orbit", true).TaskID }, "running", "", ""},
		{"its supervisor died", func(w *world) string { return w.command("tide-orbit", false).TaskID }, "lost", "reconciled", "owner_gone"},
		{"its row is gone, and its supervisor works", func(w *world) string {
			p := w.command("tide-orbit", true)
			w.forget(p)
			w.clock.Advance(agoLong)
			return p.TaskID
		}, "running", "", ""},
		{"its row is gone, and its supervisor lives without a life-line", func(w *world) string {
			p := w.command("tide-orbit", false)
			w.forget(p)
			w.clock.Advance(agoLong)
			return p.TaskID // this test is its supervisor, by the identity
		}, "running", "", ""},
		{"its row is gone, and its supervisor too", func(w *world) string {
			return w.add(time.Second, task.Task{Runtime: "cli", Kind: "exec", RunID: ulid.New(noon), Status: "running", Executor: gone()}).ID
		}, "lost", "reconciled", "owner_gone"},
		{"nobody knows, 4:59", func(w *world) string {
			return w.add(5*time.Minute-time.Second, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "running"}).ID
		}, "running", "", ""},
		{"nobody knows, 5:00", func(w *world) string {
			return w.add(5*time.Minute, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "running"}).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"an executor on another machine", func(w *world) string {
			return w.add(time.Minute, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "running", Executor: foreign()}).ID
		}, "running", "", ""},
		{"an executor on another machine, after the grace", func(w *world) string {
			return w.add(agoLong, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "running", Executor: foreign()}).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"queued, and nobody takes it", func(w *world) string {
			return w.add(agoLong, task.Task{Runtime: "cli", RunID: ulid.New(noon), Status: "queued"}).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"an automation's run that goes on", func(w *world) string {
			w.run("daily@1", automation.Running, "")
			return w.add(agoLong, cron("daily@1", "running", "")).ID
		}, "running", "", ""},
		{"an automation's run that ended (63196)", func(w *world) string {
			w.run("daily@1", automation.Succeeded, "")
			return w.add(agoLong, cron("daily@1", "running", "")).ID
		}, "succeeded", "recovered", "durable_history"},
		{"a run that timed out", func(w *world) string {
			w.run("daily@1", automation.TimedOut, "too slow")
			return w.add(time.Second, cron("daily@1", "running", "")).ID
		}, "timed_out", "recovered", "durable_history"},
		{"a lost one whose run is on record (86088)", func(w *world) string {
			w.run("daily@1", automation.Failed, "exit 2")
			return w.add(time.Second, cron("daily@1", "lost", "backing session missing")).ID
		}, "failed", "recovered", "durable_history"},
		{"an otherwise lost one is left alone", func(w *world) string {
			w.run("daily@1", automation.Failed, "exit 2")
			return w.add(time.Second, stamped(cron("daily@1", "lost", "the machine went down"))).ID
		}, "lost", "", ""},
		{"a run of which nothing is left", func(w *world) string {
			return w.add(agoLong, cron("daily@1", "running", "")).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"while a runner is at work, he may know more", func(w *world) string {
			w.update(func(*state.Tx) error { return nil })
			unlock, ok, err := state.TryLock(poke.Lock(w.Store.Dir()))
			if !ok || err != nil {
				w.t.Fatal(ok, err)
			}
			w.t.Cleanup(unlock)
			return w.add(agoLong, cron("daily@1", "running", "")).ID
		}, "running", "", ""},
		{"a child whose session is there", func(w *world) string {
			w.session("agent:main:sub:1")
			return w.add(agoLong, task.Task{Runtime: "subagent", ChildSessionKey: "agent:main:sub:1", Status: "running"}).ID
		}, "running", "", ""},
		{"a child whose session is gone", func(w *world) string {
			return w.add(agoLong, task.Task{Runtime: "subagent", ChildSessionKey: "agent:main:sub:1", Status: "running"}).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"a wedged child", func(w *world) string {
			w.Wedged = func(*state.Tx, string) (string, error) { return "resumed three times", nil }
			w.session("agent:main:sub:1")
			return w.add(agoLong, task.Task{Runtime: "subagent", ChildSessionKey: "agent:main:sub:1", Status: "running"}).ID
		}, "lost", "reconciled", "subagent_recovery_wedged"},
		{"acp, whose session proves nothing", func(w *world) string {
			w.session("agent:main:acp:1")
			return w.add(agoLong, task.Task{Runtime: "acp", ChildSessionKey: "agent:main:acp:1", Status: "running"}).ID
		}, "lost", "reconciled", "backing_session_missing"},
		{"ended, and kept", func(w *world) string {
			return w.add(time.Hour, stamped(task.Task{Runtime: "cli", Status: "failed", EndedAt: noon})).ID
		}, "failed", "", ""},
		{"ended, without a stamp", func(w *world) string {
			return w.add(time.Hour, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon}).ID
		}, "failed", "cleanupStamped", ""},
		{"past its time", func(w *world) string {
			return w.add(8*day, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon.Add(-week)}).ID
		}, "failed", "pruned", ""},
		{"lost for a day, however it is stamped", func(w *world) string {
			return w.add(2*day, task.Task{Runtime: "cli", Status: "lost", EndedAt: noon.Add(-day), CleanupAfter: noon.Add(week)}).ID
		}, "lost", "pruned", ""},
		{"times that cannot be", func(w *world) string {
			return w.add(time.Hour, stamped(task.Task{Runtime: "cli", Status: "failed", CreatedAt: noon, StartedAt: noon.Add(-time.Hour), EndedAt: noon, LastEventAt: noon})).ID
		}, "failed", "normalised", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			id := tt.setup(w)
			before := w.position()
			if got := w.status(id); got != tt.shown {
				t.Errorf("shown as %s, want %s", got, tt.shown)
			}
			preview := w.maintain(false)
			if _, err := w.Audit(tasks.AuditFilter{}); err != nil {
				t.Error(err)
			}
			if w.position() != before {
				t.Fatal("looking has written")
			}
			var want []string
			if tt.act != "" {
				want = []string{string(tt.act) + " " + string(tt.code)}
			}
			var got []string
			for _, c := range preview.Changes {
				got = append(got, string(c.Act)+" "+string(c.Code))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			applied := w.maintain(true)
			if diff := cmp.Diff(preview.Changes, applied.Changes); diff != "" {
				t.Errorf("the preview and the real run differ: %s", diff)
			}
			if diff := cmp.Diff(preview.AuditAfter, applied.AuditAfter); diff != "" {
				t.Errorf("so do their audits: %s", diff)
			}
			if diff := cmp.Diff(preview.Tasks, applied.Tasks); diff != "" {
				t.Errorf("and their counts: %s", diff)
			}
			row, ok := w.get(id)
			if ok == (tt.act == task.ActPrune) || ok && row.Status != tt.shown {
				t.Errorf("written: %v %s", ok, row.Status)
			}
			if (w.position() != before) != (tt.act != "") {
				t.Error("nothing to do has written, or something has not")
			}
			done := w.position()
			if again := w.maintain(true); len(again.Changes) > 0 || w.position() != done {
				t.Errorf("again: %+v", again.Changes)
			}
			if after, _ := w.get(id); !cmp.Equal(row, after) {
				t.Errorf("the second time: %s", cmp.Diff(row, after))
			}
		})
	}
}

func cron(run string, s task.Status, message string) task.Task {
	t := task.Task{Runtime: "cron", Kind: "automation", SourceID: "daily", RunID: run, Status: s, Error: message}
	if s == task.Lost {
		t.EndedAt = noon
	}
	return t
}

func stamped(t task.Task) task.Task {
	t.CleanupAfter = noon.Add(time.Hour)
	return t
}

// gone is a process of this boot that is not there; foreign one of another
// machine.
func gone() *task.Executor {
	e := task.Executor{Identity: self()}
	e.Start++
	return &e
}

func foreign() *task.Executor {
	return &task.Executor{Host: "another machine", Identity: process.Identity{Boot: "its boot", PID: 1, Start: 1}}
}

// TestLostIsTold: whoever waits for a task hears that it is lost, once (2.2).
func TestLostIsTold(t *testing.T) {
	const owner = "agent:main:main"
	base := task.Task{Runtime: "cli", Kind: "exec", Label: "build", RunID: ulid.New(noon), OwnerKey: owner, ScopeKind: "session", Status: "running"}
	with := func(change func(*task.Task)) task.Task { row := base; change(&row); return row }
	tests := []struct {
		name   string
		row    task.Task
		status task.DeliveryStatus
		event  string // begins so
		sent   string
	}{
		{"a command of a session", base, "session_queued", "Background task lost: build", ""},
		{"with somebody to be told directly", with(func(t *task.Task) {
			t.NotifyPolicy, t.RequesterOrigin = "done_only", delivery.Route{Channel: "desktop"}
		}), "pending", "", "Background task lost: build"},
		{"done_only without an origin", with(func(t *task.Task) { t.NotifyPolicy = "done_only" }), "session_queued", "Background task lost: build", ""},
		{"an automation's is silent", with(func(t *task.Task) { t.Runtime, t.Kind, t.OwnerKey, t.ScopeKind = "cron", "automation", "", "system" }), "pending", "", ""},
		{"nobody's", with(func(t *task.Task) { t.OwnerKey, t.ScopeKind = "", "system" }), "pending", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			id := w.add(time.Hour, tt.row).ID
			for range 2 {
				w.maintain(true)
			}
			row, _ := w.get(id)
			if row.Status != task.Lost || row.DeliveryStatus != tt.status {
				t.Errorf("%s %s", row.Status, row.DeliveryStatus)
			}
			if got := strings.Join(w.events(owner), "|"); !strings.HasPrefix(got, tt.event) || tt.event == "" && got != "" || strings.Contains(got, "|") {
				t.Errorf("events %q", got)
			}
			if got := strings.Join(w.deliveries(row), "|"); !strings.HasPrefix(got, tt.sent) || tt.sent == "" && got != "" || strings.Contains(got, "|") {
				t.Errorf("deliveries %q", got)
			}
		})
	}
}

// deliveries are the texts that are to be sent about row, which knows them.
func (w *world) deliveries(row task.Task) (texts []string) {
	w.t.Helper()
	err := w.Store.View(func(tx *state.Tx) error {
		all, err := state.Deliveries.All(tx)
		for _, d := range all {
			if d.Rec.Source.TaskID != row.ID || d.ID != row.DeliveryID {
				return errors.New("the task and its delivery do not know each other")
			}
			texts = append(texts, d.Rec.Text)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return texts
}

// TestDeadSupervisorIsToldOnce: maintenance settles it as everybody else does,
// with its completion.
func TestDeadSupervisorIsToldOnce(t *testing.T) {
	w := newWorld(t)
	p := w.command("tide-orbit", false)
	w.maintain(true)
	w.maintain(true)
	row, _ := w.get(p.TaskID)
	if row.Status != task.Lost || row.DeliveryStatus != task.DeliverySessionQueued || len(w.events(p.Session)) != 1 {
		t.Errorf("%s %s %v", row.Status, row.DeliveryStatus, w.events(p.Session))
	}
}

// TestArchive: what was lost stays in the ledger until its day is over, and
// goes with the sweep of a tick; what has ended otherwise is found in the
// archive.
func TestArchive(t *testing.T) {
	w := newWorld(t)
	lost := w.add(2*time.Hour, task.Task{Runtime: "cli", Status: "lost", EndedAt: noon.Add(-2 * time.Hour), CleanupAfter: noon.Add(22 * time.Hour)})
	failed := w.add(2*time.Hour, task.Task{Runtime: "cli", Status: "failed", EndedAt: noon.Add(-2 * time.Hour), CleanupAfter: noon.Add(6 * day)})
	checkpoint := func() {
		if err := w.Store.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint()
	if list, _ := w.List(tasks.Filter{}); len(list.Tasks) != 1 || list.Tasks[0].ID != lost.ID {
		t.Fatalf("in the ledger: %+v", list.Tasks)
	}
	for _, id := range []string{lost.ID, failed.ID} {
		if _, err := w.Find(id); err != nil {
			t.Error(err)
		}
	}
	w.clock.Advance(22*time.Hour - time.Second)
	if done, err := w.Sweep(t.Context()); len(done) != 0 || err != nil {
		t.Errorf("before its time: %+v, %v", done, err)
	}
	w.clock.Advance(time.Second)
	if done, err := w.Sweep(t.Context()); len(done) != 1 || done[0].Act != task.ActPrune || err != nil {
		t.Errorf("at its time: %+v, %v", done, err)
	}
	checkpoint()
	if _, ok := w.get(lost.ID); ok {
		t.Error("it is still there")
	}
	if _, ok := w.get(failed.ID); !ok {
		t.Error("another is gone")
	}
	w.clock.Advance(6 * day)
	if r := w.maintain(true); r.Maintenance.Tasks.Pruned != 1 {
		t.Errorf("in the archive: %+v", r.Maintenance)
	}
	checkpoint()
	if r := w.maintain(true); len(r.Changes) != 0 || r.Tasks.Total != 0 {
		t.Errorf("again: %+v", r)
	}
}

// TestAuthority: whoever holds runner.lock himself knows of every run.
func TestAuthority(t *testing.T) {
	w := newWorld(t)
	id := w.add(time.Hour, cron("daily@1", "running", "")).ID
	unlock, ok, err := state.TryLock(poke.Lock(w.Store.Dir()))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer unlock()
	if done, err := w.Sweep(t.Context()); len(done) != 0 || err != nil {
		t.Errorf("beside the runner: %+v, %v", done, err)
	}
	w.Authority = true
	if done, err := w.Sweep(t.Context()); len(done) != 1 || done[0].TaskID != id || err != nil {
		t.Errorf("as the runner: %+v, %v", done, err)
	}
}
