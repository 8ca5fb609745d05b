package session

import (
	"strconv"
	"time"
)

// ViewState is how a cycle stands, as `claw recover list` says it.
type ViewState string

// The views; spec/tasks-recovery.md 4.4.
const (
	ViewInactive    ViewState = "inactive"
	ViewBlocked     ViewState = "blocked"     // somebody is at it, or has to be waited for
	ViewRecoverable ViewState = "recoverable" // the next attempt may be made
	ViewExhausted   ViewState = "exhausted"   // all attempts have been made: to be tombstoned
	ViewTombstoned  ViewState = "tombstoned"
)

// View is a cycle as it is to be understood.
type View struct {
	State       ViewState `json:"state"`
	NextAttempt int       `json:"nextAttempt,omitempty"` // of ViewRecoverable, from 1
	NotBefore   time.Time `json:"notBefore,omitzero"`    // of ViewRecoverable: not by itself before
	Reason      string    `json:"reason,omitempty"`      // of the others: one sentence
	Leftover    bool      `json:"leftover,omitempty"`    // of ViewBlocked: by an agent that nobody supervises
	Ticket      Ticket    `json:"-"`
}

// Owner is what is known of the turn that has a cycle.
type Owner string

// The owners. What is not known is not gone.
const (
	OwnerUnknown Owner = ""
	OwnerAlive   Owner = "alive"
	OwnerGone    Owner = "gone" // it has ended, or nobody can end it any more
)

// Sighting is what somebody who looks at a session sees beside its row.
type Sighting struct {
	SessionID string // the session's transcript, as it is now
	Owner     Owner  // of the turn that continues the cycle, or that works in the foreground
	Leftover  bool   // an agent of the turn that was cut off runs without a supervisor
}

// Observe looks at a cycle and lets go of what a dead turn still holds: the
// attempt of one keeps its charge, for nobody knows what it did; a claim is
// dropped. Turns.Settle ends such turns before, so that this finds something
// only where that was not possible. Nothing else changes, and seeing it again
// changes nothing.
func (c Cycle) Observe(s Sighting, now time.Time) (Cycle, View) {
	if s.Owner == OwnerGone && s.SessionID == c.SessionID && c.Check() == nil {
		const why = "the turn that was at work is gone, and nobody knows what it did"
		switch {
		case c.Phase == CycleReserved:
			c, _ = c.End(c.Reservation.TurnID, AttemptUncertain, why, now)
		case c.Foreground != "":
			c, _ = c.Release(c.Foreground, false, now)
		}
	}
	return c, c.View(s)
}

// View is the cycle for somebody who only reads.
func (c Cycle) View(s Sighting) View {
	v := View{State: ViewInactive, Ticket: c.Ticket()}
	switch {
	case s.SessionID != c.SessionID, c.IsZero(), c.Phase == CycleClosed:
	case c.Phase == CycleTombstoned:
		v.State, v.Reason = ViewTombstoned, c.Reason
	case c.Check() != nil:
		v.State, v.Reason = ViewBlocked, "its record contradicts itself ("+c.Check().Error()+"); claw doctor --fix gives it up"
	case c.Phase == CycleReserved:
		v.State, v.Reason = ViewBlocked, "attempt "+ofBudget(c.Charged)+" is at work"
	case c.Foreground != "":
		v.State, v.Reason = ViewBlocked, "another turn of the session is at work"
	case c.exhausted():
		v.State, v.Reason = ViewExhausted, givenUp(c.Charged)
	case s.Leftover:
		v.State, v.Reason, v.Leftover = ViewBlocked, "its agent still runs, without a supervisor", true
	default:
		v.State, v.NextAttempt, v.NotBefore = ViewRecoverable, c.Charged+1, c.NotBefore
	}
	return v
}

func ofBudget(attempt int) string { return strconv.Itoa(attempt) + " of " + strconv.Itoa(Budget) }

// Due tells that the next attempt may be made by itself now. A wait that is
// longer than any is of a clock that was set back meanwhile.
func (v View) Due(now time.Time) bool {
	wait := v.NotBefore.Sub(now)
	return v.State == ViewRecoverable && (wait <= 0 || wait > recoveryAgain)
}

// Admits tells whether a turn of a kind may begin in the session. What claw
// begins by itself waits until nothing is left to be continued, for it would
// speak into the middle of it; a person need not wait for more than a turn that
// is at work. A tombstone stops both.
func (v View) Admits(k Kind) bool {
	switch v.State {
	case ViewInactive:
		return k != KindRecovery
	case ViewRecoverable:
		return k == KindRecovery || k == KindUser
	case ViewBlocked:
		return v.Leftover && k == KindUser
	}
	return false
}
