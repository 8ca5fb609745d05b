package supervisor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func socketCloexec() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}

func acceptCloexec(fd int) (int, error) {
	conn, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
	return conn, err
}

func pipeCloexec(fds *[2]int) error { return unix.Pipe2(fds[:], unix.O_CLOEXEC) }

// growPipe asks for a larger pipe; refusal (a limit per user) costs speed only.
func growPipe(fd int) { unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) }

func viaDirectory(dir string, fn func(string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return fn(fmt.Sprintf("/proc/self/fd/%d/control", fd))
}

// orphansAreOurs tells whether what the command leaves behind becomes a child
// of its supervisor.
const orphansAreOurs = true

// unreadBytes asks how much a pipe or a terminal holds.
const unreadBytes = unix.TIOCINQ
