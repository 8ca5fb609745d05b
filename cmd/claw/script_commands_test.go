package main_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// commands are what scripts have besides testscript's own;
// testdata/script/README.md says how each is used.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"alive":      cmdAlive,
		"capture":    cmdCapture,
		"code":       cmdCode,
		"damaged":    cmdDamaged,
		"finish":     cmdFinish,
		"gone":       cmdGone,
		"is":         cmdIs,
		"json":       cmdJSON,
		"same":       cmdSame,
		"signal":     cmdSignal,
		"snapshot":   cmdSnapshot,
		"start":      cmdStart,
		"state":      cmdState,
		"supervisor": cmdSupervisor,
		"unchanged":  cmdUnchanged,
		"waitfor":    cmdWaitFor,
	}
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// exitStatus is the exit code of a finished program, as a shell gives it.
func exitStatus(ts *testscript.TestScript, err error) int {
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("%v", err)
	}
	if w := exit.Sys().(syscall.WaitStatus); w.Signaled() {
		return 128 + int(w.Signal())
	}
	return exit.ExitCode()
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "code N program [args...]")
	if got := exitStatus(ts, ts.Exec(args[1], args[2:]...)); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// started is a program that runs beside the script.
type started struct {
	cmd  *exec.Cmd
	done chan error
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "start NAME program [args...]")
	name, cmd := args[0], program(ts, args[1:])()
	var err error
	cmd.Stdout, err = os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	cmd.Stderr, err = os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	ts.Check(cmd.Start())
	p := &started{cmd: cmd, done: make(chan error, 1)}
	go func() { p.done <- cmd.Wait() }()
	s := of(ts)
	if s.started == nil {
		s.started = map[string]*started{}
	}
	s.started[name] = p
	ts.Setenv(name+"_PID", strconv.Itoa(cmd.Process.Pid))
}

// environ is the script's environment. testscript keeps it to itself, so a
// program is asked.
func environ(ts *testscript.TestScript) []string {
	ts.Check(ts.Exec("env", "-0"))
	return strings.Split(strings.TrimRight(ts.ReadFile("stdout"), "\x00"), "\x00")
}

// program is a command that runs in the script's place.
func program(ts *testscript.TestScript, args []string) func() *exec.Cmd {
	env, dir, path := environ(ts), ts.MkAbs("."), args[0]
	switch found, err := exec.LookPath(path); {
	case path == "claw":
		path = underTest
	case err != nil:
		ts.Fatalf("%v", err)
	default:
		path = found
	}
	return func() *exec.Cmd {
		cmd := exec.Command(path, args[1:]...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
}

func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "finish NAME CODE")
	p := of(ts).started[args[0]]
	if p == nil {
		ts.Fatalf("%s was not started", args[0])
	}
	select {
	case err := <-p.done:
		if got := exitStatus(ts, err); strconv.Itoa(got) != args[1] {
			ts.Logf("%s", ts.ReadFile(args[0]+".err"))
			ts.Fatalf("%s: exit code %d, want %s", args[0], got, args[1])
		}
	case <-time.After(patience):
		ts.Fatalf("%s has not ended after %v", args[0], patience)
	}
}

// pidOf reads a pid, or the name of a started program.
func pidOf(ts *testscript.TestScript, arg string) int {
	if p := of(ts).started[arg]; p != nil {
		return p.cmd.Process.Pid
	}
	pid, err := strconv.Atoi(strings.TrimSpace(arg))
	if err != nil || pid <= 1 {
		ts.Fatalf("%q is neither a pid nor a started program", arg)
	}
	return pid
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "signal NAME|PID SIGNAL")
	sig := unix.SignalNum("SIG" + args[1])
	if sig == 0 {
		ts.Fatalf("no signal %s", args[1])
	}
	ts.Check(syscall.Kill(pidOf(ts, args[0]), sig))
}

// runs tells whether pid is there and not merely waiting to be reaped: a program
// whose first thread has ended looks so while others of its threads, and with
// them its files and locks, are still there.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) {
		_, noProc := os.Stat("/proc/self/stat")
		return noProc != nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	return len(fields) < 18 || fields[0] != "Z" || fields[17] != "1"
}

