package state

import "golang.org/x/sys/unix"

// bootID is the kernel's random id of this boot; empty, and every boot counts
// as the same, when it cannot be had.
func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}
