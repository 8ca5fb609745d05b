package session

import (
	"strconv"
	"time"
)

// Budget is how often one cycle is dispatched (seed 003, 15). It is charged
// before the dispatch.
const Budget = 3

// Phase is where a cycle stands.
type Phase string

// The phases.
const (
	CycleNone        Phase = ""
	CycleInterrupted Phase = "interrupted" // something waits to be continued
	CycleReserved    Phase = "reserved"    // a turn that continues it has been admitted, and has not ended
	CycleTombstoned  Phase = "tombstoned"  // given up; only a new transcript is beyond it
	CycleClosed      Phase = "closed"      // nothing is left to do, see Ending
)

// Ending is why a cycle was closed.
type Ending string

// The endings.
const (
	EndCompleted  Ending = "completed"  // continued to its end, or there was nothing left to do
	EndSuperseded Ending = "superseded" // somebody went on in the session meanwhile
	EndFailed     Ending = "failed"     // it cannot be continued safely: the person is told, once
	EndCancelled  Ending = "cancelled"  // a person ended the turn that continued it
	EndDismissed  Ending = "dismissed"  // a person said that nothing is to be done
)

// Reservation is an attempt that is charged and has not ended.
type Reservation struct {
	TurnID  string `json:"turnId"`
	Attempt int    `json:"attempt"` // from 1
}

// Cycle is what is known of the recovery of one session, from the turn that
// was cut off to the end of it. Its values are compared with ==.
type Cycle struct {
	ID        string `json:"cycleId"`   // the turn whose loss began it
	Revision  int64  `json:"revision"`  // grows by one with each change, from 1
	SessionID string `json:"sessionId"` // of the transcript
	Phase     Phase  `json:"phase"`
	Ending    Ending `json:"ending,omitempty"`
	// SourceTurnID is what is to be continued: the newest turn that was cut off
	// and was no attempt itself.
	SourceTurnID string `json:"sourceTurnId"`
	// DispatchID is Turn.DispatchID of every attempt: the id of the first. It
	// never changes, and what they send has one idempotency key.
	DispatchID  string      `json:"dispatchId,omitempty"`
	Charged     int         `json:"chargedAttempts"`
	Reservation Reservation `json:"reservation,omitzero"`
	// Foreground is the turn of a person that works in the session while
	// something waits to be continued.
	Foreground string `json:"foregroundTurnId,omitempty"`
	// Begun: an agent was started, and what it did is not known. Without it
	// nothing has happened that could happen twice.
	Begun bool `json:"begun,omitempty"`

	Reason        string    `json:"reason,omitempty"` // one sentence: how it was cut off, or why it ended
	InterruptedAt time.Time `json:"interruptedAt"`
	NotBefore     time.Time `json:"notBefore,omitzero"`    // no attempt by itself before
	RefusedSince  time.Time `json:"refusedSince,omitzero"` // since then the agent has accepted nothing
	UpdatedAt     time.Time `json:"updatedAt"`
	EndedAt       time.Time `json:"endedAt,omitzero"` // of the cycle
}

// IsZero tells that nothing was ever cut off.
func (c Cycle) IsZero() bool { return c == Cycle{} }

// Ticket is which cycle somebody has seen, and at which revision. Whoever
// decides something shows it when he carries it out.
type Ticket struct {
	SessionID string `json:"sessionId"`
	CycleID   string `json:"cycleId"`
	Revision  int64  `json:"revision"`
}

// Ticket is the one for c as it is.
func (c Cycle) Ticket() Ticket { return Ticket{c.SessionID, c.ID, c.Revision} }

// Conflict says why a command was rejected.
type Conflict string

// The conflicts; spec/tasks-recovery.md 4.4. The last two are claw's own: the
// seeds' rejection of foreground work on a cycle that is about to be
// tombstoned, and of a tombstone for one that is not.
const (
	ConflictSessionReplaced   Conflict = "session_replaced"
	ConflictStaleCycle        Conflict = "stale_cycle"
	ConflictStaleRevision     Conflict = "stale_revision"
	ConflictNotInterrupted    Conflict = "not_interrupted"
	ConflictTombstoned        Conflict = "already_tombstoned"
	ConflictReservationActive Conflict = "reservation_active"
	ConflictStaleReservation  Conflict = "stale_reservation"
	ConflictForegroundActive  Conflict = "foreground_active"
	ConflictExhausted         Conflict = "recovery_exhausted"
	ConflictAttemptsLeft      Conflict = "attempts_left"
)

// Rejection is a command that cannot be carried out; nothing has changed.
type Rejection struct {
	Command string // in the words of spec/tasks-recovery.md 4.4
	Code    Conflict
	Phase   Phase // of the cycle that was asked
}

func (r *Rejection) Error() string { return r.Command + ": " + r.Code.Words() }

// Remedy says what to do about it; "" where looking again is all.
func (r *Rejection) Remedy() string {
	switch r.Code {
	case ConflictTombstoned, ConflictExhausted:
		return "claw sessions new begins a new conversation"
	case ConflictReservationActive, ConflictForegroundActive:
		return "wait for the turn that is at work"
	}
	return ""
}

// Words says it in a sentence without a full stop.
func (k Conflict) Words() string {
	switch k {
	case ConflictSessionReplaced:
		return "the session has a new transcript"
	case ConflictStaleCycle:
		return "that is not the cycle any more"
	case ConflictStaleRevision:
		return "the cycle has changed meanwhile"
	case ConflictNotInterrupted:
		return "nothing waits to be continued"
	case ConflictTombstoned:
		return "recovery of this conversation has been given up"
	case ConflictReservationActive:
		return "a turn that continues it is at work"
	case ConflictStaleReservation:
		return "that turn does not hold the cycle"
	case ConflictForegroundActive:
		return "another turn of the session is at work"
	case ConflictExhausted:
		return "all " + strconv.Itoa(Budget) + " attempts have been made"
	case ConflictAttemptsLeft:
		return "there are attempts left"
	}
	return string(k)
}

func (c Cycle) reject(command string, code Conflict) *Rejection {
	return &Rejection{Command: command, Code: code, Phase: c.Phase}
}

// changed is c one revision on.
func (c Cycle) changed(now time.Time) Cycle {
	c.Revision++
	c.UpdatedAt = now
	return c
}

// shown compares a ticket with the cycle, in the order of the spec; "" fits.
func (c Cycle) shown(t Ticket) Conflict {
	switch {
	case t.SessionID != c.SessionID:
		return ConflictSessionReplaced
	case t.CycleID != c.ID:
		return ConflictStaleCycle
	case t.Revision != c.Revision:
		return ConflictStaleRevision
	}
	return ""
}

// free tells why nothing may be decided about the cycle; "" when something
// waits to be continued and nobody is at it.
func (c Cycle) free() Conflict {
	switch {
	case c.Phase == CycleTombstoned:
		return ConflictTombstoned
	case c.Phase == CycleReserved:
		return ConflictReservationActive
	case c.Phase != CycleInterrupted:
		return ConflictNotInterrupted
	case c.Foreground != "":
		return ConflictForegroundActive
	case c.Check() != nil:
		return ConflictStaleCycle // nobody can decide about what contradicts itself
	}
	return ""
}

// exhausted tells that every attempt has been made.
func (c Cycle) exhausted() bool { return c.Charged >= Budget }
