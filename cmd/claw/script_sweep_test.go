package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"claw/state/statetest"
)

// script is what the commands of one script share.
type script struct {
	t       testing.TB
	work    string
	states  []string // state directories that are checked at the end
	damaged string   // why they cannot be in order; empty: they must be
	started map[string]*started
	trees   map[string]string
}

type scriptKey struct{}

func of(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

// sweep is the end of every script, also of one that failed: what still runs
// is killed, the supervisors must then end by themselves, nothing may be left
// over, and the state must be in order.
func (s *script) sweep() {
	s.killCommands()
	for _, p := range s.running() {
		s.t.Errorf("left over: pid %d: %s", p.pid, p.args)
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	if s.damaged != "" {
		return
	}
	for _, dir := range s.states {
		statetest.Check(s.t, dir)
		s.doctor(dir)
	}
}

// killCommands kills the commands, not their supervisors, until nothing is
// left or patience is.
func (s *script) killCommands() {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		left := s.running()
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			if !p.supervisor {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
	}
}

// doctor must find nothing wrong with dir, if it is there at all.
func (s *script) doctor(dir string) {
	if _, err := os.Stat(dir); err != nil {
		return
	}
	cmd := exec.Command(underTest, "doctor", "--json", "--state-dir", dir)
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(s.work, "home"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("doctor of %s: %v\n%s", dir, err, out)
	}
}

// leftOver is one process of a script.
type leftOver struct {
	pid        int
	args       string
	supervisor bool
}

// running finds what belongs to the script: by its environment, its directory
// or its arguments. Without /proc it finds nothing.
func (s *script) running() []leftOver {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []leftOver
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || !s.owns(dir) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		words := strings.Split(string(bytes.TrimRight(args, "\x00")), "\x00")
		found = append(found, leftOver{
			pid: pid, args: strings.Join(words, " "),
			supervisor: len(words) > 1 && words[1] == "supervise",
		})
	}
	return found
}

func (s *script) owns(dir string) bool {
	if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil {
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if string(kv) == "WORK="+s.work {
				return true
			}
		}
	}
	cwd, err := os.Readlink(filepath.Join(dir, "cwd"))
	if err == nil && (cwd == s.work || strings.HasPrefix(cwd, s.work+"/")) {
		return true
	}
	args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	return err == nil && bytes.Contains(args, []byte(s.work+"/")) || s.supervises(dir)
}

// supervises finds supervisors, which keep neither the environment nor the
// directory of their caller, by the files they hold open.
func (s *script) supervises(dir string) bool {
	if exe, _ := os.Readlink(filepath.Join(dir, "exe")); strings.TrimSuffix(exe, " (deleted)") != underTest {
		return false
	}
	fds, _ := filepath.Glob(filepath.Join(dir, "fd", "*"))
	return slices.ContainsFunc(fds, func(fd string) bool {
		target, err := os.Readlink(fd)
		return err == nil && strings.HasPrefix(target, s.work+"/")
	})
}
