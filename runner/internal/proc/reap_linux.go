package proc

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// run peeks at whichever child has ended, without taking it away (WNOWAIT),
// and then reaps exactly that one: the root is known before its status is
// gone, whatever order the ends come in (mittwald/mittnite#107).
func (r *Reaper) run(root int) {
	defer close(r.done)
	waiting := true
	for {
		pid, err := peek()
		if err != nil {
			if waiting {
				r.exit <- Status{PID: root, Lost: true}
			}
			return
		}
		st, err := r.take(pid, root)
		if pid == root && waiting {
			waiting = false
			r.exit <- st
		}
		if err == nil {
			r.poke()
		}
	}
}

// peek blocks until a child has ended and says which; ECHILD without children.
func peek() (int, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return childOf(&info), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, err
		}
	}
}

// childOf is si_pid. The union of siginfo_t that holds it begins after three
// ints, aligned for a pointer: byte 16, or 12 on a 32-bit machine.
func childOf(info *unix.Siginfo) int {
	const at = 12 + unsafe.Sizeof(uintptr(0)) - 4
	b := (*[unsafe.Sizeof(*info)]byte)(unsafe.Pointer(info))
	return int(int32(binary.NativeEndian.Uint32(b[at:])))
}
