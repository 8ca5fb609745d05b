package program_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/clock/clocktest"
	"claw/runner/internal/proc"
	"claw/runner/internal/program"
)

func TestWhatAProgramGets(t *testing.T) {
	w := newWorld(t)
	leak, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	if _, err := unix.FcntlInt(leak.Fd(), unix.F_SETFD, 0); err != nil { // as one that claw inherited
		t.Fatal(err)
	}
	s := w.sh(`cat > stdin; pwd; ls /dev/fd > fds; ps -o pgid= -p $$ > group; echo $$ > self; echo $0 $1`)
	s.Argv = append(s.Argv, "zero", "one two")
	s.Stdin = "line one\n" + strings.Repeat("x", 1<<20) + "\nthe end"
	res := w.run(s)
	w.ended(res, 0)
	if want := w.dir + "\nzero one two\n"; string(res.Stdout) != want {
		t.Errorf("%q, want %q", res.Stdout, want)
	}
	if got := w.file("stdin"); got != s.Stdin {
		t.Errorf("stdin has %d bytes, want %d", len(got), len(s.Stdin))
	}
	if fds := strings.Fields(w.file("fds")); len(fds) > 4 { // 0, 1, 2 and the one that ls reads
		t.Errorf("descriptors %v", fds)
	}
	if g, p := strings.TrimSpace(w.file("group")), strings.TrimSpace(w.file("self")); g != p || g == "" {
		t.Errorf("group %s of process %s", g, p)
	}
}

// It gets what the caller names, each name once, and a mark of its own in each
// run. No shell is in between, which would put PWD right.
func TestEnvironment(t *testing.T) {
	w := newWorld(t)
	s := w.sh("")
	s.Argv = []string{"env"}
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "TWICE=first", "PWD=/nowhere", "TWICE=second", proc.RunVar + "=outer", "EMPTY="}
	first, second := strings.Fields(string(w.run(s).Stdout)), strings.Fields(string(w.run(s).Stdout))
	a, b := marks(first), marks(second)
	if len(a) != 1 || len(b) != 1 || a[0] == b[0] || a[0] == "outer" || a[0] == "" {
		t.Fatalf("marks %q and %q", a, b)
	}
	want := []string{"EMPTY=", "PATH=" + os.Getenv("PATH"), "PWD=" + w.dir, "TWICE=second", proc.RunVar + "=" + a[0]}
	slices.Sort(first)
	slices.Sort(want)
	if !slices.Equal(first, want) {
		t.Errorf("%q, want %q", first, want)
	}
}

func marks(env []string) (all []string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, proc.RunVar+"="); ok {
			all = append(all, v)
		}
	}
	return all
}

// Without an input it reads the null device, and is not waiting for anybody.
func TestNothingOnStdin(t *testing.T) {
	w := newWorld(t)
	res := w.run(w.sh("cat; echo done"))
	w.ended(res, 0)
	if string(res.Stdout) != "done\n" {
		t.Errorf("%q", res.Stdout)
	}
}

func TestHowItEnds(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		code         int
		signal       syscall.Signal
	}{
		{"well", "exit 0", 0, 0},
		{"with a code", "exit 3", 3, 0},
		{"with the highest code", "exit 255", 255, 0},
		{"by a signal", "kill -TERM $$", -1, syscall.SIGTERM},
		{"by KILL", "kill -KILL $$", -1, syscall.SIGKILL},
		{"by a signal of a child, which is a code of its own", "sh -c 'kill -KILL $$'; exit $?", 137, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			res := w.run(w.sh(tt.script))
			if !res.Started || res.Err != nil || res.TimedOut || res.Code != tt.code || res.Signal != tt.signal {
				t.Errorf("%s, want %d, %d", show(res), tt.code, tt.signal)
			}
			noZombie(t)
		})
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	plain := w.write("plain", "#!/bin/sh\nexit 0\n", 0o644)
	orphan := w.write("orphan", "#!/no/such/interpreter\n", 0o755)
	noise := w.write("noise", "\x00\x01\x02", 0o755)
	script := w.write("script", "#!/bin/sh\nexit 0\n", 0o755)
	for _, tt := range []struct {
		name string
		argv []string
		dir  string
		kind proc.StartKind
	}{
		{"not there", []string{w.dir + "/nothing"}, w.dir, proc.NotFound},
		{"not in the PATH", []string{"claw-no-such-program"}, w.dir, proc.NotFound},
		{"nothing named", nil, w.dir, proc.NotFound},
		{"not executable", []string{plain}, w.dir, proc.NotExecutable},
		{"a directory", []string{w.dir}, w.dir, proc.NotExecutable},
		{"missing interpreter", []string{orphan}, w.dir, proc.NoInterpreter},
		{"no program", []string{noise}, w.dir, proc.BadFormat},
		{"no working directory", []string{script}, w.dir + "/nowhere", proc.NoDir},
		{"too much", []string{script, strings.Repeat("x", 4<<20)}, w.dir, proc.TooBig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := w.sh("")
			s.Argv, s.Dir, s.Stdin = tt.argv, tt.dir, "never read"
			res := w.run(s)
			why, ok := errors.AsType[*proc.StartError](res.Err)
			if !ok || why.Kind != tt.kind || res.Started || res.Code != -1 || res.Signal != 0 || res.TimedOut {
				t.Errorf("%s, want kind %d", show(res), tt.kind)
			}
		})
	}
}

