package process_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/process"
)

// TestName: the examples of spec/exec-process.md 2.1, then the rules.
func TestName(t *testing.T) {
	tests := []struct{ command, want string }{
		{"npm run build", "npm run"},
		{"ls -la", "ls -la"},
		{"echo hello", "echo hello"},
		{`python3 -u "my script.py"`, "python3 my script.py"},
		{"FOO=1 make", "FOO=1 make"},
		{"", ""},
		{" \t\n", ""},
		{`""`, ""},
		{"make", "make"},
		{"  make  ", "make"},
		{"make\n-j2\tcheck", "make check"},
		{"tar -x -z", "tar -x"},
		{"'my prog' 'an arg'", "my prog an arg"},
		{`echo a\ b`, "echo a b"},
		{`echo 'it'\''s'`, "echo it's"},
		{`echo "say \"hi\""`, `echo say "hi"`},
		{`echo 'open quote`, "echo open quote"},
		{`echo \`, `echo \`},
		{"cat " + strings.Repeat("a", 48), "cat " + strings.Repeat("a", 48)},
		{"cat " + strings.Repeat("a", 30) + strings.Repeat("b", 30), "cat " + strings.Repeat("a", 22) + "..." + strings.Repeat("b", 22)},
	}
	for _, tt := range tests {
		if got := process.Name(tt.command); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.command, got, tt.want)
		}
	}
}

// TestElide: half = floor((max-3)/2) of each end.
func TestElide(t *testing.T) {
	tests := []struct {
		s    string
		max  int
		want string
	}{
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghijk", 10, "abc...ijk"},
		{"abcdefghijk", 9, "abc...ijk"},
		{"abcdefghijk", 8, "ab...jk"},
		{"abcdefghijk", 3, "..."},
		{"abcdefghijk", 0, "..."},
		{"äöüßäöüßäöü", 10, "äöü...äöü"},
		{"😀😀😀😀😀😀😀😀😀", 8, "😀😀...😀😀"},
		{"\xff\xff\xff\xff\xff\xff\xff", 6, "\xff...\xff"},
	}
	for _, tt := range tests {
		if got := process.Elide(tt.s, tt.max); got != tt.want {
			t.Errorf("Elide(%q, %d) = %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
}

// B06: no cut is inside a character, and no byte is changed.
func TestFirstAndLastCutBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		n := rapid.IntRange(0, utf8.RuneCountInString(s)).Draw(t, "n")
		head := process.First(s, n)
		if !strings.HasPrefix(s, head) || utf8.RuneCountInString(head) != n {
			t.Fatalf("First(%q, %d) = %q", s, n, head)
		}
		tail := process.Last(s, n)
		if !strings.HasSuffix(s, tail) || utf8.ValidString(s) && utf8.RuneCountInString(tail) != n {
			t.Fatalf("Last(%q, %d) = %q", s, n, tail)
		}
	})
}

func TestCollapse(t *testing.T) {
	if got := process.Collapse(" a \r\n\t b\u00a0c "); got != "a b c" {
		t.Errorf("%q", got)
	}
}

func TestListLabel(t *testing.T) {
	long := strings.Repeat("x", 100)
	tests := []struct {
		p    process.Process
		want string
	}{
		{process.Process{Command: "npm run build"}, "npm run"},
		{process.Process{Command: "npm run build", Label: "the build"}, "the build"},
		{process.Process{Command: "echo 'a\nb'"}, "echo a b"},
		{process.Process{Label: long}, strings.Repeat("x", 38) + "..." + strings.Repeat("x", 38)},
		{process.Process{Command: "''" + strings.Repeat(" '' ", 50)}, "'' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '...' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' '' ''"},
	}
	for _, tt := range tests {
		if got := process.ListLabel(tt.p); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestListLine(t *testing.T) {
	p := process.Process{Slug: "tide-orbit", Phase: process.Running, Command: "npm run build"}
	timedOut := exited(process.Observed{Forced: process.ReasonOverallTimeout})
	timedOut.Command = "sleep 60"
	silent := exited(process.Observed{Forced: process.ReasonNoOutputTimeout})
	silent.Command = "sleep 60"
	done := exited(process.Observed{Exited: true, Code: 1})
	done.Command = "make"
	tests := []struct {
		p    process.Process
		d    time.Duration
		wait bool
		want string
	}{
		{p, 12 * time.Second, false, "tide-orbit running   12s :: npm run"},
		{p, 0, true, "tide-orbit running   n/a [input-wait] :: npm run"},
		{done, time.Hour, false, "tide-orbit completed 1h :: make"},
		{timedOut, 90 * time.Second, false, "tide-orbit failed    1m30s [overall-timeout] :: sleep 60"},
		{silent, 90 * time.Second, false, "tide-orbit failed    1m30s [no-output-timeout] :: sleep 60"},
	}
	for _, tt := range tests {
		if got := process.ListLine(tt.p, tt.d, tt.wait); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestQuoteArgv(t *testing.T) {
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"npm", "run", "build"}, "npm run build"},
		{[]string{"echo", "a b", "", "it's"}, `echo 'a b' '' 'it'\''s'`},
		{[]string{"grep", "-e", "$x|y", "~/a", "#"}, `grep -e '$x|y' '~/a' '#'`},
		{[]string{"cat", "Übung.txt"}, "cat Übung.txt"},
		{nil, ""},
	}
	for _, tt := range tests {
		if got := process.QuoteArgv(tt.argv); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestWordsUndoesQuoteArgv: an argv comes back as it was, but for empty words.
func TestWordsUndoesQuoteArgv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOf(rapid.String()).Draw(t, "argv")
		want := slices.DeleteFunc(slices.Clone(argv), func(s string) bool { return s == "" })
		got := process.Words(process.QuoteArgv(argv))
		if !slices.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "npm run build", `a "b c" 'd`, `\`, `'\`, `"\`, "\x00\xff", `a""b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, w := range process.Words(command) {
			if w == "" || len(w) > len(command) {
				t.Fatalf("word %q of %q", w, command)
			}
		}
		if utf8.RuneCountInString(process.ListLabel(process.Process{Command: command})) > process.CommandWidth {
			t.Fatal("label too long")
		}
		if name := process.Name(command); utf8.ValidString(command) && !utf8.ValidString(name) {
			t.Fatalf("name %q of %q", name, command)
		}
	})
}
