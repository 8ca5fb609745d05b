package session

import (
	"strconv"
	"time"
)

// How long a cycle waits.
const (
	recoveryFirst = 5 * time.Second // after an attempt of which nobody knows the outcome; it doubles (5, 10, 20 s)
	recoveryAgain = time.Minute     // after the agent refused
	// RefusedMost is how long an agent may refuse to continue before the cycle
	// is closed; refusals are not charged, and something has to bound them.
	RefusedMost = time.Hour
)

// Loss is a turn that was cut off.
type Loss struct {
	SessionID string // of its transcript
	TurnID    string
	Begun     bool   // its agent was started
	Why       string // one sentence
	At        time.Time
}

// Interrupt notes that a turn was cut off which was no attempt of this cycle:
// a new cycle begins. One that waits already goes on with what it has charged,
// and is about the newer turn from now on: whoever held it as the foreground
// lets go. Rejected: the same loss twice (stale_cycle), a cycle whose attempt
// is at work, and a tombstoned one of the same transcript.
func (c Cycle) Interrupt(l Loss) (Cycle, *Rejection) {
	const command = "mark_interrupted"
	same := c.SessionID == l.SessionID
	switch {
	case same && c.Phase != CycleNone && c.SourceTurnID == l.TurnID:
		return c, c.reject(command, ConflictStaleCycle)
	case same && c.Phase == CycleTombstoned:
		return c, c.reject(command, ConflictTombstoned)
	case same && c.Phase == CycleReserved:
		return c, c.reject(command, ConflictReservationActive)
	case same && c.Phase == CycleInterrupted:
		c.SourceTurnID, c.Foreground, c.Reason = l.TurnID, "", l.Why
		c.Begun = c.Begun || l.Begun
		return c.changed(l.At), nil
	}
	return Cycle{
		ID: l.TurnID, Revision: 1, SessionID: l.SessionID, Phase: CycleInterrupted, SourceTurnID: l.TurnID,
		Begun: l.Begun, Reason: l.Why, InterruptedAt: l.At, UpdatedAt: l.At,
	}, nil
}

// Reserve charges an attempt and gives the cycle to its turn, in the
// transaction that admits the turn. attempt is the one that was decided about:
// View.NextAttempt. The turn's DispatchID is that of the cycle it returns.
func (c Cycle) Reserve(seen Ticket, turnID string, attempt int, now time.Time) (Cycle, *Rejection) {
	const command = "prepare_attempt"
	for _, code := range [...]Conflict{c.shown(seen), c.free()} {
		if code != "" {
			return c, c.reject(command, code)
		}
	}
	switch {
	case c.exhausted():
		return c, c.reject(command, ConflictExhausted)
	case attempt != c.Charged+1:
		return c, c.reject(command, ConflictStaleRevision)
	}
	c.Phase, c.Charged = CycleReserved, attempt
	c.Reservation = Reservation{TurnID: turnID, Attempt: attempt}
	if c.DispatchID == "" {
		c.DispatchID = turnID
	}
	return c.changed(now), nil
}

// AttemptEnd is how an attempt ended.
type AttemptEnd string

// The ends of an attempt, with their charge and what follows.
const (
	AttemptAnswered  AttemptEnd = "answered"  // kept; completed
	AttemptRefused   AttemptEnd = "refused"   // given back: the agent said that it did nothing, or could not be started
	AttemptUncertain AttemptEnd = "uncertain" // kept: nobody knows what the agent did
	AttemptUnstarted AttemptEnd = "unstarted" // kept: claw died before the agent was started; a death is no refusal
	AttemptBroke     AttemptEnd = "broke"     // kept; failed: it is known to have gone wrong, and is not repeated
	AttemptStopped   AttemptEnd = "stopped"   // kept; cancelled: a person ended it
)

// End takes the cycle back from the turn of an attempt, in the transaction
// that ends the turn. why is one sentence. Rejected (stale_reservation): that
// turn does not have it.
func (c Cycle) End(turnID string, how AttemptEnd, why string, now time.Time) (Cycle, *Rejection) {
	if c.Phase != CycleReserved || c.Reservation.TurnID != turnID {
		return c, c.reject(how.command(), ConflictStaleReservation)
	}
	if how == AttemptRefused {
		c.Charged = c.Reservation.Attempt - 1
		if c.RefusedSince.IsZero() {
			c.RefusedSince = now
		}
		return c.waiting(why, now.Add(recoveryAgain), now), nil
	}
	c.RefusedSince = time.Time{}
	switch how {
	case AttemptAnswered:
		return c.closed(EndCompleted, why, now), nil
	case AttemptBroke:
		return c.closed(EndFailed, why, now), nil
	case AttemptStopped:
		return c.closed(EndCancelled, why, now), nil
	}
	c.Begun = c.Begun || how != AttemptUnstarted
	return c.waiting(why, now.Add(recoveryFirst<<(c.Charged-1)), now), nil
}

// command is what the spec calls it.
func (how AttemptEnd) command() string {
	switch how {
	case AttemptRefused:
		return "cancel_reservation"
	case AttemptUncertain, AttemptUnstarted:
		return "abandon_reservation"
	}
	return "clear"
}

