package proc

import (
	"errors"

	"golang.org/x/sys/unix"

	"claw/state/process"
)

// sendVerified pins the process with a pidfd before it verifies it. If the
// start stamp still is the one meant after the pidfd was opened, then the
// process had the pid all the while, and the pidfd is its own.
func sendVerified(id process.Identity, sig unix.Signal, verify func() bool) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return err
	}
	if err != nil { // an old kernel, a strict seccomp filter, no descriptor left
		return unix.Kill(id.PID, sig)
	}
	defer unix.Close(fd)
	if !verify() {
		return unix.ESRCH
	}
	err = unix.PidfdSendSignal(fd, sig, nil, 0)
	if errors.Is(err, unix.ENOSYS) { // pidfd_open without pidfd_send_signal: a filter
		return unix.Kill(id.PID, sig)
	}
	return err
}
