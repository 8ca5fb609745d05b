package agent

import (
	"slices"
	"strings"
	"time"

	"claw/state"
	"claw/state/session"
)

// Attempt makes a turn the next attempt of the cycle of its session
// (spec/tasks-recovery.md 4.5). It is charged and reserved in the transaction
// that admits the turn: before anything is started.
type Attempt struct {
	Seen   session.Ticket // of the cycle that was decided about
	Number int            // View.NextAttempt, from 1
}

// FencedError says that nothing begins in a session any more: its recovery has
// been given up, or what is recorded of it contradicts itself.
type FencedError struct {
	SessionKey string
	Why        string
	Hint       string
}

func (e *FencedError) Error() string {
	return "session " + e.SessionKey + " takes no new work: " + e.Why
}

// Remedy is the way out.
func (e *FencedError) Remedy() string { return e.Hint }

// RenewCommand is the command that begins a session anew, as a person types it.
func RenewCommand(key string) string {
	k, err := session.Parse(key)
	switch {
	case err == nil && k.Kind == session.KeyMain && !k.Isolated && k.Agent == "main":
		return "claw sessions new"
	case err == nil && k.Kind == session.KeyMain && !k.Isolated:
		return "claw sessions new --agent " + k.Agent
	}
	return "claw sessions new " + key
}

// fence lets a turn into a session whose cycle allows it, in the transaction of
// its admission: an attempt with its charge, a person with a claim, everything
// else only where nothing waits to be continued. s is the session as it is
// before the turn, also where the turn begins a new transcript.
func (x *run) fence(s session.Session, t *session.Turn, now time.Time) (session.Session, error) {
	c := s.Recovery
	switch {
	case x.req.Recover != nil:
		c, no := c.Reserve(x.req.Recover.Seen, t.ID, x.req.Recover.Number, now)
		if no != nil {
			return s, no
		}
		t.DispatchID, t.Attempt = c.DispatchID, c.Charged
		return s.WithCycle(c, now), nil
	case t.Kind == session.KindUser && t.RunID == "":
		c, no := c.Claim(s.ID, t.ID, now)
		if no != nil {
			return s, fenced(s, no)
		}
		return s.WithCycle(c, now), nil
	}
	if v := c.View(session.Sighting{SessionID: s.ID}); !v.Admits(t.Kind) {
		return s, waiting(s, v)
	}
	return s, nil
}

// fenced is a rejected claim as whoever asks for a turn is told of it.
func fenced(s session.Session, no *session.Rejection) error {
	switch no.Code {
	case session.ConflictReservationActive, session.ConflictForegroundActive:
		return &BusyError{SessionKey: s.Key, Holder: no.Code.Words()}
	case session.ConflictTombstoned, session.ConflictExhausted:
		return GivenUp(s)
	}
	return &FencedError{SessionKey: s.Key, Why: no.Code.Words(), Hint: "claw doctor says what is wrong"}
}

// GivenUp is why nothing begins in a session whose recovery has been given up.
func GivenUp(s session.Session) *FencedError {
	return &FencedError{SessionKey: s.Key, Why: "a turn in it was cut off again and again, and recovery has been given up", Hint: RenewCommand(s.Key) + " begins a new conversation"}
}

// waiting is why a turn that nobody types may not begin: it looks again when
// what was cut off has been seen to.
func waiting(s session.Session, v session.View) error {
	if v.State == session.ViewTombstoned {
		return GivenUp(s)
	}
	return &BusyError{SessionKey: s.Key, Holder: "a turn that was cut off is seen to first (claw recover list)"}
}

// cycled moves the cycle of a turn's session with the end of the turn, in the
// transaction that writes the end. The row it returns has it; over are the
// cycles of which a person may still be owed something.
func cycled(tx *state.Tx, t session.Turn, f session.Finish) (over []session.Cycle, err error) {
	row, ok, err := state.Sessions.Get(tx, t.SessionKey)
	if err != nil || !ok {
		return nil, err
	}
	before := row.Rec.Recovery
	after, dropped := before.AfterTurn(t, f)
	if dropped != "" && after.SourceTurnID != dropped {
		// It is about another turn from now on: for the one before it is over.
		old := before
		old.Phase, old.Ending, old.Foreground, old.EndedAt = session.CycleClosed, session.EndSuperseded, "", t.EndedAt
		over = append(over, old)
	}
	if after == before {
		return over, nil
	}
	if isOver(after) {
		over = append(over, after)
	}
	return over, state.Sessions.Put(tx, row.ID, row.Rev, row.Rec.WithCycle(after, t.EndedAt))
}

func isOver(c session.Cycle) bool {
	return c.Phase == session.CycleClosed || c.Phase == session.CycleTombstoned
}

// settleOver tells whoever writes the messages of cycles that are over.
func (r *Turns) settleOver(tx *state.Tx, over []session.Cycle) error {
	for _, c := range over {
		if r.OnOver == nil {
			break
		}
		if err := r.OnOver(tx, c); err != nil {
			return err
		}
	}
	return nil
}

// Recent is the end of the conversation of a session, as far as recovery looks
// at it; empty where the file is of another transcript.
func (r *Turns) Recent(s session.Session) (session.Transcript, error) {
	tr, err := r.tail(s.Key, session.TailBytes, session.TailMessages)
	if tr.Header.ID != s.ID {
		tr = session.Transcript{}
	}
	return tr, err
}

// ReadOnly tells an agent that can go on without changing anything: it is the
// embedded one, or has a recover argv, or says {tools} in its argv.
func (ag Agent) ReadOnly() bool {
	if len(ag.Command) == 0 || len(ag.Recover) > 0 {
		return true
	}
	return ag.saysTools()
}

// ToolFree tells an agent that can be asked without tools: there is a program for
// that, or it says {tools} in its argv.
func (ag Agent) ToolFree() bool { return len(ag.Complete) > 0 || ag.saysTools() }

func (ag Agent) saysTools() bool {
	return slices.ContainsFunc(ag.Command, func(word string) bool { return strings.Contains(word, "{tools}") })
}

// known is the end of a turn of which nobody knows what its agent did, where
// its answer is known all the same: it gave a structured one, or the
// transcript, which is written before the end is, has it.
func (r *Turns) known(t session.Turn, e ending) ending {
	row, ok, err := r.turn(t.ID)
	if err == nil && ok && row.Response != nil {
		e.error = ""
		return said(t, e)
	}
	tr, err := r.tail(t.SessionKey, session.TailBytes, turnLines)
	if err != nil || tr.Header.ID != t.SessionID {
		return e
	}
	if reply, ok := session.FinalReply(tr.Entries, t.ID); ok {
		e.reply, e.bytes, e.error = reply, int64(len(reply)), ""
		return said(t, e)
	}
	return e
}
