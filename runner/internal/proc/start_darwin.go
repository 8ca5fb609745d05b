package proc

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// closeOnExec marks every descriptor above 2; see the Linux side.
func closeOnExec() { closeListedOnExec("/dev/fd") }

// emptySignalMask does nothing: there is no call for it without cgo.
func emptySignalMask() func() { return func() {} }

// ignoredSignals are those that shells and nohup leave ignored.
func ignoredSignals() []os.Signal {
	var ignored []os.Signal
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			ignored = append(ignored, sig)
		}
	}
	return ignored
}
