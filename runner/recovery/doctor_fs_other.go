//go:build !linux

package recovery

import "golang.org/x/sys/unix"

// memoryFS names a file system that a restart empties; "" for others.
func memoryFS(st *unix.Statfs_t) string {
	if kind := unix.ByteSliceToString(st.Fstypename[:]); kind == "tmpfs" {
		return kind
	}
	return ""
}

func readOnly(st *unix.Statfs_t) bool { return st.Flags&unix.MNT_RDONLY != 0 }
