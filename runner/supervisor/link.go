package supervisor

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/failpoint"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// detachPatience is how long the word "detached" may take.
const detachPatience = 2 * time.Second

// link is the supervisor's end of the conversation with its caller. While it
// is attached, output is streamed with the caller's own pace, as any pipe
// would; from the moment it is detached nothing waits for anybody.
type link struct {
	conn     *os.File
	messages chan frame // from the caller; a frame with kind 0 is its end
	next     chan bool  // the loop has acted on the last one
	writeMu  sync.Mutex // frames from several streams must not mix
	on       atomic.Bool
	head     [frameHeader]byte

	// For a re-execution (rescue.go):
	freezing atomic.Bool           // writes stop where they are
	rest     []byte                // of what was being written then; under writeMu
	inHand   atomic.Pointer[frame] // read from the caller, not acted on yet
	unacked  atomic.Bool           // an input frame whose taking has not been told
}

func (l *link) attached() bool { return l.on.Load() }

// open starts listening to the caller and streaming to it.
func (l *link) open() {
	l.attach()
	go l.listen()
}

func (l *link) attach() {
	l.messages, l.next = make(chan frame), make(chan bool, 1)
	l.on.Store(true)
}

// listen passes on what the caller says. Frames have their own memory: the
// loop reads them later.
func (l *link) listen() {
	for {
		f, err := readFrame(l.conn, nil)
		if err != nil {
			f = frame{}
		}
		l.inHand.Store(&f)
		if f.kind == frameInput {
			l.unacked.Store(true)
		}
		l.messages <- f
		<-l.next
		if err != nil || f.kind == frameDetach {
			return
		}
	}
}

// done lets listen go on.
func (l *link) done() {
	l.inHand.Store(nil)
	select {
	case l.next <- true:
	default:
	}
}

// stream sends one piece of output of st. A caller that cannot be reached any
// more is noticed by listen; here it only stops the streaming.
func (l *link) stream(st *stream, p []byte) {
	if !l.attached() || len(p) == 0 {
		st.unsent = nil
		return
	}
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	st.unsent = nil
	if !l.attached() {
		return
	}
	putHeader(l.head[:], st.kind(), len(p))
	if l.write(l.head[:], p) != nil && !l.freezing.Load() {
		l.on.Store(false)
	}
}

func (st *stream) kind() kind {
	if st.which == output.Stderr {
		return frameStderr
	}
	return frameStdout
}

// write sends parts one after the other. If a re-execution stops it midway,
// what is left goes to rest. The caller holds writeMu.
func (l *link) write(parts ...[]byte) error {
	var err error
	for _, p := range parts {
		n := 0
		if err == nil {
			n, err = l.conn.Write(p)
		}
		if err != nil && l.freezing.Load() {
			l.rest = append(l.rest, p[n:]...)
		}
	}
	return err
}

// send says one thing to an attached caller.
func (l *link) send(k kind, payload []byte) error {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	var head [frameHeader]byte
	putHeader(head[:], k, len(payload))
	return l.write(head[:], payload)
}

// drop ends the streaming and lets a stream that is stuck in a write to a
// caller that does not read go on.
func (l *link) drop() {
	l.on.Store(false)
	l.conn.SetWriteDeadline(time.Now())
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	l.conn.Close()
}

// end tells an attached caller the final row, and whether that has taken it.
func (l *link) end(row process.Process) (taken bool) {
	if !l.attached() {
		return false
	}
	raw, err := json.Marshal(row)
	if err == nil {
		err = l.send(frameEnd, raw)
	}
	if err == nil {
		taken = l.awaitClose()
	}
	l.on.Store(false)
	return taken
}

// awaitClose keeps the output directory until the caller has taken the end.
// What the caller asks meanwhile comes too late.
func (l *link) awaitClose() (taken bool) {
	for f := range l.messages {
		l.done()
		switch f.kind {
		case 0:
			return taken
		case frameTaken:
			taken = true
		case frameDetach:
			go l.listen() // it took that for the last word
		}
	}
	return taken
}

