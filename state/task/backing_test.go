package task_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/process"
	"claw/state/task"
)

// TestLifeOf: spec/tasks-recovery.md 1.13; unknown is not dead.
func TestLifeOf(t *testing.T) {
	who := &task.Executor{Host: "here", Identity: process.Identity{Boot: "b7", PID: 4711, Start: 99}}
	nowhere := &task.Executor{Identity: who.Identity}
	timeless := &task.Executor{Host: "here", Identity: process.Identity{PID: 4711, Start: 99}}
	tests := []struct {
		name string
		e    *task.Executor
		s    task.Seen
		want task.Life
	}{
		{"it is there", who, task.Seen{Host: "here", Boot: "b7", Readable: true, Found: true, Start: 99}, "alive"},
		{"nobody has the pid", who, task.Seen{Host: "here", Boot: "b7", Readable: true}, "gone"},
		{"somebody else has it", who, task.Seen{Host: "here", Boot: "b7", Readable: true, Found: true, Start: 100}, "gone"},
		{"the machine came up anew", who, task.Seen{Host: "here", Boot: "b8", Readable: true, Found: true, Start: 99}, "gone"},
		{"which needs no look", who, task.Seen{Host: "here", Boot: "b8"}, "gone"},
		{"another machine", who, task.Seen{Host: "there", Boot: "b8", Readable: true}, "unknown"},
		{"another machine that says the same boot", who, task.Seen{Host: "there", Boot: "b7", Readable: true}, "unknown"},
		{"a machine that does not say which, another boot", who, task.Seen{Boot: "b8", Readable: true}, "unknown"},
		{"the same boot is the same machine", nowhere, task.Seen{Host: "here", Boot: "b7", Readable: true}, "gone"},
		{"another boot without a machine", nowhere, task.Seen{Host: "here", Boot: "b8", Readable: true}, "unknown"},
		{"nothing is to be seen", who, task.Seen{Host: "here", Boot: "b7"}, "unknown"},
		{"a machine without boots, gone", timeless, task.Seen{Host: "here", Readable: true}, "gone"},
		{"a machine without boots, there", timeless, task.Seen{Host: "here", Readable: true, Found: true, Start: 99}, "alive"},
		{"no identity", nil, task.Seen{Host: "here", Boot: "b7", Readable: true}, "unknown"},
		{"no pid", &task.Executor{Host: "here", Identity: process.Identity{Boot: "b7"}}, task.Seen{Host: "here", Boot: "b7", Readable: true}, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := task.LifeOf(tt.e, tt.s); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

const kid = "agent:main:sub:1"

// TestJudge: the table of spec/tasks-recovery.md 1.10 by runtime, long after
// the grace.
func TestJudge(t *testing.T) {
	child := func(r task.Runtime) task.Task { return task.Task{Runtime: r, ChildSessionKey: kid} }
	tests := []struct {
		name string
		t    task.Task
		e    task.Evidence
		dec  task.Decision
		code task.Code
	}{
		{"acp: a live turn", child("acp"), task.Evidence{Live: true}, "retained", "backing_session_present"},
		{"acp: persisted metadata is no proof", child("acp"), task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"acp: who cannot know says backed", child("acp"), task.Evidence{Unsure: true}, "retained", "acp_runtime_not_authoritative"},
		{"subagent: the child's row is there", child("subagent"), task.Evidence{Child: "present"}, "retained", "backing_session_present"},
		{"subagent: it is gone", child("subagent"), task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"subagent: wedged", child("subagent"), task.Evidence{Child: "wedged", Wedge: "resumed 3 times"}, "would_reconcile", "subagent_recovery_wedged"},
		{"cron: the scheduler has it", task.Task{Runtime: "cron", RunID: "a@1"}, task.Evidence{Live: true}, "retained", "backing_session_present"},
		{"cron: nobody has it", task.Task{Runtime: "cron", RunID: "a@1"}, task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"cron: who cannot know says backed", task.Task{Runtime: "cron", RunID: "a@1"}, task.Evidence{Unsure: true}, "retained", "cron_runtime_not_authoritative"},
		{"cron: its isolated session proves nothing", task.Task{Runtime: "cron", RunID: "a@1", ChildSessionKey: "cron:a"}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"cron: history before everything", task.Task{Runtime: "cron", RunID: "a@1"}, task.Evidence{Unsure: true, History: &task.End{Status: "succeeded", At: mins(1)}}, "would_recover", "durable_history"},
		{"cli: the run lives", task.Task{Runtime: "cli", RunID: "P"}, task.Evidence{Live: true}, "retained", "active_cli_run"},
		{"cli: by a source", task.Task{Runtime: "cli", SourceID: "S"}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"cli: lingering session rows do not count", task.Task{Runtime: "cli", RunID: "P", ChildSessionKey: kid}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"cli: who cannot know says backed (127985)", task.Task{Runtime: "cli", RunID: "P"}, task.Evidence{Unsure: true}, "retained", "active_cli_run"},
		{"cli without identity: its session is there", child("cli"), task.Evidence{Child: "present"}, "retained", "backing_session_present"},
		{"cli without identity: it is gone", child("cli"), task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"never a channel", task.Task{Runtime: "cli", ChildSessionKey: "agent:main:chat:channel:7"}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"never a group", task.Task{Runtime: "cli", ChildSessionKey: "agent:main:chat:group:7"}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"never a direct chat", task.Task{Runtime: "cli", ChildSessionKey: "agent:main:chat:direct:ann"}, task.Evidence{Child: "present"}, "would_reconcile", "backing_session_missing"},
		{"childless others are backed: cli", task.Task{Runtime: "cli"}, task.Evidence{}, "retained", "backing_session_present"},
		{"childless others are backed: acp", task.Task{Runtime: "acp"}, task.Evidence{}, "retained", "backing_session_present"},
		{"childless others are backed: subagent", task.Task{Runtime: "subagent"}, task.Evidence{}, "retained", "backing_session_present"},
		{"but process-owned maintenance is not (116329)", task.Task{Runtime: "acp", Kind: "context_engine_turn_maintenance"}, task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"unless it is registered", task.Task{Runtime: "acp", Kind: "context_engine_turn_maintenance"}, task.Evidence{Live: true}, "retained", "backing_session_present"},
		{"nor is a native mirror", task.Task{Runtime: "subagent", Kind: "codex-native"}, task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"a live executor", task.Task{Runtime: "cli", RunID: "P"}, task.Evidence{Owner: "alive"}, "retained", "active_cli_run"},
		{"an executor nobody knows of", task.Task{Runtime: "cli", RunID: "P"}, task.Evidence{Owner: "unknown"}, "would_reconcile", "backing_session_missing"},
		{"a queued one", task.Task{Runtime: "cron", RunID: "a@1", Status: "queued"}, task.Evidence{}, "would_reconcile", "backing_session_missing"},
		{"an ended one is left alone", task.Task{Runtime: "cli", RunID: "P", Status: "failed"}, task.Evidence{Owner: "gone"}, "retained", "terminal"},
		{"a lost one too", task.Task{Runtime: "cron", RunID: "a@1", Status: "lost", Error: "the machine went down"}, task.Evidence{History: &task.End{Status: "succeeded"}}, "retained", "terminal"},
		{"but for the repair (86088)", task.Task{Runtime: "cron", RunID: "a@1", Status: "lost", Error: "backing session missing"}, task.Evidence{History: &task.End{Status: "succeeded"}}, "would_recover", "durable_history"},
		{"which needs the record", task.Task{Runtime: "cron", RunID: "a@1", Status: "lost", Error: "backing session missing"}, task.Evidence{}, "retained", "terminal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.t.CreatedAt, tt.t.LastEventAt = mins(0), mins(0)
			if tt.t.Status == "" {
				tt.t.Status = task.Running
			}
			v := task.Judge(tt.t, tt.e, mins(60))
			if v.Decision != tt.dec || v.Code != tt.code {
				t.Fatalf("%s %s, want %s %s", v.Decision, v.Code, tt.dec, tt.code)
			}
			if tt.dec == task.Retained && !cmp.Equal(tt.t, v.After) {
				t.Error(cmp.Diff(tt.t, v.After))
			}
			if tt.dec == task.Reconcile && v.After.Status != task.Lost {
				t.Errorf("after: %s", v.After.Status)
			}
			if again := task.Judge(v.After, tt.e, mins(90)); !cmp.Equal(v.After, again.After) {
				t.Errorf("again: %s", cmp.Diff(v.After, again.After))
			}
		})
	}
}

// TestGrace: 4:59 and 5:00, 29:59 and 30:00 (1.10, 9.10); a dead owner needs
// none, and a clock that went back extends it.
func TestGrace(t *testing.T) {
	native := task.Task{Runtime: "subagent", Kind: "copilot-native"}
	command := task.Task{Runtime: "cli", RunID: "P"}
	const second = time.Second
	tests := []struct {
		name string
		t    task.Task
		e    task.Evidence
		age  time.Duration
		code task.Code
	}{
		{"4:59", command, task.Evidence{}, 5*time.Minute - second, "lost_grace_pending"},
		{"5:00", command, task.Evidence{}, 5 * time.Minute, "backing_session_missing"},
		{"a foreign executor has it too", command, task.Evidence{Owner: "unknown"}, 5*time.Minute - second, "lost_grace_pending"},
		{"29:59 of a mirror", native, task.Evidence{}, 30*time.Minute - second, "lost_grace_pending"},
		{"30:00 of a mirror", native, task.Evidence{}, 30 * time.Minute, "backing_session_missing"},
		{"a wedge has it", task.Task{Runtime: "subagent", ChildSessionKey: kid}, task.Evidence{Child: "wedged"}, second, "lost_grace_pending"},
		{"a provably dead owner has none", command, task.Evidence{Owner: "gone"}, 0, "owner_gone"},
		{"the clock went back", command, task.Evidence{}, -time.Hour, "lost_grace_pending"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.t.Status, tt.t.CreatedAt = task.Running, t0.Add(-time.Hour)
			tt.t.LastEventAt = t0
			v := task.Judge(tt.t, tt.e, t0.Add(tt.age))
			if v.Code != tt.code {
				t.Errorf("%s, want %s", v.Code, tt.code)
			}
			if tt.code == task.CodeGrace && !v.Until.Equal(t0.Add(task.GraceOf(tt.t))) {
				t.Errorf("until %v", v.Until)
			}
		})
	}
}

// TestReference: the last event, else the start, else the creation.
func TestReference(t *testing.T) {
	for want, row := range map[time.Time]task.Task{
		at(3): {CreatedAt: at(1), StartedAt: at(2), LastEventAt: at(3)},
		at(2): {CreatedAt: at(1), StartedAt: at(2)},
		at(1): {CreatedAt: at(1)},
	} {
		if got := task.Reference(row); !got.Equal(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestMarkLost: spec/tasks-recovery.md 1.10, "Marking".
func TestMarkLost(t *testing.T) {
	row := task.Task{Runtime: task.CLI, RunID: "P", Status: task.Running, CreatedAt: at(0), StartedAt: at(1), LastEventAt: at(2)}
	want := row
	want.Status, want.Error, want.EndedAt, want.LastEventAt, want.CleanupAfter = "lost", "backing session missing", at(900), at(900), at(900+86400)
	if diff := cmp.Diff(want, task.Judge(row, task.Evidence{}, at(900)).After); diff != "" {
		t.Error(diff)
	}
	row.Error, row.EndedAt = "it said this", at(5)
	want.Error, want.EndedAt, want.CleanupAfter = "it said this", at(5), at(5+86400)
	if diff := cmp.Diff(want, task.Judge(row, task.Evidence{}, at(900)).After); diff != "" {
		t.Errorf("what is there stays: %s", diff)
	}
	gone := task.Judge(row, task.Evidence{Owner: task.LifeGone}, at(3)).After
	if gone.Status != task.Lost || !gone.EndedAt.Equal(at(5)) {
		t.Errorf("%+v", gone)
	}
	wedged := task.Judge(task.Task{Runtime: "subagent", ChildSessionKey: kid, Status: "running", CreatedAt: at(0)}, task.Evidence{Child: "wedged", Wedge: "resumed 3 times"}, at(900)).After
	if wedged.Error != "resumed 3 times" {
		t.Errorf("the wedge's reason: %q", wedged.Error)
	}
}

// TestJudgeOnce: whatever is known, a second look with the same evidence
// changes nothing, and nothing is lost before its grace without proof.
func TestJudgeOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		row := task.Task{
			Runtime:         rapid.SampledFrom([]task.Runtime{"cli", "cron", "acp", "subagent"}).Draw(rt, "runtime"),
			Status:          rapid.SampledFrom([]task.Status{"queued", "running", "succeeded", "failed", "lost"}).Draw(rt, "status"),
			Kind:            rapid.SampledFrom([]string{"", "exec", "codex-native", "engine_maintenance"}).Draw(rt, "kind"),
			RunID:           rapid.SampledFrom([]string{"", "R"}).Draw(rt, "run"),
			ChildSessionKey: rapid.SampledFrom([]string{"", kid}).Draw(rt, "child"),
			Error:           rapid.SampledFrom([]string{"", task.MissingError}).Draw(rt, "error"),
			CreatedAt:       at(0), LastEventAt: at(0),
		}
		e := task.Evidence{
			Live: rapid.Bool().Draw(rt, "live"), Unsure: rapid.Bool().Draw(rt, "unsure"),
			Owner: rapid.SampledFrom([]task.Life{"", "alive", "gone", "unknown"}).Draw(rt, "owner"),
			Child: rapid.SampledFrom([]task.Child{"", "present", "wedged"}).Draw(rt, "session"),
		}
		if rapid.Bool().Draw(rt, "history") {
			e.History = &task.End{Status: rapid.SampledFrom([]task.Status{"succeeded", "failed", "cancelled"}).Draw(rt, "end"), At: at(5)}
		}
		age := rapid.IntRange(0, 3600).Draw(rt, "age")
		v := task.Judge(row, e, at(age))
		if v.Decision == task.Reconcile && age < 300 && e.Owner != task.LifeGone {
			rt.Fatalf("lost after %ds without proof", age)
		}
		if v.Decision == task.Reconcile && (e.Live || e.Unsure && row.Runtime != "subagent") && e.Owner != task.LifeGone {
			rt.Fatal("lost while it goes on")
		}
		again := task.Judge(v.After, e, at(age+7200))
		if v.Decision != task.Retained && !cmp.Equal(v.After, again.After) {
			rt.Fatal(cmp.Diff(v.After, again.After))
		}
	})
}
