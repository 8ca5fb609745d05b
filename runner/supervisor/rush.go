package supervisor

import "time"

// rushMost is how long the start of others is waited for at most: the caller
// may have been stopped in its midst.
const rushMost = 250 * time.Millisecond

// A rush is the start of many commands in the same moment. What each of them
// then costs (the record of its start, its end, what that sets off) would take
// the processors from those that have not started yet, so it is put off until
// the caller hangs up. Output, signals and deadlines are looked after meanwhile.

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
