package scheduler

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the machine came up; zero when the system does not say.
func bootTime(time.Time) time.Time {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}
	}
	return time.Unix(at.Unix())
}
