package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"claw/state/process"
)

// Reasons not to signal.
var (
	// ErrGone: exactly this process has ended, or nothing proves that the
	// group still is the one that was meant. Nothing was signalled.
	ErrGone = errors.New("process has ended")
	// ErrOwnGroup: the group is the caller's own; signalling it would hit claw.
	ErrOwnGroup = errors.New("refusing to signal the caller's own process group")
)

// kernel is what signalling asks of the operating system; tests give it faults.
type kernel struct {
	row  func(pid int) (Row, bool)
	scan func() (Table, error)
	send func(id process.Identity, sig unix.Signal, verify func() bool) error
	kill func(pid int, sig unix.Signal) error
}

// host is the machine itself.
var host = kernel{row: readRow, scan: Scan, send: sendVerified, kill: unix.Kill}

// Signal sends sig to exactly this process and to no other: where the kernel
// has pidfds the process is first pinned, then verified, then signalled, so
// that its pid cannot be given away in between. ErrGone when it has ended;
// any other error, such as EPERM, says nothing about its end (#127146).
func Signal(id process.Identity, sig unix.Signal) error { return host.signal(id, sig) }

func (k kernel) signal(id process.Identity, sig unix.Signal) error {
	if id.PID <= 1 {
		return ErrGone // 0, -1 and init are never one of ours
	}
	alive := func() bool {
		row, ok := k.present(id)
		return ok && !row.Zombie
	}
	if !alive() {
		return ErrGone
	}
	return signalError(k.send(id, sig, alive), "process", id.PID)
}

// SignalGroup sends sig to the process group that leader leads or led. It is
// sent only while the number provably is not somebody else's: the leader is
// there (running, or a zombie that was not reaped yet), or a member proves
// itself by proof, which may be nil. ErrGone otherwise, and ErrOwnGroup for
// the caller's own group (#71662).
func SignalGroup(leader process.Identity, sig unix.Signal, proof func(Row) bool) error {
	return host.signalGroup(leader, sig, proof)
}

func (k kernel) signalGroup(leader process.Identity, sig unix.Signal, proof func(Row) bool) error {
	if leader.PID <= 1 || leader.Boot != Boot() {
		return ErrGone
	}
	if leader.PID == unix.Getpgrp() {
		return ErrOwnGroup
	}
	if !k.holdsGroup(leader, proof) {
		return ErrGone
	}
	return signalError(k.kill(-leader.PID, sig), "group", leader.PID)
}

// holdsGroup tells whether the group numbered after leader still is its group.
// A living leader that never led a group (Ungrouped) holds none.
func (k kernel) holdsGroup(leader process.Identity, proof func(Row) bool) bool {
	if row, ok := k.row(leader.PID); ok {
		// Somebody has the pid: either the leader itself, or a later owner, and
		// then the group had become empty in between.
		return row.Identity == leader && row.Group == leader.PID
	}
	if proof == nil {
		return false
	}
	table, err := k.scan()
	if err != nil {
		return false
	}
	for _, row := range table.Members(leader) {
		if row.Group == leader.PID && row.Session == leader.PID && proof(row) {
			return true
		}
	}
	return false
}

// signalError turns "no such process" into ErrGone and names the rest.
func signalError(err error, what string, pid int) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH), errors.Is(err, os.ErrProcessDone):
		return ErrGone
	}
	return fmt.Errorf("signal %s %d: %w", what, pid, err)
}

// SignalName is the name of a signal as the ledgers keep it, "SIGTERM";
// "SIG40" for one without a name.
func SignalName(sig unix.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}
