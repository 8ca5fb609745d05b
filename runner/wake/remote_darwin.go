package wake

import (
	"os"

	"golang.org/x/sys/unix"
)

// Remote tells where kqueue does not see every change, as a *RemoteError; nil
// on a local file system. Any other error is that of the directory.
func Remote(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return &os.PathError{Op: "look at", Path: dir, Err: err}
	}
	if st.Flags&unix.MNT_LOCAL == 0 {
		return &RemoteError{Dir: dir, Kind: unix.ByteSliceToString(st.Fstypename[:])}
	}
	return nil
}
