package proc_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/state/process"
)

func TestSignal(t *testing.T) {
	id, cmd := sleeper(t)
	if err := proc.Signal(id, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ws.Signaled() || ws.Signal() != unix.SIGUSR1 {
		t.Errorf("ended by %v, %v", ws, err)
	}
	errorsIs(t, "signal after the end", proc.Signal(id, unix.SIGTERM), proc.ErrGone)
}

// TestB10Signal: what is not exactly the process meant is not signalled.
func TestB10Signal(t *testing.T) {
	id, _ := sleeper(t)
	foreign := id
	foreign.Boot = "another"
	for name, gone := range map[string]process.Identity{
		"recycled": recycled(id), "another boot": foreign, "zombie": zombie(t), "reaped": reaped(t),
		"init": {Boot: proc.Boot(), PID: 1}, "everybody": {Boot: proc.Boot(), PID: -1}, "own group": {Boot: proc.Boot()},
	} {
		errorsIs(t, name, proc.Signal(gone, unix.SIGKILL), proc.ErrGone)
	}
	if !proc.Alive(id) {
		t.Fatal("the later owner of the pid was killed")
	}
}

// A pid that is given away after the pidfd was opened and before the signal.
func TestB10RecycledInBetween(t *testing.T) {
	id, _ := sleeper(t)
	looks := 0
	f := proc.Faults{Row: func(pid int) (proc.Row, bool) {
		row, ok := proc.Present(id)
		if looks++; looks > 1 {
			row.Start++
		}
		return row, ok
	}}
	errorsIs(t, "signal", f.Signal(id, unix.SIGKILL), proc.ErrGone)
	if looks < 2 || !proc.Alive(id) {
		t.Errorf("%d looks, alive %v", looks, proc.Alive(id))
	}
}

// TestEPERMIsNotGone is #127146: a signal that was refused ends nothing.
func TestEPERMIsNotGone(t *testing.T) {
	id, _ := sleeper(t)
	refuse := proc.Faults{
		Send: func(process.Identity, unix.Signal) error { return unix.EPERM },
		Kill: func(int, unix.Signal) error { return unix.EPERM },
	}
	for name, err := range map[string]error{
		"process": refuse.Signal(id, unix.SIGTERM),
		"group":   refuse.SignalGroup(id, unix.SIGTERM, nil),
	} {
		errorsIs(t, name, err, unix.EPERM)
		if errors.Is(err, proc.ErrGone) {
			t.Errorf("%s: %v means gone", name, err)
		}
	}
	left := refuse.Terminate(t.Context(), quick, proc.Target{Root: id}, proc.Timing{Grace: tick, Settle: tick})
	if len(left) != 1 || left[0] != id {
		t.Errorf("survivors %v, want the one that could not be signalled", left)
	}
}

func TestSignalGroup(t *testing.T) {
	id, cmd := sleeper(t)
	if err := proc.SignalGroup(id, unix.SIGUSR1, nil); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	errorsIs(t, "after the end", proc.SignalGroup(id, unix.SIGKILL, nil), proc.ErrGone)
}

// TestB10Group: a group signal goes out only while the number provably is not
// somebody else's, and never to our own group.
func TestB10Group(t *testing.T) {
	const number = 4_000_000 // above pid_max: nobody has it
	leader := process.Identity{Boot: proc.Boot(), PID: number, Start: 100}
	row := func(pid, group, session int, start uint64) proc.Row {
		return proc.Row{
			Identity: process.Identity{Boot: proc.Boot(), PID: pid, Start: start},
			Parent:   1, Group: group, Session: session,
		}
	}
	zombieLeader := row(number, number, number, 100)
	zombieLeader.Zombie = true
	yes := func(proc.Row) bool { return true }
	no := func(proc.Row) bool { return false }
	tests := []struct {
		name  string
		rows  []proc.Row
		proof func(proc.Row) bool
		sent  bool
	}{
		{"leader alive", []proc.Row{row(number, number, number, 100)}, nil, true},
		{"leader not reaped yet", []proc.Row{zombieLeader}, nil, true},
		{"leader has no group of its own", []proc.Row{row(number, 7, 7, 100)}, nil, false},
		{"leader gone, nobody left", nil, yes, false},
		{"leader gone, member without proof", []proc.Row{row(5, number, number, 200)}, nil, false},
		{"leader gone, member not proven", []proc.Row{row(5, number, number, 200)}, no, false},
		{"leader gone, member proven", []proc.Row{row(5, number, number, 200)}, yes, true},
		{"member older than the leader", []proc.Row{row(5, number, number, 99)}, yes, false},
		{"same group, other session", []proc.Row{row(5, number, 7, 200)}, yes, false},
		{"same session, other group", []proc.Row{row(5, 7, number, 200)}, yes, false},
		{"number recycled", []proc.Row{row(number, number, number, 300), row(5, number, number, 301)}, yes, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := proc.Table{}
			for _, r := range tt.rows {
				table[r.PID] = r
			}
			var killed []int
			f := proc.Faults{
				Scan: func() (proc.Table, error) { return table, nil },
				Row:  func(pid int) (proc.Row, bool) { r, ok := table[pid]; return r, ok },
				Kill: func(pid int, _ unix.Signal) error { killed = append(killed, pid); return nil },
			}
			err := f.SignalGroup(leader, unix.SIGKILL, tt.proof)
			if sent := len(killed) == 1 && killed[0] == -number; sent != tt.sent || (err == nil) != tt.sent {
				t.Errorf("killed %v, %v", killed, err)
			}
			if !tt.sent {
				errorsIs(t, "refusal", err, proc.ErrGone)
			}
		})
	}
}

func TestNeverOwnGroup(t *testing.T) {
	f := proc.Faults{Kill: func(pid int, _ unix.Signal) error { t.Errorf("kill(%d)", pid); return nil }}
	for name, pid := range map[string]int{"own": unix.Getpgrp(), "init": 1, "caller's by number 0": 0, "everybody": -1} {
		id, _ := proc.Identify(pid)
		id.Boot, id.PID = proc.Boot(), pid
		if err := f.SignalGroup(id, unix.SIGKILL, func(proc.Row) bool { return true }); err == nil {
			t.Errorf("%s: group signalled", name)
		}
	}
}

func TestSignalName(t *testing.T) {
	for sig, want := range map[unix.Signal]string{unix.SIGTERM: "SIGTERM", unix.SIGKILL: "SIGKILL", unix.SIGHUP: "SIGHUP"} {
		if got := proc.SignalName(sig); got != want {
			t.Errorf("%d is %q", int(sig), got)
		}
	}
	if got := proc.SignalName(120); !strings.HasPrefix(got, "SIG") {
		t.Errorf("a signal without a name is %q", got)
	}
}
