package recovery

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder is the pid of who has locked a file; 0: it is not known.
func lockHolder(info os.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	return heldBy(string(text), st.Ino)
}

// stopped tells a process that was stopped by a signal; proc(5), state T.
func stopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	i := strings.LastIndexByte(string(stat), ')')
	return i >= 0 && strings.HasPrefix(string(stat[i+1:]), " T ")
}
