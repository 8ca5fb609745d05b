package process

import "syscall"

// ownSignals are the names only macOS has.
var ownSignals = []signalName{
	{"SIGEMT", syscall.SIGEMT},
	{"SIGINFO", syscall.SIGINFO},
}
