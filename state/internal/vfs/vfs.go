// Package vfs is the narrow seam between the state directory and the
// operating system: the file operations claw's durability argument rests on,
// each with what may be assumed after a crash. The real one is OS; package
// faultfs fails and forgets on purpose.
//
// The contract, which every implementation keeps:
//
//   - A write is visible to every other process at once and durable only after
//     Sync of that file. After a power cut an unsynced write may be whole, torn
//     anywhere, replaced by zero bytes or absent.
//   - A create, rename or remove is durable only after SyncDir of the directory
//     that holds the name. Rename within a directory is atomic: the new name is
//     the old file or the new one, never neither.
//   - Nothing follows a symbolic link in the last part of a path: the open
//     fails with ELOOP. Stat is the one exception, for the directory itself.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is one open file. Sync makes its bytes and its length durable
// (fdatasync on Linux, F_FULLFSYNC on macOS).
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// FS is the file system. Names are absolute paths, or relative to the working
// directory as in package os. Flags are those of os.OpenFile.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Stat(name string) (fs.FileInfo, error)  // follows links
	Lstat(name string) (fs.FileInfo, error) // does not
	ReadDir(name string) ([]fs.DirEntry, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error
	// Remote names the network file system that holds name ("nfs", "cifs",
	// "fuse.sshfs"); empty for a local one.
	Remote(name string) (string, error)
}

// ReadFile reads a whole file, at most max bytes of it; a longer one is an
// error, so that a damaged length cannot take the memory of the machine.
func ReadFile(fsys FS, name string, max int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	return ReadRange(f, 0, st.Size(), max)
}

// ReadRange reads the bytes [from, to) of f; fewer when the file has become
// shorter meanwhile.
func ReadRange(f File, from, to, max int64) ([]byte, error) {
	if to-from > max {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrTooLarge}
	}
	if to <= from {
		return nil, nil
	}
	buf := make([]byte, to-from)
	n, err := f.ReadAt(buf, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf[:n], err
}

// ErrTooLarge says that a file is longer than its kind may be.
var ErrTooLarge = errors.New("file is too large")

// WriteFile replaces name by data, whole or not at all: a temporary file
// beside it, synced, renamed over it, and the directory synced.
func WriteFile(fsys FS, name string, data []byte, perm fs.FileMode) error {
	tmp := name + ".tmp"
	if err := WriteTemp(fsys, tmp, data, perm); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// WriteTemp writes and syncs a file that nothing refers to yet; what was left
// there by a crash is overwritten. It is removed again when it cannot be
// written whole.
func WriteTemp(fsys FS, name string, data []byte, perm fs.FileMode) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = fsys.Remove(name)
	}
	return err
}

// MkdirAll creates a directory and its missing parents, 0700 each.
func MkdirAll(fsys FS, name string) error {
	if st, err := fsys.Stat(name); err == nil {
		if st.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: errNotDir}
	}
	if up := filepath.Dir(name); up != name {
		if err := MkdirAll(fsys, up); err != nil {
			return err
		}
	}
	err := fsys.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