// fromCaller acts on what the caller of a foreground process says.
func (s *supervisor) fromCaller(f frame) {
	switch f.kind {
	case frameDetach:
		s.detach()
	case frameSignal:
		if len(f.payload) == 1 && s.exited == nil {
			s.forward(unix.Signal(f.payload[0]))
		}
	case frameInput:
		go s.feed(f.payload)
	case frameInputEOF:
		go s.stdin.eof()
	case frameSize:
		if s.term != nil && len(f.payload) == 4 {
			s.term.Resize(int(binary.BigEndian.Uint16(f.payload)), int(binary.BigEndian.Uint16(f.payload[2:])))
		}
	case 0:
		s.orphaned()
	}
}

// takeUp goes on with the conversation of an earlier incarnation: first what
// it had begun to say, then what it had been told and not done.
func (s *supervisor) takeUp(rest []byte, told *frame) {
	s.link.attach()
	if len(rest) > 0 {
		s.link.writeMu.Lock() // before any reader has something to say
		go s.link.finish(rest)
	}
	if told != nil {
		s.fromCaller(*told)
		if told.kind == frameDetach {
			return // it has the last word
		}
	}
	go s.link.listen()
}

// finish writes what a re-execution has cut off.
func (l *link) finish(rest []byte) {
	defer l.writeMu.Unlock()
	if l.write(rest) != nil && !l.freezing.Load() {
		l.on.Store(false)
	}
}

// freeze stops what is being written to the caller where it is, for good.
func (l *link) freeze() {
	l.freezing.Store(true)
	if l.conn != nil {
		l.conn.SetWriteDeadline(time.Now())
	}
	tryLock(&l.writeMu)
}

// unfinished is what the caller has still to get of what it was being told.
func (l *link) unfinished(streams []*stream) []byte {
	rest := l.rest
	for _, st := range streams {
		if p := st.unsent; len(p) > 0 {
			var head [frameHeader]byte
			putHeader(head[:], st.kind(), len(p))
			rest = append(append(rest, head[:]...), p...)
		}
	}
	if l.unacked.Load() {
		var ack [frameHeader]byte
		putHeader(ack[:], frameInputAck, 0)
		rest = append(rest, ack[:]...)
	}
	return rest
}

// feed types input of the caller and acknowledges it, so that the caller
// sends the next piece only when this one has been taken.
func (s *supervisor) feed(p []byte) {
	s.stdin.write(p)
	s.link.acknowledge()
}

// acknowledge asks the caller for its next piece of input.
func (l *link) acknowledge() {
	l.send(frameInputAck, nil)
	l.unacked.Store(false)
}

// forward is the child-process bridge of seed 002: the signal reaches the
// command's whole group, as a terminal would send it.
func (s *supervisor) forward(sig unix.Signal) {
	if s.ungrouped {
		proc.Signal(s.root, sig)
		return
	}
	proc.SignalGroup(s.root, sig, nil)
}

// detach moves the process to the background. The row is durable before the
// caller is told, and nothing is streamed after that word. A command that has
// ended meanwhile is a foreground result, and no answer is given here: the
// end is the answer.
func (s *supervisor) detach() {
	if s.exited != nil {
		go s.link.listen()
		return
	}
	failpoint.Hit("detaching")
	if err := s.promote(); err != nil {
		s.note("go to the background: " + err.Error())
	}
	s.link.on.Store(false)
	// A caller whose own reader is stuck cannot take the answer; it is not
	// waited for.
	s.link.conn.SetWriteDeadline(time.Now().Add(detachPatience))
	s.link.send(frameDetached, nil)
	s.link.conn.Close()
	s.link.messages = nil
}

// orphaned is what happens when the caller died in the foreground: its work
// goes on in the background, where it can be seen.
func (s *supervisor) orphaned() {
	s.link.drop()
	s.link.messages = nil
	if s.exited == nil {
		if err := s.promote(); err != nil {
			s.note("go to the background: " + err.Error())
		}
	}
}

func (s *supervisor) promote() error {
	return s.store.Update(context.Background(), func(tx *state.Tx) error { return settle.Promote(tx, s.id) })
}
