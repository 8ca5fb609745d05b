package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	cursorFolder  = "cursors"
	cursorSuffix  = ".json"
	maxCursorName = 100
	maxCursorFile = 4 << 10
)

// Cursors are the named cursors of one process, in processes/ID/cursors. A
// cursor that has been saved is whole, whenever the machine stops; at worst it
// is the one before, and output is shown twice rather than never.
type Cursors struct {
	Dir  string                            // of the process
	Lock func() (unlock func(), err error) // one poll at a time; nil: the caller has seen to it
	FS   FS                                // nil: the operating system
}

// ErrCursorName is a name that cannot be one.
var ErrCursorName = errors.New("a cursor's name is 1 to 100 characters, without control characters")

// With runs fn on the named cursor under the lock, and saves what it returns
// unless it returns an error. Between two polls under With nothing is shown
// twice and nothing is lost (spec/exec-process.md 8.3).
func (c Cursors) With(name string, fn func(Cursor) (Cursor, error)) error {
	if c.Lock != nil {
		unlock, err := c.Lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	cur, err := c.Load(name)
	if err != nil {
		return err
	}
	next, err := fn(cur)
	if err != nil {
		return err
	}
	return c.Save(name, next)
}

// Load reads a cursor; one that was never saved is at the start, and so is
// one whose file is damaged: rather twice than never.
func (c Cursors) Load(name string) (Cursor, error) {
	var cur Cursor
	path, err := c.path(name)
	if err != nil {
		return cur, err
	}
	f, err := c.fs().OpenFile(path, readFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return cur, nil
	}
	if err != nil {
		return cur, fmt.Errorf("read cursor: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxCursorFile))
	if err != nil {
		return cur, fmt.Errorf("read cursor: %w", err)
	}
	if json.Unmarshal(b, &cur) != nil || cur.Offset < 0 {
		return Cursor{}, nil
	}
	return cur, nil
}

// Save replaces a cursor by temporary file, sync and rename.
func (c Cursors) Save(name string, cur Cursor) error {
	path, err := c.path(name)
	if err != nil {
		return err
	}
	b, err := json.Marshal(cur)
	if err != nil {
		return err
	}
	if err := c.replace(path, append(b, '\n')); err != nil {
		return fmt.Errorf("save cursor: %w", err)
	}
	return nil
}

func (c Cursors) replace(path string, b []byte) error {
	fsys := c.fs()
	temp := path + ".tmp" // one writer at a time: the lock
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | nofollow
	f, err := fsys.OpenFile(temp, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := fsys.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		f, err = fsys.OpenFile(temp, flags, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		fsys.Remove(temp)
		return err
	}
	return fsys.Rename(temp, path)
}

func (c Cursors) fs() FS {
	if c.FS == nil {
		return disk{}
	}
	return c.FS
}

// path is the file of a cursor. The name may be anything that names an agent;
// everything but lower-case letters, digits, '-' and '_' is written as
// %XX, so that no name leads elsewhere, and no two names meet in one file on
// a file system that does not tell A from a.
func (c Cursors) path(name string) (string, error) {
	if name == "" || len(name) > maxCursorName {
		return "", ErrCursorName
	}
	var b strings.Builder
	for i := range len(name) {
		switch ch := name[i]; {
		case ch < 0x20 || ch == del:
			return "", ErrCursorName
		case ch >= 'a' && ch <= 'z', ch >= '0' && ch <= '9', ch == '-', ch == '_':
			b.WriteByte(ch)
		default:
			fmt.Fprintf(&b, "%%%02x", ch)
		}
	}
	return filepath.Join(c.Dir, cursorFolder, b.String()+cursorSuffix), nil
}
