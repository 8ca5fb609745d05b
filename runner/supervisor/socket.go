package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocketPath is what every system accepts in sockaddr_un (104 on macOS,
// 108 on Linux, with a terminating zero); pains B39.
const maxSocketPath = 100

// ControlPath is the socket on which the supervisor of the process in dir
// takes requests.
func ControlPath(dir string) string { return filepath.Join(dir, "control") }

// withShortPath calls fn with a name of the control socket that fits into a
// socket address however deep the state directory lies.
func withShortPath(dir string, fn func(path string) error) error {
	path := ControlPath(dir)
	if len(path) <= maxSocketPath {
		return fn(path)
	}
	return viaDirectory(dir, fn)
}

// listenUnix binds and listens; a socket left behind by a supervisor that was
// killed is replaced. Linux gives the file the mode that the socket has before
// it is bound, so that it is 0600 from the first instant; elsewhere the
// directory, 0700, has to do.
func listenUnix(dir string) (int, error) {
	fd, err := socketCloexec()
	if err != nil {
		return -1, err
	}
	unix.Fchmod(fd, 0o600)
	err = withShortPath(dir, func(path string) error {
		if err := unix.Unlink(path); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	})
	if err == nil {
		err = unix.Listen(fd, 16)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// ErrNoSupervisor means that nobody answers on the control socket.
var ErrNoSupervisor = errors.New("no supervisor answers")

// Call sends one request to the supervisor of the process in dir and waits
// for its answer, at most 15 seconds.
func Call(dir string, ask Ask) (Answer, error) {
	conn, err := dialUnix(dir)
	if err != nil {
		return Answer{}, errors.Join(ErrNoSupervisor, err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(3 * inputPatience))
	raw, err := json.Marshal(ask)
	if err != nil {
		return Answer{}, err
	}
	if len(raw) >= maxAsk {
		return Answer{}, fmt.Errorf("%d bytes are too many for one request; send them in pieces of at most 8 MiB", len(ask.Data)+len(ask.Text))
	}
	if _, err := conn.Write(append(raw, '\n')); err != nil {
		return Answer{}, errors.Join(ErrNoSupervisor, err)
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return Answer{}, errors.Join(ErrNoSupervisor, err)
	}
	var a Answer
	return a, json.Unmarshal(line, &a)
}

func dialUnix(dir string) (*os.File, error) {
	fd, err := socketCloexec()
	if err != nil {
		return nil, err
	}
	err = withShortPath(dir, func(path string) error {
		return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	})
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return pollable(fd, "control")
}
