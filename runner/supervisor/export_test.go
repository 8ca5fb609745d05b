package supervisor

import (
	"io"
	"os"

	"claw/runner/output"
)

// What the tests of the protocol see.
var (
	SupervisorEnv = supervisorEnv
	Marked        = marked
	WithShortPath = withShortPath
	SendSpec      = sendSpec
	RecvSpec      = recvSpec
	Pollable      = pollable
)

const MaxFrame = maxFrame

// ReadFrame is readFrame with a kind that can be compared.
func ReadFrame(r io.Reader, buf []byte) (byte, []byte, error) {
	f, err := readFrame(r, buf)
	return byte(f.kind), f.payload, err
}

// WriteFrame is writeFrame.
func WriteFrame(w io.Writer, k byte, payload []byte) error { return writeFrame(w, kind(k), payload) }

// Link is an attached link over conn with one stream.
type Link struct {
	l  link
	st *stream
}

// NewLink attaches conn.
func NewLink(conn *os.File) *Link {
	k := &Link{st: newStream(output.Stdout, nil)}
	k.l.conn = conn
	k.l.attach()
	return k
}

// Stream sends a piece of output as a reader does.
func (k *Link) Stream(p []byte) {
	k.st.unsent = p
	k.l.stream(k.st, p)
}

// Unsent leaves a piece of output as a reader that panicked.
func (k *Link) Unsent(p []byte) { k.st.unsent = p }

// Freeze stops what is being written and returns what is left of it.
func (k *Link) Freeze() []byte {
	k.l.freeze()
	return k.l.unfinished([]*stream{k.st})
}

// Finish is what the next incarnation does with the rest.
func (k *Link) Finish(rest []byte) {
	k.l.writeMu.Lock()
	k.l.finish(rest)
}
