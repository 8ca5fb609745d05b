package session

// Finish is how a turn ended, as far as recovery asks.
type Finish struct {
	Status TurnStatus
	// Died: claw died between the admission and the start of the agent. Of
	// TurnNotAccepted; else the agent, or the attempt to start it, said no.
	Died bool
	// Signalled: the agent was ended by a signal that claw did not send. The
	// machine that shuts down ends it in this way, before the supervisor.
	Signalled bool
	// Stopped: a person ended it. That is an end, not an interruption.
	Stopped bool
}

// CutOff tells a turn that did not come to an end: nobody knows what its agent
// did, or it was never started because claw died. An agent that fails, that
// has had its time, or that says no has come to one.
func (f Finish) CutOff() bool {
	switch f.Status {
	case TurnLost:
		return true
	case TurnFailed:
		return f.Signalled && !f.Stopped
	case TurnNotAccepted:
		return f.Died
	}
	return false
}

// Attempt is what the end of a turn means for the cycle that it was an attempt
// of (spec/tasks-recovery.md 4.5, design.md section 5).
func (f Finish) Attempt() AttemptEnd {
	switch {
	case f.Status == TurnSucceeded:
		return AttemptAnswered
	case f.Status == TurnLost:
		return AttemptUncertain
	case f.Stopped:
		return AttemptStopped
	case f.Status == TurnFailed && f.Signalled:
		return AttemptUncertain
	case f.Status == TurnNotAccepted && f.Died:
		return AttemptUnstarted
	case f.Status == TurnNotAccepted:
		return AttemptRefused
	}
	return AttemptBroke
}

// Keeper is who sees to a turn that was cut off (seed 003, 17).
type Keeper string

// The keepers.
const (
	KeptByCycle      Keeper = "cycle"      // the recovery of its session
	KeptByAutomation Keeper = "automation" // its run ends as lost; the schedule goes on
	KeptBySubagent   Keeper = "subagent"   // see Resumes
	KeptByCadence    Keeper = "cadence"    // a periodic check: the next one looks again
	KeptByEvents     Keeper = "events"     // nothing was shown to anybody: what was to be shown is still queued
	KeptBySender     Keeper = "sender"     // content from outside: whoever sent it is told how it went
	KeptByNobody     Keeper = "nobody"     // it has an end
)

// KeeperOf tells who sees to a turn that has ended in a certain way.
func KeeperOf(t Turn, f Finish) Keeper {
	k, err := Parse(t.SessionKey)
	switch {
	case err != nil, !f.CutOff():
		return KeptByNobody
	case t.RunID != "", k.Kind == KeyCron:
		return KeptByAutomation
	case k.Kind == KeySubagent:
		return KeptBySubagent
	case t.Kind == KindHook, t.Kind == KindComplete:
		return KeptBySender
	case t.Kind == KindUser, t.Kind == KindRecovery:
		return KeptByCycle
	case f.Died:
		return KeptByEvents
	case k.Isolated, t.Kind == KindHeartbeat && len(t.EventIDs) == 0:
		return KeptByCadence
	}
	return KeptByCycle
}

// LossOf is the loss of a turn, for Cycle.Interrupt.
func LossOf(t Turn, f Finish) Loss {
	return Loss{SessionID: t.SessionID, TurnID: t.ID, Begun: !f.Died, Why: t.Error, At: t.EndedAt}
}

// AfterTurn is what the end of a turn makes of the cycle of its session, in the
// transaction that ends it. dropped is the turn that the cycle was about and is
// not any more: what it still owes a person (Unknown events, a notice) is due.
//
// A turn that has nothing to do with the cycle changes nothing.
func (c Cycle) AfterTurn(t Turn, f Finish) (after Cycle, dropped string) {
	switch {
	case c.Phase == CycleReserved && c.Reservation.TurnID == t.ID:
		after, _ = c.End(t.ID, f.Attempt(), t.Error, t.EndedAt)
	case KeeperOf(t, f) == KeptByCycle && t.Kind != KindRecovery:
		var no *Rejection
		if after, no = c.Interrupt(LossOf(t, f)); no == nil && c.Phase == CycleInterrupted {
			dropped = c.SourceTurnID
		}
	case c.Phase == CycleInterrupted && c.Foreground == t.ID:
		// A turn that began a new transcript has left the old one behind.
		done := f.Status == TurnSucceeded || t.SessionID != c.SessionID
		if after, _ = c.Release(t.ID, done, t.EndedAt); done {
			dropped = c.SourceTurnID
		}
	default:
		after = c
	}
	return after, dropped
}

// Notice is what a person is told when a cycle is over.
type Notice string

// The notices. Each is sent once, see ResendKey and TombstoneKey.
const (
	NoticeNone    Notice = ""
	NoticeLost    Notice = "lost"     // what the agent did about the events that it was shown is not known
	NoticeResend  Notice = "resend"   // it cannot be continued: send the message again
	NoticeGivenUp Notice = "given_up" // recovery has been given up: begin a new conversation
)

// Owes tells what a person has to be told of a cycle that is over, in the
// transaction that ends it. Until then nothing is told of a turn that was cut
// off, for it may still be answered. events says that its source had shown
// events: those are consumed with EndCompleted, and else unknown.
func (c Cycle) Owes(events bool) Notice {
	switch {
	case c.Phase == CycleTombstoned:
		return NoticeGivenUp
	case c.Phase != CycleClosed, c.Ending == EndCompleted:
		return NoticeNone
	case c.Ending == EndFailed:
		return NoticeResend
	case events:
		return NoticeLost
	}
	return NoticeNone
}
