package pty

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Adopt wraps the two sides of a terminal that was opened by an earlier
// incarnation of this program; slave is -1 once it was hung up.
func Adopt(master, slave int) (*PTY, error) {
	if err := unix.SetNonblock(master, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	p := &PTY{master: os.NewFile(uintptr(master), "terminal")}
	if slave >= 0 {
		p.slave = os.NewFile(uintptr(slave), "terminal")
	}
	return p, nil
}

// Descriptors are the two sides, to be inherited by the next incarnation;
// slave is -1 once it was hung up.
func (p *PTY) Descriptors() (master, slave int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slave = -1
	if p.slave != nil {
		slave = int(p.slave.Fd())
	}
	return int(p.master.Fd()), slave
}

// SyscallConn gives the master to a reader that waits in the runtime's poller
// without holding a buffer.
func (p *PTY) SyscallConn() (syscall.RawConn, error) { return p.master.SyscallConn() }

// Resume sets the cursor-key mode that an earlier incarnation knew.
func (r *Responder) Resume(mode CursorMode) { r.cursor.Store(uint32(mode)) }
