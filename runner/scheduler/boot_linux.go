package scheduler

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the machine came up; zero when the system does not say.
func bootTime(now time.Time) time.Time {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return time.Time{}
	}
	return now.Add(-time.Duration(info.Uptime) * time.Second)
}
