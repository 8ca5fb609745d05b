package supervisor

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/failpoint"
	"claw/runner/internal/pty"
	"claw/runner/output"
)

// readSize is the largest piece read from a pipe at once; pipeSize is what
// the kernel is asked to hold for a command that writes faster than that.
const (
	readSize = 128 << 10
	pipeSize = 1 << 20
)

// stream is one captured pipe or terminal.
type stream struct {
	which   output.Stream
	file    syscall.Conn
	last    atomic.Int64 // when something was last read, on the monotonic clock
	discard atomic.Bool
	unsent  []byte       // kept, and not yet in a frame to the caller
	total   atomic.Int64 // bytes read
	busy    atomic.Bool  // a piece is on its way to the caller, at the caller's pace
	owed    int64        // what total must reach: all that was written when the command ended
}

func newStream(which output.Stream, f syscall.Conn) *stream {
	return &stream{which: which, file: f}
}

func (st *stream) lastRead() time.Duration { return time.Duration(st.last.Load()) }

// owe notes, when the command has ended, how much it had written that was not
// read yet. A reader that is slow because the caller is slow gets it all. The
// caller of owe holds the gate, so that nothing is being read meanwhile.
func (st *stream) owe() {
	rc, err := st.file.SyscallConn()
	if err != nil {
		return
	}
	rc.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unreadBytes); err == nil {
			st.owed = st.total.Load() + int64(n)
		}
	})
}

// paid tells that all of it has been read and handed on.
func (st *stream) paid() bool { return st.total.Load() >= st.owed && !st.busy.Load() }

// capture starts one reader per stream and returns a channel that is closed
// when all have reached their end.
func (s *supervisor) capture() chan struct{} {
	var wg sync.WaitGroup
	for _, st := range s.streams {
		wg.Go(func() {
			defer rescue(s)
			s.read(st)
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	return done
}

// read copies one stream until its end. A buffer is taken only when there is
// something to read, so that an idle supervisor holds none.
func (s *supervisor) read(st *stream) {
	rc, err := st.file.SyscallConn()
	if err != nil {
		return
	}
	defer s.flush(st)
	for {
		var n int
		var readErr error
		err := rc.Read(func(fd uintptr) bool {
			n, readErr = s.readOnce(st, int(fd))
			return !errors.Is(readErr, unix.EAGAIN)
		})
		if err != nil || (readErr != nil && !errors.Is(readErr, unix.EINTR)) || (n == 0 && readErr == nil) {
			return // closed; or EIO, the end of a terminal; or end of file
		}
	}
}

// flush passes on what a terminal's filter kept back to see whether it would
// become a query.
func (s *supervisor) flush(st *stream) {
	if s.term == nil || st.discard.Load() {
		return
	}
	if p := s.responder.Flush(nil); len(p) > 0 {
		s.out.Write(st.which, p)
		st.unsent = p
		s.link.stream(st, p)
	}
}

// readOnce moves one piece to disk, then to the caller while it is attached:
// what a caller saw is never more than what was kept. The gate makes reading
// and keeping one step for a re-execution (rescue.go).
func (s *supervisor) readOnce(st *stream, fd int) (int, error) {
	buf := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buf)
	s.gate.RLock()
	n, err := unix.Read(fd, buf[:])
	if n <= 0 || st.discard.Load() {
		s.gate.RUnlock()
		return max(n, 0), err
	}
	st.last.Store(int64(s.clock.Elapsed()))
	st.total.Add(int64(n))
	st.busy.Store(true)
	p := s.keep(st.which, buf[:n])
	st.unsent = p
	s.gate.RUnlock()
	failpoint.Hit("captured")
	s.link.stream(st, p)
	st.busy.Store(false)
	return n, nil
}

// keep takes one piece into the record and returns what is to be seen of it:
// queries that a program sends to its terminal are answered here and are not
// output.
func (s *supervisor) keep(which output.Stream, p []byte) []byte {
	if s.term != nil {
		var queries int
		p, queries = s.responder.Filter(make([]byte, 0, len(p)+8), p)
		if queries > 0 {
			go s.stdin.write([]byte(strings.Repeat(pty.Reply, queries)))
		}
	}
	s.out.Write(which, p)
	return p
}

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}
