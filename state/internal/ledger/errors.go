package ledger

import (
	"errors"
	"io/fs"
	"syscall"
)

// What can be wrong with a state directory. Test with errors.Is; the Error
// around it says where, and what to do.
var (
	// Opening.
	ErrNotOurs     = errors.New("the directory belongs to another user")
	ErrPermissions = errors.New("permission denied")
	ErrNetworkFS   = errors.New("the directory is on a network file system")
	ErrSymlink     = errors.New("a symbolic link stands where a file should be")
	ErrNotDir      = errors.New("not a directory")
	ErrNewerFormat = errors.New("the directory was written by a newer claw")

	// Writing.
	ErrReadOnly   = errors.New("the directory is read-only")
	ErrNoSpace    = errors.New("no space left on the device")
	ErrNotDurable = errors.New("written, but not known to be on disk")
	ErrTooLarge   = errors.New("the record is too large")

	// Contents.
	ErrDamaged = errors.New("the directory is damaged")
)

// Error is a failure of the state directory, fit to be shown: Op is what was
// being done, Path where, Why the reason in a few words, Hint the remedy.
// Err matches one of the sentinels above, and the system's own error.
type Error struct {
	Op, Path, Why, Hint string
	Err                 error
}

func (e *Error) Error() string {
	s := e.Op
	if e.Path != "" {
		s += " " + e.Path
	}
	return s + ": " + e.Why
}

func (e *Error) Unwrap() error { return e.Err }

const (
	hintDoctor = "run `claw doctor` to see what is wrong, `claw doctor --fix` to set it right; nothing is deleted"
	hintSpace  = "nothing was changed; free some space on this disk and run the command again"
	hintRO     = "reading works; to write, remount the disk read-write or point CLAW_STATE_DIR elsewhere"
	hintPerm   = "check who owns the path and its permissions (0700 for directories, 0600 for files)"
	hintLink   = "claw does not follow links inside its state directory: remove the link, or put the real file back"
)

// Wrap turns an error of the operating system into an *Error. An *Error, and
// whatever has no known reason, passes through.
func Wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if known := (*Error)(nil); errors.As(err, &known) {
		return err
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		path = pe.Path
	}
	hint, kind := classify(err)
	if kind == nil {
		return &Error{Op: op, Path: path, Why: reason(err), Err: err}
	}
	return &Error{Op: op, Path: path, Why: kind.Error(), Hint: hint, Err: errors.Join(kind, err)}
}

func classify(err error) (hint string, kind error) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return hintSpace, ErrNoSpace
	case errors.Is(err, syscall.EROFS):
		return hintRO, ErrReadOnly
	case errors.Is(err, fs.ErrPermission):
		return hintPerm, ErrPermissions
	case errors.Is(err, syscall.ELOOP):
		return hintLink, ErrSymlink
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return "a directory stands where a file should be, or the reverse: move it away, then run `claw doctor --fix`", ErrDamaged
	}
	return "", nil
}

// reason is the innermost text, without the path that is shown anyway.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// Damaged makes the error for contents that cannot be used.
func Damaged(op, path, why string) error {
	return &Error{Op: op, Path: path, Why: why, Hint: hintDoctor, Err: ErrDamaged}
}
