//go:build linux

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/state/statetest"
)

// world is one user on one machine: a home, a state directory and a program.
type world struct {
	t     testing.TB
	bin   string
	dir   string // of everything
	state string
	env   []string
}

// newWorld makes a world. When the test ends, whatever still runs in it is
// ended, its state directory must be consistent and doctor content.
func newWorld(t testing.TB) *world {
	t.Helper()
	bin, err := clawBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &world{t: t, bin: bin, dir: dir, state: filepath.Join(memory(t), "state")}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "LC_ALL=C.UTF-8",
		"CLAW_STATE_DIR=" + w.state, "CLAW_WAKE_ON_EXIT=off", "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "TERM=xterm-256color",
		"PYENV_VERSION=" + os.Getenv("PYENV_VERSION"),
	}
	t.Cleanup(w.end)
	return w
}

// memory is a directory in memory where there is one: these tests kill
// programs, not machines, so that waiting for the disk proves nothing.
func memory(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "claw-test")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// end leaves nothing behind.
func (w *world) end() {
	for _, pid := range w.running() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	w.until("everything has ended", func() bool { return len(w.running()) == 0 })
	if _, err := os.Stat(w.state); err != nil {
		return
	}
	if r := w.claw("doctor", "--fix"); r.code != 0 {
		w.t.Errorf("doctor --fix: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := w.claw("doctor"); r.code != 0 {
		w.t.Errorf("doctor: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if rows := w.list("--state", "running"); len(rows) != 0 {
		w.t.Errorf("nothing runs, and yet these are shown as running: %+v", rows)
	}
	statetest.Check(w.t, w.state)
	if w.t.Failed() {
		w.t.Log(w.notes())
	}
}

// alive is what of this world runs, and what its ledgers say of that.
func (w *world) alive() string {
	var b strings.Builder
	for _, pid := range w.running() {
		where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		fmt.Fprintf(&b, "%d %c %q in %s\n", pid, state(pid), argvOf(pid), where)
	}
	for _, name := range []string{"processes", "turns", "sessions", "events", "deliveries", "automations", "runs"} {
		raw, _ := os.ReadFile(filepath.Join(w.state, "ledgers", name+".jsonl"))
		fmt.Fprintf(&b, "%s: %s", name, raw)
	}
	return b.String()
}

// living is what of a state directory runs, and what its ledgers say, for whoever
// reads why a script has failed.
func living(dir string) string {
	w := &world{state: dir}
	return w.alive()
}

// notes is what the supervisors wrote down for nobody.
func (w *world) notes() string {
	var b strings.Builder
	logs, _ := filepath.Glob(filepath.Join(w.state, "processes/*/supervisor.log"))
	for _, path := range logs {
		raw, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s:\n%s", path, trace(raw))
	}
	return b.String()
}

// with is the same world with more variables.
func (w *world) with(env ...string) *world {
	v := *w
	v.env = append(append([]string(nil), w.env...), env...)
	return &v
}

// later is the world by a wall clock that is so much ahead.
func (w *world) later(by string) *world { return w.with("CLAW_TEST_SHIFT=" + by) }

// result is how one run of claw ended.
type result struct {
	out, err string
	code     int // -1: a signal
	signal   syscall.Signal
}

// command is a run of claw that has not started yet.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.bin, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

// claw runs it to its end.
func (w *world) claw(args ...string) result {
	w.t.Helper()
	return w.finish(w.command(args...), "")
}

// finish runs cmd with stdin as its input; empty: none.
func (w *world) finish(cmd *exec.Cmd, stdin string) result {
	w.t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	code, sig := w.wait(cmd)
	return result{out: out.String(), err: errOut.String(), code: code, signal: sig}
}

// wait is cmd.Wait within patience.
func (w *world) wait(cmd *exec.Cmd) (code int, sig syscall.Signal) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !stop() {
		w.t.Fatalf("%v did not end\n%s", cmd.Args, w.notes())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%v: %v", cmd.Args, err)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -1, ws.Signal()
	}
	return ws.ExitStatus(), 0
}

// must runs claw, expects exit 0 and returns stdout without its last newline.
func (w *world) must(args ...string) string {
	w.t.Helper()
	r := w.claw(args...)
	if r.code != 0 {
		w.t.Fatalf("claw %q: exit %d\n%s%s\n%s", args, r.code, r.out, r.err, w.notes())
	}
	return strings.TrimSuffix(r.out, "\n")
}

// until waits for a condition.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	step := time.Millisecond
	for end := time.Now().Add(patience); !done(); time.Sleep(step) {
		if time.Now().After(end) {
			w.t.Fatalf("waited %s in vain until %s\n%s%s", patience, what, w.alive(), w.notes())
		}
		step = min(2*step, 50*time.Millisecond)
	}
}

