package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
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
	w.must("process", "send-keys", slug, "C-c")
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

func TestTerminalItself(t *testing.T) {
	t.Parallel()
	need(t, "stty")
	w := newWorld(t)
	for _, tt := range []struct {
		flags []string
		text  string
		want  string
	}{
		{nil, "stty size", "30 120\r\n"},
		{[]string{"--size", "80x24"}, "stty size", "24 80\r\n"},
		{nil, "echo $TERM", "xterm-256color\r\n"},
		{nil, "tty > /dev/null && echo tty", "tty\r\n"},
		{nil, "echo err >&2", "err\r\n"}, // one stream
		{nil, "ps -o tpgid= -o pgid= -p $$ | awk '{ print ($1 == $2) }'", "1\r\n"},
	} {
		args := append(append([]string{"exec", "--pty"}, tt.flags...), tt.text)
		if r := w.claw(args...); r.code != 0 || r.out != tt.want || r.err != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q", args, r.code, r.out, r.err, tt.want)
		}
	}
	plain := w.with("TERM=")
	if r := plain.claw("exec", "--pty", "echo $TERM"); r.out != "xterm-256color\r\n" {
		t.Errorf("without a TERM of the caller: %q", r.out)
	}
	if r := w.with("TERM=vt220").claw("exec", "--pty", "echo $TERM"); r.out != "vt220\r\n" {
		t.Errorf("TERM is not kept: %q", r.out)
	}
}

// A program that asks where the cursor is gets an answer, in whatever pieces
// it asks, and neither question nor answer is output (spec 2.6).
func TestCursorQuery(t *testing.T) {
	t.Parallel()
	need(t, "stty")
	w := newWorld(t)
	for _, ask := range []string{`printf 'a\033[6nb'`, `printf 'a\033[6'; sleep 0.05; printf 'nb'`} {
		script := "stty raw -echo; " + ask + `; dd bs=1 count=6 2>/dev/null | od -An -c | tr -d ' \n'`
		r := w.claw("exec", "--pty", script)
		if r.code != 0 || r.out != `ab033[1;1R` {
			t.Errorf("%s: exit %d, %q", ask, r.code, r.out)
		}
	}
}

// A program that prints and exits at once loses nothing (pains B03), however
// it ends.
func TestTerminalFastExit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 100 {
		code := i % 7
		r := w.claw("exec", "--pty", "--", "sh", "-c", fmt.Sprintf("echo out-%d; exit %d", i, code))
		if want := fmt.Sprintf("out-%d\r\n", i); r.out != want || r.code != code {
			t.Fatalf("run %d: exit %d, %q; want %d, %q", i, r.code, r.out, code, want)
		}
	}
	const big = 60000
	for range 5 {
		if r := w.claw("exec", "--pty", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", big)); len(r.out) != big {
			t.Fatalf("%d bytes, want %d", len(r.out), big)
		}
	}
}

// Keys arrive as the bytes of the table in spec 2.6, end to end: cat -v shows
// what a program gets from its terminal in raw mode.
func TestKeysEndToEnd(t *testing.T) {
	t.Parallel()
	need(t, "stty")
	w := newWorld(t)
	slug := w.must("exec", "-b", "--pty", "stty raw -echo; echo ready; cat -v")
	w.prints(slug, "ready")
	seen := len(w.raw(slug))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"Up", "Down", "Right", "Left"}, "^[[A^[[B^[[C^[[D"},
		{[]string{"Home", "End", "Insert", "Delete", "PageUp", "PageDown"}, "^[[1~^[[4~^[[2~^[[3~^[[5~^[[6~"},
		{[]string{"Enter", "Tab", "Escape", "Space", "BSpace"}, "^M\t^[ ^?"},
		{[]string{"F1", "F5", "F12", "BTab"}, "^[OP^[[15~^[[24~^[[Z"},
		{[]string{"C-c", "^D", "M-x", "S-a", "C-M-a"}, "^C^D^[xA^[^A"},
		{[]string{"S-Up", "C-Left", "C-S-End"}, "^[[1;2A^[[1;5D^[[4;6~"},
		{[]string{"KP0", "KPEnter"}, "^[Op^[OM"},
		{[]string{"--cursor-mode", "application", "Up", "Home"}, "^[OA^[OH"},
		{[]string{"--literal", "a;b; ", "--hex", "1b", "--hex", "0x41", "Enter"}, "a;b; ^[A^M"},
		{[]string{"--hex", "c3", "--hex", "a9"}, "M-CM-)"},
		{[]string{"hello", "Enter"}, "hello^M"},
	} {
		w.must(append([]string{"process", "send-keys", slug}, tt.args...)...)
		w.until(fmt.Sprintf("%q has arrived", tt.args), func() bool { return len(w.raw(slug)) >= seen+len(tt.want) })
		if got := w.raw(slug)[seen:]; got != tt.want {
			t.Errorf("%q arrived as %q, want %q", tt.args, got, tt.want)
		}
		seen = len(w.raw(slug))
	}
	// The program asks for application mode by itself.
	w.must("process", "kill", slug)
	w.ends(slug)
}

