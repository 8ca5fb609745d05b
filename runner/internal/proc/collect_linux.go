package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// collect reaps a child whenever it ends. Waiting for its pidfd takes no thread,
// unlike wait4: a runner may have a thousand supervisors.
func collect(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		wait4(pid)
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	reaped := false
	if conn, err := f.SyscallConn(); err == nil {
		conn.Read(func(uintptr) bool {
			var ws unix.WaitStatus
			got, err := ignoringEINTR(func() (int, error) { return unix.Wait4(pid, &ws, unix.WNOHANG, nil) })
			reaped = got == pid || err != nil
			return reaped
		})
	}
	if !reaped {
		wait4(pid)
	}
}
