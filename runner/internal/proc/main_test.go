package proc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state/process"
)

// The test binary runs itself again as a helper: a Reaper waits for every
// child of its process, so it needs one to itself.
const helperVar = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		os.Unsetenv(helperVar)
		os.Exit(help(name))
	}
	os.Exit(m.Run())
}

// helpers are the programs the test binary can be.
func help(name string) int {
	switch name {
	case "dead-leader":
		return deadLeader()
	case "reap":
		return reapHelper()
	case "terminate":
		return terminateHelper()
	case "start":
		return startHelper()
	case "spawn-shell":
		return spawnShellHelper()
	}
	fmt.Fprintln(os.Stderr, "no helper", name)
	return 2
}

// helper is a command that runs the test binary as one of its helpers.
func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// report runs a helper and decodes the JSON it prints.
func report(t *testing.T, cmd *exec.Cmd, into any) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helper: %v\n%s", err, out)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("helper printed %q: %v", out, err)
	}
}

// emit prints what a helper found.
func emit(v any) int {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		return 2
	}
	return 0
}

// eventually waits for a condition, with a deadline that no machine needs.
func eventually(cond func() bool) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if cond() {
			return true
		}
	}
	return false
}

// sleeper starts a process that lives until the test ends, in a group of its
// own, and reaps it.
func sleeper(t *testing.T) (process.Identity, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	id, ok := proc.Identify(cmd.Process.Pid)
	if !ok {
		t.Fatal("cannot identify a child")
	}
	// exec has returned before the kernel shows the new arguments
	if !eventually(func() bool { return len(proc.Argv(id.PID)) == 2 }) {
		t.Fatal("the child shows no arguments")
	}
	return id, cmd
}

// zombie is a process that has ended and that nobody has reaped.
func zombie(t *testing.T) process.Identity {
	t.Helper()
	id, cmd := sleeper(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { row, ok := proc.Present(id); return ok && row.Zombie }) {
		t.Fatal("no zombie")
	}
	return id
}

// recycled is the identity of an earlier owner of a pid that is in use.
func recycled(id process.Identity) process.Identity {
	id.Start--
	return id
}

// reaped runs a program to its end and gives who it was.
func reaped(t *testing.T) process.Identity {
	t.Helper()
	id, cmd := sleeper(t)
	cmd.Process.Kill()
	cmd.Wait()
	return id
}

// errorsIs reports the error of a call that should have given want.
func errorsIs(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// quick is the machine's clock; tick is a grace that tests can afford.
var quick = clock.New()

const tick = 100 * time.Millisecond
