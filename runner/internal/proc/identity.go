package proc

import (
	"os"
	"sync"

	"claw/state/process"
)

var (
	bootOnce sync.Once
	bootID   string
)

// Boot names this boot of the machine: /proc/sys/kernel/random/boot_id on
// Linux, kern.bootsessionuuid on macOS. It is read once. Empty when the
// system does not say; then pid and start alone tell processes apart.
func Boot() string {
	bootOnce.Do(func() { bootID = readBoot() })
	return bootID
}

// Self is the identity of the calling process.
func Self() process.Identity {
	id, ok := Identify(os.Getpid())
	if !ok { // no /proc: still the right pid and boot, and equal to nobody else
		return process.Identity{Boot: Boot(), PID: os.Getpid()}
	}
	return id
}

// Identify reads who has pid now; a zombie still has its pid. False when
// nobody has it.
func Identify(pid int) (process.Identity, bool) {
	row, ok := readRow(pid)
	return row.Identity, ok
}

// Alive tells whether exactly this process exists and has not ended: false
// after another boot, for a recycled pid and for a zombie.
func Alive(id process.Identity) bool {
	row, ok := Present(id)
	return ok && !row.Zombie
}

// Present is the row of exactly this process, which may be a zombie: as long
// as it is there its pid, and the group it leads, cannot belong to another.
func Present(id process.Identity) (Row, bool) {
	return host.present(id)
}

// present is Present as this kernel sees it.
func (k kernel) present(id process.Identity) (Row, bool) {
	if id.PID <= 0 || id.Boot != Boot() {
		return Row{}, false
	}
	row, ok := k.row(id.PID)
	return row, ok && row.Identity == id
}
