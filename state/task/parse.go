package task

import "strconv"

// WordError is a word of a stored row that is not in its vocabulary. Such a
// row is not guessed at: it may come from a newer claw.
type WordError struct {
	Field string // the key in the row: "status"
	Value string
	Hint  string
}

func (e *WordError) Error() string {
	return "task field " + e.Field + ": unknown value " + strconv.Quote(e.Value)
}

// Remedy says what to do about such a row.
func (e *WordError) Remedy() string { return e.Hint }

const wordHint = "a newer claw may have written it; claw doctor shows the row"

// oneOf is the word itself, or a *WordError.
func oneOf[T ~string](field, value string, words ...T) (T, error) {
	for _, w := range words {
		if string(w) == value {
			return w, nil
		}
	}
	return "", &WordError{Field: field, Value: value, Hint: wordHint}
}

// ParseRuntime reads a runtime strictly; the error is a *WordError, as for all
// of these (spec/tasks-recovery.md 1.2).
func ParseRuntime(s string) (Runtime, error) {
	return oneOf("runtime", s, CLI, Cron, ACP, Subagent)
}

// ParseStatus reads a status strictly.
func ParseStatus(s string) (Status, error) {
	return oneOf("status", s, Queued, Running, Succeeded, Failed, TimedOut, Cancelled, Lost)
}

// ParseDeliveryStatus reads a delivery status strictly.
func ParseDeliveryStatus(s string) (DeliveryStatus, error) {
	return oneOf("deliveryStatus", s, DeliveryPending, DeliveryDelivered, DeliverySessionQueued,
		DeliveryFailed, DeliveryParentMissing, DeliveryNotApplicable)
}

// ParseNotifyPolicy reads a notify policy strictly.
func ParseNotifyPolicy(s string) (NotifyPolicy, error) {
	return oneOf("notifyPolicy", s, DoneOnly, StateChanges, Silent)
}

// ParseScope reads a scope kind strictly.
func ParseScope(s string) (string, error) {
	return oneOf("scopeKind", s, ScopeSession, ScopeSystem)
}

// ParseOutcome reads a terminal outcome strictly; none is one too.
func ParseOutcome(s string) (string, error) {
	return oneOf("terminalOutcome", s, "", OutcomeSucceeded, OutcomeBlocked)
}

// Check is nil when every word of a stored row is in its vocabulary, else a
// *WordError for the first that is not.
func Check(t Task) error {
	checks := [...]func() error{
		func() error { _, err := ParseRuntime(string(t.Runtime)); return err },
		func() error { _, err := ParseStatus(string(t.Status)); return err },
		func() error { _, err := ParseDeliveryStatus(string(t.DeliveryStatus)); return err },
		func() error { _, err := ParseNotifyPolicy(string(t.NotifyPolicy)); return err },
		func() error { _, err := ParseScope(t.ScopeKind); return err },
		func() error { _, err := ParseOutcome(t.TerminalOutcome); return err },
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
