package task_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/task"
)

const allStatuses = "queued running succeeded failed timed_out cancelled lost"

// TestCanEnd: the matrix of spec/tasks-recovery.md 1.4 for what is said by run
// id. A subagent's row has the exceptions.
func TestCanEnd(t *testing.T) {
	legal := map[string]string{
		"queued": allStatuses, "running": "running succeeded failed timed_out cancelled lost",
		"succeeded": "succeeded failed timed_out cancelled", "failed": "failed", "timed_out": "timed_out", "cancelled": "cancelled", "lost": "lost",
	}
	for _, runtime := range []task.Runtime{task.CLI, task.Cron, task.ACP, task.Subagent} {
		for from, allowed := range legal {
			for to := range strings.SplitSeq(allStatuses, " ") {
				row := task.Task{Runtime: runtime, Status: task.Status(from), EndedAt: at(50), Error: "something else"}
				err := task.CanEnd(row, task.End{Status: task.Status(to), At: at(60), Canonical: true})
				want := false
				for a := range strings.SplitSeq(allowed, " ") {
					want = want || a == to
				}
				if (err == nil) != want {
					t.Errorf("%s: %s to %s: %v", runtime, from, to, err)
				}
			}
		}
	}
}

// TestCanEndExceptions: the exceptions of the same matrix.
func TestCanEndExceptions(t *testing.T) {
	const kill, missing = task.KillMarker, "backing session missing"
	row := func(r task.Runtime, s task.Status, text string) task.Task {
		return task.Task{Runtime: r, Status: s, Error: text, CreatedAt: at(0), EndedAt: at(50)}
	}
	tests := []struct {
		name string
		row  task.Task
		end  task.End
		ok   bool
	}{
		{"subagent: its own outcome, strictly older", row("subagent", "cancelled", "x"), task.End{Status: "succeeded", At: at(49), Canonical: true}, true},
		{"at the same instant", row("subagent", "cancelled", "x"), task.End{Status: "succeeded", At: at(50), Canonical: true}, false},
		{"later", row("subagent", "cancelled", "x"), task.End{Status: "failed", At: at(51), Canonical: true}, false},
		{"older, but not its own", row("subagent", "cancelled", "x"), task.End{Status: "succeeded", At: at(49)}, false},
		{"older, without a time", row("subagent", "cancelled", "x"), task.End{Status: "succeeded", Canonical: true}, false},
		{"not for a command", row("cli", "cancelled", "x"), task.End{Status: "succeeded", At: at(49), Canonical: true}, false},
		{"over a kill marker, whenever", row("subagent", "cancelled", kill), task.End{Status: "failed", At: at(99)}, true},
		{"lost is no outcome", row("subagent", "cancelled", kill), task.End{Status: "lost", At: at(99)}, false},
		{"never back", row("subagent", "cancelled", kill), task.End{Status: "running", At: at(9)}, false},
		{"a kill marker refreshes itself", row("subagent", "cancelled", kill), task.End{Status: "cancelled", Error: kill}, true},
		{"and not a real cancel", row("subagent", "cancelled", "x"), task.End{Status: "cancelled", Error: kill}, false},
		{"nor a success", row("subagent", "succeeded", ""), task.End{Status: "cancelled", Error: kill}, false},
		{"but what runs", row("subagent", "running", ""), task.End{Status: "cancelled", Error: kill}, true},
		{"a lost automation is repaired", row("cron", "lost", missing), task.End{Status: "succeeded", Canonical: true}, true},
		{"also with words around it", row("cron", "lost", "cron "+missing+" for 6 minutes"), task.End{Status: "failed", Canonical: true}, true},
		{"not without a record", row("cron", "lost", missing), task.End{Status: "succeeded"}, false},
		{"not without the words", row("cron", "lost", ""), task.End{Status: "succeeded", Canonical: true}, false},
		{"not when it was lost otherwise", row("cron", "lost", "the machine went down"), task.End{Status: "succeeded", Canonical: true}, false},
		{"not a command", row("cli", "lost", missing), task.End{Status: "succeeded", Canonical: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := task.CanEnd(tt.row, tt.end)
			if (err == nil) != tt.ok {
				t.Fatal(err)
			}
			got, err := task.Conclude(tt.row, tt.end)
			if (err == nil) != tt.ok {
				t.Fatal(err)
			}
			var move *task.MoveError
			if !tt.ok && (!errors.As(err, &move) || move.From != tt.row.Status || move.To != tt.end.Status) {
				t.Errorf("%v does not name both ends", err)
			}
			if diff := cmp.Diff(tt.row, got); !tt.ok && diff != "" {
				t.Errorf("it was changed: %s", diff)
			}
			if tt.ok && got.Status != tt.end.Status {
				t.Errorf("status %s", got.Status)
			}
		})
	}
}