// waiting is c with nobody at it.
func (c Cycle) waiting(why string, notBefore, now time.Time) Cycle {
	c.Phase, c.Reservation, c.Foreground = CycleInterrupted, Reservation{}, ""
	c.Reason, c.NotBefore = why, notBefore
	return c.changed(now)
}

func (c Cycle) closed(e Ending, why string, now time.Time) Cycle {
	c.Phase, c.Ending, c.Reservation, c.Foreground = CycleClosed, e, Reservation{}, ""
	c.Reason, c.NotBefore, c.EndedAt = why, time.Time{}, now
	return c.changed(now)
}

// Claim lets the turn of a person into a session, in the transaction that
// admits it; sessionID is the transcript as it is before the turn, also where
// the turn begins a new one: only `claw sessions new` is beyond a tombstone.
// Recovery waits then. Where nothing waits to be continued nothing changes.
func (c Cycle) Claim(sessionID, turnID string, now time.Time) (Cycle, *Rejection) {
	const command = "claim_foreground"
	switch {
	case c.SessionID != sessionID, c.IsZero(), c.Phase == CycleClosed:
		return c, nil
	case c.Phase == CycleTombstoned:
		return c, c.reject(command, ConflictTombstoned)
	case c.Phase == CycleReserved:
		return c, c.reject(command, ConflictReservationActive)
	case c.Check() != nil:
		return c, c.reject(command, ConflictStaleCycle)
	case c.exhausted():
		// The last charge fences the session until somebody writes the tombstone.
		return c, c.reject(command, ConflictExhausted)
	case c.Foreground == turnID:
		return c, nil
	case c.Foreground != "":
		return c, c.reject(command, ConflictForegroundActive)
	}
	c.Foreground = turnID
	return c.changed(now), nil
}

// Release ends a foreground claim, in the transaction that ends the turn. done
// says that the turn has succeeded: the conversation has gone on, and what was
// cut off before is not taken up again. Otherwise recovery goes on in a moment.
// A turn that was cut off itself is told to Interrupt instead.
func (c Cycle) Release(turnID string, done bool, now time.Time) (Cycle, *Rejection) {
	if c.Phase != CycleInterrupted || c.Foreground == "" || c.Foreground != turnID {
		return c, c.reject("release_foreground", ConflictStaleReservation)
	}
	if done {
		return c.closed(EndSuperseded, "the conversation has gone on", now), nil
	}
	return c.waiting(c.Reason, now.Add(recoveryFirst), now), nil
}

// Tombstone gives up: the fourth observation of a cycle that has been
// dispatched three times. Nothing in this transcript begins any more.
func (c Cycle) Tombstone(seen Ticket, now time.Time) (Cycle, *Rejection) {
	const command = "tombstone"
	for _, code := range [...]Conflict{c.shown(seen), c.free()} {
		if code != "" {
			return c, c.reject(command, code)
		}
	}
	if !c.exhausted() {
		return c, c.reject(command, ConflictAttemptsLeft)
	}
	c.Phase, c.NotBefore, c.EndedAt = CycleTombstoned, time.Time{}, now
	c.Reason = givenUp(c.Charged)
	return c.changed(now), nil
}

func givenUp(attempts int) string {
	return "given up after " + strconv.Itoa(attempts) + " attempts; nothing will be repeated, claw sessions new begins a new conversation"
}

// Close ends a cycle that waits without another attempt: what was cut off is
// complete, or cannot be continued safely, or a person does not want it to be.
func (c Cycle) Close(seen Ticket, e Ending, why string, now time.Time) (Cycle, *Rejection) {
	command := "clear"
	if e == EndFailed {
		command = "fail_recovery"
	}
	for _, code := range [...]Conflict{c.shown(seen), c.free()} {
		if code != "" {
			return c, c.reject(command, code)
		}
	}
	return c.closed(e, why, now), nil
}

// byHand is why a person may not decide about a cycle.
func (c Cycle) byHand(command string) *Rejection {
	if code := c.free(); code != "" {
		return c.reject(command, code)
	}
	if c.exhausted() {
		return c.reject(command, ConflictExhausted)
	}
	return nil
}

// Dismiss is a person's wish that nothing more be done about what was cut off. A
// cycle that is about to be given up is fenced as one that was
// (spec/tasks-recovery.md 4.7): only a new conversation is beyond it.
func (c Cycle) Dismiss(now time.Time) (Cycle, *Rejection) {
	if no := c.byHand("dismiss"); no != nil {
		return c, no
	}
	return c.closed(EndDismissed, "a person has dismissed it", now), nil
}

// Retry is a person's wish not to wait for the next attempt. It gives nothing
// back: a cycle without attempts has none.
func (c Cycle) Retry(now time.Time) (Cycle, *Rejection) {
	if no := c.byHand("retry"); no != nil {
		return c, no
	}
	c.NotBefore, c.RefusedSince = time.Time{}, time.Time{}
	return c.changed(now), nil
}
