package recovery

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state"
	"claw/state/process"
)

// A lock file with nobody's lock on it is as good as none, whatever is written
// elsewhere about who had it: a held lock is the truth, and the kernel lets go
// of those of the dead. So what is looked for here is the opposite: a lock that
// is held by somebody who does nothing, and a thing that is no lock.

// lockFiles are the locks of a state directory, relative to it.
func lockFiles(dir string) []string {
	files := []string{"lock", "runner.lock", "runner.up"}
	entries, _ := os.ReadDir(filepath.Join(dir, "sessions"))
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".lock" || ext == ".next" {
			files = append(files, filepath.Join("sessions", e.Name()))
		}
	}
	return files
}

// locks looks at all of them. While somebody keeps the lock of all writers
// nothing can be mended, and nobody is waited for.
func (x *exam) locks() {
	for _, rel := range lockFiles(x.Dir) {
		path := filepath.Join(x.Dir, rel)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			if rel != "lock" { // that one is told, and moved, with the ledgers
				x.moveAway("lock_odd", rel, "it is no regular file: nothing can be locked with it")
			}
			continue
		}
		if held, err := state.Held(path); err == nil && held {
			x.held(rel, path, info)
		}
	}
}

// writerPatience is how long the lock of all writers is watched before it is
// said that somebody keeps it: a transaction takes milliseconds.
const writerPatience = 400 * time.Millisecond

func (x *exam) held(rel, path string, info os.FileInfo) {
	pid := lockHolder(info)
	id, known := proc.Identify(pid)
	who := "somebody"
	if pid > 0 && known {
		who = "pid " + strconv.Itoa(pid) + " (" + proc.CommandLine(pid) + ")"
	}
	switch {
	case known && stopped(id.PID):
		x.addStopped(rel, who+" holds it and is stopped (SIGSTOP): nothing goes on behind it", pid)
		x.fix = x.fix && rel != "lock"
	case rel == "lock" && x.staysHeld(path):
		x.add("lock_held", rel, who+" keeps it: all others wait who want to write", "ps -p "+strconv.Itoa(pid)+" shows who that is; nothing was mended meanwhile")
		x.fix = false
	}
}

func (x *exam) addStopped(rel, what string, pid int) {
	x.add("lock_stopped", rel, what, "kill -CONT "+strconv.Itoa(pid)+" lets it go on; kill -KILL "+strconv.Itoa(pid)+" ends it")
}

// supervisors looks for those that are stopped. A life-line was locked by whoever
// started the supervisor, and handed on, so that the row knows who has it.
func (x *exam) supervisors() error {
	var held []process.Process
	err := x.store.View(func(tx *state.Tx) error {
		held = nil
		rows, err := state.Processes.All(tx)
		for _, row := range rows {
			if p := row.Rec; p.Live() && stopped(p.Supervisor.PID) && proc.Alive(p.Supervisor) {
				held = append(held, p)
			}
		}
		return err
	})
	for _, p := range held {
		who := "the supervisor of " + p.Slug
		if p.TurnID != "" {
			who = "the supervisor of an agent's turn"
		}
		x.addStopped(filepath.Join("processes", p.ID, "lock"), who+", pid "+strconv.Itoa(p.Supervisor.PID)+", is stopped (SIGSTOP): what it looks after is neither ended in time nor seen to end", p.Supervisor.PID)
	}
	return err
}

// staysHeld tells that nobody let go of a lock while it was watched.
func (x *exam) staysHeld(path string) bool {
	for until := x.Clock.Elapsed() + writerPatience; x.Clock.Elapsed() < until; {
		if held, err := state.Held(path); !held || err != nil || clock.Sleep(x.ctx, x.Clock, 5*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

// heldBy reads the holder of an exclusive lock on a file out of the text of
// /proc/locks, proc(5): "1: FLOCK  ADVISORY  WRITE 1234 08:02:131079 0 EOF";
// 0: it is not known. Devices are not compared: those of some file systems
// differ from what stat(2) says.
func heldBy(locks string, inode uint64) int {
	want := ":" + strconv.FormatUint(inode, 10)
	for line := range strings.Lines(locks) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[3] != "WRITE" || !strings.HasSuffix(f[5], want) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
