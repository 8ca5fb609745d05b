package flow_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/flow"
	"claw/state/process"
	"claw/state/task"
)

// child is a task of the owner of made.
func child(id string, s task.Status) task.Task {
	t := task.Task{ID: id, Runtime: "cli", RunID: "run-" + id, OwnerKey: "agent:main:main", ScopeKind: "session", Status: s, CreatedAt: noon, LastEventAt: noon}
	if s.Terminal() {
		t.EndedAt = noon.Add(time.Minute)
	}
	return t
}

// TestAccepts: which flows take tasks (spec/tasks-recovery.md 3.4).
func TestAccepts(t *testing.T) {
	cancelling, mirrored, done := full(t, "running"), full(t, "running"), full(t, "succeeded")
	cancelling.CancelRequestedAt, mirrored.SyncMode, done.EndedAt = noon, flow.Mirrored, noon
	for _, tt := range []struct {
		name   string
		f      flow.Flow
		expect *int64
		code   flow.LinkCode
		reason string
	}{
		{"one that runs", full(t, "running"), nil, "", ""},
		{"one that is blocked, at its revision", full(t, "blocked"), ptr(int64(7)), "", ""},
		{"another revision", full(t, "running"), ptr(int64(6)), "revision_conflict", "Flow changed meanwhile."},
		{"mirrored", mirrored, nil, "not_managed", "Flow does not accept managed child tasks."},
		{"to be cancelled", cancelling, nil, "cancel_requested", "Flow cancellation has already been requested."},
		{"ended", done, nil, "terminal", "Flow is already succeeded."},
	} {
		if code, reason := flow.Accepts(tt.f, tt.expect); code != tt.code || reason != tt.reason {
			t.Errorf("%s: %s %q, want %s %q", tt.name, code, reason, tt.code, tt.reason)
		}
	}
}

// TestCanLink: which tasks a flow takes.
func TestCanLink(t *testing.T) {
	with := func(t task.Task, change func(*task.Task)) task.Task { change(&t); return t }
	for _, tt := range []struct {
		name string
		t    task.Task
		want flow.LinkCode
	}{
		{"running", child("1", "running"), ""},
		{"queued", child("1", "queued"), ""},
		{"completed: no active link of what has ended", child("1", "succeeded"), "backing_ended"},
		{"lost", child("1", "lost"), "backing_ended"},
		{"of another owner", with(child("1", "running"), func(t *task.Task) { t.OwnerKey = "agent:other:main" }), "owner_key_mismatch"},
		{"of nobody", with(child("1", "running"), func(t *task.Task) { t.ScopeKind = "system" }), "scope_kind_not_session"},
		{"of another flow", with(child("1", "running"), func(t *task.Task) { t.ParentFlowID = "01OTHER" }), "linked_elsewhere"},
		{"of this flow", with(child("1", "running"), func(t *task.Task) { t.ParentFlowID = "01FLOW" }), ""},
		{"of this flow, and ended", with(child("1", "failed"), func(t *task.Task) { t.ParentFlowID = "01FLOW" }), ""},
	} {
		code, reason := flow.CanLink(made(t), tt.t)
		if code != tt.want || (code == "") != (reason == "") {
			t.Errorf("%s: %s %q, want %s", tt.name, code, reason, tt.want)
		}
	}
}

