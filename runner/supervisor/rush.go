package supervisor

import (
	"context"
	"errors"
	"os"
	"time"

	"claw/state"
)

// rushMost is how long the start of others is waited for at most: the caller
// may have been stopped in its midst.
const rushMost = 250 * time.Millisecond

// A rush is the start of many commands in the same moment. What each of them
// then costs (the record of its start, its end, what that sets off) would take
// the processors from those that have not started yet, so it is put off until
// the caller hangs up. Output, signals and deadlines are looked after meanwhile.

// A command may also be held: all is made ready, and it starts at a word of its
// caller.

// errAbandoned: the caller went away and never gave the word.
var errAbandoned = errors.New("whoever was to start it is gone")

// held waits for the word.
func (s *supervisor) held() error {
	if !s.spec.Held {
		return nil
	}
	f, err := readFrame(s.link.conn, nil)
	if err != nil || f.kind != frameGo {
		return errAbandoned
	}
	return nil
}

// takeBack undoes the claim of a command that was abandoned, so that it is
// nothing that ever began: whoever claimed it may claim it anew.
func (s *supervisor) takeBack() int {
	s.out.Close()
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, s.id)
		if err != nil || !ok {
			return err
		}
		if t, ok, err := state.Tasks.Get(tx, row.Rec.TaskID); err != nil {
			return err
		} else if ok {
			if err := state.Tasks.Delete(tx, t.ID, t.Rev); err != nil {
				return err
			}
		}
		return state.Processes.Delete(tx, s.id, row.Rev)
	})
	if err != nil {
		s.note("take the claim back: " + err.Error())
		return 1 // its row is settled by the next look, as lost
	}
	os.RemoveAll(s.dir)
	return 0
}

// rushEnds tells when the caller has started them all, or is gone.
func (s *supervisor) rushEnds() <-chan struct{} {
	over := make(chan struct{})
	conn := s.link.conn
	conn.SetReadDeadline(time.Now().Add(rushMost))
	go func() {
		defer rescue(s)
		defer close(over)
		defer conn.Close()
		var b [1]byte
		conn.Read(b[:]) // the caller says nothing: this is its end
	}()
	return over
}

// rushed does what was put off.
func (s *supervisor) rushed() {
	s.rush = nil
	s.recordStart()
}
