package proc

import "golang.org/x/sys/unix"

// Subreaper makes the caller the parent of every descendant that loses its
// own, so that a command that forks into the background or leaves its session
// stays ours to see and to end. Elsewhere than on Linux it does nothing.
func Subreaper() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}
