package proc

import (
	"errors"
	"os"
	"syscall"
)

// StartKind says in one word why a command could not be started.
type StartKind uint8

// The kinds of StartError.
const (
	Refused       StartKind = iota // the system would not: no memory, too many processes, a sandbox
	NotFound                       // no such program
	NotExecutable                  // it is there, but may not be executed
	NoInterpreter                  // its #! line (or loader) names a program that is not there
	BadFormat                      // not a program: no #! line and no format the kernel knows
	TooBig                         // arguments and environment exceed the system's limit
	NoDir                          // the working directory is missing, not a directory or not enterable
)

// StartError is why a command could not be started (B15). It ends that command
// only.
type StartError struct {
	Kind StartKind
	Path string // the program, or for NoDir the directory
	Err  error  // what the system said
}

// Error is one sentence that names what was tried.
func (e *StartError) Error() string {
	switch e.Kind {
	case NotFound:
		return e.Path + ": command not found"
	case NotExecutable:
		return e.Path + ": not executable: " + e.Err.Error()
	case NoInterpreter:
		return e.Path + ": its interpreter was not found"
	case BadFormat:
		return e.Path + ": not a program the system can run"
	case TooBig:
		return e.Path + ": arguments and environment are too long"
	case NoDir:
		return "working directory " + e.Path + ": " + e.Err.Error()
	}
	return e.Path + ": cannot start: " + e.Err.Error()
}

// Unwrap gives the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// Code is the exit code shells give for this: 127 not found, 126 found but not
// runnable, 125 when claw or the system failed (design.md 6).
func (e *StartError) Code() int {
	switch e.Kind {
	case NotFound:
		return 127
	case NotExecutable, NoInterpreter, BadFormat, TooBig:
		return 126
	}
	return 125
}

// Remedy is what a person can do about it; empty when there is nothing to say.
func (e *StartError) Remedy() string {
	switch e.Kind {
	case NotFound:
		return "check the name and the PATH"
	case NotExecutable:
		return "chmod +x " + e.Path + ", or name its interpreter"
	case NoInterpreter:
		return "install what its first line names, or correct that line"
	case BadFormat:
		return "add a #! line, or run it through its interpreter"
	case TooBig:
		return "pass the data on stdin or in a file"
	case NoDir:
		return "create it, or give another --workdir"
	}
	return ""
}

// classify gives the error of ForkExec its kind. The kernel says "no such
// file" for the program and for its interpreter alike.
func classify(path string, err error) *StartError {
	e := &StartError{Kind: Refused, Path: path, Err: err}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		e.Kind = NotFound
		if _, statErr := os.Stat(path); statErr == nil {
			e.Kind = NoInterpreter
		}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ETXTBSY):
		e.Kind = NotExecutable
	case errors.Is(err, syscall.ENOEXEC):
		e.Kind = BadFormat
	case errors.Is(err, syscall.E2BIG):
		e.Kind = TooBig
	}
	return e
}
