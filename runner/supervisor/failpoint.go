package supervisor

import (
	"os"
	"strings"
	"syscall"
)

// hit is a failure switch for tests and for people who want to see for
// themselves what claw makes of a death: with CLAW_FAILPOINT=NAME the program
// dies as by kill -9 when it passes the point NAME; with NAME:panic it
// panics there, once.
func hit(name string) {
	want := os.Getenv("CLAW_FAILPOINT")
	if want == "" || !strings.HasPrefix(want, name) {
		return
	}
	switch want[len(name):] {
	case "":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	case ":panic":
		os.Unsetenv("CLAW_FAILPOINT")
		panic("failpoint " + name)
	}
}
