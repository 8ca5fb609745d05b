//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Real programs, driven as an agent would (issue 2, "Done when").

// terminal starts a program on a terminal of its own in the background.
func (w *world) terminal(args ...string) (slug string) {
	w.t.Helper()
	return w.must(append([]string{"exec", "-b", "--pty", "--"}, args...)...)
}

// python is the interpreter itself; a version manager's shim costs a second.
func python(t *testing.T) string {
	t.Helper()
	need(t, "python3")
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) read(name string) string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

// exits waits for the end and checks the code.
func (w *world) exits(slug string, code int) {
	w.t.Helper()
	if got := w.ends(slug); got != code {
		w.t.Errorf("%s: exit %d, want %d\noutput %q", slug, got, code, w.raw(slug))
	}
}

func TestVim(t *testing.T) {
	t.Parallel()
	need(t, "vim")
	w := newWorld(t)
	w.file("note.txt", "first\nsecond\nthird\n")
	slug := w.terminal("vim", "-u", "NONE", "-i", "NONE", "-n", "-N", "note.txt")
	w.prints(slug, "third")
	// Arrows in the mode that vim has asked for (spec 2.6, #51488): down twice,
	// to the end of the line, append.
	w.must("process", "send-keys", slug, "Down", "Down", "End")
	w.must("process", "send-keys", slug, "--literal", "aX")
	w.must("process", "send-keys", slug, "Escape")
	w.must("process", "send-keys", slug, "--literal", ":wq")
	w.must("process", "submit", slug)
	w.exits(slug, 0)
	if got := w.read("note.txt"); got != "first\nsecond\nthirdX\n" {
		t.Errorf("vim wrote %q", got)
	}
	if !strings.Contains(w.raw(slug), "\x1b[?1h") {
		t.Error("vim did not ask for application mode; the test shows less than it says")
	}
}

func TestLess(t *testing.T) {
	t.Parallel()
	need(t, "less")
	w := newWorld(t)
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "line-%03d\n", i)
	}
	w.file("long.txt", text.String())
	slug := w.must("exec", "-b", "--pty", "--env", "LESSHISTFILE=-", "--", "less", "long.txt")
	w.prints(slug, "line-020")
	w.must("process", "send-keys", slug, "PageDown")
	w.prints(slug, "line-040")
	w.must("process", "write", slug, "/line-333\n")
	w.prints(slug, "line-350") // it shows the match as the first line
	w.must("process", "send-keys", slug, "q")
	w.exits(slug, 0)
}

func TestBashPrompt(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	w := newWorld(t)
	slug := w.must("exec", "-b", "--pty", "--env", "PS1=$ ", "--", "bash", "--noprofile", "--norc", "-i")
	w.prints(slug, "$ ")
	w.must("process", "write", slug, "echo $((6*7))-$CLAW_PROCESS_ID")
	w.must("process", "submit", slug)
	w.prints(slug, "42-"+slug)
	// ^C ends the job, not the shell.
	w.must("process", "write", slug, "echo up; exec 3<&0; cat; echo status $?\n")
	w.prints(slug, "up\r\n")
	prompts := strings.Count(w.raw(slug), "$ ")
	w.must("process", "send-keys", slug, "C-c")
	// What is typed before the shell is back belongs to the job.
	w.until("the prompt is back", func() bool { return strings.Count(w.raw(slug), "$ ") > prompts })
	w.must("process", "write", slug, "echo still here\n")
	w.prints(slug, "still here\r\n")
	w.must("process", "write", slug, "--eof")
	w.exits(slug, 0)
}

func TestPythonPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", "--pty", "--env", "PYTHON_BASIC_REPL=1", "--", python(t), "-q", "-I")
	w.prints(slug, ">>> ")
	w.must("process", "write", slug, "print(6*7)")
	w.must("process", "submit", slug)
	w.prints(slug, "42\r\n>>> ")
	w.must("process", "send-keys", slug, "^D")
	w.exits(slug, 0)
}

