package output

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// FS is what this package does to files. The default is the operating system;
// tests make it fail. Names are whole paths.
type FS interface {
	// OpenFile is os.OpenFile. Callers pass O_NOFOLLOW, and O_NONBLOCK for
	// reading, so that neither a symbolic link nor a FIFO planted in the
	// folder is followed or waited for.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Lstat is os.Lstat.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir is os.ReadDir; an entry that exists during the whole call is returned.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Remove removes a file, never a folder with something in it.
	Remove(name string) error
	// Rename replaces newname atomically.
	Rename(oldname, newname string) error
	// Mkdir makes one folder.
	Mkdir(name string, perm fs.FileMode) error
}

// File is an open file of FS.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

const (
	readFlags   = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	appendFlags = os.O_WRONLY | os.O_APPEND | syscall.O_NOFOLLOW
	createFlags = os.O_CREATE | os.O_EXCL | syscall.O_NOFOLLOW
	nofollow    = syscall.O_NOFOLLOW
)

// disk is the real file system.
type disk struct{}

func (disk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a typed nil
	}
	return f, nil
}
func (disk) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (disk) Remove(name string) error                   { return os.Remove(name) }
func (disk) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (disk) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
