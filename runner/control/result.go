package control

import (
	"strings"
	"time"

	"claw/runner/output"
	"claw/state"
	"claw/state/process"
)

// Synchronous is the warning of an exec that was asked to continue in the
// background where the process tool is denied (spec/exec-process.md 1.2).
const Synchronous = "continuation options are unavailable; running synchronously"

// Completed are the details of a foreground result; spec/exec-process.md 1.4.
// What does not apply is null; failureKind, timedOut and error are there when
// it failed.
type Completed struct {
	Status           string  `json:"status"` // completed or failed
	ExitCode         *int    `json:"exitCode"`
	ExitSignal       *string `json:"exitSignal"`
	ExitReason       string  `json:"exitReason,omitempty"`
	FailureKind      string  `json:"failureKind,omitempty"`
	DurationMs       int64   `json:"durationMs"`
	Aggregated       string  `json:"aggregated"`
	Truncated        bool    `json:"truncated"`
	TimedOut         *bool   `json:"timedOut,omitempty"`
	NoOutputTimedOut bool    `json:"noOutputTimedOut"`
	Cwd              string  `json:"cwd,omitempty"`
	Error            string  `json:"error,omitempty"`
}

// Ended is the result of a command that ended in the foreground.
func Ended(p process.Process, text string, discarded bool) Result {
	f := finished(p)
	d := Completed{
		Status: process.Status(p), ExitCode: f.ExitCode, ExitReason: f.ExitReason,
		FailureKind: process.FailureKind(p), DurationMs: max(0, p.EndedAt.Sub(startedAt(p)).Milliseconds()),
		Aggregated: strings.TrimSpace(text), Truncated: discarded, Cwd: p.Cwd,
		NoOutputTimedOut: f.NoOutputTimedOut,
	}
	if f.ExitSignal != "" {
		d.ExitSignal = &f.ExitSignal
	}
	if d.Status == process.StatusFailed {
		d.TimedOut, d.Error = &f.TimedOut, process.ReasonText(p)
	}
	return Result{Text: process.ResultText(p, text, discarded), Details: d}
}

// Continuing are the details of a command that goes on in the background.
type Continuing struct {
	Status    string    `json:"status"` // running
	SessionID string    `json:"sessionId"`
	PID       int       `json:"pid,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	Cwd       string    `json:"cwd"`
	Tail      string    `json:"tail"`
	FollowUp  string    `json:"followUp"`
	ID        string    `json:"id"` // ULID
	TaskID    string    `json:"taskId,omitempty"`
	Warnings  []string  `json:"warnings,omitempty"`
}

// Backgrounded is the result of a command that was left running.
func Backgrounded(p process.Process, tail string) Result {
	d := Continuing{
		Status: process.StatusRunning, SessionID: p.Slug, PID: p.Root.PID, StartedAt: startedAt(p), Cwd: p.Cwd,
		Tail: tail, FollowUp: process.FollowUp(p.NotifyOnExit, p.NotifyOnExitEmptySuccess),
		ID: p.ID, TaskID: p.TaskID, Warnings: p.Warnings,
	}
	return Result{Text: process.RunningText(p), Details: d}
}

// Failure are the details of an action or an exec that did nothing.
type Failure struct {
	Status      string `json:"status"` // failed
	ExitCode    *int   `json:"exitCode"`
	FailureKind string `json:"failureKind,omitempty"`
	Error       string `json:"error"`
}

// NotStarted is the result of an exec that started nothing.
func NotStarted(err error) Result {
	f := Failure{Status: process.StatusFailed, FailureKind: "runtime-error", Error: err.Error()}
	if code, ok := StartCode(err); ok {
		f.ExitCode = &code
		switch code {
		case 126:
			f.FailureKind = "shell-not-executable"
		case 127:
			f.FailureKind = "shell-command-not-found"
		}
	}
	return Result{Text: err.Error(), Details: f}
}

// Aggregate is the sanitised output of a process, at most its last chars
// characters; discarded tells that earlier output is gone or not shown.
func Aggregate(store *state.Store, id string, chars int64) (text string, discarded bool) {
	out, err := output.Open(store.ProcessDir(id))
	if err != nil {
		return "", false
	}
	text, cut, err := out.Aggregate(int(chars))
	return text, err == nil && (cut || out.Totals().DroppedBytes > 0)
}

// TailOf is what a result shows of the output so far.
func TailOf(store *state.Store, id string) string {
	out, err := output.Open(store.ProcessDir(id))
	if err != nil {
		return ""
	}
	return out.Tail(process.TailChars)
}