// What is typed at a password prompt is not shown, and so not kept anywhere.
func TestPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("ask.py", "import getpass\np = getpass.getpass()\nprint('length', len(p))\n")
	slug := w.terminal(python(t), "ask.py")
	w.prints(slug, "Password:")
	w.must("process", "write", slug, "s3cret-word")
	w.must("process", "submit", slug)
	w.exits(slug, 0)
	if got := w.raw(slug); !strings.Contains(got, "length 11") {
		t.Errorf("output %q", got)
	}
	for _, root := range []string{w.state, filepath.Join(w.dir, "home")} {
		if err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if raw, _ := os.ReadFile(path); bytes.Contains(raw, []byte("s3cret-word")) {
				t.Errorf("%s holds the password", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// yes: capped, counted, neither blocked nor ended by it, and killable
// (pains B01).
func TestYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", "--max-output", "1MiB", "--", "yes", "0123456789abcde")
	w.until("it has printed much more than is kept", func() bool { return w.show(slug).Output.Bytes > 64<<20 })
	w.must("process", "kill", slug)
	w.exits(slug, 143)
	s := w.show(slug)
	kept := int64(len(w.raw(slug)))
	if kept > 1<<20 || kept != s.Output.Bytes-s.Output.DroppedBytes {
		t.Errorf("%d bytes are kept of %d, %d dropped", kept, s.Output.Bytes, s.Output.DroppedBytes)
	}
	if lines := s.Output.Bytes / 16; s.Output.Lines != lines && s.Output.Lines != lines+1 {
		t.Errorf("%d lines are counted, want %d", s.Output.Lines, lines)
	}
	if disk := w.diskUse(); disk > 3<<20 {
		t.Errorf("the state directory takes %d bytes", disk)
	}
}

func (w *world) diskUse() (sum int64) {
	filepath.WalkDir(w.state, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			sum += max(w.size(path), 0)
		}
		return nil
	})
	return sum
}

func TestCompiler(t *testing.T) {
	t.Parallel()
	need(t, "gcc")
	w := newWorld(t)
	w.file("good.c", "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 4; }\n")
	w.file("bad.c", "int main(void) { return undeclared; }\n")
	if r := w.claw("exec", "gcc -o good good.c && ./good"); r.code != 4 || r.out != "compiled\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.out, r.err)
	}
	slug := w.must("exec", "-b", "--", "gcc", "-c", "bad.c")
	w.exits(slug, 1)
	if got := w.must("process", "log", slug, "--stream", "stderr"); !strings.Contains(got, "undeclared") {
		t.Errorf("stderr %q", got)
	}
}

// A job that forks into the background: its process ends within moments, what
// is left is listed and killable, goes on printing, and neither dies of a
// SIGPIPE nor waits for a reader (pains B04).
func TestDaemon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const script = `setsid sh -c 'while ! [ -e go ]; do sleep 0.02; done; head -c 3000000 /dev/zero; echo $? > printed; exec sleep 600' & echo started`
	slug := w.must("exec", "-b", script)
	w.exits(slug, 0)
	s := w.show(slug)
	if s.State != "succeeded" || len(s.Leftover) == 0 || w.raw(slug) != "started\n" {
		t.Fatalf("shown as %+v, output %q", s, w.raw(slug))
	}
	w.file("go", "")
	w.until("it has printed 3 MB", func() bool { return w.size(filepath.Join(w.dir, "printed")) > 0 })
	if got := w.read("printed"); got != "0\n" {
		t.Errorf("its printing ended with %q", got)
	}
	if got := w.raw(slug); got != "started\n" {
		t.Errorf("the record of an ended process grew by %d bytes", len(got)) // spec 1.8: late output is ignored
	}
	w.must("process", "kill", slug)
	w.until("all has ended", func() bool { return len(w.running()) == 0 })
}
