//go:build linux

package main_test

import (
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
