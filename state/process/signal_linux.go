package process

import "syscall"

// ownSignals are the names only Linux has.
var ownSignals = []signalName{
	{"SIGSTKFLT", syscall.SIGSTKFLT},
	{"SIGPWR", syscall.SIGPWR},
}
