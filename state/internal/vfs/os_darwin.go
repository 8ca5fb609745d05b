package vfs

import (
	"os"
	"syscall"
)

// syncData is F_FULLFSYNC, which os.File.Sync asks for on macOS: a plain fsync
// there stops at the drive's cache.
func syncData(f *os.File) error { return f.Sync() }

// remote names the network file system under name.
func remote(name string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(name, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: name, Err: err}
	}
	b := make([]byte, 0, len(st.Fstypename))
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	switch kind := string(b); kind {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp", "cifs", "macfuse", "osxfuse", "fusefs":
		return kind, nil
	}
	return "", nil
}
