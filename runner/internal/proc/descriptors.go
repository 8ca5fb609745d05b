package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeListedOnExec marks the descriptors above 2 that a directory of the
// system lists as our own.
func closeListedOnExec(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// CloseOnExec marks every descriptor above 2 of this program, also those that
// it was started with, so that nothing it starts can hold a pipe or a lock of
// somebody else (B12).
func CloseOnExec() { closeOnExec() }