// TestConclude: the first end stamps, and the same once more changes no time
// (1.4, 1.11, 9.1).
func TestConclude(t *testing.T) {
	row := task.Task{Runtime: task.CLI, Status: task.Running, CreatedAt: at(0), StartedAt: at(1), LastEventAt: at(1)}
	got, err := task.Conclude(row, task.End{Status: task.Succeeded, At: at(60), Summary: " built\n in 61s "})
	want := row
	want.Status, want.EndedAt, want.LastEventAt, want.TerminalOutcome, want.TerminalSummary = "succeeded", at(60), at(60), "succeeded", "built in 61s"
	want.CleanupAfter = at(60 + 7*86400)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v %s", err, diff)
	}
	again, err := task.Conclude(got, task.End{Status: task.Succeeded, At: at(99)})
	if diff := cmp.Diff(want, again); diff != "" || err != nil {
		t.Errorf("twice: %v %s", err, diff)
	}
	worse, err := task.Conclude(got, task.End{Status: task.Failed, At: at(70), Error: "disk full"})
	if err != nil || worse.Error != "disk full" || worse.TerminalOutcome != "" || !worse.EndedAt.Equal(at(70)) || !worse.CleanupAfter.Equal(want.CleanupAfter) {
		t.Errorf("%+v, %v", worse, err)
	}
	early, _ := task.Conclude(row, task.End{Status: task.Failed, At: at(-5)})
	if !early.EndedAt.Equal(at(1)) {
		t.Errorf("it ended before it began: %v", early.EndedAt)
	}
	repaired, err := task.Conclude(task.MarkLost(task.Task{Runtime: task.Cron, Status: task.Running, CreatedAt: at(0)}, task.MissingError, at(400)), task.End{Status: task.Succeeded, At: at(5), Canonical: true})
	if err != nil || !repaired.CleanupAfter.Equal(at(5+7*86400)) || repaired.Error != "" {
		t.Errorf("a repaired row is kept as any other: %+v, %v", repaired, err)
	}
}

func TestConcludeBegins(t *testing.T) {
	row := task.Task{Runtime: task.CLI, Status: task.Queued, CreatedAt: at(0), LastEventAt: at(0)}
	got, err := task.Conclude(row, task.End{Status: task.Running, At: at(3)})
	if err != nil || got.Status != task.Running || !got.StartedAt.Equal(at(3)) || !got.LastEventAt.Equal(at(3)) || !got.CleanupAfter.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	again, _ := task.Conclude(got, task.End{Status: task.Running, At: at(9)})
	if !again.StartedAt.Equal(at(3)) || !again.LastEventAt.Equal(at(9)) {
		t.Errorf("%+v", again)
	}
}

