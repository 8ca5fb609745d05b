package process

import (
	"strconv"
	"strings"
	"syscall"
)

type signalName struct {
	name string
	n    syscall.Signal
}

// commonSignals are the names both systems know; their numbers differ (USR1 is
// 10 on Linux and 30 on macOS), so they come from the system claw was built for.
var commonSignals = []signalName{
	{"SIGHUP", syscall.SIGHUP},
	{"SIGINT", syscall.SIGINT},
	{"SIGQUIT", syscall.SIGQUIT},
	{"SIGILL", syscall.SIGILL},
	{"SIGTRAP", syscall.SIGTRAP},
	{"SIGABRT", syscall.SIGABRT},
	{"SIGBUS", syscall.SIGBUS},
	{"SIGFPE", syscall.SIGFPE},
	{"SIGKILL", syscall.SIGKILL},
	{"SIGUSR1", syscall.SIGUSR1},
	{"SIGSEGV", syscall.SIGSEGV},
	{"SIGUSR2", syscall.SIGUSR2},
	{"SIGPIPE", syscall.SIGPIPE},
	{"SIGALRM", syscall.SIGALRM},
	{"SIGTERM", syscall.SIGTERM},
	{"SIGCHLD", syscall.SIGCHLD},
	{"SIGCONT", syscall.SIGCONT},
	{"SIGSTOP", syscall.SIGSTOP},
	{"SIGTSTP", syscall.SIGTSTP},
	{"SIGTTIN", syscall.SIGTTIN},
	{"SIGTTOU", syscall.SIGTTOU},
	{"SIGURG", syscall.SIGURG},
	{"SIGXCPU", syscall.SIGXCPU},
	{"SIGXFSZ", syscall.SIGXFSZ},
	{"SIGVTALRM", syscall.SIGVTALRM},
	{"SIGPROF", syscall.SIGPROF},
	{"SIGWINCH", syscall.SIGWINCH},
	{"SIGIO", syscall.SIGIO},
	{"SIGSYS", syscall.SIGSYS},
}

// SignalName is the name of a signal of this system, "SIGTERM" for 15. A
// signal without a name here (the real-time ones) is its number as text, which
// the completion grammar also accepts.
func SignalName(n int) string {
	for _, list := range [2][]signalName{commonSignals, ownSignals} {
		for _, s := range list {
			if int(s.n) == n {
				return s.name
			}
		}
	}
	return strconv.Itoa(n)
}

// SignalNumber is the number behind "SIGTERM", "term" or "15" on this system;
// 0 when there is none.
func SignalNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n < 128 {
		return n
	}
	name = strings.ToUpper(name)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	for _, list := range [2][]signalName{commonSignals, ownSignals} {
		for _, s := range list {
			if s.name == name {
				return int(s.n)
			}
		}
	}
	return 0
}
