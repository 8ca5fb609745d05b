//go:build linux

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// kill -9 of the caller in the foreground: the command goes on in the
// background, is listed, and nothing it prints is lost, before or after.
func TestCallerKilledInForeground(t *testing.T) {
	for _, flags := range [][]string{nil, {"--pty"}, {"--yield-ms", "120000"}, {"--stdin", "open"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			caller := w.command(append(append([]string{"exec"}, flags...), worker)...)
			if err := caller.Start(); err != nil {
				t.Fatal(err)
			}
			w.until("the command runs", func() bool {
				text, _ := filepath.Glob(filepath.Join(w.state, "processes/*/output"))
				return len(text) == 1 && w.size(text[0]) == int64(len("before"))
			})
			if rows := w.list(); len(rows) != 0 {
				t.Errorf("listed while in the foreground: %+v", rows)
			}
			w.kill(caller.Process.Pid, unix.SIGKILL)
			w.wait(caller)
			w.until("it is listed", func() bool { return len(w.list()) == 1 })
			s := w.only()
			if s.State != "running" || w.tasks("running") != 1 {
				t.Errorf("listed as %+v, %d running tasks", s, w.tasks("running"))
			}
			w.file("go", "")
			if code := w.ends(s.SessionID); code != 7 {
				t.Errorf("wait: exit %d, want 7", code)
			}
			if got := w.raw(s.SessionID); got != "beforeafter" {
				t.Errorf("output %q", got)
			}
			if e := w.events("queued"); len(e) != 1 {
				t.Errorf("events %q, want 1", e)
			}
		})
	}
}

func (w *world) size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// The caller dies before or after it has handed the command over.
func TestCallerKilledWhileStarting(t *testing.T) {
	for _, tt := range []struct {
		point string
		flags []string
		state string
	}{
		{"exec-claimed", []string{"-b"}, "lost"},
		{"exec-claimed", nil, "lost"},
		{"exec-sent", []string{"-b"}, "failed"},
		{"exec-sent", nil, "failed"},
	} {
		t.Run(tt.point+strings.Join(tt.flags, ""), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.file("go", "")
			r := w.with("CLAW_FAILPOINT=" + tt.point).claw(append(append([]string{"exec"}, tt.flags...), "touch ran; "+worker)...)
			if r.signal != syscall.SIGKILL {
				t.Fatalf("exec: exit %d, signal %v", r.code, r.signal)
			}
			w.until("all has ended", func() bool { return len(w.running()) == 0 })
			s := w.only()
			_, err := os.Stat(filepath.Join(w.dir, "ran"))
			ran := err == nil
			if s.State != tt.state || ran != (tt.state != "lost") {
				t.Errorf("state %q, ran: %v; want %q", s.State, ran, tt.state)
			}
			if tt.state == "lost" {
				w.isLost(s.SessionID)
				return
			}
			if code := w.ends(s.SessionID); code != 7 || w.raw(s.SessionID) != "beforeafter" {
				t.Errorf("wait: exit %d, output %q", code, w.raw(s.SessionID))
			}
		})
	}
}

// kill -9 of the command is its own end, told as such (pains B07).
func TestCommandKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	w.kill(w.show(slug).PID, unix.SIGKILL)
	if code := w.ends(slug); code != 137 {
		t.Errorf("wait: exit %d, want 137", code)
	}
	s := w.show(slug)
	if s.ExitSignal != "SIGKILL" || s.ExitReason != "signal" || s.ExitCode != nil || s.State != "failed" {
		t.Errorf("shown as %+v", s)
	}
	if e := w.events("queued"); len(e) != 1 || !strings.Contains(e[0], "signal SIGKILL") {
		t.Errorf("events %q", e)
	}
	if r := w.claw("exec", "kill -9 $$"); r.code != 137 {
		t.Errorf("in the foreground: exit %d, want 137", r.code)
	}
}

// TERM to the supervisor ends its command as a cancel does.
func TestSupervisorTerminated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	w.kill(w.supervisor(w.show(slug).ID), unix.SIGTERM)
	if code := w.ends(slug); code != 143 {
		t.Errorf("wait: exit %d, want 143", code)
	}
	if s := w.show(slug); s.State != "cancelled" || s.ExitReason != "manual-cancel" {
		t.Errorf("shown as %+v", s)
	}
	w.until("all has ended", func() bool { return len(w.running()) == 0 })
}

// The caller asks for the background at the moment the command ends: the
// supervisor must not wait for a word that never comes.
func TestYieldAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		r := w.claw("exec", "--yield-ms", "50", fmt.Sprintf("sleep 0.0%d; exit 7", 40+i))
		if r.code != 7 && r.code != 75 {
			t.Errorf("exec: exit %d\n%s", r.code, r.err)
		}
	}
	w.until("no supervisor is left", func() bool { return len(w.running()) == 0 })
}

// A signal on its way while the command ends, likewise.
func TestSignalAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 10 {
		caller := w.command("exec", `trap 'kill -9 $$' USR1; echo ready; while :; do :; done`)
		var out lockedBuffer
		caller.Stdout = &out
		if err := caller.Start(); err != nil {
			t.Fatal(err)
		}
		w.until("it runs", func() bool { return out.contains("ready") })
		for range 5 {
			unix.Kill(caller.Process.Pid, unix.SIGUSR1)
		}
		if code, _ := w.wait(caller); code != 137 {
			t.Errorf("exec: exit %d, want 137", code)
		}
	}
	w.until("no supervisor is left", func() bool { return len(w.running()) == 0 })
}

// A supervisor whose state directory was removed ends with its command.
func TestStateDirectoryRemoved(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"-b"}, nil} {
		w := newWorld(t)
		caller := w.command(append(append([]string{"exec"}, flags...), worker)...)
		if err := caller.Start(); err != nil {
			t.Fatal(err)
		}
		w.until("the command has printed", func() bool {
			text, _ := filepath.Glob(filepath.Join(w.state, "processes/*/output"))
			return len(text) == 1 && w.size(text[0]) == int64(len("before"))
		})
		if flags != nil {
			w.wait(caller)
		}
		sup := w.supervisors()
		if err := os.RemoveAll(w.state); err != nil {
			t.Fatal(err)
		}
		w.file("go", "")
		if flags == nil {
			if code, _ := w.wait(caller); code != 7 {
				t.Errorf("exec: exit %d, want 7", code)
			}
		}
		w.until("the supervisor has ended", func() bool { return !alive(sup[0]) })
	}
}
