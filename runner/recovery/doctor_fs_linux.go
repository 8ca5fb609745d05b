package recovery

import (
	"golang.org/x/sys/unix"
)

// memoryFS names a file system that a restart empties; "" for others. The
// numbers are those of statfs(2).
func memoryFS(st *unix.Statfs_t) string {
	switch uint32(st.Type) {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	}
	return ""
}

func readOnly(st *unix.Statfs_t) bool { return st.Flags&unix.ST_RDONLY != 0 }
