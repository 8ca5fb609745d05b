//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A panic in a supervisor is a bug of claw and costs nobody anything: the
// program executes itself again in place, with the same pid, the same child
// and the same descriptors (issue 2, section 2; runner/supervisor/rescue.go).
// The failure points panic once.

// counter prints 60000 lines in two halves, the second when the file go is
// there, and exits 7.
const counter = `seq 1 30000; while ! [ -e go ]; do sleep 0.02; done; seq 30001 60000; exit 7`

// counted is what it prints.
func counted(newline string) string {
	var b strings.Builder
	for i := 1; i <= 60000; i++ {
		fmt.Fprintf(&b, "%d%s", i, newline)
	}
	return b.String()
}

var panicPoints = []string{"child-forked", "child-started", "started", "captured", "child-exited", "settling", "concluded"}

// same fails with where two outputs begin to differ.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: %d bytes, want %d; they differ at byte %d: %q, want %q", what, len(got), len(want), i, part(got, i), part(want, i))
}

func part(s string, at int) string { return s[at:min(at+40, len(s))] }

// panicked tells whether a supervisor has noted a panic.
func (w *world) panicked() bool { return strings.Contains(w.notes(), "panic: failpoint") }

func TestPanicInBackground(t *testing.T) {
	for _, point := range panicPoints {
		for _, flags := range [][]string{{"-b"}, {"-b", "--pty"}, {"-b", "--stdin", "open"}} {
			t.Run(point+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				args := append(append([]string{"exec"}, flags...), counter)
				slug := w.with("CLAW_FAILPOINT=" + point + ":panic").must(args...)
				w.prints(slug, "30000")
				s := w.show(slug)
				sup := w.supervisor(s.ID)
				if s.State != "running" || !alive(s.PID) {
					t.Fatalf("shown as %+v", s)
				}
				w.file("go", "")
				if r := w.claw("process", "wait", slug); r.code != 7 {
					t.Errorf("wait: exit %d, want 7\n%s", r.code, r.err)
				}
				w.until("all has ended", func() bool { return len(w.running()) == 0 })
				w.until("the same supervisor has ended", func() bool { return !alive(sup) })
				newline := "\n"
				if len(flags) > 1 && flags[1] == "--pty" {
					newline = "\r\n"
				}
				same(t, "output", w.raw(slug), counted(newline))
				if !w.panicked() {
					t.Errorf("no panic at %s", point)
				}
				if s := w.show(slug); s.ExitReason != "exit" || len(s.Leftover) != 0 {
					t.Errorf("shown as %+v", s)
				}
				if e := w.events("queued"); len(e) != 1 {
					t.Errorf("events %q", e)
				}
			})
		}
	}
}

// Attached: the caller gets every byte once, in order, and the exit code.
func TestPanicInForeground(t *testing.T) {
	for _, point := range panicPoints {
		for _, flags := range [][]string{nil, {"--pty"}} {
			t.Run(point+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.file("go", "")
				args := append(append([]string{"exec"}, flags...), counter)
				r := w.with("CLAW_FAILPOINT=" + point + ":panic").claw(args...)
				if r.code != 7 {
					t.Errorf("exec: exit %d, want 7\n%s", r.code, r.err)
				}
				newline := "\n"
				if flags != nil {
					newline = "\r\n"
				}
				same(t, "stdout", r.out, counted(newline))
				w.until("all has ended", func() bool { return len(w.running()) == 0 })
				if rows := w.list(); len(rows) != 0 {
					t.Errorf("a foreground result is listed: %+v", rows)
				}
			})
		}
	}
}

// A caller that reads slowly has half a frame in its hands when the
// supervisor panics.
func TestPanicWhileTheCallerIsSlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, p, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	caller := w.with("CLAW_FAILPOINT=child-exited:panic").command("exec", `seq 1 60000; exit 7`)
	caller.Stdout = p
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	p.Close()
	// Nothing is read before the supervisor is past the panic: everything
	// between command and caller is full then.
	w.until("it has panicked", w.panicked)
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Error(err)
	}
	if code, _ := w.wait(caller); code != 7 {
		t.Errorf("exec: exit %d, want 7", code)
	}
	same(t, "stdout", out.String(), counted("\n"))
}

