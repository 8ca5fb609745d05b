// Package failpoint makes claw die where a test, or a person who wants to see
// for themselves what becomes of a death, says so.
package failpoint

import (
	"os"
	"strings"
	"syscall"
)

// variable names the place, in the environment.
const variable = "CLAW_FAILPOINT"

// Hit is a place with a name. With CLAW_FAILPOINT=NAME the program dies there
// as by kill -9; with NAME:panic it panics there, once.
func Hit(name string) {
	how, ok := strings.CutPrefix(os.Getenv(variable), name)
	if !ok {
		return
	}
	switch how {
	case "":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	case ":panic":
		os.Unsetenv(variable)
		panic("failpoint " + name)
	}
}
