package event_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/state/event"
	"claw/state/process"
)

// ended is a background process of a session that ended as seen, with output.
func ended(o process.Observed) process.Process {
	return process.Process{
		ID: "01JE8A0000000000000000000A", Slug: "tide-orbit", Agent: "main", Session: "agent:main:main", TaskID: "01JE8A0000000000000000000T",
		Background: true, NotifyOnExit: true, Phase: process.Exited, Tail: "first done\n", Exit: process.Classify(o),
	}
}

var success = process.Observed{Exited: true}

// TestFormatCompletion: spec/exec-process.md 4.1 with the whole slug (design.md 7).
func TestFormatCompletion(t *testing.T) {
	const head, after = "Exec failed (tide-orbit, ", "\n\n" + process.RetrySafety
	lost := ended(success)
	lost.Phase, lost.Exit = process.Lost, process.LostExit("killed")
	tests := []struct {
		name, tail string
		p          process.Process
		want       string
	}{
		{"success", "first done\n", ended(success), "Exec completed (tide-orbit, code 0) :: first done"},
		{"quiet", " \n", ended(success), "Exec completed (tide-orbit, code 0)"},
		{"lines", "a\n\n  b\tc\r\n", ended(success), "Exec completed (tide-orbit, code 0) :: a b c"},
		{"code 1 is completed", "oops", ended(process.Observed{Exited: true, Code: 1}), "Exec completed (tide-orbit, code 1) :: oops"},
		{"126", "", ended(process.Observed{Exited: true, Code: 126}), head + "code 126)"},
		{"127", "sh: x: not found", ended(process.Observed{Exited: true, Code: 127}), head + "code 127) :: sh: x: not found"},
		{"signal", "", ended(process.Observed{Signal: "SIGKILL"}), head + "signal SIGKILL)"},
		{"timeout, output", "half", ended(process.Observed{Signal: "SIGTERM", Forced: "overall-timeout"}), head + "signal SIGTERM) :: half" + after},
		{"timeout, quiet", "", ended(process.Observed{Exited: true, Forced: "overall-timeout"}), head + "code 0)" + after},
		{"lost", "half", lost, head + "unknown exit code) :: half"},
	}
	for _, tt := range tests {
		tt.p.Tail = tt.tail
		if got := event.FormatCompletion(tt.p); got != tt.want {
			t.Errorf("%s: got  %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestSnippetKeepsBothEnds: 180 characters are 89, the mark and 90.
func TestSnippetKeepsBothEnds(t *testing.T) {
	a, b := strings.Repeat("ä", 250), strings.Repeat("b", 200)
	tests := []struct{ name, tail, want string }{
		{"fits", strings.Repeat("x", 180), strings.Repeat("x", 180)},
		{"one too many", strings.Repeat("x", 89) + "y" + strings.Repeat("z", 91), strings.Repeat("x", 89) + "…" + strings.Repeat("z", 90)},
		{"only the last 400", "HEAD" + a + b, strings.Repeat("ä", 89) + "…" + strings.Repeat("b", 90)},
		{"the final error line is there", "start " + a + "\nerror: disk full\n", ""},
		{"spaces do not count", "x" + strings.Repeat(" \n", 150) + "y", "x y"},
	}
	for _, tt := range tests {
		got := event.Snippet(tt.tail)
		if tt.want != "" && got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if n := utf8.RuneCountInString(got); n > 180 {
			t.Errorf("%s: %d characters", tt.name, n)
		}
	}
	if got := event.Snippet(tests[3].tail); !strings.HasSuffix(got, "error: disk full") || !strings.HasPrefix(got, "start ä") {
		t.Errorf("got %q", got)
	}
}

func TestDetails(t *testing.T) {
	for _, s := range []string{"", "a\n\nb", strings.Repeat("ü", 8000)} {
		if got := event.Details("\n" + s + " \n"); got != s {
			t.Errorf("got %q, want %q", got, s)
		}
	}
	got := event.Details(strings.Repeat("ü", 8000) + "\nerror: disk full")
	if n := utf8.RuneCountInString(got); n != 8000 || !utf8.ValidString(got) {
		t.Errorf("%d characters, valid %v", n, utf8.ValidString(got))
	}
	if !strings.HasPrefix(got, "[truncated]\n\nüü") || !strings.HasSuffix(got, "\nerror: disk full") {
		t.Errorf("ends are %q … %q", got[:30], got[len(got)-30:])
	}
}

// TestShouldQueue: spec/exec-process.md 4.2, each no for its own reason.
func TestShouldQueue(t *testing.T) {
	with := func(o process.Observed, change func(*process.Process)) process.Process {
		p := ended(o)
		change(&p)
		return p
	}
	quiet := func(p *process.Process) { p.Tail = " \n\t" }
	cancel := process.Observed{Signal: "SIGTERM", Forced: process.ReasonManualCancel}
	tests := []struct {
		name string
		p    process.Process
		why  string
	}{
		{"success with output", ended(success), ""},
		{"still running", with(success, func(p *process.Process) { p.Phase, p.Exit = process.Running, nil }), "not ended"},
		{"foreground", with(success, func(p *process.Process) { p.Background = false }), "foreground"},
		{"removed", with(success, func(p *process.Process) { p.Removed = true }), "removed"},
		{"notifyOnExit off", with(success, func(p *process.Process) { p.NotifyOnExit = false }), "notifyOnExit"},
		{"told already", with(success, func(p *process.Process) { p.EventID = "01J" }), "already"},
		{"polled", with(success, func(p *process.Process) { p.Polled = true }), "poll"},
		{"no session", with(success, func(p *process.Process) { p.Session = "" }), "session"},
		{"cancelled", ended(cancel), "cancelled"},
		{"cancelled, quiet", with(cancel, quiet), "cancelled"},
		{"cancelled, but something is left", with(cancel, func(p *process.Process) { p.Leftover = []process.Leftover{{Command: "sleep"}} }), ""},
		{"empty success", with(success, quiet), "without output"},
		{"empty success, wanted", with(success, func(p *process.Process) { quiet(p); p.NotifyOnExitEmptySuccess = true }), ""},
		{"quiet non-zero", with(process.Observed{Exited: true, Code: 1}, quiet), ""},
		{"quiet 127", with(process.Observed{Exited: true, Code: 127}, quiet), ""},
		{"quiet signal", with(process.Observed{Signal: "SIGKILL"}, quiet), ""},
		{"quiet timeout", with(process.Observed{Exited: true, Forced: process.ReasonOverallTimeout}, quiet), ""},
		{"quiet, no code", with(process.Observed{}, quiet), ""},
		{"could not start", with(process.Observed{SpawnError: "gone"}, quiet), ""},
		{"quiet loss", with(success, func(p *process.Process) { quiet(p); p.Phase, p.Exit = process.Lost, process.LostExit("") }), ""},
	}
	for _, tt := range tests {
		ok, why := event.ShouldQueue(tt.p)
		if ok != (tt.why == "") || !strings.Contains(why, tt.why) || ok != (why == "") {
			t.Errorf("%s: %v, %q", tt.name, ok, why)
		}
	}
}

func TestCompletion(t *testing.T) {
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	p := ended(success)
	p.Tail = "one\ntwo\n"
	p.Command, p.Label = "./train.sh --fast", "training"
	p.StartedAt, p.EndedAt = now.Add(-100*time.Second), now.Add(-9500*time.Millisecond)
	want := event.Event{
		ID: "01JE8A0000000000000000000E", State: event.Queued, Kind: "exec", SessionKey: "agent:main:main", Agent: "main",
		ContextKey: "exec:tide-orbit", Text: "Exec completed (tide-orbit, code 0) :: one two", Details: "one\ntwo",
		ProcessID: p.ID, TaskID: p.TaskID, CreatedAt: now, Command: "./train.sh --fast", Name: "training", DurationMs: 90_500, Outcome: "succeeded",
	}
	got := event.Completion(want.ID, p, now)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	p.EventID = got.ID
	if ok, _ := event.ShouldQueue(p); ok {
		t.Error("a second event for one process")
	}
}

func TestEscapeRun(t *testing.T) {
	for _, run := range []string{"", "plain", "a)b", "100%", "%29", "%2529", ")%)"} {
		text := "Exec completed (x, code 1, run " + event.EscapeRun(run) + ") :: o"
		if c, ok := event.Parse(text); !ok || c.Run != run {
			t.Errorf("%q came back as %q, %v", run, c.Run, ok)
		}
	}
}