// Input works on after a panic.
func TestPanicThenInput(t *testing.T) {
	for _, flags := range [][]string{{"--pty"}, {"--stdin", "open"}} {
		t.Run(flags[0], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			args := append(append([]string{"exec", "-b"}, flags...), `echo ready; read x; echo "got <$x>"; exit 5`)
			slug := w.with("CLAW_FAILPOINT=captured:panic").must(args...)
			w.prints(slug, "ready")
			w.until("it has panicked", w.panicked)
			w.until("it takes input again", func() bool { return w.claw("process", "write", slug, "hello\n").code == 0 })
			if code := w.ends(slug); code != 5 {
				t.Errorf("wait: exit %d, want 5", code)
			}
			if got := w.raw(slug); !strings.Contains(got, "got <hello>") {
				t.Errorf("output %q", got)
			}
		})
	}
}

// The deadline and a termination in progress survive a panic.
func TestPanicWhileEnding(t *testing.T) {
	const trapper = `trap 'echo trapped; exit 3' TERM; touch ready; while :; do sleep 0.02; done`
	const deaf = `trap 'echo trapped' TERM; touch ready; while :; do sleep 0.02; done`
	for _, tt := range []struct {
		name, script  string
		flags         []string
		kill          bool
		code          int
		reason, state string
	}{
		// TERM makes it print, and the print makes the supervisor panic.
		{"kill", trapper, nil, true, 3, "manual-cancel", "cancelled"},
		{"kill pty", trapper, []string{"--pty"}, true, 3, "manual-cancel", "cancelled"},
		{"kill deaf", deaf, nil, true, 137, "manual-cancel", "cancelled"},
		{"timeout", trapper, []string{"--timeout", "1"}, false, 124, "overall-timeout", "timed_out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			slug := w.with("CLAW_FAILPOINT=captured:panic").must(append(append([]string{"exec", "-b"}, tt.flags...), tt.script)...)
			w.until("it traps", func() bool { _, err := os.Stat(filepath.Join(w.dir, "ready")); return err == nil })
			if tt.kill {
				w.must("process", "kill", slug)
			}
			if code := w.ends(slug); code != tt.code {
				t.Errorf("wait: exit %d, want %d", code, tt.code)
			}
			if s := w.show(slug); s.ExitReason != tt.reason || s.State != tt.state {
				t.Errorf("shown as %+v", s)
			}
			if got := w.raw(slug); !strings.Contains(got, "trapped") || !w.panicked() {
				t.Errorf("output %q, panicked: %v", got, w.panicked())
			}
		})
	}
}

// A deadline that had not come counts on.
func TestPanicKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.with("CLAW_FAILPOINT=captured:panic").must("exec", "-b", "--timeout", "1", `echo x; exec sleep 600`)
	if code := w.ends(slug); code != 124 {
		t.Errorf("wait: exit %d, want 124", code)
	}
	if !w.panicked() {
		t.Error("no panic")
	}
}

// Signals reach a command in the foreground after a panic.
func TestPanicThenSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	caller := w.with("CLAW_FAILPOINT=captured:panic").command("exec", `trap 'echo hup; exit 9' HUP; echo ready; while :; do sleep 0.02; done`)
	var out lockedBuffer
	caller.Stdout = &out
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("it has panicked, and claw has passed output on", func() bool { return w.panicked() && out.contains("ready\n") })
	w.kill(caller.Process.Pid, unix.SIGHUP)
	if code, _ := w.wait(caller); code != 9 {
		t.Errorf("exec: exit %d, want 9", code)
	}
	if !out.contains("hup\n") {
		t.Errorf("stdout %q", out.String())
	}
}