// TestAnyOrderOfEnds: whatever is said in whatever order, an end never becomes
// active again, the times stay in order, and the stamp is written once (spec
// section 9, properties 1 and 2).
func TestAnyOrderOfEnds(t *testing.T) {
	statuses := strings.Fields(allStatuses)
	rapid.Check(t, func(rt *rapid.T) {
		row := task.Task{
			Runtime: rapid.SampledFrom([]task.Runtime{"cli", "cron", "acp", "subagent"}).Draw(rt, "runtime"), Status: task.Queued, CreatedAt: at(0), LastEventAt: at(0),
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			e := task.End{
				Status:    task.Status(rapid.SampledFrom(statuses).Draw(rt, "status")),
				At:        at(rapid.IntRange(-5, 50).Draw(rt, "at")),
				Error:     rapid.SampledFrom([]string{"", task.KillMarker, task.MissingError}).Draw(rt, "error"),
				Canonical: rapid.Bool().Draw(rt, "canonical"),
			}
			next, err := task.Conclude(row, e)
			if (err == nil) != (task.CanEnd(row, e) == nil) {
				rt.Fatalf("CanEnd and Conclude differ: %v", err)
			}
			if err != nil && !cmp.Equal(row, next) {
				rt.Fatal("a refused end has changed the row")
			}
			if row.Status.Terminal() && next.Status.Active() {
				rt.Fatalf("%s to %s", row.Status, next.Status)
			}
			if next.Status.Terminal() != !next.CleanupAfter.IsZero() || next.Status.Terminal() && next.EndedAt.IsZero() {
				rt.Fatalf("%+v", next)
			}
			if s := next.StartedAt; !s.IsZero() && s.Before(next.CreatedAt) || !next.EndedAt.IsZero() && next.EndedAt.Before(s) {
				rt.Fatalf("times out of order: %+v", next)
			}
			if twice, err := task.Conclude(next, e); err == nil && next.Status == e.Status && !cmp.Equal(next, twice) {
				rt.Fatalf("the same twice: %s", cmp.Diff(next, twice))
			}
			row = next
		}
	})
}

