package vfs

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	errIsDir  = syscall.EISDIR
	errNotDir = syscall.ENOTDIR
)

// OS is the real file system.
type OS struct{}

// OpenFile opens without following a link, close-on-exec.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Stat is os.Stat.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat is os.Lstat.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadDir is os.ReadDir: sorted by name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Mkdir is os.Mkdir.
func (OS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }

// Rename is os.Rename.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir makes the names in a directory durable.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Remote asks statfs.
func (OS) Remote(name string) (string, error) { return remote(name) }

// osFile is *os.File with the cheaper sync where the system has one.
type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncData(f.File) }
