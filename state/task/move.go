package task

import "fmt"

// MoveError is an illegal change of status; it names both ends.
type MoveError struct {
	From, To Status
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("a task cannot go from %s to %s", e.From, e.To)
}

// Terminal tells a status that is an end.
func (s Status) Terminal() bool {
	switch s {
	case Succeeded, Failed, TimedOut, Cancelled, Lost:
		return true
	}
	return false
}

// Active tells a status that still blocks or may still change by itself.
func (s Status) Active() bool { return s == Queued || s == Running }

// CanMove is nil when a task may go from one status to the other, else a
// *MoveError: the explicit matrix of spec/tasks-recovery.md 1.4 for tasks that
// are not subagents. The same status is always allowed and refreshes fields;
// an end never becomes active again; a success may still be replaced by a
// stronger fact, but never by lost; a late success repairs nothing.
func CanMove(from, to Status) error {
	ok := from == to && (from.Active() || from.Terminal())
	switch from {
	case Queued:
		ok = to.Active() || to.Terminal()
	case Running:
		// Not back to queued: what has started has started.
		ok = to == Running || to.Terminal()
	case Succeeded:
		ok = ok || to == Failed || to == TimedOut || to == Cancelled
	}
	if !ok {
		return &MoveError{From: from, To: to}
	}
	return nil
}
