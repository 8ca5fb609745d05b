package task_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/delivery"
	"claw/state/process"
	"claw/state/task"
)

// TestReuse: spec/tasks-recovery.md 1.3.
func TestReuse(t *testing.T) {
	at := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	base := task.Task{ID: "01A", Runtime: task.CLI, RunID: "r", ScopeKind: task.ScopeSession, OwnerKey: "me", ChildSessionKey: "child", ParentFlowID: "flow", Label: "l", Task: "t", CreatedAt: at}
	with := func(change func(*task.Task)) task.Task { x := base; change(&x); return x }
	acp := func(change func(*task.Task)) task.Task {
		return with(func(x *task.Task) { x.Runtime = task.ACP; change(x) })
	}
	for _, tt := range []struct {
		name      string
		have, new task.Task
		same      bool
	}{
		{"all the same", base, base, true},
		{"no run", with(func(x *task.Task) { x.RunID = "" }), with(func(x *task.Task) { x.RunID = "" }), false},
		{"another run", base, with(func(x *task.Task) { x.RunID = "s" }), false},
		{"another runtime", base, with(func(x *task.Task) { x.Runtime = task.Subagent }), false},
		{"another scope", base, with(func(x *task.Task) { x.ScopeKind = task.ScopeSystem }), false},
		{"another owner", base, with(func(x *task.Task) { x.OwnerKey = "you" }), false},
		{"another child", base, with(func(x *task.Task) { x.ChildSessionKey = "other" }), false},
		{"another flow", base, with(func(x *task.Task) { x.ParentFlowID = "other" }), false},
		{"no flow said", base, with(func(x *task.Task) { x.ParentFlowID = "" }), true},
		{"another label", base, with(func(x *task.Task) { x.Label = "m" }), false},
		{"another text", base, with(func(x *task.Task) { x.Task = "u" }), false},
		{"acp: other words", acp(func(*task.Task) {}), acp(func(x *task.Task) { x.Label, x.Task = "m", "u" }), true},
		{"acp: another owner never", acp(func(*task.Task) {}), acp(func(x *task.Task) { x.OwnerKey = "you" }), false},
	} {
		if got := task.Reuse([]task.Task{tt.have}, tt.new) == 0; got != tt.same {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	young := with(func(x *task.Task) { x.ID, x.CreatedAt = "01B", at.Add(time.Second) })
	if got := task.Reuse([]task.Task{young, base}, base); got != 1 {
		t.Errorf("of two the %dth, want the oldest", got)
	}
}

// TestFill: blanks are filled, and nothing else.
func TestFill(t *testing.T) {
	e, other := &task.Executor{Identity: process.Identity{PID: 1}}, &task.Executor{Identity: process.Identity{PID: 2}}
	to := delivery.Route{Channel: "inbox"}
	full := task.Task{Status: task.Running, SourceID: "s", Kind: "k", ParentFlowID: "f", ChildSessionKey: "c", AgentID: "a", Label: "l", Executor: e, RequesterOrigin: to, NotifyPolicy: task.DoneOnly, DeliveryStatus: task.DeliveryPending}
	more := task.Task{SourceID: "x", Kind: "x", ParentFlowID: "x", ChildSessionKey: "x", AgentID: "x", Label: "x", Executor: other, RequesterOrigin: delivery.Route{Channel: "mail"}, NotifyPolicy: task.Silent, DeliveryStatus: task.DeliveryPending, Error: "x"}
	if got, changed := task.Fill(full, more); changed || cmp.Diff(full, got) != "" {
		t.Error(cmp.Diff(full, got))
	}
	got, changed := task.Fill(task.Task{Status: task.Running, NotifyPolicy: task.Silent, DeliveryStatus: task.DeliveryParentMissing}, full)
	if diff := cmp.Diff(full, got); !changed || diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		name string
		old  task.Task
	}{
		{"what has ended tells nobody more", task.Task{Status: task.Failed, NotifyPolicy: task.Silent, DeliveryStatus: task.DeliveryNotApplicable}},
		{"what was delivered stays so", task.Task{Status: task.Running, NotifyPolicy: task.DoneOnly, DeliveryStatus: task.DeliveryDelivered}},
	} {
		if got, _ := task.Fill(tt.old, full); got.NotifyPolicy != tt.old.NotifyPolicy || got.DeliveryStatus != tt.old.DeliveryStatus {
			t.Errorf("%s: %s, %s", tt.name, got.NotifyPolicy, got.DeliveryStatus)
		}
	}
}

// TestExternal: without an identity there is the grace, also where nothing names
// the work; what somebody else carries out is not claw's to end.
func TestExternal(t *testing.T) {
	at := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	x := task.Task{Runtime: task.CLI, External: true, Status: task.Running, CreatedAt: at, LastEventAt: at}
	for _, tt := range []struct {
		name  string
		owner task.Life
		age   time.Duration
		want  task.Decision
		code  task.Code
	}{
		{"nobody knows, 4:59", task.LifeUnknown, 5*time.Minute - time.Second, task.Retained, task.CodeGrace},
		{"nobody knows, 5:00", task.LifeUnknown, 5 * time.Minute, task.Reconcile, task.CodeBackingMissing},
		{"alive for a year", task.LifeAlive, 365 * 24 * time.Hour, task.Retained, task.CodeActiveRun},
		{"gone", task.LifeGone, 0, task.Reconcile, task.CodeOwnerGone},
	} {
		v := task.Judge(x, task.Evidence{Owner: tt.owner}, at.Add(tt.age))
		if v.Decision != tt.want || v.Code != tt.code {
			t.Errorf("%s: %s %s", tt.name, v.Decision, v.Code)
		}
	}
	if why := task.CancelRefusal(x, task.Hold{Live: true}); why != task.ReasonMirror {
		t.Errorf("alive: %q", why)
	}
	if why := task.CancelRefusal(x, task.Hold{}); why != "" {
		t.Errorf("only a row: %q", why)
	}
}
