package cli

import (
	"errors"
	"syscall"

	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/state"
)

// exitNobodyReads is how a program ends whose reader has gone, as head does: by
// SIGPIPE, whether it has met the signal or, to carry something else through
// first, the error.
const exitNobodyReads = 128 + int(syscall.SIGPIPE)

// report turns the error of a command into words on stderr and an exit code.
// This is the only place that does.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	if code, ok := asSilent(err); ok {
		return code
	}
	if _, ok := errors.AsType[*output.WriteError](err); ok && output.Gone(err) {
		return exitNobodyReads
	}
	a.io.Error(err.Error(), remedyOfFailure(err)...)
	return a.codeOf(err, 0)
}

// codeOf is the exit code of an error; known is one that is known already.
func (a *app) codeOf(err error, known int) int {
	if known != 0 {
		return known
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	if r, ok := control.IsRefused(err); ok {
		return codeOfRefusal(r.Kind)
	}
	if _, ok := asStateError(err); ok {
		return exitState
	}
	if _, ok := errors.AsType[*control.WorkdirError](err); ok {
		return exitUsage
	}
	if isConfigError(err) || isEnvError(err) {
		return exitUsage
	}
	if _, ok := errors.AsType[*state.ConflictError](err); ok {
		return exitRefused
	}
	return exitFailed
}

func codeOfRefusal(k control.Kind) int {
	switch k {
	case control.Missing:
		return exitNotFound
	case control.Invalid:
		return exitUsage
	}
	return exitRefused
}

func asStateError(err error) (*state.Error, bool) { return errors.AsType[*state.Error](err) }

// remedyOfFailure is what a person can do about err.
func remedyOfFailure(err error) []string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.remedy
	}
	if r, ok := control.IsRefused(err); ok {
		return nonEmpty(r.Remedy)
	}
	if s, ok := asStateError(err); ok {
		return nonEmpty(s.Hint)
	}
	return remedyOf(err)
}
