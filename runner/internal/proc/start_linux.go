package proc

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeOnExec marks every descriptor above 2. Go's own files are marked
// already; those that claw inherited from a careless parent are not. Whoever
// re-executes claw in place and wants to keep some must unmark them then.
func closeOnExec() {
	if unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) != nil {
		closeListedOnExec("/proc/self/fd")
	}
}

// emptySignalMask lets the calling thread take every signal, because the child
// inherits its mask. It returns the way back.
func emptySignalMask() func() {
	var none, old unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old) != nil {
		return func() {}
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }
}

// ignoredSignals are the signals this process ignores, from the SigIgn line of
// /proc/self/status.
func ignoredSignals() []os.Signal {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	_, rest, _ := bytes.Cut(b, []byte("\nSigIgn:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
	if err != nil {
		return nil
	}
	var ignored []os.Signal
	for i := range 64 {
		if mask&(1<<i) != 0 {
			ignored = append(ignored, unix.Signal(i+1))
		}
	}
	return ignored
}
