package vfs

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// syncData is fdatasync: the bytes and the length, not the times.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// remote names the network file system under name; statfs(2) has the numbers.
func remote(name string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(name, &st); err != nil {
		return "", &os.PathError{Op: "statfs", Path: name, Err: err}
	}
	kind := networkMagic(uint32(st.Type))
	if kind != "fuse" {
		return kind, nil
	}
	return fuseKind(name), nil
}

// networkMagic maps f_type to a name; "fuse" needs a second look, "" is local.
func networkMagic(magic uint32) string {
	switch magic {
	case 0x6969:
		return "nfs"
	case 0xFF534D42:
		return "cifs"
	case 0xFE534D42:
		return "smb2"
	case 0x517B:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x5346414F, 0x6B414653:
		return "afs"
	case 0x73757245:
		return "coda"
	case 0x00C36400:
		return "ceph"
	case 0x564C:
		return "ncp"
	case 0x0BD00BD0:
		return "lustre"
	case 0x65735546:
		return "fuse"
	}
	return ""
}

// fuseKind looks up the type of the mount that holds name, because FUSE has
// one number for local and for remote file systems.
func fuseKind(name string) string {
	var st syscall.Stat_t
	if syscall.Stat(name, &st) != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		dev, kind, ok := mountLine(sc.Text())
		if ok && dev == devString(st.Dev) && remoteFuse(kind) {
			return kind
		}
	}
	return ""
}

// mountLine picks device and type out of one line of mountinfo; proc(5):
// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".
func mountLine(s string) (dev, kind string, ok bool) {
	before, after, ok := strings.Cut(s, " - ")
	left, right := strings.Fields(before), strings.Fields(after)
	if !ok || len(left) < 3 || len(right) < 1 {
		return "", "", false
	}
	return left[2], right[0], true
}

// remoteFuse lists the FUSE types that keep their bytes on another machine.
func remoteFuse(kind string) bool {
	switch strings.TrimPrefix(kind, "fuse.") {
	case "sshfs", "s3fs", "rclone", "glusterfs", "davfs", "davfs2", "gcsfuse", "curlftpfs", "cephfs", "ceph-fuse",
		"juicefs", "seaweedfs", "goofys", "google-drive-ocamlfuse", "onedriver", "smbnetfs", "moosefs", "mfs", "afpfs":
		return strings.HasPrefix(kind, "fuse.")
	}
	return false
}

// devString is makedev(3) undone, "major:minor".
func devString(dev uint64) string {
	major := (dev>>8)&0xfff | (dev>>32)&0xfffff000
	minor := dev&0xff | (dev>>12)&0xffffff00
	return strconv.FormatUint(major, 10) + ":" + strconv.FormatUint(minor, 10)
}