// session is one entry of process list, as far as the tests look at it.
type session struct {
	SessionID       string
	ID              string
	Status          string
	State           string
	PID             int
	ExitCode        *int
	ExitSignal      string
	ExitReason      string
	Tail            string
	StdinWritable   bool
	WaitingForInput bool
	Output          struct{ Bytes, Lines, DroppedBytes int64 }
	Leftover        []struct {
		PID     int
		Command string
	}
	Warnings []string
}

// list is process list --json.
func (w *world) list(args ...string) []session {
	w.t.Helper()
	var list struct{ Sessions []session }
	w.json(&list, append([]string{"process", "list", "--all", "--all-agents", "--json"}, args...)...)
	return list.Sessions
}

func (w *world) json(into any, args ...string) {
	w.t.Helper()
	out := w.must(args...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		w.t.Fatalf("claw %q: %v\n%s", args, err, out)
	}
}

// show is the entry of one process.
func (w *world) show(slug string) session {
	w.t.Helper()
	for _, s := range w.list() {
		if s.SessionID == slug {
			return s
		}
	}
	w.t.Fatalf("%s is not listed", slug)
	return session{}
}

// only is the entry of the only process there is.
func (w *world) only() session {
	w.t.Helper()
	all := w.list()
	if len(all) != 1 {
		w.t.Fatalf("%d processes are listed, not one: %+v", len(all), all)
	}
	return all[0]
}

// raw is every byte of a process's output.
func (w *world) raw(slug string) string {
	w.t.Helper()
	r := w.claw("process", "log", slug, "--raw")
	if r.code != 0 {
		w.t.Fatalf("log --raw: exit %d\n%s", r.code, r.err)
	}
	return r.out
}

// prints waits until a process has printed text.
func (w *world) prints(slug, text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s has printed %q", slug, text), func() bool {
		return strings.Contains(w.raw(slug), text)
	})
}

// ends waits for the end of a process and returns wait's exit code.
func (w *world) ends(slug string) int {
	w.t.Helper()
	return w.claw("process", "wait", slug, "--timeout", "60").code
}

// events are the events in one of the states.
func (w *world) events(state string) []string {
	w.t.Helper()
	var list struct {
		Events []struct{ State, Text string }
	}
	w.json(&list, "event", "list", "--json")
	var texts []string
	for _, e := range list.Events {
		if e.State == state {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// supervisor is the pid of the supervisor of a process, by its ULID.
func (w *world) supervisor(id string) int {
	w.t.Helper()
	for _, pid := range pids() {
		if argv := argvOf(pid); len(argv) == 3 && argv[1] == "supervise" && argv[2] == id {
			return pid
		}
	}
	w.t.Fatalf("no supervisor of %s", id)
	return 0
}

// running are the pids of everything that belongs to this world: its commands
// (their environment names the state directory) and its supervisors.
func (w *world) running() []int {
	ours := map[string]bool{}
	entries, _ := os.ReadDir(filepath.Join(w.state, "processes"))
	for _, e := range entries {
		ours[e.Name()] = true
	}
	rows, _ := os.ReadFile(filepath.Join(w.state, "ledgers/processes.jsonl"))
	var found []int
	for _, pid := range pids() {
		argv := argvOf(pid)
		supervises := len(argv) >= 3 && argv[1] == "supervise" && (ours[argv[2]] || bytes.Contains(rows, []byte(argv[2])))
		if supervises || hasEnv(pid, "CLAW_STATE_DIR="+w.state) {
			if state(pid) != 'Z' {
				found = append(found, pid)
			}
		}
	}
	return found
}

func pids() []int {
	entries, _ := os.ReadDir("/proc")
	var all []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

func argvOf(pid int) []string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

func hasEnv(pid int, kv string) bool {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(append([]byte{0}, raw...), []byte("\x00"+kv+"\x00"))
}

// state is the letter of a process's state, Z for one that is gone. While
// other threads of a dying process still hold its descriptors it is not gone.
func state(pid int) byte {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if err != nil || len(fields) < 18 {
		return 'Z'
	}
	if threads := fields[17]; fields[0] == "Z" && threads > "1" {
		return 'D'
	}
	return fields[0][0]
}

func alive(pid int) bool { return pid > 0 && state(pid) != 'Z' }

// kill sends a signal to a process of this world.
func (w *world) kill(pid int, sig unix.Signal) {
	w.t.Helper()
	if err := unix.Kill(pid, sig); err != nil {
		w.t.Fatalf("kill %d: %v", pid, err)
	}
}

// file writes a file of this world and returns its path.
func (w *world) file(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// config writes claw.toml.
func (w *world) config(toml string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "home/config/claw")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claw.toml"), []byte(toml), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// lockedBuffer collects output while somebody looks at it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) contains(text string) bool { return strings.Contains(b.String(), text) }

// trace shortens stack traces to the functions in them.
func trace(log []byte) string {
	var kept []string
	for line := range strings.Lines(string(log)) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "runtime") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
