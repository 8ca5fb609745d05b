// Package failpoint kills claw where a test, or a person who wants to see for
// themselves, says so.
package failpoint

import (
	"os"
	"syscall"
)

// Hit is a named place. With CLAW_FAILPOINT=NAME in its environment the
// program dies there as by kill -9.
func Hit(name string) {
	if os.Getenv("CLAW_FAILPOINT") != name {
		return
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}
