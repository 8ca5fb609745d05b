package agent

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"claw/state"
	"claw/state/session"
	"claw/state/ulid"
)

// Seen is a session as it really is: one whose turn nobody can end any more
// but the next tick is interrupted, not running.
type Seen struct {
	session.Session
	Holder string `json:"holder,omitempty"` // who is in the lane, in words; "" when it is free
	PID    int    `json:"pid,omitempty"`    // of the agent in the lane; 0 while it is not known
	Queued bool   `json:"queued,omitempty"` // somebody waits for the lane
}

// Sessions lists the sessions of one agent or ("") of all, by key. Nothing is
// written.
func (r *Turns) Sessions(agent string) ([]Seen, error) {
	var found []Seen
	err := r.Store.View(func(tx *state.Tx) error {
		found = found[:0]
		rows, err := state.Sessions.All(tx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if agent == "" || strings.EqualFold(row.Rec.Agent, agent) {
				found = append(found, Seen{Session: row.Rec})
			}
		}
		return nil
	})
	for i := 0; i < len(found) && err == nil; i++ {
		err = r.look(&found[i])
	}
	return found, err
}

// look completes a session. One that does not run has a free lane, but for
// instants.
func (r *Turns) look(s *Seen) error {
	if s.Status != session.Running {
		return nil
	}
	held, queued, err := Lane(r.Store, s.Key)
	if err != nil {
		return err
	}
	if s.Queued = queued; held {
		s.Holder, s.PID = r.holder(s.Key)
		return nil
	}
	s.Status = session.Interrupted
	return nil
}

// Session finds a session by what a person types, see session.Match.
func (r *Turns) Session(query string) (Seen, error) {
	all, err := r.Sessions("")
	if err != nil {
		return Seen{}, err
	}
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.Key
	}
	key, err := session.Match(query, keys)
	for _, s := range all {
		if err == nil && s.Key == key {
			return s, nil
		}
	}
	return Seen{}, err
}

// Renew begins a new transcript under a key, whose session is made if there is
// none; the old transcript is put aside as archive ("": there was none). A
// *BusyError says that a turn runs in it.
func (r *Turns) Renew(ctx context.Context, key, agent string) (s session.Session, archive string, err error) {
	if _, err := session.Parse(key); err != nil {
		return s, "", err
	}
	leave, err := r.take(ctx, key, 0, nil)
	if err != nil {
		return s, "", err
	}
	defer leave()
	err = r.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, key)
		if err != nil {
			return err
		}
		s = row.Rec
		if !ok {
			s = session.Session{Key: key, Agent: agent, CreatedAt: tx.Now()}
		}
		over := dismissed(s, tx.Now())
		s = s.Renewed(ulid.New(tx.Now()), tx.Now())
		if err := state.Sessions.Put(tx, key, row.Rev, s); err != nil {
			return err
		}
		return r.settleOver(tx, over)
	})
	if err == nil {
		archive, err = r.putAside(key, session.ArchiveReset)
	}
	return s, archive, err
}

// dismissed is the cycle of a session that somebody leaves behind, if something
// in it still waited to be continued.
func dismissed(s session.Session, now time.Time) []session.Cycle {
	c, no := s.Recovery.Close(s.Recovery.Ticket(), session.EndDismissed, "a new conversation was begun", now)
	if no != nil || c.SessionID != s.ID {
		return nil
	}
	return []session.Cycle{c}
}

// Remove takes a session out of the list and puts its transcript aside as
// archive. Its turns stay in their ledger. A *BusyError says that a turn runs
// in it or is about to, a *FencedError that its recovery was given up.
func (r *Turns) Remove(ctx context.Context, key string) (archive string, err error) {
	leave, err := r.take(ctx, key, 0, nil)
	if err != nil {
		return "", err
	}
	defer leave()
	err = r.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, key)
		if err != nil || !ok {
			return err
		}
		// What a person may not write to he may not take away either: without the
		// row nobody would know of the tombstone, or that one is due.
		if _, no := row.Rec.Recovery.Claim(row.Rec.ID, "", tx.Now()); no != nil {
			return fenced(row.Rec, no)
		}
		if err := state.Sessions.Delete(tx, key, row.Rev); err != nil {
			return err
		}
		return r.settleOver(tx, dismissed(row.Rec, tx.Now()))
	})
	if err == nil {
		archive, err = r.putAside(key, session.ArchiveDeleted)
	}
	return archive, err
}

// Forget takes a session and its transcript away for good, if it is not in use
// and useless says so of it as it is then. Its turns stay in their ledger.
func (r *Turns) Forget(ctx context.Context, key string, useless func(session.Session) bool) error {
	leave, err := r.take(ctx, key, 0, nil)
	if _, busy := errors.AsType[*BusyError](err); busy {
		return nil
	}
	if err != nil {
		return err
	}
	defer leave()
	gone := false
	err = r.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, key)
		if gone = err == nil && ok && row.Rec.Status != session.Running && useless(row.Rec); !gone {
			return err
		}
		return state.Sessions.Delete(tx, key, row.Rev)
	})
	if err != nil || !gone {
		return err
	}
	err = r.Store.FS().Remove(file(r.Store, key, transcriptExt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Now is the turn that runs in a session, or that waits to be settled; false
// when there is none.
func (r *Turns) Now(s session.Session) (t session.Turn, ok bool, err error) {
	if s.TurnID == "" {
		return t, false, nil
	}
	t, ok, err = r.turn(s.TurnID)
	return t, ok && !t.Status.Ended(), err
}
