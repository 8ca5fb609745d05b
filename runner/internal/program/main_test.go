package program_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/internal/program"
)

// TestMain: the test binary is also a program that leaves its session, as
// setsid(1) does, which not every system has: it starts its arguments in a
// session of their own, and goes.
func TestMain(m *testing.M) {
	if os.Getenv("PROGRAM_TEST_ESCAPE") == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv("PROGRAM_TEST_ESCAPE")
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// world is a directory that scripts run in.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, dir}
}

// sh is a script whose whole output is kept, with more time than it needs.
// $SELF is this test binary.
func (w *world) sh(script string) program.Spec {
	return program.Spec{
		Argv: []string{"sh", "-c", script}, Dir: w.dir, Env: append(os.Environ(), "SELF="+w.self()),
		Limit: 5 * time.Minute, Stdout: program.Keep{Head: 1 << 20}, Stderr: program.Keep{Head: 1 << 20},
	}
}

func (w *world) self() string {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return self
}

func (w *world) run(s program.Spec) program.Result {
	w.t.Helper()
	return program.Run(w.t.Context(), s)
}

// ended holds a result against a plain exit code.
func (w *world) ended(res program.Result, code int) {
	w.t.Helper()
	if !res.Started || res.Err != nil || res.Code != code || res.Signal != 0 || res.TimedOut {
		w.t.Errorf("%s, want exit code %d", show(res), code)
	}
}

func show(res program.Result) string {
	return fmt.Sprintf("started %t, %v, code %d, signal %d, timed out %t, %.80q, %.80q", res.Started, res.Err, res.Code, res.Signal, res.TimedOut, res.Stdout, res.Stderr)
}

func (w *world) file(name string) string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(raw)
}

// write puts a file into the directory and returns its path.
func (w *world) write(name, text string, mode os.FileMode) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// wait waits for a file with a whole line in it, and returns the line.
func (w *world) wait(name string) string {
	w.t.Helper()
	until(w.t, name+" is written", func() bool { return strings.HasSuffix(w.file(name), "\n") })
	return strings.TrimSpace(w.file(name))
}

// pid is the number in a file, of a process that is ended with the test.
func (w *world) pid(name string) int {
	w.t.Helper()
	pid, err := strconv.Atoi(w.wait(name))
	if err != nil || pid < 2 {
		w.t.Fatalf("%q is no pid", w.file(name))
	}
	w.t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// runs tells whether a process runs; a zombie does not.
func runs(t *testing.T, pid int) bool {
	t.Helper()
	table, err := proc.Scan()
	if err != nil {
		t.Fatal(err)
	}
	row, ok := table[pid]
	return ok && !row.Zombie
}

// noZombie: every child of this process has been reaped.
func noZombie(t *testing.T) {
	t.Helper()
	table, err := proc.Scan()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		if row.Parent == os.Getpid() && row.Zombie {
			t.Errorf("%d is a zombie", row.PID)
		}
	}
}

// until waits for a condition.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
