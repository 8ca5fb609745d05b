package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size of a terminal nobody asked a size for; spec/exec-process.md 1.3.
const (
	DefaultCols = 120
	DefaultRows = 30
)

// PTY is a pseudo-terminal seen from the side of the terminal. Read, Write,
// SetReadDeadline, Resize, Hangup and Close may be called from different
// goroutines; Close wakes a blocked Read.
type PTY struct {
	master *os.File

	mu    sync.Mutex
	slave *os.File // nil once hung up
}

// Open makes a terminal of the given size in cells; sizes below 1 take the
// default.
func Open(cols, rows int) (*PTY, error) {
	m, s, err := creack.Open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer m.Close() // the duplicate lives on
	s.Fd()          // the child shares this open file: blocking, as programs expect
	master, err := pollable(m)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	p := &PTY{master: master, slave: s}
	if err := p.Resize(orDefault(cols, DefaultCols), orDefault(rows, DefaultRows)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func orDefault(n, fallback int) int {
	if n < 1 {
		return fallback
	}
	return n
}

// pollable duplicates a descriptor as a file that the runtime polls.
func pollable(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// Slave is the child's side, to be its descriptors 0, 1 and 2 and its
// controlling terminal. Nil after Hangup. It stays the PTY's to close.
func (p *PTY) Slave() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slave
}

// Read reads what the programs on the terminal wrote. io.EOF when no slave is
// open any more and everything has been read.
func (p *PTY) Read(b []byte) (int, error) {
	n, err := p.master.Read(b)
	if errors.Is(err, unix.EIO) {
		err = io.EOF
	}
	return n, err
}

// Write types b into the terminal. A program that does not read blocks it,
// until SetWriteDeadline or Close.
func (p *PTY) Write(b []byte) (int, error) { return p.master.Write(b) }

// SetReadDeadline bounds Read, blocked ones included; os.ErrDeadlineExceeded.
func (p *PTY) SetReadDeadline(t time.Time) error { return p.master.SetReadDeadline(t) }

// SetWriteDeadline bounds Write.
func (p *PTY) SetWriteDeadline(t time.Time) error { return p.master.SetWriteDeadline(t) }

// Resize tells the terminal's size in cells; the programs on it get SIGWINCH.
func (p *PTY) Resize(cols, rows int) error {
	size := &unix.Winsize{Col: clip16(cols), Row: clip16(rows)}
	return p.control("set terminal size", func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size)
	})
}

// Size is the terminal's size in cells.
func (p *PTY) Size() (cols, rows int, err error) {
	err = p.control("get terminal size", func(fd int) error {
		size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			cols, rows = int(size.Col), int(size.Row)
		}
		return err
	})
	return cols, rows, err
}

// Foreground is the process group that reads from the terminal now; 0 when
// there is none.
func (p *PTY) Foreground() int {
	pgrp := 0
	_ = p.control("get foreground group", func(fd int) (err error) {
		pgrp, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return max(pgrp, 0)
}

// control runs an ioctl without taking the descriptor out of the poller, as Fd
// would.
func (p *PTY) control(what string, call func(fd int) error) error {
	raw, err := p.master.SyscallConn()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = call(int(fd)) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if inner != nil {
		return fmt.Errorf("%s: %w", what, inner)
	}
	return nil
}

func clip16(n int) uint16 { return uint16(max(0, min(n, 1<<16-1))) }

// Hangup closes our slave, once the child has been reaped: from then on Read
// ends by itself, as soon as no other program holds the terminal and everything
// was read. On macOS it first waits, for at most patience, until the reader has
// taken what is buffered, which the system would throw away. Idempotent.
func (p *PTY) Hangup(patience time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slave == nil {
		return nil
	}
	awaitTaken(p.slave, patience)
	err := p.slave.Close()
	p.slave = nil
	return err
}

// Close gives the terminal up: what still runs on it gets SIGHUP, unread
// output is lost. Idempotent as far as os.File is.
func (p *PTY) Close() error {
	err := p.master.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slave != nil {
		p.slave.Close()
		p.slave = nil
	}
	return err
}
