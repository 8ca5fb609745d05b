package subagent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claw/state/session"
	"claw/state/subagent"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func codeOf(no *subagent.Refusal) subagent.Code {
	if no == nil {
		return ""
	}
	return no.Code
}

// TestCheck: seed 004, spec/tasks-recovery.md 6.1 and 6.2.
func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(a *subagent.Ask)
		want   subagent.Code
	}{
		{"good", func(*subagent.Ask) {}, ""},
		{"no agent", func(a *subagent.Ask) { a.Agent = " " }, subagent.NoAgent},
		{"no message", func(a *subagent.Ask) { a.Message = "\n" }, subagent.NoMessage},
		{"too long", func(a *subagent.Ask) { a.Message = strings.Repeat("x", session.MaxMessage) }, subagent.TooLong},
		{"too long together", func(a *subagent.Ask) {
			a.Message, a.System = strings.Repeat("x", session.MaxMessage/2), strings.Repeat("x", session.MaxMessage/2)
		}, subagent.TooLong},
		{"minimal", func(a *subagent.Ask) { a.PromptMode = "minimal" }, ""},
		{"another mode", func(a *subagent.Ask) { a.PromptMode = "full" }, subagent.BadMode},
		{"current requester", func(a *subagent.Ask) { a.Delivery = "current-requester" }, ""},
		{"a requester by name", func(a *subagent.Ask) { a.Delivery = "agent:main:main" }, subagent.BadDelivery},
		{"cleanup", func(a *subagent.Ask) { a.Cleanup = "burn" }, subagent.BadCleanup},
		{"a long label", func(a *subagent.Ask) { a.Label = strings.Repeat("ü", 201) }, subagent.BadLabel},
		{"the longest label", func(a *subagent.Ask) { a.Label = strings.Repeat("ü", 200) }, ""},
		{"no tools and some", func(a *subagent.Ask) { a.NoTools, a.AlsoAllow = true, []string{"x"} }, subagent.BothTools},
		{"a core tool", func(a *subagent.Ask) { a.AlsoAllow = []string{"mine", "Exec"} }, subagent.CoreTool},
		{"all of them", func(a *subagent.Ask) { a.AlsoAllow = []string{"*"} }, subagent.CoreTool},
		{"two in one", func(a *subagent.Ask) { a.AlsoAllow = []string{"a,b"} }, subagent.BadTool},
		{"a blank one", func(a *subagent.Ask) { a.AlsoAllow = []string{""} }, subagent.BadTool},
	}
	for _, tt := range tests {
		a := subagent.Ask{Agent: "main", Message: "do it"}
		tt.change(&a)
		if got := codeOf(subagent.Check(a)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSurface: a run may use no more than its caller.
func TestSurface(t *testing.T) {
	tests := []struct {
		name       string
		ask        subagent.Ask
		configured []string
		caller     []string
		want       []string
		no         subagent.Code
	}{
		{"all", subagent.Ask{}, nil, nil, nil, ""},
		{"none", subagent.Ask{NoTools: true}, nil, nil, []string{}, ""},
		{"the caller's", subagent.Ask{}, nil, []string{"a", "b"}, []string{"a", "b"}, ""},
		{"of a caller without", subagent.Ask{}, nil, []string{}, []string{}, ""},
		{"the configured", subagent.Ask{}, []string{"a"}, nil, []string{"a"}, ""},
		{"both", subagent.Ask{}, []string{"a", "c"}, []string{"a", "b"}, []string{"a"}, ""},
		{"added", subagent.Ask{AlsoAllow: []string{"b"}}, []string{"a"}, []string{"a", "b"}, []string{"a", "b"}, ""},
		{"added to a person's", subagent.Ask{AlsoAllow: []string{"b"}}, []string{"a"}, nil, []string{"a", "b"}, ""},
		{"not the caller's", subagent.Ask{AlsoAllow: []string{"c"}}, []string{"a"}, []string{"a", "b"}, nil, subagent.ForeignTool},
	}
	for _, tt := range tests {
		got, no := subagent.Surface(tt.ask, tt.configured, tt.caller)
		if codeOf(no) != tt.no || !slices.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%s: %v %v", tt.name, got, no)
		}
	}
}

// TestModels: spec/tasks-recovery.md 6.2.
func TestModels(t *testing.T) {
	tests := []struct {
		name string
		m    subagent.Models
		ask  string
		want string
		no   subagent.Code
	}{
		{"none", subagent.Models{}, "", "", ""},
		{"default: rejected", subagent.Models{Configured: "p/a"}, "p/b", "", subagent.ModelNotAllowed},
		{"the configured one", subagent.Models{Configured: "p/a"}, "p/a", "", ""},
		{"the configured one, bare", subagent.Models{Configured: "p/a"}, "a", "", ""},
		{"a person", subagent.Models{Operator: true, Configured: "p/a"}, "q/b", "q/b", ""},
		{"allowed all", subagent.Models{Override: true, Configured: "p/a"}, "q/b", "q/b", ""},
		{"listed, bare", subagent.Models{Override: true, Allowed: []string{"p/b"}, Configured: "p/a"}, "b", "p/b", ""},
		{"not listed", subagent.Models{Override: true, Allowed: []string{"p/b"}, Configured: "p/a"}, "q/b", "", subagent.ModelUnlisted},
		{"listed, not opted in", subagent.Models{Allowed: []string{"p/b"}, Configured: "p/a"}, "p/b", "", subagent.ModelNotAllowed},
		{"a star", subagent.Models{Override: true, Allowed: []string{"*"}}, "z", "z", ""},
	}
	for _, tt := range tests {
		got, no := tt.m.Choose(tt.ask)
		if codeOf(no) != tt.no || got != tt.want {
			t.Errorf("%s: %q %v", tt.name, got, no)
		}
	}
}

// TestLimits: spec/tasks-recovery.md 6.5. The sixth active child is refused; one that
// is older than two hours does not count, nor does one with a timeout of three hours
// until three hours and a minute.
func TestLimits(t *testing.T) {
	l := subagent.Limits{Depth: 1, Children: 5, Concurrent: 8}
	child := func(age, timeout time.Duration) subagent.Run {
		return subagent.Run{Kind: subagent.Detached, Status: subagent.Running, Caller: "c", SessionKey: "x", CreatedAt: noon.Add(-age), TimeoutMs: timeout.Milliseconds()}
	}
	four := slices.Repeat([]subagent.Run{child(0, 0)}, 4)
	with := func(r subagent.Run) []subagent.Run { return append(slices.Clone(four), r) }
	done := child(0, 0)
	done.Status = subagent.Ended
	other := child(0, 0)
	other.Caller = "d"
	tests := []struct {
		name   string
		caller string
		all    []subagent.Run
		want   subagent.Code
	}{
		{"the fifth", "c", four, ""},
		{"the sixth", "c", with(child(0, 0)), subagent.TooMany},
		{"one has ended", "c", with(done), ""},
		{"one is another's", "c", with(other), ""},
		{"two hours old", "c", with(child(2*time.Hour, 0)), subagent.TooMany},
		{"older", "c", with(child(2*time.Hour+1, 0)), ""},
		{"a long one", "c", with(child(3*time.Hour+time.Minute, 3*time.Hour)), subagent.TooMany},
		{"a long one that is older", "c", with(child(3*time.Hour+time.Minute+1, 3*time.Hour)), ""},
		{"a person", "", with(child(0, 0)), ""},
		{"a child", "x", []subagent.Run{{Kind: subagent.Detached, SessionKey: "x", Depth: 1}}, subagent.TooDeep},
	}
	for _, tt := range tests {
		if _, no := l.Admit(tt.caller, tt.all, noon); codeOf(no) != tt.want {
			t.Errorf("%s: %v", tt.name, no)
		}
	}
	l.Depth = 3
	if depth, no := l.Admit("x", []subagent.Run{{Kind: subagent.Detached, SessionKey: "x", Depth: 2}}, noon); depth != 3 || no != nil {
		t.Error(depth, no)
	}
}

func nobody(string) bool { return false }

// TestMake: who may begin, first in, first out for each caller.
func TestMake(t *testing.T) {
	two := func(subagent.Run) subagent.Limits { return subagent.Limits{Concurrent: 2, Archive: time.Hour} }
	run := func(id, caller string, s subagent.Status) subagent.Run {
		return subagent.Run{ID: id, Kind: subagent.Detached, Caller: caller, Status: s}
	}
	later := run("4", "d", subagent.Queued)
	later.NotBefore = noon.Add(time.Second)
	over := run("5", "e", subagent.Ended)
	over.SessionKey, over.EndedAt, over.Announce.State = "s", noon.Add(-time.Hour), subagent.NotRequired
	fresh := over
	fresh.ID, fresh.EndedAt = "6", noon.Add(-time.Hour+time.Minute)
	gone := fresh
	gone.ID, gone.Cleanup = "7", subagent.Delete
	untold := gone
	untold.ID, untold.Announce = "8", subagent.Announce{State: subagent.Pending}
	all := []subagent.Run{run("1", "c", subagent.Running), run("2", "c", subagent.Queued), run("3", "c", subagent.Queued), later, over, fresh, gone, untold}
	p := subagent.Make(all, two, nobody, noon)
	if got := fmt.Sprint(p.Start, p.Orphan, p.Aside, p.Tell); got != "[2] [1] [5 7] [8]" {
		t.Error(got)
	}
	if !p.Next.Equal(noon.Add(time.Second)) {
		t.Error(p.Next)
	}
	p = subagent.Make(all, two, func(id string) bool { return id == "2" || id == "1" }, noon)
	if len(p.Start)+len(p.Orphan) != 0 {
		t.Error(p)
	}
}

// TestTurn: three at once, first in, first out.
func TestTurn(t *testing.T) {
	all := func(status ...subagent.Status) (rows []subagent.Run) {
		for i, s := range status {
			rows = append(rows, subagent.Run{ID: fmt.Sprint(i), Kind: subagent.Completion, Status: s, Caller: fmt.Sprint("c", i%2)})
		}
		return rows
	}
	const q, r, e = subagent.Queued, subagent.Running, subagent.Ended
	tests := []struct {
		rows []subagent.Run
		want string
	}{
		{all(q, q, q, q), "012"},
		{all(r, q, q, q), "12"},
		{all(r, r, r, q), ""},
		{all(e, r, r, q, q), "3"},
	}
	for i, tt := range tests {
		got := ""
		for _, row := range tt.rows {
			if subagent.Turn(tt.rows, row.ID) {
				got += row.ID
			}
		}
		if got != tt.want {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}

// TestMoves: what has ended never changes, and nothing begins twice.
func TestMoves(t *testing.T) {
	r := subagent.Run{Kind: subagent.Detached, Status: subagent.Queued, CreatedAt: noon}
	r, err := subagent.Begin(r, "t", noon)
	if err != nil || r.Status != subagent.Running {
		t.Fatal(err)
	}
	if _, err := subagent.Begin(r, "u", noon); err == nil {
		t.Error("it began twice")
	}
	for i, wait := range []time.Duration{15 * time.Second, time.Minute} {
		again, ok := subagent.Retry(r, noon)
		if !ok || !again.NotBefore.Equal(noon.Add(wait)) {
			t.Fatalf("try %d: %+v", i, again)
		}
		if r, err = subagent.Begin(again, "t", noon.Add(wait)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := subagent.Retry(r, noon); ok {
		t.Error("a fourth try")
	}
	done, ok := subagent.Close(r, subagent.End{Outcome: subagent.OK, Reason: subagent.Complete, Reply: " yes\n", At: noon.Add(-time.Hour)})
	if !ok || done.Result != "yes" || !done.EndedAt.Equal(noon) {
		t.Errorf("%+v", done)
	}
	if again, ok := subagent.Close(done, subagent.End{Outcome: subagent.Failed}); ok || again.Outcome != subagent.OK {
		t.Error("it ended twice")
	}
	off := subagent.Run{Status: subagent.Queued, CancelledAt: noon}
	if _, err := subagent.Begin(off, "t", noon); err == nil {
		t.Error("a cancelled one began")
	}
}

// TestObserve: spec/tasks-recovery.md 6.3.
func TestObserve(t *testing.T) {
	ended := func(o subagent.Outcome) subagent.Run {
		return subagent.Run{Status: subagent.Ended, Outcome: o, StartedAt: noon, EndedAt: noon, Result: "r"}
	}
	tests := []struct {
		name   string
		r      subagent.Run
		waited bool
		status string
		phase  string
		ends   bool
	}{
		{"queued", subagent.Run{Status: subagent.Queued}, false, "pending", "", false},
		{"waited", subagent.Run{Status: subagent.Running, StartedAt: noon}, true, "timeout", "wait", false},
		{"ok", ended(subagent.OK), true, "ok", "", true},
		{"error", ended(subagent.Failed), true, "error", "", true},
		{"lost", ended(subagent.Unknown), true, "error", "", true},
		{"timed out", ended(subagent.TimedOut), false, "timeout", "run", true},
	}
	for _, tt := range tests {
		o := subagent.Observe(tt.r, tt.waited)
		if o.Status != tt.status || o.Phase != tt.phase || (o.EndedAt != nil) != tt.ends || o.Provider != !tt.r.StartedAt.IsZero() {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
}

// TestLadder: 1 s doubling to 30 s, of that between half and all; five attempts, ten
// minutes, then kept for six hours.
func TestLadder(t *testing.T) {
	for n, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 5: 16 * time.Second, 6: 30 * time.Second, 99: 30 * time.Second} {
		if lo, hi := subagent.Rung(n, 0), subagent.Rung(n, 1); lo != want/2 || hi != want {
			t.Errorf("rung %d: %v to %v", n, lo, hi)
		}
	}
	a, at := subagent.Announce{State: subagent.Pending}, noon
	for n := 1; n < 5; n++ {
		a = a.Attempt(subagent.Closed, "closed", noon, at, 1)
		if a.State != subagent.Failing || a.Attempts != n || !a.NextAt.Equal(at.Add(subagent.Rung(n, 1))) {
			t.Fatalf("%d: %+v", n, a)
		}
		at = a.NextAt
	}
	a = a.Attempt(subagent.Closed, "closed", noon, at, 1)
	if a.State != subagent.Suspended || a.Why != "retry-limit: closed" {
		t.Fatalf("%+v", a)
	}
	if b := a.Attempt(subagent.Closed, "closed", noon, at.Add(6*time.Hour-1), 1); b != a {
		t.Errorf("%+v", b)
	}
	if b := a.Attempt(subagent.Closed, "closed", noon, at.Add(6*time.Hour), 1); b.State != subagent.Discarded {
		t.Errorf("%+v", b)
	}
	first := subagent.Announce{State: subagent.Pending}
	if b := first.Attempt(subagent.Closed, "x", noon, noon.Add(10*time.Minute), 1); b.State != subagent.Suspended || b.Why != "expiry: x" {
		t.Errorf("%+v", b)
	}
	if b := first.Attempt(subagent.Gone, "x", noon, noon, 1); b.State != subagent.Discarded {
		t.Errorf("%+v", b)
	}
	told := first.Told("e", noon)
	if b := told.Attempt(subagent.Gone, "x", noon, noon, 1); b != told {
		t.Error("what was told was taken back")
	}
}

// TestSurplus: 25 are kept, of more than 50 the newest ten.
func TestSurplus(t *testing.T) {
	for n, gone := range map[int]int{25: 0, 26: 1, 50: 25, 51: 41} {
		var all []subagent.Run
		for i := range n {
			all = append(all, subagent.Run{ID: fmt.Sprintf("%02d", i), Announce: subagent.Announce{State: subagent.Suspended, EndedAt: noon.Add(time.Duration(i))}})
		}
		if got := subagent.Surplus(all); len(got) != gone || gone > 0 && got[0] != "00" {
			t.Errorf("%d: %v", n, got)
		}
	}
}

// TestWords: the status is of the outcome, and a failure repeats nothing.
func TestWords(t *testing.T) {
	for want, r := range map[string]subagent.Run{
		"Sub-agent a (do it) has finished:":                   {Outcome: subagent.OK, Result: "I failed"},
		"Sub-agent a (do it) has finished, and said nothing.": {Outcome: subagent.OK},
		"Sub-agent a (do it) failed: it broke":                {Outcome: subagent.Failed, Error: "it\nbroke", Result: ""},
		"Sub-agent a (do it) timed out.":                      {Outcome: subagent.TimedOut},
		"Sub-agent a (do it) was ended on purpose.":           {Outcome: subagent.Failed, Reason: subagent.Killed},
		"Sub-agent a (do it) was lost: gone":                  {Outcome: subagent.Unknown, Error: "gone"},
	} {
		r.Agent, r.Task = "a", "do\nit"
		if got := r.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := subagent.Run{Status: subagent.Running, Announce: subagent.Announce{State: subagent.Pending}}
	for reply, quiet := range map[string]bool{"ANNOUNCE_SKIP": true, " NO_REPLY\n": true, "NO_REPLY.": false, "I say NO_REPLY": false, "": false} {
		done, _ := subagent.Close(r, subagent.End{Outcome: subagent.OK, Reply: reply, At: noon})
		if (done.Announce.State == subagent.NotRequired) != quiet {
			t.Errorf("%q: %s", reply, done.Announce.State)
		}
	}
}

// FuzzFreeze: whatever an agent says, it is text within the bound.
func FuzzFreeze(f *testing.F) {
	f.Add("", 1)
	f.Add("ü", 70_000)
	f.Add("a\xffb€", 30_000)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1<<20 || len(s)*n > 1<<20 {
			return
		}
		whole := strings.Repeat(s, n)
		got := subagent.Freeze(whole)
		if len(got) > subagent.MaxResult || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if subagent.Freeze(got) != strings.TrimSpace(got) {
			t.Fatal("frozen twice is another text")
		}
	})
}
