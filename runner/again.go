package runner

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
)

const terminate = unix.SIGTERM

// againVar tells a program that it took over in place from the runner before.
const againVar = "CLAW_RUNNER_AGAIN"

// IsRestart tells the error of Run that asks for Again.
func IsRestart(err error) bool { return errors.Is(err, errRestart) }

// Again replaces this program by the one that its file holds now, with the
// same arguments: the process stays, and with it its pid, its terminal and its
// service manager's idea of it. That is the way everywhere. To exit and be
// started again would depend on a unit that does so, would cost its delay, and
// would leave nobody at work where there is none. Whatever locks this process
// held have been let go: every descriptor is close-on-exec.
//
// It returns only when it has failed. A service manager sees a runner that has
// failed then, and starts it again.
func (r Readiness) Again(environ []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(r.environ(environ), againVar+"=1")
	proc.CloseOnExec()
	return syscall.Exec(self, os.Args, env)
}

// TakeAgain tells whether this program took over from a runner in place, and
// takes the note of it out of the environment. Supervisors that the runner before
// has started are still children of this process, and are reaped.
func TakeAgain() bool {
	if os.Getenv(againVar) == "" {
		return false
	}
	os.Unsetenv(againVar)
	table, err := proc.Scan()
	if err != nil {
		return true
	}
	for pid, row := range table {
		if row.Parent == os.Getpid() {
			go proc.Wait(pid)
		}
	}
	return true
}

// AgainVariable is the name of the variable that TakeAgain takes.
func AgainVariable() string { return againVar }
