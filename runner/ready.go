package runner

import (
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Readiness tells systemd how the runner stands, sd_notify(3). The zero value
// tells nobody.
type Readiness struct {
	Socket   string
	Watchdog time.Duration // it must hear from us that often; 0 never
}

// TakeReadiness reads NOTIFY_SOCKET and WATCHDOG_USEC and takes them out of the
// environment: what the runner starts must not speak in its name.
func TakeReadiness() Readiness {
	r := Readiness{Socket: os.Getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		r.Watchdog = time.Duration(usec) * time.Microsecond
	}
	for _, name := range NotifyVariables() {
		os.Unsetenv(name)
	}
	return r
}

// environ is an environment with what TakeReadiness has taken out of it. The
// watchdog's pid is left out: it is this process or nobody.
func (r Readiness) environ(env []string) []string {
	env = slices.Clone(env)
	if r.Socket != "" {
		env = append(env, "NOTIFY_SOCKET="+r.Socket)
	}
	if r.Watchdog > 0 {
		env = append(env, "WATCHDOG_USEC="+strconv.FormatInt(r.Watchdog.Microseconds(), 10))
	}
	return env
}

// NotifyVariables are the names of the variables that TakeReadiness takes.
func NotifyVariables() []string { return []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} }

// tell sends lines such as READY=1. Nobody can do anything about an error.
func (r Readiness) tell(text string) {
	if r.Socket != "" {
		_ = notify(r.Socket, text)
	}
}

// reloading is what has to be sent before a new READY=1: systemd wants to know
// when it began.
func reloading() string {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return "RELOADING=1"
	}
	return "RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(ts.Nano()/1000, 10)
}
