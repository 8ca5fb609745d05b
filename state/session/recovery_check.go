package session

import (
	"cmp"
	"errors"
	"time"
)

// Check says what of a cycle contradicts itself; nil when nothing does.
func (c Cycle) Check() error {
	switch c.Phase {
	case CycleNone:
		if !c.IsZero() {
			return errors.New("it has no phase")
		}
		return nil
	case CycleInterrupted, CycleReserved, CycleTombstoned, CycleClosed:
	default:
		return errors.New("its phase is unknown")
	}
	for _, rule := range [...]struct {
		ok  bool
		why string
	}{
		{c.ID != "" && c.SessionID != "" && c.SourceTurnID != "" && c.Revision > 0, "it does not say what it is about"},
		{c.Charged >= 0 && c.Charged <= Budget, "its charges are not within its budget"},
		{c.Charged == 0 || c.DispatchID != "", "it was dispatched without an id"},
		{(c.Phase == CycleReserved) == (c.Reservation.TurnID != ""), "a reservation and its phase do not agree"},
		{c.Phase != CycleReserved || c.Reservation.Attempt == c.Charged, "what was reserved is not what was charged"},
		{c.Foreground == "" || c.Phase == CycleInterrupted, "somebody claims what does not wait"},
		{(c.Phase == CycleClosed) == (c.Ending != ""), "an ending and its phase do not agree"},
	} {
		if !rule.ok {
			return errors.New(rule.why)
		}
	}
	return nil
}

// Contradiction says what of a session and its cycle does not agree; "" when
// nothing does not. What merely waits for the next tick is no contradiction.
func (s Session) Contradiction() string {
	c := s.Recovery
	err := c.Check()
	switch {
	case err != nil:
		return "the record of its recovery contradicts itself: " + err.Error()
	case c.SessionID != s.ID || c.Phase == CycleNone:
		return ""
	case c.Phase == CycleTombstoned && (s.Status == Interrupted || s.Status == Running):
		return "its recovery has been given up, and it is recorded as " + string(s.Status)
	}
	return ""
}

// Mended is s without its Contradiction. It only ever stops something: a
// tombstone stays one, a cycle that cannot be understood becomes one, and
// nothing is continued that was not to be continued before
// (spec/tasks-recovery.md 4.12). Without a contradiction it is s.
func (s Session) Mended(now time.Time) Session {
	if s.Contradiction() == "" {
		return s
	}
	c := s.Recovery
	if err := c.Check(); err != nil {
		id := cmp.Or(c.ID, s.TurnID, s.ID, s.Key, "unknown")
		c = Cycle{
			ID: id, Revision: max(c.Revision, 0) + 1, SessionID: cmp.Or(c.SessionID, s.ID, "unknown"), Phase: CycleTombstoned,
			SourceTurnID: cmp.Or(c.SourceTurnID, id), DispatchID: cmp.Or(c.DispatchID, id), Charged: min(max(c.Charged, 0), Budget), Begun: true,
			Reason:        "given up, for its record contradicted itself; claw sessions new begins a new conversation",
			InterruptedAt: c.InterruptedAt, UpdatedAt: now, EndedAt: now,
		}
		s.Recovery = c
	}
	if c.SessionID == s.ID && (s.Status == Interrupted || s.Status == Running) {
		s.Status, s.EndedAt = Failed, now
	}
	return s
}

// WithCycle is s with a cycle as it is now, and with the status that follows
// from it. Where a turn begins or ends in the same transaction, that turn says
// the status afterwards.
func (s Session) WithCycle(c Cycle, now time.Time) Session {
	s.Recovery = c
	switch {
	case c.Phase == CycleInterrupted && c.Foreground == "":
		s.Status = Interrupted
	case c.Phase == CycleTombstoned, c.Phase == CycleClosed && c.Ending != EndCompleted && s.Status == Interrupted:
		s.Status, s.EndedAt = Failed, now
	case c.Phase == CycleClosed && s.Status == Interrupted:
		s.Status, s.EndedAt = Done, now
	}
	return s
}
