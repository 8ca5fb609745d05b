package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long the command may print nothing; 0: for ever. Time in
// which the machine sleeps does not count.
func (s *supervisor) silence() time.Duration {
	return time.Duration(s.spec.Row.NoOutputTimeoutMs) * time.Millisecond
}

// lastPrinted is when output was last read, or when the command was started.
func (s *supervisor) lastPrinted() time.Duration {
	last := s.begun
	for _, st := range s.streams {
		last = max(last, st.lastRead())
	}
	return last
}

// silenceEnds is when the command will have printed nothing for too long; 0:
// never. What it has printed and nobody has read yet, because the caller reads
// slowly or this program was not given time, puts it off.
func (s *supervisor) silenceEnds() time.Duration {
	if s.silence() <= 0 {
		return 0
	}
	at := s.lastPrinted() + s.silence()
	if now := s.clock.Elapsed(); at <= now && s.unread() {
		return now + settleQuiet
	}
	return at
}

func (s *supervisor) silentFor(at time.Duration) bool {
	return s.silence() > 0 && at-s.lastPrinted() >= s.silence()
}

// unread tells that the command has printed something that is on its way.
func (s *supervisor) unread() bool {
	for _, st := range s.streams {
		if st.busy.Load() || st.waiting() > 0 {
			return true
		}
	}
	return false
}

// waiting is how many bytes stand in the pipe or terminal.
func (st *stream) waiting() (n int) {
	rc, err := st.file.SyscallConn()
	if err != nil {
		return 0
	}
	rc.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unreadBytes) })
	return n
}

// sooner is the earlier of two instants of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
