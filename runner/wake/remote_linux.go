package wake

import (
	"os"

	"golang.org/x/sys/unix"
)

// Remote tells where inotify(7) does not see every change, as a *RemoteError;
// nil on a local file system. Any other error is that of the directory.
func Remote(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &os.PathError{Op: "look at", Path: dir, Err: err}
	}
	if kind := remoteKind(uint32(st.Type)); kind != "" {
		return &RemoteError{Dir: dir, Kind: kind}
	}
	return nil
}

// remoteKind names the file systems of statfs(2) that others write to.
func remoteKind(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	}
	return ""
}
