package supervisor

import "golang.org/x/sys/unix"

// Waits tells that the spare is still there: the other end of its socket is
// open.
func (s *Spare) Waits() bool {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		open = n == 0 && err == nil // it has nothing to say yet but its end
	})
	return open
}

// PID is that of the spare while it Waits.
func (s *Spare) PID() int { return s.pid }
