package wake

import (
	"errors"
	"syscall"
)

// LimitError says that the kernel watches too much for this user already, so
// that the directory is looked at every two seconds instead.
type LimitError struct {
	Limit string // fs.inotify.max_user_instances or fs.inotify.max_user_watches; "open files"; "8192 directories"
	Err   error
}

// Error names the limit.
func (e *LimitError) Error() string {
	if e.Limit == ownLimit {
		return "there are more than " + ownLimit
	}
	return "the limit of " + e.Limit + " is reached"
}

// Remedy says how to raise it.
func (e *LimitError) Remedy() string {
	switch e.Limit {
	case ownLimit:
		return "watch a directory with less below it"
	case openFiles:
		return "raise it with ulimit -n, or LimitNOFILE= in the unit"
	}
	return "raise it: sysctl " + e.Limit + "=1024 or more"
}

// Unwrap gives the system's error.
func (e *LimitError) Unwrap() error { return e.Err }

const (
	openFiles = "open files"
	ownLimit  = "8192 directories" // MostDirs
)

// explain gives the limits of inotify(7) their names; EMFILE is that of
// instances or, on other systems, that of descriptors.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return &LimitError{Limit: "fs.inotify.max_user_watches", Err: err}
	case errors.Is(err, syscall.EMFILE):
		return &LimitError{Limit: instances, Err: err}
	case errors.Is(err, syscall.ENFILE):
		return &LimitError{Limit: openFiles, Err: err}
	}
	return err
}
