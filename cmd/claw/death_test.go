//go:build linux

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// worker is a command that says before, waits for the file go, says after and
// exits 7. It is not claw's, so it must outlive whatever happens to claw.
const worker = `printf before; while ! [ -e go ]; do sleep 0.02; done; printf after; exit 7`

// commands are the pids of what runs in this world and is not claw.
func (w *world) commands() []int {
	return slices.DeleteFunc(w.running(), func(pid int) bool {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return exe == w.bin
	})
}

// supervisors are the pids of the supervisors of this world.
func (w *world) supervisors() []int {
	return slices.DeleteFunc(w.running(), func(pid int) bool {
		argv := argvOf(pid)
		return len(argv) < 2 || argv[1] != "supervise"
	})
}

// ledger is everything that was ever written to a ledger and not archived.
func (w *world) ledger(name string) string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.state, "ledgers", name+".jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	journal, _ := os.ReadFile(filepath.Join(w.state, "journal.jsonl"))
	return string(raw) + string(journal)
}

// bereave kills the supervisor of a process and waits until it is dead.
func (w *world) bereave(id string) {
	w.t.Helper()
	pid := w.supervisor(id)
	w.kill(pid, unix.SIGKILL)
	w.until("the supervisor is dead", func() bool { return !alive(pid) })
}

// tasks counts the tasks in a status.
func (w *world) tasks(status string) int {
	w.t.Helper()
	var list struct{ Tasks []struct{ Status string } }
	w.json(&list, "tasks", "list", "--all", "--json", "--status", status)
	return len(list.Tasks)
}

// isLost checks everything that claw says about a process whose supervisor is
// gone (design.md 3.2; issue 2, section 2; spec/exec-process.md 8.4).
func (w *world) isLost(slug string) session {
	w.t.Helper()
	s := w.show(slug)
	if s.State != "lost" || s.Status != "failed" || s.ExitCode != nil {
		w.t.Errorf("list: state %q, status %q, exit code %v; want lost, failed, none", s.State, s.Status, s.ExitCode)
	}
	if code := w.ends(slug); code != 125 {
		w.t.Errorf("wait: exit %d, want 125", code)
	}
	if n := w.tasks("lost"); n != 1 {
		w.t.Errorf("%d tasks are lost, want 1", n)
	}
	if n := w.tasks("running"); n != 0 {
		w.t.Errorf("%d tasks are shown as running", n)
	}
	w.claw("process", "list") // looking again must not tell again
	w.ends(slug)
	if e := w.events("queued"); len(e) != 1 {
		w.t.Errorf("%d events are queued, want 1: %q", len(e), e)
	}
	if r := w.claw("doctor"); r.code != 0 {
		w.t.Errorf("doctor: exit %d\n%s%s", r.code, r.out, r.err)
	}
	return s
}

// killsLeftover checks that what a lost process left running is listed and can
// be ended.
func (w *world) killsLeftover(slug string) {
	w.t.Helper()
	left := w.commands()
	if len(left) == 0 {
		w.t.Fatal("the command did not outlive its supervisor")
	}
	listed := false
	for _, l := range w.show(slug).Leftover {
		listed = listed || slices.Contains(left, l.PID)
	}
	if !listed {
		w.t.Errorf("%v still run, listed as leftover are %+v", left, w.show(slug).Leftover)
	}
	w.must("process", "kill", slug)
	w.until("the leftover has ended", func() bool { return len(w.commands()) == 0 })
}

// Supervisors die at every point that they pass, of background processes.
func TestSupervisorKilled(t *testing.T) {
	for _, tt := range []struct {
		point  string
		code   int    // of exec
		output string // at least
		ended  bool   // the command has ended by itself by then
		told   bool   // the end had been written
	}{
		{point: "child-forked", code: 125},
		{point: "child-started", code: 125},
		{point: "started"},
		{point: "captured", output: "before"},
		{point: "child-exited", ended: true},
		{point: "settling", ended: true, output: "beforeafter"},
		{point: "concluded", ended: true, output: "beforeafter", told: true},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.ended {
				w.file("go", "")
			}
			r := w.with("CLAW_FAILPOINT="+tt.point).claw("exec", "-b", worker)
			if r.code != tt.code && !(tt.ended && r.code == 125) {
				t.Errorf("exec: exit %d, want %d\n%s", r.code, tt.code, r.err)
			}
			if tt.code == 125 && !strings.Contains(w.ledger("processes"), `"phase":"lost"`) {
				t.Error("exec saw its supervisor die and did not write it down")
			}
			w.until("the supervisor is dead", func() bool { return len(w.supervisors()) == 0 })
			s := w.only()
			if got := w.raw(s.SessionID); !strings.HasPrefix("beforeafter", got) || len(got) < len(tt.output) {
				t.Errorf("output %q, want %q at least", got, tt.output)
			}
			if tt.told {
				if s.State != "failed" || s.ExitCode == nil || *s.ExitCode != 7 {
					t.Errorf("the end was written, but shown is %+v", s)
				}
				return
			}
			w.isLost(s.SessionID)
			if tt.ended {
				w.until("the command has ended", func() bool { return len(w.commands()) == 0 })
				return
			}
			w.killsLeftover(s.SessionID)
		})
	}
}

