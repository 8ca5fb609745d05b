package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"claw/state/internal/ledger"
)

// inspect decides whether the directory may be used; design.md section 3,
// pains B35, B39, B40.
func (s *Store) inspect() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inspectLocked()
}

func (s *Store) inspectLocked() error {
	info, err := s.dir.FS.Stat(s.dir.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ledger.Wrap("open", s.dir.Path, err)
	}
	if err := s.fit(info); err != nil {
		return err
	}
	s.format, s.unread = s.dir.ReadFormat()
	s.found = true
	return nil
}

// fit checks the directory itself, and that none of its folders is a link.
func (s *Store) fit(info fs.FileInfo) error {
	path := s.dir.Path
	if !info.IsDir() {
		return &Error{Op: "open", Path: path, Why: "a file stands where the state directory should be", Hint: "move it away, or point CLAW_STATE_DIR elsewhere", Err: ErrNotDir}
	}
	if err := ownedByUs(path, info); err != nil {
		return err
	}
	if !s.o.UnsafeFS {
		if err := s.local(); err != nil {
			return err
		}
	}
	for _, name := range []string{ledger.LedgersName, ledger.ArchiveName, ledger.QuarantineName, ledger.ProcessesName} {
		sub := filepath.Join(path, name)
		in, err := s.dir.FS.Lstat(sub)
		if err == nil && in.Mode()&fs.ModeSymlink != 0 {
			return ledger.Wrap("open", sub, &fs.PathError{Op: "open", Path: sub, Err: syscall.ELOOP})
		}
	}
	return nil
}

// ownedByUs refuses a directory that somebody else can write to.
func ownedByUs(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &Error{
			Op: "open", Path: path, Why: fmt.Sprintf("the directory belongs to user %d, not to user %d", st.Uid, os.Geteuid()),
			Hint: "run claw as its owner, or point CLAW_STATE_DIR to a directory of your own", Err: ErrNotOurs,
		}
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return &Error{
			Op: "open", Path: path, Why: fmt.Sprintf("others can write to the directory (mode %04o)", perm),
			Hint: "chmod 700 " + path, Err: ErrPermissions,
		}
	}
	return nil
}

// local refuses a network file system: locks and renames are not to be trusted
// there (pains B35).
func (s *Store) local() error {
	kind, err := s.dir.FS.Remote(s.dir.Path)
	if err != nil {
		return ledger.Wrap("open", s.dir.Path, err)
	}
	if kind == "" {
		return nil
	}
	return &Error{
		Op: "open", Path: s.dir.Path, Why: "the directory is on a network file system (" + kind + "), where locks cannot be trusted",
		Hint: "point CLAW_STATE_DIR to a local disk, or accept the risk with --unsafe-fs", Err: ErrNetworkFS,
	}
}

// writable says why Update is out of the question.
func (s *Store) writable(repair bool) error {
	s.mu.Lock()
	format, unread := s.format, s.unread
	s.mu.Unlock()
	if s.o.ReadOnly {
		return &Error{Op: "write", Path: s.dir.Path, Why: "the directory was opened for reading only", Hint: "open it for writing", Err: ErrReadOnly}
	}
	if format > ledger.Format {
		return s.newer(format)
	}
	if unread != nil && !repair {
		return unread
	}
	return nil
}

func (s *Store) newer(format int) error {
	return &Error{
		Op: "write", Path: s.dir.Path, Why: fmt.Sprintf("the directory has format %d, this claw writes format %d", format, ledger.Format),
		Hint: "reading works; to write, use the newer claw that wrote it. Nothing was changed", Err: ErrNewerFormat,
	}
}

// create makes the directory where there is none, and looks at it as Open does.
func (s *Store) create() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found {
		return nil
	}
	if err := s.dir.Make(); err != nil {
		return err
	}
	return s.inspectLocked()
}