// The PATH is the child's, relative entries are taken from its directory, and
// what was found once is not looked for again.
func TestResolve(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(w.dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	path := w.write("bin/herald", "#!/bin/sh\necho heard\n", 0o755)
	s := program.Spec{Argv: []string{"herald"}, Dir: w.dir, Env: []string{"PATH=/nowhere", "PATH=bin"}, Limit: time.Minute, Stdout: program.Keep{Head: 100}}
	if err := s.Resolve(); err != nil || s.Path != path {
		t.Fatalf("%q, %v, want %q", s.Path, err, path)
	}
	s.Env = []string{"PATH=/nowhere"}
	res := w.run(s)
	w.ended(res, 0)
	if string(res.Stdout) != "heard\n" {
		t.Errorf("%q", res.Stdout)
	}
}

// 10 MB on both streams at once: both ends are kept, and nobody waits.
func TestMuchOutput(t *testing.T) {
	const script = `(echo first; head -c 10000000 /dev/zero; echo last) >&2 & echo begin; head -c 10000000 /dev/zero; echo end; wait`
	zeroes := strings.Repeat("\x00", 94)
	for _, tt := range []struct {
		name        string
		out, err    program.Keep
		outIs, errs string
	}{
		{"both ends", program.Keep{Head: 100, Tail: 98}, program.Keep{Tail: 99}, "begin\n" + zeroes + "\n…\n" + zeroes + "end\n", zeroes + "last\n"},
		{"the beginning", program.Keep{Head: 100}, program.Keep{Head: 100}, "begin\n" + zeroes, "first\n" + zeroes},
		{"nothing", program.Keep{}, program.Keep{}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.sh(script)
			s.Stdout, s.Stderr = tt.out, tt.err
			res := w.run(s)
			w.ended(res, 0)
			if string(res.Stdout) != tt.outIs || string(res.Stderr) != tt.errs {
				t.Errorf("%q\n%q, want\n%q\n%q", res.Stdout, res.Stderr, tt.outIs, tt.errs)
			}
		})
	}
}

func TestMergedStreamsKeepTheirOrder(t *testing.T) {
	w := newWorld(t)
	s := w.sh("echo a; echo b >&2; echo c; echo d >&2")
	s.Merge = true
	res := w.run(s)
	w.ended(res, 0)
	if string(res.Stdout) != "a\nb\nc\nd\n" || len(res.Stderr) > 0 {
		t.Errorf("%q, %q", res.Stdout, res.Stderr)
	}
}

// A program that does not read its input, or only a part, has done nothing
// wrong.
func TestUnreadStdin(t *testing.T) {
	for _, script := range []string{"exit 4", "exec <&-; echo closed; exit 4", "head -c 3 > /dev/null; exit 4"} {
		t.Run(script, func(t *testing.T) {
			w := newWorld(t)
			s := w.sh(script)
			s.Stdin = strings.Repeat("x", 1<<20)
			w.ended(w.run(s), 4)
		})
	}
}

// What it leaves behind goes on, and holding the pipes holds up nobody: the
// limit of five minutes would be reached.
func TestWhatItLeavesBehind(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"holds stdout", "sleep 600 2>/dev/null & echo $! > child; echo done"},
		{"holds stderr", "sleep 600 >/dev/null & echo $! > child; echo done"},
		{"holds stdin and does not read it", "exec 3<&0; sleep 600 <&3 3<&- >/dev/null 2>&1 & echo $! > child; echo done"},
		{"writes without end", "while :; do echo more; done 2>/dev/null & echo $! > child; echo done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.sh(tt.script)
			s.Stdin = strings.Repeat("x", 1<<20)
			res := w.run(s)
			w.ended(res, 0)
			if !strings.Contains(string(res.Stdout), "done\n") {
				t.Errorf("%.80q", res.Stdout)
			}
			pid := w.pid("child")
			if strings.Contains(tt.script, "sleep") && !runs(t, pid) {
				t.Error("it was ended")
			}
			noZombie(t)
		})
	}
}

// late runs a script until it has written the file ready, and then lets its
// time pass.
func (w *world) late(s program.Spec) program.Result {
	w.t.Helper()
	fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	s.Clock, s.Limit = fake, 90*time.Second // more than one timer may last
	over := make(chan program.Result, 1)
	go func() { over <- program.Run(context.WithoutCancel(w.t.Context()), s) }()
	w.wait("ready")
	fake.WaitArmed(1)
	fake.Advance(60 * time.Second)
	fake.WaitArmed(1)
	select {
	case res := <-over:
		w.t.Errorf("it was over after 60 of 90 seconds: %s", show(res))
		return res
	default:
	}
	fake.Advance(30 * time.Second)
	return <-over
}