// The same in the foreground: exec says 125, and what became of the command
// is listed from then on.
func TestSupervisorKilledInForeground(t *testing.T) {
	for _, point := range []string{"child-forked", "child-started", "started", "captured"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.with("CLAW_FAILPOINT="+point).claw("exec", worker)
			if r.code != 125 || !strings.HasPrefix("before", r.out) {
				t.Errorf("exec: exit %d, stdout %q; want 125 and a beginning of %q\n%s", r.code, r.out, "before", r.err)
			}
			s := w.only()
			if point == "captured" && w.raw(s.SessionID) != "before" {
				t.Errorf("output %q was not kept", w.raw(s.SessionID))
			}
			w.isLost(s.SessionID)
			w.killsLeftover(s.SessionID)
		})
	}
}

// A supervisor that dies after the end was written has told it: the caller
// passes the command's own code on.
func TestSupervisorKilledAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("go", "")
	r := w.with("CLAW_FAILPOINT=concluded").claw("exec", worker)
	if r.code != 7 || r.out != "beforeafter" {
		t.Errorf("exec: exit %d, stdout %q; want 7, %q\n%s", r.code, r.out, "beforeafter", r.err)
	}
}

// kill -9 while it yields: whatever exec says, nothing is lost or shown as
// running.
func TestSupervisorKilledWhileDetaching(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.with("CLAW_FAILPOINT=detaching").claw("exec", "--yield-ms", "300", worker)
	if r.code != 125 {
		t.Errorf("exec: exit %d, want 125\n%s", r.code, r.err)
	}
	s := w.only()
	if got := w.raw(s.SessionID); got != "before" {
		t.Errorf("output %q, want %q", got, "before")
	}
	w.isLost(s.SessionID)
	w.killsLeftover(s.SessionID)
}

// On a terminal the kernel hangs the command up with its supervisor: nothing
// of it may be left, and its output is.
func TestSupervisorKilledOnTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", "--pty", worker)
	w.prints(slug, "before")
	w.bereave(w.show(slug).ID)
	w.until("the terminal has hung the command up", func() bool { return len(w.commands()) == 0 })
	if got := w.raw(slug); got != "before" {
		t.Errorf("output %q", got)
	}
	w.isLost(slug)
}

// A command whose supervisor died goes on, meets no SIGPIPE and does not wait
// for a reader, however much it prints; once somebody has noticed, what it
// prints is kept.
func TestSupervisorKilledCommandPrintsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const script = `printf before; while ! [ -e go ]; do sleep 0.02; done
head -c 3000000 /dev/zero; touch printed; while ! [ -e stop ]; do sleep 0.02; done; printf after`
	slug := w.must("exec", "-b", script)
	w.prints(slug, "before")
	w.bereave(w.show(slug).ID)
	w.isLost(slug)
	w.file("go", "")
	w.until("it has printed 3 MB", func() bool { return w.size(filepath.Join(w.dir, "printed")) >= 0 })
	if len(w.commands()) == 0 {
		t.Error("the command died of what it printed")
	}
	w.file("stop", "")
	w.prints(slug, "after")
	same(t, "output", w.raw(slug), "before"+strings.Repeat("\x00", 3000000)+"after")
	w.until("all has ended", func() bool { return len(w.running()) == 0 })
	w.isLost(slug)
}

// What the command started lives on with it, and after it: all of that is
// leftover too (pains B09; issue 2, "no process running unnoticed").
func TestSupervisorKilledTree(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"root and child", `sleep 600 & echo ready; wait`},
		{"root and setsid child", `setsid sleep 600 & echo ready; wait`},
		{"child only", `setsid sleep 600 & echo ready; while ! [ -e go ]; do sleep 0.02; done`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			slug := w.must("exec", "-b", tt.script)
			w.prints(slug, "ready")
			s := w.show(slug)
			w.bereave(s.ID)
			if tt.name == "child only" {
				w.file("go", "")
				w.until("the command itself has ended", func() bool { return !alive(s.PID) })
			}
			w.isLost(slug)
			w.killsLeftover(slug)
		})
	}
}

// The same when the command itself ends only after the loss was recorded.
func TestSupervisorKilledThenTheCommandEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", `setsid sleep 600 & echo ready; while ! [ -e go ]; do sleep 0.02; done`)
	w.prints(slug, "ready")
	s := w.show(slug)
	w.bereave(s.ID)
	w.isLost(slug)
	w.file("go", "")
	w.until("the command itself has ended", func() bool { return !alive(s.PID) })
	w.killsLeftover(slug)
}

// tools.exec.onSupervisorLoss = "kill" ends the command instead.
func TestSupervisorLossKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("[tools.exec]\nonSupervisorLoss = \"kill\"\n")
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	w.bereave(w.show(slug).ID)
	if code := w.ends(slug); code != 125 {
		t.Errorf("wait: exit %d, want 125", code)
	}
	w.until("the command was ended", func() bool { return len(w.commands()) == 0 })
	w.isLost(slug)
}

// wait sleeps on the life-line: it wakes when the supervisor dies.
func TestWaitWakesWithTheSupervisor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	waiter := w.command("process", "wait", slug)
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	sup := w.supervisor(w.show(slug).ID)
	w.until("wait has gone to sleep", func() bool { return state(waiter.Process.Pid) == 'S' })
	w.kill(sup, unix.SIGKILL)
	if code, _ := w.wait(waiter); code != 125 {
		t.Errorf("wait: exit %d, want 125", code)
	}
	w.isLost(slug)
	w.killsLeftover(slug)
}
