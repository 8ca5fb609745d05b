package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"claw/state/process"
)

const stateZombie = 5 // SZOMB in <sys/proc.h>

func readBoot() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// Scan reads every process through kern.proc.all.
func Scan() (Table, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make(Table, len(list))
	for i := range list {
		row := rowOf(&list[i])
		table[row.PID] = row
	}
	return table, nil
}

func readRow(pid int) (Row, bool) {
	kp, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(kp.Proc.P_pid) != pid {
		return Row{}, false
	}
	return rowOf(kp), true
}

// rowOf converts one kinfo_proc. The session is asked for separately, because
// the kernel gives only an address; a zombie has none.
func rowOf(kp *unix.KinfoProc) Row {
	pid := int(kp.Proc.P_pid)
	sid, err := unix.Getsid(pid)
	if err != nil {
		sid = 0
	}
	at := kp.Proc.P_starttime
	return Row{
		Identity: process.Identity{
			Boot:  Boot(),
			PID:   pid,
			Start: uint64(at.Sec)*1_000_000 + uint64(at.Usec),
		},
		Parent:  int(kp.Eproc.Ppid),
		Group:   int(kp.Eproc.Pgid),
		Session: sid,
		Zombie:  kp.Proc.P_stat == stateZombie,
	}
}

// Argv is the argument vector pid was started with; nil when it has ended or
// belongs to someone else.
func Argv(pid int) []string {
	args, _ := procargs(pid)
	return args
}

// environ is the environment pid was started with; nil when it cannot be read.
func environ(pid int) []string {
	_, env := procargs(pid)
	return env
}

// procargs reads kern.procargs2: the number of arguments, the path of the
// program, padding, then arguments and environment, each ended by a NUL.
func procargs(pid int) (args, env []string) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil, nil
	}
	argc := int(binary.NativeEndian.Uint32(b))
	_, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok {
		return nil, nil
	}
	all := splitNul(bytes.TrimLeft(rest, "\x00"))
	if argc < 0 || argc > len(all) {
		return nil, nil
	}
	return all[:argc], all[argc:]
}

// comm is the kernel's short name of pid.
func comm(pid int) string {
	kp, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(kp.Proc.P_comm[:])
}
