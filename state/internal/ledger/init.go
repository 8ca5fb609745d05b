package ledger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claw/state/internal/vfs"
)

const (
	errIsDir  = syscall.EISDIR
	errNotDir = syscall.ENOTDIR
)

// ReadFormat gives the layout version of the directory; 0 when the file is not
// there. What is no number is damage.
func (d *Dir) ReadFormat() (int, error) {
	path := d.file(FormatName)
	b, err := vfs.ReadFile(d.FS, path, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, Wrap("read", path, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n <= 0 {
		return 0, Damaged("read", path, "it does not hold a version number")
	}
	return n, nil
}

// Make creates the directory itself, so that its lock can be taken.
func (d *Dir) Make() error {
	if err := vfs.MkdirAll(d.FS, d.Path); err != nil {
		return Wrap("create", d.Path, err)
	}
	return Wrap("create", d.Path, d.FS.SyncDir(filepath.Dir(d.Path)))
}

// Init writes FORMAT and the first generation of the journal. A crash in
// between leaves a directory without a journal, which Init completes.
func (d *Dir) Init(now time.Time) error {
	version := []byte(strconv.Itoa(Format) + "\n")
	if err := vfs.WriteFile(d.FS, d.file(FormatName), version, 0o600); err != nil {
		return Wrap("create", d.file(FormatName), err)
	}
	if err := d.mkdir(d.file(LedgersName)); err != nil {
		return Wrap("create", d.file(LedgersName), err)
	}
	return d.writeJournal(Header{Journal: Format, Generation: 1, Boot: d.Boot, Time: now})
}

// writeJournal replaces the journal by an empty one: the commit point of a
// checkpoint.
func (d *Dir) writeJournal(h Header) error {
	path := d.file(JournalName)
	return Wrap("write", path, vfs.WriteFile(d.FS, path, append(h.encode(), '\n'), 0o600))
}