func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "alive PID...")
	for _, arg := range args {
		if !runs(pidOf(ts, arg)) {
			ts.Fatalf("%s does not run", arg)
		}
	}
}

func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "gone PID...")
	for _, arg := range args {
		pid := pidOf(ts, arg)
		if !eventually(func() bool { return !runs(pid) }) {
			ts.Fatalf("%s still runs after %v", arg, patience)
		}
	}
}

// eventually looks again and again until cond holds; false when it never did.
func eventually(cond func() bool) bool {
	for until := time.Now().Add(patience); !cond(); time.Sleep(15 * time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "waitfor program [args...]")
	try := program(ts, args)
	var out []byte
	if !eventually(func() bool {
		var err error
		out, err = try().CombinedOutput()
		return err == nil
	}) {
		ts.Logf("%s%s", out, living(ts.Getenv("CLAW_STATE_DIR")))
		ts.Fatalf("%s has not succeeded after %v", strings.Join(args, " "), patience)
	}
}

func cmdSupervisor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "supervisor VAR ULID")
	for _, p := range of(ts).running() {
		if p.supervisor && strings.Contains(p.args, args[1]) {
			ts.Setenv(args[0], strconv.Itoa(p.pid))
			return
		}
	}
	ts.Fatalf("no supervisor of %s runs", args[1])
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 2 || len(args) == 3), "capture VAR FILE [JSONPATH]")
	text := ts.ReadFile(args[1])
	if len(args) == 3 {
		text = pick(ts, text, args[2])
	}
	text = strings.TrimRight(text, "\n")
	if text == "" {
		ts.Fatalf("%s holds nothing to capture", args[1])
	}
	ts.Setenv(args[0], text)
}

func cmdIs(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "is FILE 'text with Go escapes'")
	want, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	if got := ts.ReadFile(args[0]); (got == want) == neg {
		ts.Fatalf("%s is %q, want %q", args[0], cut(got), cut(want))
	}
}

func cut(s string) string {
	if len(s) > 400 {
		return s[:200] + "…" + s[len(s)-200:]
	}
	return s
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "same FILE FILE")
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if a == b {
		return
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	ts.Fatalf("%s has %d bytes and %s has %d; they differ from byte %d on", args[0], len(a), args[1], len(b), at)
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	match := len(args) > 0 && args[0] == "-match"
	if match {
		args = args[1:]
	}
	usage(ts, len(args) == 3, "json [-match] FILE PATH WANT")
	got := pick(ts, ts.ReadFile(args[0]), args[1])
	ok := got == args[2]
	if match {
		re, err := regexp.Compile(args[2])
		ts.Check(err)
		ok = re.MatchString(got)
	}
	if ok == neg {
		ts.Fatalf("%s: %s is %q, want %s%q", args[0], args[1], cut(got), map[bool]string{true: "not "}[neg], args[2])
	}
}

func cmdDamaged(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "damaged 'why the state cannot be in order at the end'")
	of(ts).damaged = args[0]
}

func cmdState(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "state DIR")
	dir := ts.MkAbs(args[0])
	of(ts).states = append(of(ts).states, dir)
	ts.Setenv("CLAW_STATE_DIR", dir)
}

func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "snapshot DIR")
	s := of(ts)
	if s.trees == nil {
		s.trees = map[string]string{}
	}
	s.trees[args[0]] = tree(ts, args[0])
}

func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1, "unchanged DIR")
	before, after := of(ts).trees[args[0]], tree(ts, args[0])
	if (before == after) == neg {
		ts.Fatalf("%s\nbefore:\n%s\nafter:\n%s", args[0], before, after)
	}
}

// tree is everything that can be seen of a directory except access times.
func tree(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(raw))[:16]
		}
		fmt.Fprintf(&b, "%s %v %d %s %s\n", path, info.Mode(), info.Size(), info.ModTime().Format(time.RFC3339Nano), sum)
		return nil
	}))
	return b.String()
}
