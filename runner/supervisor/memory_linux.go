package supervisor

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// trimAfter is how long after its start a supervisor gives back the memory
// that starting took.
const trimAfter = 300 * time.Millisecond

// trimMemory makes an idle supervisor small: unused heap goes back, and the
// program's own pages, which are clean copies of the executable, are dropped;
// those that are still needed come back from the page cache one by one.
func trimMemory() {
	debug.FreeOSMemory()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		dropMapping(line, self)
	}
}

func dropMapping(line, self string) {
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[5] != self || strings.Contains(fields[1], "w") {
		return
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err1 == nil && err2 == nil {
		unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_DONTNEED)
	}
}
