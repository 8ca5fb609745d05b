package runner

import (
	"strings"

	"golang.org/x/sys/unix"
)

// notify sends one datagram to the socket that systemd has named, sd_notify(3).
// A name that begins with @ is in the abstract namespace.
func notify(socket, text string) error {
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:]
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, []byte(text), unix.MSG_NOSIGNAL, &unix.SockaddrUnix{Name: socket})
}
