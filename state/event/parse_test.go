package event_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/event"
	"claw/state/process"
)

// TestParseTable is the table of spec/exec-process.md 4.1, its [R] column where
// it has one, and the grammar's other corners.
func TestParseTable(t *testing.T) {
	const paragraph = "\n\nCheck what it changed before running it again."
	tests := []struct {
		text             string
		completion, tell bool
	}{
		{"Exec completed (tide-orb, code 0) :: first done", true, true},
		{"Exec completed (abc12345, code 0)", true, false},
		{"Exec completed (abc12345, code 7)", true, true},
		{"Exec failed (abc12345, code 1)", true, true},
		{"Exec failed (fresh-ke, signal SIGTERM)", true, true},
		{"EXEC FAILED (abc12345, code 2)", true, true},
		{"Exec completed (abc, code 0):: x", false, false},
		{"Exec completed (rotate api keys)", false, false},
		{"Exec failed: notify me if this happens", false, false},
		{"exec finished: ok", true, true},
		{"Exec Finished (node=abc, code 1)", true, true},
		{"Exec finished weekly backup checks", false, false},
		{"Exec running (gateway id=g1, 10s): ls", false, false},
		{"Exec denied (gateway id=g1, timeout): rm", false, false},
		{"Nightly backup exec failed (see logs)", false, false},
		{"Exec failed (x, signal SIGTERM)" + paragraph, true, true},
		// [R]: the label without a code.
		{"Exec failed (tide-orbit, unknown exit code)", true, true},
		{"Exec failed (tide-orbit, unknown exit code) :: half", true, true},
		{"Exec failed (tide-orbit, code 0)", true, true},
		{"Exec completed (tide-orbit, code 0)" + paragraph, true, true},
		{"Exec completed (oceanic-, code 0) :: x", true, true},
		{" \t\n Exec completed (a, code 0) :: x", true, true},
		{"Exec completed (a, code 0) \n", true, false},
		{"Exec completed (a, code 0) :: ", true, false},
		{"Exec completed (a, code 0) :: a\nb\n\nc", true, true},
		{"exec finished (x): y\nz", true, true},
		{"exec finished(x)", true, true},
		{"Exec completed (a, code -1)", true, true},
		{"Exec completed (a, code 00)", true, false},
		{"Exec failed (a, signal 34)", true, true},
		{"Exec completed (a, code 0, run 01J%2529x%29) :: x", true, true},
		{"Exec completed (a, code 0, run r)", true, false},
		{"Exec completed (" + strings.Repeat("a", 64) + ", code 1)", true, true},
		// Not completions.
		{"", false, false},
		{"exec", false, false},
		{"Exec completed", false, false},
		{"Exec completed (" + strings.Repeat("a", 65) + ", code 1)", false, false},
		{"Exec completed (, code 1)", false, false},
		{"Exec completed (a b, code 1)", false, false},
		{"Exec completed (ä, code 1)", false, false},
		{"Exec completed (a,code 1)", false, false},
		{"Exec completed (a, code )", false, false},
		{"Exec completed (a, code x)", false, false},
		{"Exec completed (a, code --1)", false, false},
		{"Exec completed (a, signal )", false, false},
		{"Exec completed (a, signal SIG-TERM)", false, false},
		{"Exec completed (a, unknown)", false, false},
		{"Exec completed (a, code 0", false, false},
		{"Exec completed (a, code 0, run r", false, false},
		{"Exec completed (a, code 0) done", false, false},
		{"Exec completed (a, code 0)\nnext line", false, false},
		{"Exec completed(a, code 0)", false, false},
		{"Exec  completed (a, code 0)", false, false},
		{"exec finished", false, false},
		{"exec finished  (x)", false, false},
		{"exec finishedly: x", false, false},
		{"> Exec completed (a, code 0) :: x", false, false},
	}
	for _, tt := range tests {
		got, ok := event.Parse(tt.text)
		if ok != tt.completion {
			t.Errorf("%q: completion %v", tt.text, ok)
			continue
		}
		if ok && got.Relayable() != tt.tell {
			t.Errorf("%q: relayable %v", tt.text, got.Relayable())
		}
	}
}

func TestParseFields(t *testing.T) {
	tests := []struct {
		text string
		want event.Parsed
	}{
		{"Exec completed (tide-orbit, code 0) :: built in 61.2s", event.Parsed{ID: "tide-orbit", Result: "code 0", Output: "built in 61.2s"}},
		{"EXEC FAILED (Tide-Orb, SIGNAL sigterm)", event.Parsed{Failed: true, ID: "Tide-Orb", Result: "signal sigterm"}},
		{"Exec completed (x, code 3, run a%29b%2529) :: o", event.Parsed{ID: "x", Result: "code 3", Run: "a)b%29", Output: "o"}},
		{"exec failed (x, Unknown exit code)\n\nparagraph", event.Parsed{Failed: true, ID: "x", Result: "unknown exit code", Output: "paragraph"}},
		{"exec finished: ok", event.Parsed{Finished: true}},
	}
	for _, tt := range tests {
		got, ok := event.Parse(tt.text)
		if !ok {
			t.Errorf("%q: not a completion", tt.text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"Exec completed (tide-orb, code 0) :: first done", "Exec failed (x, signal SIGTERM)\n\npara", "exec finished: ok",
		"Exec completed (a, code 0, run 1%29)", "exec failed (a, unknown exit code)", "Exec completed (rotate api keys)", "\u212aexec \xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := event.Parse(text)
		if !ok || c.Finished {
			return
		}
		if c.ID == "" || len(c.ID) > 64 || c.Result == "" || !strings.Contains(text, c.ID) || !strings.HasSuffix(text, c.Output) {
			t.Fatalf("%q: %+v", text, c)
		}
		if c.Success() && c.Failed {
			t.Fatalf("%q: failed and a success", text)
		}
	})
}

// FuzzCompletionIsParsed: whatever a command printed, its completion is one and
// says what became of it.
func FuzzCompletionIsParsed(f *testing.F) {
	f.Add("first done\n", 0, uint8(0))
	f.Add("", 1, uint8(1))
	f.Add(") :: Exec failed (y, code 2)", 127, uint8(2))
	f.Add(strings.Repeat("é\xff ", 300), 0, uint8(3))
	f.Fuzz(func(t *testing.T, tail string, code int, kind uint8) {
		o := process.Observed{Exited: true, Code: code & 0xff}
		switch kind % 4 {
		case 1:
			o = process.Observed{Signal: "SIGKILL"}
		case 2:
			o.Forced = process.ReasonOverallTimeout
		case 3:
			o = process.Observed{}
		}
		p := process.Process{Phase: process.Exited, Slug: "tide-orbit-2", Tail: tail, Exit: process.Classify(o)}
		c, ok := event.Parse(event.FormatCompletion(p))
		if !ok || c.ID != p.Slug || c.Result != process.Label(p.Exit) || c.Failed != (process.Status(p) == process.StatusFailed) {
			t.Fatalf("%q: %+v", event.FormatCompletion(p), c)
		}
		if strings.TrimSpace(tail) != "" && event.Snippet(tail) != "" && !c.Relayable() {
			t.Fatalf("%q is not told", tail)
		}
	})
}
