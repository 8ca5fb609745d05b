package proc

import (
	"context"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/state/process"
)

// CloseListedOnExec is the way for kernels without close_range.
var CloseListedOnExec = closeListedOnExec

// Faults is the real kernel with some of its answers replaced.
type Faults struct {
	Kill func(pid int, sig unix.Signal) error
	Send func(id process.Identity, sig unix.Signal) error
	Scan func() (Table, error)
	Row  func(pid int) (Row, bool)
}

func (f Faults) kernel() kernel {
	k := host
	if f.Kill != nil {
		k.kill = f.Kill
	}
	if f.Send != nil {
		k.send = func(id process.Identity, sig unix.Signal, _ func() bool) error { return f.Send(id, sig) }
	}
	if f.Scan != nil {
		k.scan = f.Scan
	}
	if f.Row != nil {
		k.row = f.Row
	}
	return k
}

// Signal is Signal on a kernel with faults.
func (f Faults) Signal(id process.Identity, sig unix.Signal) error { return f.kernel().signal(id, sig) }

// SignalGroup is SignalGroup on a kernel with faults.
func (f Faults) SignalGroup(leader process.Identity, sig unix.Signal, proof func(Row) bool) error {
	return f.kernel().signalGroup(leader, sig, proof)
}

// Find is Target.Find on a kernel with faults.
func (f Faults) Find(t Target) []process.Identity { return f.kernel().find(t) }

// Terminate is Terminate on a kernel with faults.
func (f Faults) Terminate(ctx context.Context, c clock.Clock, t Target, limit Timing) []process.Identity {
	return f.kernel().terminate(ctx, c, t, limit, nil)
}
