package task_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/process"
	"claw/state/task"
)

// job is a background process of a session.
func job() process.Process {
	return process.Process{
		ID: "01JE8A0000000000000000000P", Slug: "tide-orbit", TaskID: "01JE8A0000000000000000000T", Agent: "main",
		Session: "agent:main:main", Command: "npm run build", Background: true, Phase: process.Running,
		CreatedAt: at(0), StartedAt: at(1), BackgroundedAt: at(11),
	}
}

func ended(p process.Process, o process.Observed) process.Process {
	p.Phase, p.Exit, p.EndedAt = process.Exited, process.Classify(o), at(60)
	return p
}

func lost(p process.Process) process.Process {
	p.Phase, p.Exit, p.EndedAt = process.Lost, process.LostExit("it was killed"), at(60)
	return p
}

func TestFromProcess(t *testing.T) {
	want := task.Task{
		ID: "01JE8A0000000000000000000T", Runtime: "cli", Kind: "exec", RunID: "01JE8A0000000000000000000P", Slug: "tide-orbit",
		RequesterSessionKey: "agent:main:main", OwnerKey: "agent:main:main", ScopeKind: "session", AgentID: "main",
		Label: "npm run", Task: "npm run build", Status: "running", DeliveryStatus: "pending", NotifyPolicy: "silent",
		CreatedAt: at(1), StartedAt: at(1), LastEventAt: at(1),
	}
	if diff := cmp.Diff(want, task.FromProcess(job())); diff != "" {
		t.Error(diff)
	}

	alone := job()
	alone.Session, alone.Label, alone.BackgroundedAt = "", "nightly", time.Time{}
	want.RequesterSessionKey, want.OwnerKey, want.ScopeKind, want.DeliveryStatus = "", "", "system", "not_applicable"
	want.Label, want.CreatedAt = "nightly", at(0)
	if diff := cmp.Diff(want, task.FromProcess(alone)); diff != "" {
		t.Error(diff)
	}
}

func TestFinish(t *testing.T) {
	const week, dayLong = 7 * 24 * time.Hour, 24 * time.Hour
	told := job()
	told.EventID = "01JE8A0000000000000000000E"
	type end struct {
		Status   task.Status
		Delivery task.DeliveryStatus
		Error    string
		Outcome  string
		Keep     time.Duration
	}
	cancel := process.ReasonManualCancel
	tests := []struct {
		name string
		p    process.Process
		want end
	}{
		{"success, told", ended(told, process.Observed{Exited: true}), end{"succeeded", "session_queued", "", "succeeded", week}},
		{"success, not told", ended(job(), process.Observed{Exited: true}), end{"succeeded", "not_applicable", "", "succeeded", week}},
		{"code 1", ended(told, process.Observed{Exited: true, Code: 1}), end{"failed", "session_queued", "Command exited with code 1", "", week}},
		{"127", ended(told, process.Observed{Exited: true, Code: 127}), end{"failed", "session_queued", "Command not found", "", week}},
		{"signal", ended(told, process.Observed{Signal: "SIGSEGV"}), end{"failed", "session_queued", "Command aborted by signal SIGSEGV", "", week}},
		{"timeout", ended(told, process.Observed{Exited: true, Forced: process.ReasonOverallTimeout}), end{"timed_out", "session_queued", "Command timed out.", "", week}},
		{"cancel", ended(job(), process.Observed{Signal: "SIGTERM", Forced: cancel}), end{"cancelled", "not_applicable", "Cancelled by operator.", "", week}},
		{"lost", lost(told), end{"lost", "session_queued", "The supervisor of this command died before the end; its exit code is unknown: it was killed", "", dayLong}},
	}
	for _, tt := range tests {
		got, err := task.Finish(task.FromProcess(job()), tt.p)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		g := end{got.Status, got.DeliveryStatus, got.Error, got.TerminalOutcome, got.CleanupAfter.Sub(at(60))}
		if diff := cmp.Diff(tt.want, g); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if !got.EndedAt.Equal(at(60)) || !got.LastEventAt.Equal(at(60)) || !got.StartedAt.Equal(at(1)) {
			t.Errorf("%s: times %+v", tt.name, got)
		}
		if diff := cmp.Diff(got, task.FromProcess(tt.p)); diff != "" {
			t.Errorf("%s: finished at once: %s", tt.name, diff)
		}
		again, err := task.Finish(got, tt.p)
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Errorf("%s: twice: %v %s", tt.name, err, diff)
		}
	}
}

