package pty

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitTaken waits until the output queue of the slave is empty, because macOS
// discards it at the last close. There is no event for that, so it looks again
// after steps that grow; the reader needs microseconds.
func awaitTaken(slave *os.File, patience time.Duration) {
	end := time.Now().Add(patience)
	for step := time.Millisecond; ; step = min(2*step, 50*time.Millisecond) {
		queued, err := unix.IoctlGetInt(int(slave.Fd()), unix.TIOCOUTQ)
		if err != nil || queued == 0 || !time.Now().Before(end) {
			return
		}
		time.Sleep(step)
	}
}