// A paste comes in brackets, with its own newlines and without an end of paste
// in the middle (pains B18; spec 2.5).
func TestPasteEndToEnd(t *testing.T) {
	t.Parallel()
	need(t, "stty")
	w := newWorld(t)
	slug := w.must("exec", "-b", "--pty", "stty raw -echo; echo ready; cat -v")
	w.prints(slug, "ready")
	w.must("process", "paste", slug, "one;\ntwo\x1b[201~three;")
	w.prints(slug, "^[[200~one;")
	w.prints(slug, "twothree;^[[201~")
	w.must("process", "paste", slug, "--no-bracketed", "plain")
	w.prints(slug, "^[[201~plain")
	w.must("process", "kill", slug)
	w.ends(slug)
}

// A program that waits for input is told from one that hangs (pains B19; spec
// 2.4), and writing goes on with it.
func TestWaitingForInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t).with("CLAW_PROCESS_INPUT_WAIT_IDLE_MS=1000")
	slug := w.must("exec", "-b", "--pty", `printf 'Continue? '; read a; echo "answer $a"`)
	w.until("it is seen to wait", func() bool { return w.show(slug).WaitingForInput })
	if !w.show(slug).StdinWritable {
		t.Error("stdin is not shown as writable")
	}
	poll := w.claw("process", "poll", slug, "--json").out
	for _, word := range []string{"Continue?", `"waitingForInput":true`} {
		if !strings.Contains(poll, word) {
			t.Errorf("poll does not say %q: %s", word, poll)
		}
	}
	quiet := w.must("exec", "-b", "--", "sleep", "600")
	w.must("process", "write", slug, "yes\n")
	w.exits(slug, 0)
	if got := w.raw(slug); !strings.Contains(got, "answer yes") {
		t.Errorf("output %q", got)
	}
	if w.show(quiet).WaitingForInput {
		t.Error("a program without stdin is shown as waiting for input")
	}
}

// piped stdin of a foreground --pty is typed into it, with an end of file.
func TestForegroundTerminalPipedStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.finish(w.command("exec", "--pty", "stty -echo; cat; echo end"), "one\ntwo\n")
	if r.code != 0 || !strings.HasSuffix(r.out, "one\r\ntwo\r\nend\r\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.out, r.err)
	}
}

// console runs claw itself on a real terminal, as a person would.
type console struct {
	*world
	cmd    *exec.Cmd
	master *os.File
	out    lockedBuffer
}

func (w *world) console(args ...string) *console {
	w.t.Helper()
	c := &console{world: w, cmd: w.command(args...)}
	master, err := pty.Start(c.cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	c.master = pollable(w.t, master)
	w.t.Cleanup(func() { c.master.Close() })
	go io.Copy(&c.out, c.master)
	return c
}

// pollable replaces f by a file whose Close wakes its reader, so that the
// terminal really closes.
func pollable(t testing.TB, f *os.File) *os.File {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal")
}

func (c *console) shows(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf("the terminal shows %q", text), func() bool { return c.out.contains(text) })
}

func (c *console) types(text string) {
	c.t.Helper()
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// canonical tells whether the terminal is in the mode it was found in.
func (c *console) canonical() bool {
	attr, err := unix.IoctlGetTermios(int(c.master.Fd()), unix.TCGETS)
	return err == nil && attr.Lflag&unix.ICANON != 0 && attr.Lflag&unix.ECHO != 0
}

// Foreground --pty on a person's terminal: raw while it runs, so that every
// key reaches the program, and as before afterwards; its exit code.
func TestForegroundTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.console("exec", "--pty", `trap 'echo interrupted' INT; echo ready; read a; echo "got $a"; read b || read b; echo "then $b"; exit 5`)
	c.shows("ready")
	c.until("raw", func() bool { return !c.canonical() })
	c.types("x\r")
	c.shows("got x")
	c.types("\x03")
	c.shows("interrupted")
	c.types("y\r")
	c.shows("then y")
	if code, _ := w.wait(c.cmd); code != 5 {
		t.Errorf("exit %d, want 5", code)
	}
	if !c.canonical() {
		t.Error("the terminal was left in raw mode")
	}
}

// The terminal is restored when the command yields or its supervisor dies.
func TestForegroundTerminalRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.console("exec", "--pty", "--yield-ms", "300", "sleep 600")
	if code, _ := w.wait(c.cmd); code != 75 || !c.canonical() {
		t.Errorf("yield: exit %d, want 75; canonical: %v", code, c.canonical())
	}
	d := w.with("CLAW_FAILPOINT=captured").console("exec", "--pty", "echo ready; sleep 600")
	if code, _ := w.wait(d.cmd); code != 125 || !d.canonical() {
		t.Errorf("supervisor killed: exit %d, want 125; canonical: %v", code, d.canonical())
	}
}

// A command survives the closing of the terminal it was started from: its
// supervisor has a session of its own (pains B16, B17).
func TestSurvivesTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.console("exec", "-b", worker)
	if code, _ := w.wait(c.cmd); code != 0 {
		t.Fatalf("exit %d: %s", code, c.out.String())
	}
	s := w.only()
	w.prints(s.SessionID, "before")
	c.master.Close()
	w.file("go", "")
	w.exits(s.SessionID, 7)
}

// A terminal that closes under a foreground command hangs it up, as it would
// without claw.
func TestForegroundTerminalCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.console("exec", `trap 'echo hung-up > hup; exit 9' HUP; echo ready; while :; do sleep 0.02; done`)
	c.shows("ready")
	c.master.Close()
	w.wait(c.cmd)
	w.until("the command was told", func() bool { return w.size(filepath.Join(w.dir, "hup")) > 0 })
	w.until("all has ended", func() bool { return len(w.running()) == 0 })
}
