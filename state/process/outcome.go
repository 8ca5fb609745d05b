package process

import "strconv"

// Observed is what the supervisor saw of the end of one command. Only what
// wait reported and what the supervisor itself decided; never a guess.
type Observed struct {
	Exited bool   // wait reported an exit code
	Code   int    // that code
	Signal string // the signal that ended it: "SIGTERM", or "15" where only the number is known
	Core   bool   // and it left a core dump

	Forced     Reason // why claw ended it, if it did; kept by Force
	OverallDue bool   // the deadline had passed when the end was seen, whether or not the timer had fired
	SilenceDue bool   // the same for the silence watchdog

	SpawnError string // why it could not be started; empty when it was
	SpawnCode  int    // with SpawnError: 126 not runnable, 127 not found
}

// Force keeps the first reason for which claw ends a command: a timeout that
// comes after a cancel does not overwrite it (spec/exec-process.md 1.6).
func Force(have, next Reason) Reason {
	if have != "" {
		return have
	}
	return next
}

// Classify turns what was seen into the exit record, by the table of
// spec/exec-process.md 1.6. The code and the signal are facts and are kept
// whatever the reason; the reason alone decides what they mean.
func Classify(o Observed) *Exit {
	if o.SpawnError != "" {
		return &Exit{Reason: ReasonSpawnError, Error: o.SpawnError, SpawnCode: o.SpawnCode}
	}
	e := &Exit{Signal: canonicalSignal(o.Signal), Core: o.Core, Reason: reasonOf(o)}
	if o.Exited {
		code := o.Code
		e.Code = &code
	}
	e.TimedOut = e.Reason == ReasonOverallTimeout || e.Reason == ReasonNoOutputTimeout
	return e
}

func reasonOf(o Observed) Reason {
	switch o.Forced {
	case ReasonManualCancel, ReasonOverallTimeout, ReasonNoOutputTimeout:
		return o.Forced
	}
	switch {
	case o.OverallDue: // before silence: the overall deadline wins ties
		return ReasonOverallTimeout
	case o.SilenceDue:
		return ReasonNoOutputTimeout
	case o.Signal != "":
		return ReasonSignal
	}
	return ReasonExit
}

// canonicalSignal gives a signal its name where only the number was reported.
func canonicalSignal(s string) string {
	if n, err := strconv.Atoi(s); err == nil {
		return SignalName(n)
	}
	return s
}

// LostExit is the exit record of a process whose supervisor died before the
// end: no code, no signal, and why says what is known.
func LostExit(why string) *Exit {
	return &Exit{Reason: ReasonLost, Error: why}
}

// ended is the exit record of a process that is over. A row that is over and
// has none is damaged; it reads as lost, never as a success.
func (p Process) ended() (Exit, bool) {
	switch {
	case p.Live():
		return Exit{}, false
	case p.Exit == nil:
		return *LostExit(""), true
	}
	return *p.Exit, true
}

// The statuses of the seeds' tool JSON (spec/exec-process.md 2.1).
const (
	StatusRunning   = "running"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
)

// Status is running, completed or failed. Completed means it exited by itself
// with a code other than 126 and 127, be it zero or not; an end without a
// code, by a signal, a timeout or a cancel is failed.
func Status(p Process) string {
	e, over := p.ended()
	switch {
	case !over:
		return StatusRunning
	case p.Phase == Lost || e.Reason != ReasonExit || e.Signal != "" || e.Code == nil:
		return StatusFailed
	case *e.Code == codeNotRunnable || *e.Code == codeNotFound:
		return StatusFailed
	}
	return StatusCompleted
}

// TaskStatus is the same end in the words of the task ledger: running,
// succeeded, failed, timed_out, cancelled or lost. There a code other than
// zero is a failure.
func TaskStatus(p Process) string {
	e, over := p.ended()
	switch {
	case !over:
		return "running"
	case p.Phase == Lost || e.Reason == ReasonLost:
		return "lost"
	case e.Reason == ReasonManualCancel:
		return "cancelled"
	case e.Reason == ReasonOverallTimeout || e.Reason == ReasonNoOutputTimeout:
		return "timed_out"
	case Status(p) == StatusCompleted && *e.Code == 0:
		return "succeeded"
	}
	return "failed"
}