func TestItsTimeIsUp(t *testing.T) {
	const idle = "echo $$ > self; echo x > ready; while :; do sleep 0.02; done"
	for _, tt := range []struct {
		name, script string
		code         int
		signal       syscall.Signal
		said         string
	}{
		{"TERM ends it", "echo working; " + idle, -1, syscall.SIGTERM, "working\n"},
		{"it may end well, and say so", "trap 'echo bye; exit 3' TERM; " + idle, 3, 0, "bye\n"},
		{"KILL ends what does not heed TERM", "trap '' TERM; " + idle, -1, syscall.SIGKILL, ""},
		{"a stopped one is woken to hear it", "trap 'echo bye; exit 3' TERM; echo $$ > self; (sleep 0.1; echo x > ready) & kill -STOP $$; while :; do sleep 0.02; done", 3, 0, "bye\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			res := w.late(w.sh(tt.script))
			if !res.TimedOut || !res.Started || res.Err != nil || res.Code != tt.code || res.Signal != tt.signal || string(res.Stdout) != tt.said {
				t.Errorf("%s, want %d, %d, %q", show(res), tt.code, tt.signal, tt.said)
			}
			if runs(t, w.pid("self")) {
				t.Error("it runs on")
			}
			noZombie(t)
		})
	}
}

// All that it started goes with it, wherever it went, and TERM or not.
func TestItsChildrenGoWithIt(t *testing.T) {
	const stubborn = `sh -c "trap '' TERM; echo \$\$ > child; echo x > ready; while :; do sleep 0.02; done"`
	for _, tt := range []struct{ name, script string }{
		{"in its group", stubborn + " & wait"},
		{"in a session of their own", "PROGRAM_TEST_ESCAPE=1 $SELF " + stubborn + "; sleep 600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if res := w.late(w.sh(tt.script)); !res.TimedOut {
				t.Error(show(res))
			}
			if runs(t, w.pid("child")) {
				t.Error("it runs on")
			}
			noZombie(t)
		})
	}
}

// A command of claw that it started has a mark of its own, and goes on.
func TestAnotherCommandOfClawIsSpared(t *testing.T) {
	w := newWorld(t)
	s := w.sh(`PROGRAM_TEST_ESCAPE=1 CLAW_PROCESS_RUN=other $SELF sh -c 'echo $$ > child; echo x > ready; while :; do sleep 0.02; done'; sleep 600`)
	if res := w.late(s); !res.TimedOut {
		t.Error(show(res))
	}
	if !runs(t, w.pid("child")) {
		t.Error("it was ended")
	}
}

var errEnough = errors.New("enough")

func TestACallerThatGoesAway(t *testing.T) {
	t.Run("before the start: nothing is started", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		res := program.Run(ctx, w.sh("touch ran"))
		if _, err := os.Stat(w.dir + "/ran"); !errors.Is(res.Err, errEnough) || res.Started || res.Code != -1 || err == nil {
			t.Error(show(res))
		}
	})
	t.Run("while it runs: it goes with all that it started", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		over := make(chan program.Result, 1)
		go func() { over <- program.Run(ctx, w.sh("sleep 600 & echo $! > child; echo x > ready; wait")) }()
		w.wait("ready")
		cancel(errEnough)
		res := <-over
		if !errors.Is(res.Err, errEnough) || !res.Started || res.TimedOut || res.Signal != syscall.SIGTERM {
			t.Error(show(res))
		}
		if runs(t, w.pid("child")) {
			t.Error("its child runs on")
		}
		noZombie(t)
	})
	t.Run("who does not care passes a context that does not end", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		over := make(chan program.Result, 1)
		go func() {
			over <- program.Run(context.WithoutCancel(ctx), w.sh("echo x > ready; until test -e go; do sleep 0.02; done"))
		}()
		w.wait("ready")
		cancel(errEnough)
		w.write("go", "", 0o600)
		w.ended(<-over, 0)
	})
}

// Somebody else has reaped it: then nobody knows, and it is not success.
func TestAStatusThatWasTaken(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	res := program.Await(t.Context(), program.Spec{Limit: time.Minute}, cmd.Process.Pid)
	if res.Err == nil || !res.Started || res.Code != -1 || res.Signal != 0 || res.TimedOut {
		t.Error(show(res))
	}
}

// However it went, no descriptor stays open until the collector finds it.
func TestDescriptorsAreClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	w := newWorld(t)
	all := func() {
		s := w.sh("cat > /dev/null")
		s.Stdin = "x"
		w.run(s)
		s.Merge = true
		w.run(s)
		s.Argv, s.Path = []string{w.write("orphan", "#!/no/such/interpreter\n", 0o755)}, ""
		w.run(s)
		s.Argv, s.Dir = []string{"sh"}, w.dir+"/nowhere"
		w.run(s)
		s = w.sh("sleep 600 & echo $! > child")
		s.Stdin = strings.Repeat("x", 1<<20)
		w.run(s)
		syscall.Kill(w.pid("child"), syscall.SIGKILL)
	}
	all() // the runtime opens some for itself
	before := descriptors(t)
	all()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, and then %d", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