// TestClassify: the examples of spec/tasks-recovery.md 1.4.
func TestClassify(t *testing.T) {
	tests := []struct {
		name string
		o    task.Occurrence
		want task.Status
	}{
		{"completed", task.Occurrence{Kind: task.OccurEnd, Stop: "completed"}, "succeeded"},
		{"nothing said", task.Occurrence{Kind: task.OccurEnd}, "succeeded"},
		{"a timeout", task.Occurrence{Kind: task.OccurEnd, Stop: "timeout"}, "timed_out"},
		{"cancelled", task.Occurrence{Kind: task.OccurEnd, Stop: "cancelled"}, "cancelled"},
		{"stop reason aborted", task.Occurrence{Kind: task.OccurEnd, Stop: "aborted"}, "cancelled"},
		{"blocked", task.Occurrence{Kind: task.OccurEnd, Stop: "blocked"}, "failed"},
		{"failed", task.Occurrence{Kind: task.OccurEnd, Stop: "failed"}, "failed"},
		{"an error", task.Occurrence{Kind: task.OccurError}, "failed"},
		{"aborted in the provider's phase, which had begun", task.Occurrence{Kind: task.OccurEnd, Aborted: true, TimeoutPhase: "provider", Started: true}, "timed_out"},
		{"aborted while it was queued", task.Occurrence{Kind: task.OccurEnd, Aborted: true, TimeoutPhase: "provider"}, "cancelled"},
		{"an aborted error", task.Occurrence{Kind: task.OccurError, Aborted: true}, "cancelled"},
		{"an error of the provider's timeout", task.Occurrence{Kind: task.OccurError, TimeoutPhase: "provider"}, "timed_out"},
		{"an end with a provider's timeout", task.Occurrence{Kind: task.OccurEnd, TimeoutPhase: "provider"}, "timed_out"},
		{"a timeout of another phase says nothing", task.Occurrence{Kind: task.OccurError, TimeoutPhase: "queue"}, "failed"},
	}
	for _, tt := range tests {
		if got := task.Classify(tt.o); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestApply: lifecycle events of 1.4, and the changes they make.
func TestApply(t *testing.T) {
	queued := task.Task{Runtime: task.CLI, Status: task.Queued, CreatedAt: at(0), LastEventAt: at(0)}
	running, change := task.Apply(queued, task.Occurrence{Kind: task.OccurStart, At: at(1)})
	if running.Status != task.Running || !running.StartedAt.Equal(at(1)) || !cmp.Equal(change, &task.Change{At: at(1), Kind: "running"}) {
		t.Errorf("start: %+v, %+v", running, change)
	}
	if _, change := task.Apply(running, task.Occurrence{Kind: task.OccurStart, At: at(2)}); change != nil {
		t.Error("a second start is news")
	}
	for _, o := range []task.Occurrence{{Kind: task.OccurProgress, At: at(7), Summary: " \n"}, {Kind: "whatever", At: at(7), Summary: "words"}} {
		got, change := task.Apply(running, o)
		if !got.LastEventAt.Equal(at(7)) || change != nil || got.ProgressSummary != "" {
			t.Errorf("%+v: %+v, %+v", o, got, change)
		}
	}
	got, change := task.Apply(running, task.Occurrence{Kind: task.OccurProgress, At: at(7), Summary: "3 of\n7"})
	if got.ProgressSummary != "3 of 7" || !cmp.Equal(change, &task.Change{At: at(7), Kind: "progress", Summary: "3 of 7"}) {
		t.Errorf("progress: %+v, %+v", got, change)
	}
	got, change = task.Apply(running, task.Occurrence{Kind: task.OccurComplaint, At: at(8), Error: "rate limit"})
	if got.Error != "rate limit" || got.Status != task.Running || change != nil {
		t.Errorf("a complaint: %+v, %+v", got, change)
	}
	late, _ := task.Apply(running, task.Occurrence{Kind: task.OccurError, At: at(9), TimeoutPhase: "provider", Error: "no answer in 60s"})
	if late.Status != task.TimedOut || late.Error != "no answer in 60s" {
		t.Errorf("the error of a timeout: %+v", late)
	}
	for _, s := range []string{"succeeded", "failed", "timed_out", "cancelled", "lost"} {
		ended := task.Task{Status: task.Status(s), CreatedAt: at(0), EndedAt: at(5), LastEventAt: at(5)}
		for _, kind := range []task.OccurrenceKind{"start", "end", "error", "progress", "complaint", "whatever"} {
			got, change := task.Apply(ended, task.Occurrence{Kind: kind, At: at(60), Summary: "s", Error: "e"})
			if !cmp.Equal(ended, got) || change != nil {
				t.Errorf("%s after %s: %s", kind, s, cmp.Diff(ended, got))
			}
		}
	}
}

// TestSelect: the run-scope selection of 1.4.
func TestSelect(t *testing.T) {
	rows := []task.Task{
		0: {RunID: "R", Runtime: "acp", ScopeKind: "session", OwnerKey: "o1", ChildSessionKey: "c1"},
		1: {RunID: "R", Runtime: "acp", ScopeKind: "session", OwnerKey: "o2", ChildSessionKey: "o1"},
		2: {RunID: "R", Runtime: "cli", ScopeKind: "session", OwnerKey: "o1"},
		3: {RunID: "S", Runtime: "cli", ScopeKind: "session", OwnerKey: "o1"},
		4: {RunID: "S", Runtime: "cli", ScopeKind: "session", OwnerKey: "o1", Label: "another"},
		5: {RunID: "T", Runtime: "cron", ScopeKind: "system", OwnerKey: "o1"},
	}
	tests := []struct {
		name string
		s    task.Scope
		want []int
	}{
		{"the child first", task.Scope{RunID: "R", SessionKey: "o1"}, []int{1}},
		{"then the owner", task.Scope{RunID: "R", SessionKey: "o2"}, []int{1}},
		{"of one runtime", task.Scope{RunID: "R", Runtime: "cli", SessionKey: "o1"}, []int{2}},
		{"an owner of system scope is none", task.Scope{RunID: "T", SessionKey: "o1"}, nil},
		{"another session", task.Scope{RunID: "R", SessionKey: "x"}, nil},
		{"several pieces of work: none", task.Scope{RunID: "R"}, nil},
		{"one piece of work, twice", task.Scope{RunID: "S"}, []int{3, 4}},
		{"one", task.Scope{RunID: "T"}, []int{5}},
		{"no run", task.Scope{SessionKey: "o1"}, nil},
		{"unknown", task.Scope{RunID: "X"}, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, task.Select(rows, tt.s)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// minutes after t0.
func mins(n float64) time.Time { return t0.Add(time.Duration(n * float64(time.Minute))) }
