package flow

import (
	"encoding/json"
	"time"
)

// Op is what a controller does to its flow.
type Op string

// The operations; spec/tasks-recovery.md 3.3.
const (
	Wait          Op = "wait"   // setWaiting
	Resume        Op = "resume" // resume
	Finish        Op = "finish" // finish
	Fail          Op = "fail"   // fail
	RequestCancel Op = "cancel" // requestCancel: writes the wish down, and nothing else
)

// Code is why a change was not applied.
type Code string

// The codes. CodeTerminal and CodeCancelRequested are claw's own: what has ended,
// and the wish to cancel, are final. CodeUnknown may follow a write that has
// been made.
const (
	CodeNotFound        Code = "not_found"
	CodeNotManaged      Code = "not_managed"
	CodeConflict        Code = "revision_conflict"
	CodePersist         Code = "persist_failed"
	CodeTerminal        Code = "terminal"
	CodeCancelRequested Code = "cancel_requested"
	CodeUnknown         Code = "outcome_unknown"
)

// Value is a JSON value to be written; Clear takes what is there away.
type Value struct {
	JSON  json.RawMessage // as JSON makes it
	Clear bool
}

// Patch says what else is written. Nil keeps what is there; an empty text takes
// it away.
type Patch struct {
	Step           *string
	BlockedTask    *string
	BlockedSummary *string
	State, Wait    *Value
}

func (p Patch) empty() bool { return p == Patch{} }

// Change is one operation on a managed flow.
type Change struct {
	Op Op
	// Expect is the revision that the controller has seen. Nil, for
	// RequestCancel only: whatever it is.
	Expect *int64
	To     Status // of Resume: Queued, or Running; empty: Queued
	Patch  Patch
}

// Rejection is why a change was not applied. Nothing was written.
type Rejection struct {
	Code Code
	Flow Flow // as it is
}

func (r *Rejection) Error() string {
	switch r.Code {
	case CodeNotManaged:
		return "the flow follows its task, and nobody else may change it"
	case CodeConflict:
		return "the flow has been changed meanwhile"
	case CodeTerminal:
		return "the flow is already " + string(r.Flow.Status)
	case CodeCancelRequested:
		return "the flow is to be cancelled, and nothing else can become of it"
	}
	return string(r.Code)
}

// Apply is f after one operation. Mode and revision are looked at together, then
// that nothing final is undone. The error is a *Rejection, or an *InputError;
// then f is returned as it was. A wish to cancel that is written already is
// returned as it is, without a write.
func Apply(f Flow, c Change, now time.Time) (Flow, error) {
	if code := refuse(f, c); code != "" {
		return f, &Rejection{Code: code, Flow: f}
	}
	if c.Op == RequestCancel && f.Cancelling() && c.Patch.empty() {
		return f, nil
	}
	next := f.patched(c.Patch).written(now)
	switch {
	case c.Op == Wait:
		next.waits(c.Patch)
	case c.Op == Resume && (c.To == "" || c.To == Queued || c.To == Running):
		next.resumes(c.To)
	case c.Op == Resume:
		return f, &InputError{"status", "cannot be " + string(c.To) + " after a resume", "queued or running"}
	case c.Op == Finish:
		next.ends(Succeeded)
	case c.Op == Fail:
		task, summary := next.BlockedTaskID, next.BlockedSummary
		next.ends(Failed)
		next.BlockedTaskID, next.BlockedSummary = task, summary
	case c.Op == RequestCancel && next.CancelRequestedAt.IsZero():
		next.CancelRequestedAt = next.UpdatedAt
	case c.Op != RequestCancel:
		return f, &InputError{"op", "cannot be " + string(c.Op), "wait, resume, finish, fail or cancel"}
	}
	if err := next.bounded(); err != nil {
		return f, err
	}
	return next, nil
}

// refuse is why c cannot be applied to f; empty: it can.
func refuse(f Flow, c Change) Code {
	switch {
	case f.SyncMode != Managed:
		return CodeNotManaged
	case c.Expect == nil && c.Op != RequestCancel, c.Expect != nil && *c.Expect != f.Revision:
		return CodeConflict
	case f.Terminal():
		return CodeTerminal
	case f.Cancelling() && c.Op != RequestCancel:
		return CodeCancelRequested
	}
	return ""
}

// patched is f with what a patch says.
func (f Flow) patched(p Patch) Flow {
	for _, t := range [...]struct {
		to   *string
		from *string
	}{{&f.CurrentStep, p.Step}, {&f.BlockedTaskID, p.BlockedTask}, {&f.BlockedSummary, p.BlockedSummary}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	f.StateJSON = p.State.over(f.StateJSON)
	f.WaitJSON = p.Wait.over(f.WaitJSON)
	return f
}

func (v *Value) over(old json.RawMessage) json.RawMessage {
	switch {
	case v == nil:
		return old
	case v.Clear:
		return nil
	}
	return v.JSON
}

// waits: it is blocked when something is said now that blocks it; what blocked it
// earlier does not count.
func (f *Flow) waits(p Patch) {
	f.Status, f.EndedAt = Waiting, time.Time{}
	f.BlockedTaskID, f.BlockedSummary = said(p.BlockedTask), said(p.BlockedSummary)
	if f.BlockedTaskID != "" || f.BlockedSummary != "" {
		f.Status = Blocked
	}
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (f *Flow) resumes(to Status) {
	f.Status = Queued
	if to != "" {
		f.Status = to
	}
	f.clear()
	f.EndedAt = time.Time{}
}

// ends is the end, at the time of the write.
func (f *Flow) ends(s Status) {
	f.Status, f.EndedAt = s, f.UpdatedAt
	f.clear()
}

// clear takes away what it waited for.
func (f *Flow) clear() {
	f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = nil, "", ""
}

// Close is a flow that was to be cancelled, cancelled at an instant: that of the
// end of its last child, or of the maintenance that finds it. It ends after all
// that was written of it (spec/tasks-recovery.md 3.6).
func Close(f Flow, at time.Time) Flow {
	f = f.written(latest(at, f.CancelRequestedAt))
	f.ends(Cancelled)
	return f
}