// TestFinishKeepsTheStrongerFact: a success may become a failure, a failure
// stays one, and the time it is kept was settled at the first end.
func TestFinishKeepsTheStrongerFact(t *testing.T) {
	ok, _ := task.Finish(task.FromProcess(job()), ended(job(), process.Observed{Exited: true}))
	failedLater := ended(job(), process.Observed{Exited: true, Code: 2})
	failedLater.EndedAt = at(99)
	failed, err := task.Finish(ok, failedLater)
	if err != nil || failed.Status != task.Failed || failed.TerminalOutcome != "" || !failed.CleanupAfter.Equal(ok.CleanupAfter) {
		t.Errorf("%+v, %v", failed, err)
	}
	for name, p := range map[string]process.Process{
		"success": ended(job(), process.Observed{Exited: true}), "lost": lost(job()), "running": job(),
	} {
		got, err := task.Finish(failed, p)
		var me *task.MoveError
		if !errors.As(err, &me) {
			t.Errorf("%s after a failure: %v", name, err)
		}
		if diff := cmp.Diff(failed, got); diff != "" {
			t.Errorf("%s changed it: %s", name, diff)
		}
	}
	if _, err := task.Finish(ok, lost(job())); err == nil {
		t.Error("a success became lost")
	}
	running := task.FromProcess(job())
	if got, err := task.Finish(running, job()); err != nil || !cmp.Equal(got, running) {
		t.Errorf("still running: %+v, %v", got, err)
	}
}

// TestFinishAfterTheClockWentBack: what seems to have ended long before it
// began is kept as long as any other.
func TestFinishAfterTheClockWentBack(t *testing.T) {
	p := ended(job(), process.Observed{Exited: true})
	p.EndedAt = at(-30 * 86400)
	got, err := task.Finish(task.FromProcess(job()), p)
	if err != nil || !got.EndedAt.Equal(at(1)) || !got.CleanupAfter.Equal(at(1+7*86400)) {
		t.Errorf("ended %v, kept until %v, %v", got.EndedAt, got.CleanupAfter, err)
	}
}

func TestTerminalSummaryIsTheLastLine(t *testing.T) {
	for tail, want := range map[string]string{
		"": "", " \n\n": "", "one\ntwo\n\n": "two", "10%\r20%\r\n": "20%", "a \t b": "a b",
	} {
		p := ended(job(), process.Observed{Exited: true})
		p.Tail = tail
		if got := task.FromProcess(p).TerminalSummary; got != want {
			t.Errorf("%q: %q, want %q", tail, got, want)
		}
	}
}

func TestCleanupAfter(t *testing.T) {
	tests := []struct {
		t    task.Task
		want time.Time
	}{
		{task.Task{Status: task.Failed, CreatedAt: at(1), LastEventAt: at(2), EndedAt: at(3)}, at(3 + 7*86400)},
		{task.Task{Status: task.Failed, CreatedAt: at(1), LastEventAt: at(2)}, at(2 + 7*86400)},
		{task.Task{Status: task.Lost, CreatedAt: at(1)}, at(1 + 86400)},
	}
	for _, tt := range tests {
		if got := task.CleanupAfter(tt.t); !got.Equal(tt.want) {
			t.Errorf("%v, want %v", got, tt.want)
		}
	}
}