// Exit codes with a meaning of their own, for shells (design.md 6).
const (
	codeStillRunning = 75
	codeTimedOut     = 124
	codeUnknown      = 125
	codeNotRunnable  = 126
	codeNotFound     = 127
	codeSignalBase   = 128
)

// ExitCode is what `claw exec` and `claw process wait` exit with: the
// command's own code; 124 timed out; 126 or 127 not runnable or not found;
// 128+n for signal n; 125 when the end is not known; 75 while it still runs.
// Only a command that ended by itself with 0 gives 0: one that was cancelled
// and then exited 0 counts as ended by the TERM it was sent, 143.
func ExitCode(p Process) int {
	e, over := p.ended()
	if !over {
		return codeStillRunning
	}
	if p.Phase == Lost {
		return codeUnknown
	}
	switch e.Reason {
	case ReasonOverallTimeout, ReasonNoOutputTimeout:
		return codeTimedOut
	case ReasonSpawnError:
		if e.SpawnCode == codeNotFound {
			return codeNotFound
		}
		return codeNotRunnable
	case ReasonManualCancel:
		return cancelledCode(e)
	case ReasonExit, ReasonSignal:
		return ownCode(e)
	}
	return codeUnknown
}

func ownCode(e Exit) int {
	if e.Signal != "" {
		if n := SignalNumber(e.Signal); n > 0 {
			return codeSignalBase + n
		}
		return codeUnknown
	}
	if e.Code == nil {
		return codeUnknown
	}
	return *e.Code
}

func cancelledCode(e Exit) int {
	if c := ownCode(e); c != 0 && c != codeUnknown {
		return c
	}
	return codeSignalBase + SignalNumber("SIGTERM")
}

// The failure kinds of a result (spec/exec-process.md 1.4).
const (
	FailureNotFound        = "shell-command-not-found"
	FailureNotExecutable   = "shell-not-executable"
	FailureOverallTimeout  = "overall-timeout"
	FailureNoOutputTimeout = "no-output-timeout"
	FailureSignal          = "signal"
	FailureAborted         = "aborted"
	FailureRuntime         = "runtime-error"
)

// FailureKind is the seeds' failureKind of a failed process, empty for one
// that runs or completed. A cancel is "aborted" however the command took it;
// what could not start or was lost is "runtime-error", except that a program
// which is not there or may not be run says so like its shell would.
func FailureKind(p Process) string {
	if Status(p) != StatusFailed {
		return ""
	}
	e, _ := p.ended()
	switch e.Reason {
	case ReasonOverallTimeout:
		return FailureOverallTimeout
	case ReasonNoOutputTimeout:
		return FailureNoOutputTimeout
	case ReasonSignal:
		return FailureSignal
	case ReasonManualCancel:
		return FailureAborted
	case ReasonSpawnError:
		return kindOfCode(e.SpawnCode, FailureRuntime)
	case ReasonExit:
		if e.Code != nil {
			return kindOfCode(*e.Code, FailureAborted)
		}
		return FailureAborted
	}
	return FailureRuntime
}

func kindOfCode(code int, otherwise string) string {
	switch code {
	case codeNotFound:
		return FailureNotFound
	case codeNotRunnable:
		return FailureNotExecutable
	}
	return otherwise
}

// Label names an end in two words: "signal SIGTERM", "code 1" or
// "unknown exit code". A signal is named before a code.
func Label(e *Exit) string {
	switch {
	case e == nil:
		return "unknown exit code"
	case e.Signal != "":
		return "signal " + e.Signal
	case e.Code != nil:
		return "code " + strconv.Itoa(*e.Code)
	}
	return "unknown exit code"
}
