package supervisor

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The fork lock is held while a descriptor exists that is not close-on-exec.
func socketCloexec() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	return fd, err
}

func acceptCloexec(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	conn, _, err := unix.Accept(fd)
	if err == nil {
		unix.CloseOnExec(conn)
	}
	return conn, err
}

func pipeCloexec(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return nil
}

func growPipe(int) {}

var cwdMu sync.Mutex

// viaDirectory goes into the directory for a moment: macOS has no name for
// an open directory that a socket address could use.
func viaDirectory(dir string, fn func(string) error) error {
	cwdMu.Lock()
	defer cwdMu.Unlock()
	back, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	defer os.Chdir(back)
	return fn("control")
}

// orphansAreOurs tells whether what the command leaves behind becomes a child
// of its supervisor.
const orphansAreOurs = false

// unreadBytes asks how much a pipe or a terminal holds.
const unreadBytes = 0x4004667f // FIONREAD, which x/sys does not name
