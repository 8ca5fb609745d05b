package proc

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// FallbackPATH is searched when nothing gives a PATH; spec/exec-process.md 1.3.
const FallbackPATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LookPath finds the program name as the child would: in pathEnv, the value of
// the child's own PATH (empty: FallbackPATH), with relative entries and names
// that hold a slash taken from dir, its absolute working directory. As execvp(3) does,
// it passes over files that may not be executed and reports them only if
// nothing better comes. The error is a *StartError of kind NotFound or
// NotExecutable.
func LookPath(name, dir, pathEnv string) (string, error) {
	if strings.Contains(name, "/") {
		return checked(name, within(dir, name))
	}
	if pathEnv == "" {
		pathEnv = FallbackPATH
	}
	var refused error
	for elem := range strings.SplitSeq(pathEnv, ":") {
		path := filepath.Join(within(dir, elem), name)
		if filepath.Base(path) != name {
			break // empty, "." or "..": not a program's name
		}
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if refused == nil && !unreachable(err) {
			refused = &StartError{Kind: NotExecutable, Path: path, Err: err}
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &StartError{Kind: NotFound, Path: name, Err: unix.ENOENT}
}

// checked is the answer for a name that needs no search.
func checked(name, path string) (string, error) {
	err := executable(path)
	switch {
	case err == nil:
		return path, nil
	case unreachable(err):
		return "", &StartError{Kind: NotFound, Path: name, Err: err}
	}
	return "", &StartError{Kind: NotExecutable, Path: name, Err: err}
}

// within takes a relative path from dir; an empty one is dir itself.
func within(dir, path string) string {
	if filepath.IsAbs(path) || dir == "" && path != "" {
		return path
	}
	if dir == "" {
		return "."
	}
	return filepath.Join(dir, path)
}

// unreachable: there is no such file, as against one that may not be executed.
func unreachable(err error) bool {
	return err == unix.ENOENT || err == unix.ENOTDIR
}

// executable tells why path cannot be executed by us; nil if it can.
func executable(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EACCES
	}
	return unix.Access(path, unix.X_OK)
}
