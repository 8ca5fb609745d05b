package recovery

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// watches holds what this user's programs watch against what inotify(7) lets
// them: at the limit a runner and its watches look every two seconds instead.
func watches(root string) (found []Finding) {
	instances, marks := watchesInUse(filepath.Join(root, "/proc"))
	for _, l := range [...]struct {
		name string
		used int
	}{{"max_user_instances", instances}, {"max_user_watches", marks}} {
		limit := number(filepath.Join(root, "/proc/sys/fs/inotify", l.name))
		if limit > 0 && l.used >= limit-limit/10 {
			found = append(found, Found("inotify_low", "fs.inotify."+l.name, fmt.Sprintf("%d of %d are in use; without one, changes are seen after two seconds", l.used, limit),
				fmt.Sprintf("sudo sysctl fs.inotify.%s=%d", l.name, max(1024, 4*limit))))
		}
	}
	return found
}

func number(path string) int {
	text, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// watchesInUse counts the inotify descriptors of this user's processes, and the
// lines in their fdinfo, one for each watch; proc(5). Descriptors that several
// processes share are counted for each: rather too many than too few.
func watchesInUse(proc string) (instances, marks int) {
	entries, _ := os.ReadDir(proc)
	uid := uint32(os.Geteuid())
	for _, e := range entries {
		if name := e.Name(); name[0] < '1' || name[0] > '9' || !ownedBy(filepath.Join(proc, name), uid) {
			continue
		}
		dir := filepath.Join(proc, e.Name(), "fd")
		fds, _ := os.ReadDir(dir)
		for _, fd := range fds {
			if target, err := os.Readlink(filepath.Join(dir, fd.Name())); err != nil || target != "anon_inode:inotify" {
				continue
			}
			info, _ := os.ReadFile(filepath.Join(proc, e.Name(), "fdinfo", fd.Name()))
			instances++
			marks += strings.Count(string(info), "inotify wd:")
		}
	}
	return instances, marks
}

func ownedBy(path string, uid uint32) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uid
}
