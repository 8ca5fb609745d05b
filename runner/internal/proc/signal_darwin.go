package proc

import (
	"golang.org/x/sys/unix"

	"claw/state/process"
)

// sendVerified has no pidfd here: the caller verified a moment ago, and macOS
// gives pids away in a long cycle, so the window is as small as it can be.
func sendVerified(id process.Identity, sig unix.Signal, verify func() bool) error {
	if !verify() {
		return unix.ESRCH
	}
	return unix.Kill(id.PID, sig)
}
