package task_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/delivery"
	"claw/state/process"
	"claw/state/task"
)

var desk = delivery.Route{Channel: "desktop"}

// done is a task with an origin whose end is still to be told.
func done(change func(t *task.Task)) task.Task {
	t := task.Task{
		ID: "T", Runtime: task.CLI, Slug: "tide-orbit", RunID: "01JE8A", OwnerKey: "agent:main:main", ScopeKind: task.ScopeSession,
		Label: "build", Task: "npm run build", Status: task.Succeeded, TerminalOutcome: task.OutcomeSucceeded,
		DeliveryStatus: task.DeliveryPending, NotifyPolicy: task.DoneOnly, RequesterOrigin: desk, TerminalSummary: "built in 61.2s",
	}
	if change != nil {
		change(&t)
	}
	return t
}

// TestRoute: spec/tasks-recovery.md 2.1, 2.2.
func TestRoute(t *testing.T) {
	const via, queued = task.ViaSession, task.DeliverySessionQueued
	none := func(t *task.Task) { t.RequesterOrigin = delivery.Route{} }
	acp := func(t *task.Task) { t.Runtime, t.ChildSessionKey = task.ACP, "agent:main:acp:1" }
	both := func(fs ...func(*task.Task)) func(*task.Task) {
		return func(t *task.Task) {
			for _, f := range fs {
				f(t)
			}
		}
	}
	tests := []struct {
		name   string
		change func(*task.Task)
		via    task.Via
		status task.DeliveryStatus
	}{
		{"origin", nil, task.ViaDirect, task.DeliveryPending},
		{"cancelled with an origin", func(t *task.Task) { t.Status = task.Cancelled }, task.ViaDirect, task.DeliveryPending},
		{"silent", func(t *task.Task) { t.NotifyPolicy = task.Silent }, task.ViaNone, ""},
		{"running", func(t *task.Task) { t.Status = task.Running }, task.ViaNone, ""},
		{"told already", func(t *task.Task) { t.DeliveryStatus = task.DeliveryDelivered }, task.ViaNone, ""},
		{"failed to be told", func(t *task.Task) { t.DeliveryStatus = task.DeliveryFailed }, task.ViaNone, ""},
		{"subagents have their own way", func(t *task.Task) { t.Runtime = task.Subagent }, task.ViaNone, ""},
		{"but not when they were cancelled", func(t *task.Task) { t.Runtime, t.Status = task.Subagent, task.Cancelled }, task.ViaDirect, task.DeliveryPending},
		{"no origin", none, via, queued},
		{"a group's session writes itself", func(t *task.Task) { t.OwnerKey = "agent:main:chat:group:42" }, via, queued},
		{"so does a channel's", func(t *task.Task) { t.OwnerKey = "agent:main:chat:channel:42" }, via, queued},
		{"a session that is only called so", func(t *task.Task) { t.OwnerKey = "agent:main:groupies" }, task.ViaDirect, task.DeliveryPending},
		{"acp is reviewed", both(acp, none), via, queued},
		{"and the hand-off can be tried again", acp, via, task.DeliveryPending},
		{"blocked acp is not reviewed", both(acp, func(t *task.Task) { t.TerminalOutcome = task.OutcomeBlocked }), task.ViaDirect, task.DeliveryPending},
		{"failed acp is not reviewed", both(acp, func(t *task.Task) { t.Status = task.Failed }), task.ViaDirect, task.DeliveryPending},
		{"system, nobody", both(none, func(t *task.Task) { t.OwnerKey, t.ScopeKind = "", task.ScopeSystem }), task.ViaNone, task.DeliveryNotApplicable},
		{"session, but whose", both(none, func(t *task.Task) { t.OwnerKey = "" }), task.ViaNone, task.DeliveryParentMissing},
		{"system with an origin", func(t *task.Task) { t.OwnerKey, t.ScopeKind = "", task.ScopeSystem }, task.ViaDirect, task.DeliveryPending},
	}
	for _, tt := range tests {
		x := done(tt.change)
		before := x
		p := task.Route(x)
		if p.Via != tt.via || p.Status != tt.status {
			t.Errorf("%s: %s %q, want %s %q", tt.name, p.Via, p.Status, tt.via, tt.status)
		}
		if (p.To == desk) != (p.Via == task.ViaDirect) || (p.Text == "") != (p.Via == task.ViaNone) {
			t.Errorf("%s: %+v", tt.name, p)
		}
		if diff := cmp.Diff(before, x); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if p := task.Route(done(acp)); !strings.HasPrefix(p.Text, "Background task ready for review: build (run tide-orbit). built in 61.2s ") {
		t.Errorf("review: %q", p.Text)
	}
}

// TestBlocked: 2.2.5, in every path.
func TestBlocked(t *testing.T) {
	blocked := done(func(t *task.Task) { t.TerminalOutcome = task.OutcomeBlocked })
	p := task.Route(blocked)
	if p.Key != "task-terminal:T:succeeded:blocked" || p.FollowUp != "Task needs follow-up: build (run tide-orbit). built in 61.2s" {
		t.Errorf("%+v", p)
	}
	blocked.RequesterOrigin, blocked.TerminalSummary = delivery.Route{}, " "
	p = task.Route(blocked)
	if p.Via != task.ViaSession || p.FollowUp != "Task needs follow-up: build (run tide-orbit). It is blocked and needs follow-up." {
		t.Errorf("%+v", p)
	}
	if key := task.Route(done(nil)).Key; key != "task-terminal:T:succeeded:default" {
		t.Errorf("key %q", key)
	}
	if task.FollowUpKey(blocked) != "task:T:blocked-followup" || task.ContextKey(blocked) != "task:T" {
		t.Error("context keys")
	}
}

// TestMessage: spec/tasks-recovery.md 2.4, the slug whole.
func TestMessage(t *testing.T) {
	status := func(s task.Status, err, summary string) task.Task {
		return done(func(t *task.Task) { t.Status, t.Error, t.TerminalSummary, t.TerminalOutcome = s, err, summary, "" })
	}
	for want, x := range map[string]task.Task{
		"Background task done: build (run tide-orbit). built in 61.2s":                   done(nil),
		"Background task done: build (run tide-orbit).":                                  status(task.Succeeded, "", " \n"),
		"Background task done: build (run tide-orbit). a b":                              status(task.Succeeded, "", "a\n  b"),
		"Background task blocked: build (run tide-orbit). why":                           done(func(t *task.Task) { t.TerminalOutcome, t.TerminalSummary = task.OutcomeBlocked, "why" }),
		"Background task timed out: build (run tide-orbit).":                             status(task.TimedOut, "Command timed out.", "half"),
		"Background task cancelled: build (run tide-orbit).":                             status(task.Cancelled, "Cancelled by operator.", ""),
		"Background task failed: build (run tide-orbit). code 2":                         status(task.Failed, "code 2", "oops"),
		"Background task failed: build (run tide-orbit). oops":                           status(task.Failed, "", "oops"),
		"Background task failed: build (run tide-orbit).":                                status(task.Failed, "", ""),
		"Background task lost: build (run tide-orbit). killed":                           status(task.Lost, "killed", "x"),
		"Background task lost: build (run tide-orbit). x":                                status(task.Lost, "", "x"),
		"Background task lost: build (run tide-orbit). Its backing session disappeared.": status(task.Lost, "", ""),
		"": status(task.Running, "", ""),
	} {
		if got := task.Message(x); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestTitle(t *testing.T) {
	for want, x := range map[string]task.Task{
		"label":               {Label: " label\n", Task: "text"},
		"text":                {Task: "text", Runtime: task.CLI},
		"ACP background task": {Task: "text", Runtime: task.ACP},
		"Subagent task":       {Runtime: task.Subagent},
		"Background task":     {Runtime: task.Cron, Task: " "},
	} {
		if got := task.Title(x); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := []rune(task.Title(task.Task{Label: strings.Repeat("ü", 200)})); len(got) > 80 || len(got) < 75 {
		t.Errorf("%d characters", len(got))
	}
	if got := task.Message(done(func(t *task.Task) { t.Slug, t.RunID = "", "0123456789" })); !strings.Contains(got, "(run 01234567).") {
		t.Errorf("without a slug: %q", got)
	}
	if got := task.Message(done(func(t *task.Task) { t.Slug, t.RunID = "", "" })); !strings.Contains(got, "done: build. ") {
		t.Errorf("without a run: %q", got)
	}
}

// TestRouteChange: state changes, 2.1 and 2.2.
func TestRouteChange(t *testing.T) {
	base := func(change func(*task.Task)) task.Task {
		x := done(func(t *task.Task) {
			t.Status, t.NotifyPolicy, t.LastNotifiedAt = task.Running, task.StateChanges, at(10)
		})
		if change != nil {
			change(&x)
		}
		return x
	}
	tests := []struct {
		name   string
		change func(*task.Task)
		c      task.Change
		via    task.Via
		text   string
	}{
		{"started", nil, task.Change{At: at(11), Kind: "running"}, task.ViaDirect, "Background task started: build (run tide-orbit)."},
		{"accepted", func(t *task.Task) { t.Status = task.Queued }, task.Change{At: at(11), Kind: "queued"}, task.ViaDirect, "Background task accepted: build (run tide-orbit)."},
		{"progress", nil, task.Change{At: at(11), Kind: "progress", Summary: "3 of 7"}, task.ViaDirect, "Background task update: build (run tide-orbit). 3 of 7"},
		{"progress without words", nil, task.Change{At: at(11), Kind: "progress", Summary: " "}, task.ViaNone, ""},
		{"told already", nil, task.Change{At: at(10), Kind: "running"}, task.ViaNone, ""},
		{"done_only", func(t *task.Task) { t.NotifyPolicy = task.DoneOnly }, task.Change{At: at(11), Kind: "running"}, task.ViaNone, ""},
		{"ended", func(t *task.Task) { t.Status = task.Failed }, task.Change{At: at(11), Kind: "running"}, task.ViaNone, ""},
		{"no route", func(t *task.Task) { t.RequesterOrigin = delivery.Route{} }, task.Change{At: at(11), Kind: "running"}, task.ViaSession, "Background task started: build (run tide-orbit)."},
	}
	for _, tt := range tests {
		p := task.RouteChange(base(tt.change), tt.c)
		if p.Via != tt.via || p.Text != tt.text || p.Status != "" {
			t.Errorf("%s: %+v", tt.name, p)
		}
	}
}

func TestHeadline(t *testing.T) {
	code := func(n int) process.Process { return process.Process{Exit: &process.Exit{Code: &n}} }
	with := func(s task.Status, label string) task.Task {
		return done(func(t *task.Task) {
			t.Status, t.Label, t.Task, t.StartedAt, t.EndedAt = s, label, "./train.sh --all", at(0), at(11520)
		})
	}
	unnamed := process.Name("./train.sh --all")
	for want, got := range map[string]string{
		"./train.sh --all finished in 3h12m (exit 0)": task.Headline(with(task.Succeeded, unnamed), code(0)),
		"model finished in 3h12m (exit 0)":            task.Headline(with(task.Succeeded, "model"), code(0)),
		"model failed after 3h12m (exit 2)":           task.Headline(with(task.Failed, "model"), code(2)),
		"model failed after 3h12m (SIGKILL)":          task.Headline(with(task.Failed, "model"), process.Process{Exit: &process.Exit{Signal: "SIGKILL"}}),
		"model timed out after 3h12m (SIGTERM)":       task.Headline(with(task.TimedOut, "model"), process.Process{Exit: &process.Exit{Signal: "SIGTERM"}}),
		"model was cancelled after 3h12m (SIGTERM)":   task.Headline(with(task.Cancelled, "model"), process.Process{Exit: &process.Exit{Signal: "SIGTERM"}}),
		"model was lost after 3h12m":                  task.Headline(with(task.Lost, "model"), process.Process{Exit: &process.Exit{}}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := task.Findings(done(nil)); got != "built in 61.2s" {
		t.Errorf("%q", got)
	}
	if got := task.Findings(done(func(t *task.Task) { t.Error = "code 2" })); got != "code 2\nbuilt in 61.2s" {
		t.Errorf("%q", got)
	}
	if got := task.Findings(task.Task{}); got != "(no output)" {
		t.Errorf("%q", got)
	}
}

// TestOriginOfAProcess: exec --notify makes the task tell its origin, whatever
// becomes of it.
func TestOriginOfAProcess(t *testing.T) {
	p := job()
	p.Origin = desk
	x := task.FromProcess(p)
	if x.NotifyPolicy != task.DoneOnly || x.DeliveryStatus != task.DeliveryPending || x.RequesterOrigin != desk {
		t.Errorf("%+v", x)
	}
	finished, err := task.Finish(x, ended(p, process.Observed{Exited: true}))
	if err != nil || finished.DeliveryStatus != task.DeliveryPending || task.Route(finished).Via != task.ViaDirect {
		t.Errorf("%+v, %v", finished, err)
	}
	p.Removed = true
	if gone, _ := task.Finish(x, ended(p, process.Observed{Exited: true})); gone.DeliveryStatus != task.DeliveryNotApplicable {
		t.Errorf("removed: %s", gone.DeliveryStatus)
	}
	p.Removed, p.Session = false, ""
	alone, _ := task.Finish(task.FromProcess(p), ended(p, process.Observed{Exited: true}))
	if task.Route(alone).Via != task.ViaDirect {
		t.Errorf("without a session: %+v", alone)
	}
	if told := task.Told(finished, task.DeliveryDelivered, time.Unix(5, 0)); told.Status != finished.Status || told.DeliveryStatus != "delivered" || !told.LastNotifiedAt.Equal(time.Unix(5, 0)) {
		t.Errorf("%+v", told)
	}
}
