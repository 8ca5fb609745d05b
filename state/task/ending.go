package task

import (
	"time"
)

// KillMarker is the error of a cancellation that is only provisional: the
// subagent was told to end, and what it says itself about its end still counts.
const KillMarker = "Subagent run killed."

// MissingError is the error of a task that was lost because nothing carries it
// out any more. Only a lost automation with these words may be repaired.
const MissingError = "backing session missing"

// End is how a task is said to have ended, or to stand.
type End struct {
	Status    Status
	At        time.Time
	Error     string
	Summary   string
	Outcome   string // OutcomeSucceeded, OutcomeBlocked, or empty
	Canonical bool   // it comes from the record of whoever carried the task out, with its own time
}

// killed tells the provisional end of a subagent.
func (e End) killed() bool { return e.Status == Cancelled && e.Error == KillMarker }

// CanEnd is nil when what is said of t may be written, else a *MoveError: the
// whole matrix of spec/tasks-recovery.md 1.4. It is CanMove with three
// exceptions:
//
//   - a subagent's cancellation gives way to its own outcome, if that is
//     strictly older or the cancellation was only the KillMarker;
//   - the KillMarker overwrites nothing that has ended but itself;
//   - an automation that was lost for want of an owner is repaired by the
//     record of how it ended.
func CanEnd(t Task, e End) error {
	refused := &MoveError{From: t.Status, To: e.Status}
	switch {
	case e.killed() && t.Status.Terminal():
		if t.Status == Cancelled && t.Error == KillMarker {
			return nil
		}
		return refused
	case t.Status == Cancelled && e.Status != Cancelled:
		if e.Status.Terminal() && e.Status != Lost && t.yields(e) {
			return nil
		}
		return refused
	case t.Status == Lost && e.Status != Lost:
		if e.Status.Terminal() && e.Canonical && Repairable(t) {
			return nil
		}
		return refused
	}
	return CanMove(t.Status, e.Status)
}

// yields tells a cancelled subagent that what e says is stronger.
func (t Task) yields(e End) bool {
	provisional := t.Error == KillMarker
	older := e.Canonical && !e.At.IsZero() && e.At.Before(t.EndedAt)
	return t.Runtime == Subagent && (provisional || older)
}

// Repairable tells a lost row that the record of its run may repair: one of an
// automation, and lost because nobody seemed to carry it out (openclaw 86088).
func Repairable(t Task) bool {
	return t.Status == Lost && t.Runtime == Cron && contains(t.Error, MissingError)
}

// Conclude writes what e says into t. The first end stamps how long the row is
// kept; the same end once more adds words and leaves the times alone, so that
// doing it again changes nothing. The error is a *MoveError; then t is
// returned as it was.
func Conclude(t Task, e End) (Task, error) {
	if err := CanEnd(t, e); err != nil {
		return t, err
	}
	if !e.Status.Terminal() {
		return begin(t, e), nil
	}
	if t.Status == e.Status {
		t.Error, t.TerminalSummary = filled(e.Error, t.Error), filled(e.Summary, t.TerminalSummary)
		return tidy(t), nil
	}
	repaired := t.Status == Lost
	t.Status, t.Error, t.TerminalOutcome = e.Status, e.Error, e.Outcome
	t.TerminalSummary = filled(e.Summary, t.TerminalSummary)
	if !e.At.IsZero() {
		t.EndedAt, t.LastEventAt = e.At, e.At
	}
	t = Normalise(t)
	if repaired || t.CleanupAfter.IsZero() {
		t.CleanupAfter = CleanupAfter(t)
	}
	return tidy(t), nil
}

// begin is a move among queued and running.
func begin(t Task, e End) Task {
	if e.Status == Running && t.StartedAt.IsZero() {
		t.StartedAt = e.At
	}
	t.Status = e.Status
	if e.At.After(t.LastEventAt) {
		t.LastEventAt = e.At
	}
	return Normalise(t)
}

func filled(word, otherwise string) string {
	if word != "" {
		return word
	}
	return otherwise
}
