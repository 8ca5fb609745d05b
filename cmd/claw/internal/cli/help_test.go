package cli_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"claw/cmd/claw/internal/cli"
)

// everyNode is claw itself and every command and action that is not hidden.
func everyNode(t *testing.T) (nodes []*kong.Node) {
	t.Helper()
	app, err := cli.Model()
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		nodes = append(nodes, n)
		for _, c := range n.Children {
			if !c.Hidden {
				walk(c)
			}
		}
	}
	walk(app.Node)
	return nodes
}

// claw runs the real program without a state.
func claw(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(binary(t), "claw"), args...)
	cmd.Env = environ(t, filepath.Join(t.TempDir(), "state"))
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok {
		code = exit.ExitCode()
	}
	return out.String(), errOut.String(), code
}

// Every command has help that fits 80 columns and ends in at least two
// examples and the exit status.
func TestHelp(t *testing.T) {
	for _, n := range everyNode(t) {
		path := cli.NodePath(n)
		_, examples := cli.SplitHelp(n)
		if n.Help == "" || len(examples) < 2 {
			t.Errorf("claw %s: help %q with %d examples, want two or more", path, n.Help, len(examples))
		}
		out, errOut, code := claw(t, append(strings.Fields(path), "--help")...)
		if code != 0 || errOut != "" {
			t.Errorf("claw %s --help: exit %d, stderr %q", path, code, errOut)
		}
		for line := range strings.Lines(out) {
			if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 80 {
				t.Errorf("claw %s --help: a line of %d columns: %q", path, width, line)
			}
		}
		if end := strings.Join(strings.Fields(cli.ExitLine(path)), " "); !strings.HasSuffix(strings.Join(strings.Fields(out), " "), end) {
			t.Errorf("claw %s --help does not end in %q", path, end)
		}
		for _, example := range examples {
			if len(example) > 73 { // what a page of the manual has room for
				t.Errorf("claw %s: an example of %d columns: %q", path, len(example), example)
			}
		}
		for _, f := range n.Flags {
			if !f.Hidden && f.Help == "" {
				t.Errorf("claw %s: --%s has no help", path, f.Name)
			}
		}
		for _, p := range n.Positional {
			if p.Help == "" {
				t.Errorf("claw %s: argument %s has no help", path, p.Name)
			}
		}
	}
}

// Every example calls claw, and the grammar accepts each call.
func TestExamplesParse(t *testing.T) {
	for _, n := range everyNode(t) {
		_, examples := cli.SplitHelp(n)
		for _, example := range examples {
			calls := callsIn(example)
			if len(calls) == 0 {
				t.Errorf("claw %s: no call of claw in the example %q", cli.NodePath(n), example)
			}
			for _, args := range calls {
				if err := cli.Parse(args); err != nil {
					t.Errorf("claw %s: example %q: claw %q: %v", cli.NodePath(n), example, args, err)
				}
			}
		}
	}
}

// callsIn finds the arguments of every call of claw in a line of shell, up to
// an operator or the comment behind two blanks.
func callsIn(line string) (calls [][]string) {
	for i := 0; ; {
		at := strings.Index(line[i:], "claw ")
		if at < 0 {
			return calls
		}
		i += at
		if i == 0 || strings.ContainsRune(" (", rune(line[i-1])) {
			calls = append(calls, shellWords(line[i+len("claw "):]))
		}
		i += len("claw ")
	}
}

func shellWords(s string) (words []string) {
	var word strings.Builder
	begun := false
	var quote rune
	done := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case strings.ContainsRune("|&;<>)", r), r == ' ' && strings.HasPrefix(s[i:], "  "):
			done()
			return words
		case r == ' ':
			done()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	done()
	return words
}

// What people type before they know the grammar.
func TestFirstTries(t *testing.T) {
	for _, test := range []struct {
		args   string
		code   int
		out    string // begins with
		errOut string
	}{
		{"", 2, "", "Usage: claw COMMAND"},
		{"--help", 0, "Usage: claw COMMAND", ""},
		{"-h", 0, "Usage: claw COMMAND", ""},
		{"help", 0, "Usage: claw COMMAND", ""},
		{"help exec", 0, "Usage: claw exec", ""},
		{"help process log", 0, "Usage: claw process log", ""},
		{"process help", 2, "", "claw: process: there is no action \"help\""},
		{"exec -h", 0, "Usage: claw exec", ""},
		{"--version", 0, "claw ", ""},
		{"-V", 0, "claw ", ""},
		{"version", 0, "claw ", ""},
		{"exec --helpp", 2, "", "claw: unknown flag --helpp, did you mean \"--help\"?\n      claw exec --help"},
		{"exec", 2, "", "claw: exec: Provide a command to start.\n      claw exec -b -- sleep 60"},
		{"exec --timeout", 2, "", "claw: --timeout: a value is missing\n"},
		{"exec --timeout soon ls", 2, "", "claw: --timeout: \"soon\" is not a number\n"},
		{"process", 2, "", "claw: process: which action? list, poll, log, write, send-keys, submit, paste, kill, clear, remove, wait\n"},
		{"process lgo", 2, "", "claw: process: there is no action \"lgo\"; did you mean \"log\"?\n"},
		{"exce ls", 2, "", "claw: there is no command \"exce\"; did you mean \"exec\"?\n"},
		{"npm run build", 2, "", "claw: there is no command \"npm\"\n      claw --help shows what can be typed\n      claw exec -- COMMAND"},
		{"completion", 2, "", "claw: completion: SHELL is missing\n"},
		{"--color=mauve version", 2, "", "claw: --color must be one of"},
		{"deliveries list --state x", 2, "", "claw: --state must be one of \"pending\","},
		{"event list --state x", 2, "", "claw: --state must be one of \"queued\","},
	} {
		out, errOut, code := claw(t, strings.Fields(test.args)...)
		if code != test.code || !begins(out, test.out) || !begins(errOut, test.errOut) {
			t.Errorf("claw %s: exit %d, stdout %.60q, stderr %q", test.args, code, out, errOut)
		}
		if strings.HasPrefix(errOut, "claw: ") && strings.Count(errOut, "claw: ") != 1 {
			t.Errorf("claw %s: more than one message: %q", test.args, errOut)
		}
	}
}

// begins tells that s begins with want, or that both are empty.
func begins(s, want string) bool { return (s == "") == (want == "") && strings.HasPrefix(s, want) }

// The table of design.md section 6, copied from there by hand.
func TestExitCodes(t *testing.T) {
	want := []string{"0", "1", "2", "3", "4", "5", "75", "124", "125", "126", "127", "128+n"}
	var got []string
	for _, c := range cli.ExitCodes() {
		got = append(got, c[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("exit codes %v, want %v", got, want)
	}
	for _, n := range everyNode(t) {
		path := cli.NodePath(n)
		for _, part := range strings.FieldsFunc(cli.ExitLine(path), func(r rune) bool { return strings.ContainsRune(":;,.", r) }) {
			code, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if code[0] >= '0' && code[0] <= '9' && !slices.Contains(want, code) {
				t.Errorf("the help of %s speaks of exit %s, the table does not", path, code)
			}
		}
	}
}