// TestBacking: what is said must be true, and the oldest counts.
func TestBacking(t *testing.T) {
	old, young, same := child("B", "running"), child("A", "running"), child("A2", "running")
	old.RunID, young.RunID, same.RunID = "r", "r", "r"
	young.CreatedAt, same.CreatedAt = noon.Add(time.Second), noon.Add(time.Second)
	young.ChildSessionKey, young.Runtime = "agent:main:sub:1", "acp"
	rows := []task.Task{same, young, old}
	for _, tt := range []struct {
		name string
		c    flow.Claim
		want int
	}{
		{"the oldest of a run", flow.Claim{RunID: "r"}, 2},
		{"of the same instant the least id", flow.Claim{RunID: "r", TaskID: ""}, 2},
		{"with a runtime", flow.Claim{RunID: "r", Runtime: "acp"}, 1},
		{"with a child", flow.Claim{RunID: "r", ChildSessionKey: "agent:main:sub:1"}, 1},
		{"with a wrong child", flow.Claim{RunID: "r", ChildSessionKey: "agent:main:sub:2"}, -1},
		{"an invented run", flow.Claim{RunID: "s"}, -1},
		{"an id", flow.Claim{TaskID: "A2"}, 0},
		{"an id with a wrong runtime", flow.Claim{TaskID: "A2", Runtime: "acp"}, -1},
		{"nothing names it", flow.Claim{Runtime: "acp"}, -1},
	} {
		if got := flow.Backing(rows, tt.c); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := flow.Backing(rows[:2], flow.Claim{RunID: "r"}); got != 1 {
		t.Errorf("of the same instant: %d, want the least id", got)
	}
}

// TestMirrors: which tasks get a flow of their own (spec/tasks-recovery.md 3.5).
func TestMirrors(t *testing.T) {
	for _, tt := range []struct {
		runtime  task.Runtime
		scope    string
		delivery task.DeliveryStatus
		parent   string
		want     bool
	}{
		{"acp", "session", "pending", "", true},
		{"subagent", "session", "pending", "", true},
		{"subagent", "session", "parent_missing", "", true},
		{"cli", "session", "pending", "", false},
		{"cron", "session", "pending", "", false},
		{"acp", "system", "pending", "", false},
		{"acp", "session", "not_applicable", "", false},
		{"acp", "session", "pending", "01FLOW", false},
	} {
		x := child("1", "running")
		x.Runtime, x.ScopeKind, x.DeliveryStatus, x.ParentFlowID = tt.runtime, tt.scope, tt.delivery, tt.parent
		if got := flow.Mirrors(x); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestMirrored: a mirrored flow is what its task is, and each change is one
// write.
func TestMirrored(t *testing.T) {
	x := child("1", "queued")
	x.Label, x.Task = "", "look around"
	f := flow.FromTask(x, "01FLOW")
	if f.Goal != "look around" || f.Revision != 0 || f.Status != "queued" || f.SyncMode != flow.Mirrored || f.ControllerID != "" || f.OwnerKey != x.OwnerKey {
		t.Errorf("%+v", f)
	}
	x.Label = "scout"
	if f := flow.FromTask(x, "01FLOW"); f.Goal != "scout" {
		t.Errorf("goal %q", f.Goal)
	}
	end := noon.Add(time.Minute)
	for _, tt := range []struct {
		task    task.Status
		outcome string
		want    flow.Status
		ended   bool
	}{
		{"running", "", "running", false},
		{"succeeded", "succeeded", "succeeded", true},
		{"succeeded", "blocked", "blocked", true},
		{"failed", "", "failed", true},
		{"timed_out", "", "failed", true},
		{"cancelled", "", "cancelled", true},
		{"lost", "", "lost", true},
	} {
		t.Run(string(tt.task)+tt.outcome, func(t *testing.T) {
			x := child("1", tt.task)
			x.TerminalOutcome, x.TerminalSummary = tt.outcome, "no quota"
			got, changed := flow.Sync(f, x)
			want := f
			want.Status, want.Revision = tt.want, 1
			if tt.ended {
				want.EndedAt, want.UpdatedAt = end, end
			}
			if tt.want == "blocked" {
				want.BlockedTaskID, want.BlockedSummary = "1", "no quota"
			}
			if diff := cmp.Diff(want, got); diff != "" || !changed || got.Terminal() != tt.ended {
				t.Error(changed, diff)
			}
			if again, changed := flow.Sync(got, x); changed || again.Revision != 1 {
				t.Error("twice is not once")
			}
		})
	}
	last, ok := flow.LatestTask([]task.Task{child("1", "running"), child("3", "failed"), child("2", "running")})
	if _, none := flow.LatestTask(nil); !ok || none || last.ID != "3" {
		t.Error("latest:", last.ID, ok, none)
	}
}

// TestOrder: newest first, ties by the least id; an owner's latest is the newest
// that has not ended (119129).
func TestOrder(t *testing.T) {
	at := func(id string, minute int, s flow.Status, owner string) flow.Flow {
		return flow.Flow{ID: id, CreatedAt: noon.Add(time.Duration(minute) * time.Minute), Status: s, OwnerKey: owner}
	}
	rows := []flow.Flow{
		at("01AAAAC", 1, "running", "a"), at("01AAAAB", 1, "waiting", "a"), at("01BBBB", 5, "succeeded", "a"),
		at("01CCCC", 3, "failed", "b"), at("01DDDD", 2, "lost", "b"),
	}
	sorted := slices.Clone(rows)
	flow.Sort(sorted)
	var ids []string
	for _, f := range sorted {
		ids = append(ids, f.ID)
	}
	if diff := cmp.Diff([]string{"01BBBB", "01CCCC", "01DDDD", "01AAAAB", "01AAAAC"}, ids); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		token string
		want  string // an id; or what kind of error
	}{
		{"01BBBB", "01BBBB"},
		{"01bbbb", "01BBBB"},
		{" 01CC ", "01CCCC"},
		{"01AAAAB", "01AAAAB"},
		{"01AA", "ambiguous"},
		{"01B", "missing"},
		{"a", "01AAAAB"},
		{"b", "01CCCC"},
		{"c", "missing"},
		{"", "missing"},
	} {
		got := ""
		i, err := flow.Lookup(rows, tt.token)
		if _, many := errors.AsType[*process.AmbiguousError](err); many {
			got = "ambiguous"
		} else if _, none := errors.AsType[*process.NotFoundError](err); none {
			got = "missing"
		} else if err == nil {
			got = rows[i].ID
		}
		if got != tt.want {
			t.Errorf("%q: %q, %v, want %s", tt.token, got, err, tt.want)
		}
	}
	if flow.Latest(nil) != -1 {
		t.Error("the latest of none")
	}
}
