package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
)

// started is what the helper saw of its child, and of itself afterwards.
type started struct {
	FDs            []string
	SigIgn, SigBlk string
	OwnIgn         string
	OwnFD3         bool // the helper itself kept what it had inherited
}

// startHelper was itself started with signals ignored and with a descriptor
// that nobody marked close-on-exec, and starts cat.
func startHelper() int {
	runtime.LockOSThread()
	var block unix.Sigset_t
	for i := range block.Val {
		block.Val[i] = ^uint64(0)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &block, nil)
	r, w, err := os.Pipe()
	if err != nil {
		return 3
	}
	child, err := proc.Start(proc.StartSpec{Path: "/bin/cat", NewSession: true, Files: [3]*os.File{r}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	dir := fmt.Sprintf("/proc/%d/", child.PID)
	var got started
	eventually(func() bool { // the dynamic loader opens libraries for a moment
		got.FDs = nil
		entries, _ := os.ReadDir(dir + "fd")
		for _, e := range entries {
			got.FDs = append(got.FDs, e.Name())
		}
		return slices.Equal(got.FDs, []string{"0", "1", "2"})
	})
	status, _ := os.ReadFile(dir + "status")
	got.SigIgn, got.SigBlk = withoutLibc(statusField(string(status), "SigIgn")), statusField(string(status), "SigBlk")
	own, _ := os.ReadFile("/proc/self/status")
	got.OwnIgn = withoutLibc(statusField(string(own), "SigIgn"))
	_, err = unix.FcntlInt(3, unix.F_GETFD, 0)
	got.OwnFD3 = err == nil
	w.Close()
	unix.Wait4(child.PID, nil, 0, nil)
	return emit(got)
}

// statusField reads one field of a /proc/PID/status text.
func statusField(status, field string) string {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// withoutLibc clears signals 32 and 33 from a mask of /proc/PID/status: glibc
// keeps them to itself, and its posix_spawn (GNU make) hands them on ignored.
func withoutLibc(mask string) string {
	n, err := strconv.ParseUint(mask, 16, 64)
	if err != nil {
		return mask
	}
	return fmt.Sprintf("%016x", n&^(1<<31|1<<32))
}

// TestB12OnlyThreeDescriptors: nothing but 0, 1 and 2 reaches a child, and
// neither do ignored or blocked signals.
func TestB12OnlyThreeDescriptors(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "trap '' HUP INT QUIT TSTP TTOU; exec "+exe)
	cmd.Env = append(os.Environ(), helperVar+"=start")
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{lock} // descriptor 3, without close-on-exec
	var got started
	report(t, cmd, &got)
	none := strings.Repeat("0", 16)
	bit := func(sig unix.Signal) uint64 { return 1 << (sig - 1) }
	// Go itself catches QUIT; the terminal's stop signals stay caught afterwards.
	ignored := fmt.Sprintf("%016x", bit(unix.SIGHUP)|bit(unix.SIGINT))
	want := started{FDs: []string{"0", "1", "2"}, SigIgn: none, SigBlk: none, OwnIgn: ignored, OwnFD3: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The way for kernels without close_range does the same.
func TestCloseListedOnExec(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	proc.CloseListedOnExec("/proc/self/fd")
	if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %x, %v", flags, err)
	}
}

// With Ctty the terminal is the child's controlling one.
func TestStartOnTerminal(t *testing.T) {
	p, err := pty.Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := p.Slave()
	child, err := proc.Start(proc.StartSpec{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "exec 3<>/dev/tty && printf %s \"$(tty)\" >&3"},
		Env: os.Environ(), Ctty: true, Files: [3]*os.File{s, s, s},
	})
	if err != nil {
		t.Fatal(err)
	}
	var ws unix.WaitStatus
	unix.Wait4(child.PID, &ws, 0, nil)
	p.Hangup(0)
	b := make([]byte, 128)
	n, _ := p.Read(b)
	if string(b[:n]) != s.Name() || ws.ExitStatus() != 0 || child.Ungrouped {
		t.Errorf("%q on %s, status %v, ungrouped %v", b[:n], s.Name(), ws, child.Ungrouped)
	}
}

// Without a terminal to control, Ctty fails and does not fall back.
func TestStartOnNoTerminal(t *testing.T) {
	if _, err := proc.Start(proc.StartSpec{Path: "/bin/true", Ctty: true}); err == nil {
		t.Error("the null device became a controlling terminal")
	}
}
