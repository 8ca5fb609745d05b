package proc

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"claw/state/process"
)

// StartSpec says what to start and how.
type StartSpec struct {
	// Path is the file to execute, already resolved (LookPath, Shell);
	// absolute, because it is looked at from Dir.
	Path string
	// Argv is what the program sees, Argv[0] included; empty: Path alone.
	Argv []string
	// Env is the whole environment; nothing is added and nothing inherited.
	Env []string
	// Dir is the working directory; it must exist. Empty: the caller's.
	Dir string
	// Files are descriptors 0, 1 and 2; nil is the null device. No other
	// descriptor reaches the child (B12).
	Files [3]*os.File
	// NewSession gives the child a session and a group of its own, so that it
	// can be signalled as a group. If the system refuses, the child is started
	// without, and Child.Ungrouped says so.
	NewSession bool
	// Ctty makes Files[0], a terminal, the controlling terminal of the new
	// session; it implies NewSession, and then there is no fallback.
	Ctty bool
}

// Child is a process that has been started; it waits to be reaped by Reap.
type Child struct {
	process.Identity
	Ungrouped bool // has no session of its own: its group is ours, never signal it
}

// Start executes the program. It returns once the kernel has accepted it, so
// "no such file", "not executable" and the like are known here and not from an
// exit code; the error is a *StartError. The child gets default signal
// dispositions and an empty signal mask, whatever claw was started with (nohup,
// a shell's &).
func Start(spec StartSpec) (Child, error) {
	if err := checkDir(spec.Dir); err != nil {
		return Child{}, err
	}
	null, err := nullDevice(spec.Files)
	if err != nil {
		return Child{}, &StartError{Kind: Refused, Path: os.DevNull, Err: err}
	}
	if null != nil {
		defer null.Close()
	}
	closeOnExec()

	own := spec.NewSession || spec.Ctty
	pid, err := forkExec(spec, null, own)
	ungrouped := false
	if own && !spec.Ctty && sessionRefused(err) {
		ungrouped = true
		pid, err = forkExec(spec, null, false)
	}
	if err != nil {
		return Child{}, classify(spec.Path, err)
	}
	id, ok := Identify(pid)
	if !ok {
		id = process.Identity{Boot: Boot(), PID: pid}
	}
	return Child{Identity: id, Ungrouped: ungrouped || !own}, nil
}

// sessionRefused: setsid itself cannot fail in a fresh child, but a sandbox
// may forbid it. The same errors may come from execve; then the second try
// gives them again.
func sessionRefused(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS)
}

// nullDevice opens the null device if any of the files is missing.
func nullDevice(files [3]*os.File) (*os.File, error) {
	for _, f := range files {
		if f == nil {
			return os.OpenFile(os.DevNull, os.O_RDWR, 0)
		}
	}
	return nil, nil
}

// forkExec starts the program on a thread whose signal mask is empty and with
// no signal ignored.
func forkExec(spec StartSpec, null *os.File, own bool) (int, error) {
	attr := &syscall.ProcAttr{
		Dir: spec.Dir,
		Env: spec.Env,
		Sys: &syscall.SysProcAttr{Setsid: own, Setctty: spec.Ctty, Ctty: 0},
	}
	for _, f := range spec.Files {
		if f == nil {
			f = null
		}
		attr.Files = append(attr.Files, f.Fd()) // Fd leaves it blocking, as a child expects
	}
	argv := spec.Argv
	if len(argv) == 0 {
		argv = []string{spec.Path}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer emptySignalMask()()
	defer catchIgnored()()
	return syscall.ForkExec(spec.Path, argv, attr)
}

// catchIgnored makes the signals that claw inherited as ignored caught for a
// moment, because exec turns a caught signal into the default one but leaves an
// ignored one ignored. All other signals the Go runtime catches anyway. It
// returns the way back.
func catchIgnored() func() {
	ignored := ignoredSignals()
	if len(ignored) == 0 {
		return func() {}
	}
	c := make(chan os.Signal, len(ignored))
	signal.Notify(c, ignored...)
	return func() { signal.Stop(c) }
}

// checkDir tells a missing working directory from a missing program, which
// the kernel reports alike.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = unix.Access(dir, unix.X_OK)
	}
	if err != nil {
		return &StartError{Kind: NoDir, Path: dir, Err: err}
	}
	return nil
}
