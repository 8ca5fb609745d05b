package vfs_test

import (
	"testing"

	"claw/state/internal/vfs"

	"golang.org/x/sys/unix"
)

// The numbers are those of <linux/magic.h>, as x/sys has them.
func TestNetworkMagic(t *testing.T) {
	for magic, want := range map[uint32]string{
		unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2",
		unix.V9FS_MAGIC: "9p", unix.AFS_SUPER_MAGIC: "afs", unix.AFS_FS_MAGIC: "afs", unix.CODA_SUPER_MAGIC: "coda", unix.NCP_SUPER_MAGIC: "ncp",
		unix.CEPH_SUPER_MAGIC: "ceph", unix.FUSE_SUPER_MAGIC: "fuse",
		unix.EXT4_SUPER_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "", unix.XFS_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "",
	} {
		if got := vfs.NetworkMagic(magic); got != want {
			t.Errorf("%#x: %q, want %q", magic, got, want)
		}
	}
}

// The first line is the example of proc(5).
func TestMountLine(t *testing.T) {
	for line, want := range map[string][2]string{
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": {"98:0", "ext3"},
		"90 30 0:55 / /home/u/remote rw,nosuid - fuse.sshfs u@host:/ rw,user_id=1000":    {"0:55", "fuse.sshfs"},
		"90 30 0:55 / /odd\\040name rw - fuse.sshfs a\\040b rw":                          {"0:55", "fuse.sshfs"},
		"": {}, "1 2 3": {}, " - ": {},
	} {
		dev, kind, ok := vfs.MountLine(line)
		if ok != (want[0] != "") || ok && (dev != want[0] || kind != want[1]) {
			t.Errorf("%q: %q %q %v", line, dev, kind, ok)
		}
	}
}

func TestRemoteFuse(t *testing.T) {
	for kind, want := range map[string]bool{"fuse.sshfs": true, "fuse.rclone": true, "fuse.gcsfuse": true, "fuse.gocryptfs": false, "fuseblk": false, "ext4": false, "sshfs": false} {
		if got := vfs.RemoteFuse(kind); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestDevString(t *testing.T) {
	for _, d := range [][2]uint32{{8, 1}, {0, 55}, {259, 70000}, {5000, 3}} {
		want := utoa(d[0]) + ":" + utoa(d[1])
		if got := vfs.DevString(unix.Mkdev(d[0], d[1])); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

func utoa(n uint32) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return utoa(n/10) + utoa(n%10)
}

func FuzzMountLine(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw")
	f.Fuzz(func(t *testing.T, s string) {
		if dev, kind, ok := vfs.MountLine(s); ok && (dev == "" || kind == "") {
			t.Fatalf("%q %q", dev, kind)
		}
	})
}
