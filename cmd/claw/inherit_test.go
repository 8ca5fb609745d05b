//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a command inherits from claw, and a supervisor from its caller: nothing
// that keeps anybody waiting or can be hit by mistake.

// The command has descriptors 0, 1 and 2 and no other, whatever claw was
// started with (pains B12).
func TestCommandHasThreeDescriptors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	extra, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	for _, flags := range [][]string{{}, {"--pty"}, {"--stdin", "open"}} {
		// ls itself has one more open: the directory.
		cmd := w.command(append(append([]string{"exec"}, flags...), "--", "ls", "/proc/self/fd")...)
		cmd.ExtraFiles = []*os.File{extra, extra, extra} // a careless parent
		r := w.finish(cmd, "")
		if got := strings.Fields(r.out); !slices.Equal(got, []string{"0", "1", "2", "3"}) {
			t.Errorf("%q: descriptors %v\n%s", flags, got, r.err)
		}
	}
}

// x=$(claw exec -b …) returns at once: neither supervisor nor command holds
// the pipe (spec 8.1), and no other descriptor of the caller either.
func TestSupervisorHoldsNothingOfTheCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := w.file("callers-own", "")
	extra, err := os.Open(mark)
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	cmd := exec.Command("sh", "-c", "x=$(claw exec -b -- sleep 600); echo $x")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = w.env, w.dir, []*os.File{extra}
	r := w.finish(cmd, "")
	slug := strings.TrimSpace(r.out)
	sup := w.supervisor(w.show(slug).ID)
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", sup))
	for _, link := range links {
		to, _ := os.Readlink(link)
		if fd := filepath.Base(link); to == mark || (fd <= "2" && len(fd) == 1 && to != os.DevNull) {
			t.Errorf("descriptor %s of the supervisor is %s", fd, to)
		}
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", sup)); cwd != "/" {
		t.Errorf("the supervisor keeps %s busy", cwd)
	}
}

// A supervisor's argv does not contain the command's text, so that pkill -f
// of the command does not hit it (pains B17); it leads a session of its own.
func TestSupervisorArgv(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", "--name", "labelled-xyzzy", "--", "sleep", "600.25")
	sup := w.supervisor(w.show(slug).ID)
	argv := strings.Join(argvOf(sup), " ")
	for _, text := range []string{"sleep", "600.25", "xyzzy"} {
		if strings.Contains(argv, text) {
			t.Errorf("argv %q contains %q", argv, text)
		}
	}
	for _, pid := range []int{sup, w.show(slug).PID} {
		if sid, err := unix.Getsid(pid); err != nil || sid != pid {
			t.Errorf("process %d is in session %d (%v)", pid, sid, err)
		}
	}
	if raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", sup)); strings.Contains(string(raw), "HOME=") {
		t.Errorf("the caller's environment is in the supervisor's: %q", raw)
	}
	w.kill(sup, unix.SIGHUP)
	w.kill(sup, unix.SIGPIPE)
	w.must("process", "kill", slug)
	w.exits(slug, 143)
}

// A lock that claw holds is never inherited: with its supervisor dead, and
// its command alive, a life-line is free (pains B12).
func TestLocksAreNotInherited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	s := w.show(slug)
	w.bereave(s.ID)
	if !alive(s.PID) {
		t.Fatal("the command has died too")
	}
	if code := w.claw("process", "wait", slug, "--timeout", "30").code; code != 125 {
		t.Errorf("wait: exit %d, want 125: somebody holds the life-line", code)
	}
	w.killsLeftover(slug)
}

// Orphans of a command are reaped while it runs, and the exit code is the
// command's own, not an orphan's (pains B13).
func TestNoZombies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const orphans = `for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c 'exit 9' &); done; echo started; while ! [ -e go ]; do sleep 0.02; done; exit 7`
	slug := w.must("exec", "-b", orphans)
	w.prints(slug, "started")
	s := w.show(slug)
	sup := w.supervisor(s.ID)
	w.until("no child of the supervisor is a zombie", func() bool {
		for _, pid := range pids() {
			if parent(pid) == sup && state(pid) == 'Z' {
				return false
			}
		}
		return true
	})
	w.file("go", "")
	w.exits(slug, 7)
	w.until("all has ended", func() bool { return len(w.running()) == 0 })
}

// exec within exec -b is its own process: ending the outer one spares the
// inner, which says by its mark whose it is.
func TestNestedSurvivesItsParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outer := w.must("exec", "-b", `claw exec -b -- sleep 600 > inner; sleep 600`)
	w.until("the inner one runs", func() bool { return w.size(filepath.Join(w.dir, "inner")) > 0 })
	inner := strings.TrimSpace(w.read("inner"))
	for _, kv := range []string{"CLAW_PROCESS_ID=" + inner, "CLAW_PROCESS_RUN=" + w.show(inner).ID} {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.show(inner).PID))
		name, _, _ := strings.Cut(kv, "=")
		if strings.Count(string(raw), name+"=") != 1 || !strings.Contains(string(raw), kv) {
			t.Errorf("the inner command does not have %s once", kv)
		}
	}
	w.must("process", "kill", outer)
	w.exits(outer, 143)
	if s := w.show(inner); s.State != "running" || !alive(s.PID) {
		t.Errorf("the inner process: %+v", s)
	}
	if left := w.show(outer).Leftover; len(left) != 0 {
		t.Errorf("what belongs to the inner process is the outer one's leftover: %+v", left)
	}
	// And the other way round: a lost outer one is not credited with it.
	lost := w.must("exec", "-b", `claw exec -b -- sleep 600 > inner2; sleep 600`)
	w.until("the inner one runs", func() bool { return w.size(filepath.Join(w.dir, "inner2")) > 0 })
	w.bereave(w.show(lost).ID)
	w.must("process", "kill", lost)
	if s := w.show(strings.TrimSpace(w.read("inner2"))); s.State != "running" || !alive(s.PID) {
		t.Errorf("the inner process of a lost one: %+v", s)
	}
}

// A pid that was given to somebody else is never signalled (pains B10).
func TestRecycledPid(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("choosing a pid takes root")
	}
	w := newWorld(t)
	slug := w.must("exec", "-b", "--", "sleep", "600")
	s := w.show(slug)
	w.bereave(s.ID)
	w.kill(s.PID, unix.SIGKILL)
	w.until("the command is dead", func() bool { return !alive(s.PID) })
	stranger := w.withPid(s.PID)
	if stranger == nil {
		t.Skip("this system does not let a pid be chosen")
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	if r := w.claw("process", "kill", slug); r.code != 3 {
		t.Errorf("kill: exit %d, want 3\n%s", r.code, r.err)
	}
	if got := w.show(slug); got.State != "lost" || len(got.Leftover) != 0 {
		t.Errorf("shown as %+v", got)
	}
	if !alive(s.PID) {
		t.Error("a stranger was killed")
	}
}

// withPid starts a process with a certain pid; nil when that fails for good.
func (w *world) withPid(pid int) *exec.Cmd {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if os.WriteFile("/proc/sys/kernel/ns_last_pid", fmt.Appendf(nil, "%d", pid-1), 0) != nil {
			return nil
		}
		cmd := exec.Command("sleep", "600")
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
		if cmd.Start() != nil {
			return nil
		}
		if cmd.Process.Pid == pid {
			return cmd
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	return nil
}
