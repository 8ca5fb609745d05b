package state

import (
	"bytes"
	"os"
)

// bootID is the kernel's random id of this boot. Where /proc is missing it is
// empty, and every boot counts as the same.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}
