package output

import (
	"encoding/base64"
	"fmt"
	"time"
)

// Cursor is how far a reader has read, with what it needs to go on in the
// middle of a rune or of a terminal sequence. The zero Cursor is the start.
type Cursor struct {
	Offset     int64     `json:"offset"`               // of the next byte to read
	Stdout     State     `json:"stdout,omitzero"`      //
	Stderr     State     `json:"stderr,omitzero"`      //
	EmptyPolls int       `json:"emptyPolls,omitempty"` // polls in a row that found nothing (spec 2.2.8)
	PolledAt   time.Time `json:"polledAt,omitzero"`    // set by the caller
}

// Text turns chunks into text: a decoder for each stream, and a line of its
// own where something is missing.
type Text struct {
	dec [2]Decoder
	mid bool // the text so far does not end a line
}

// NewText goes on where a cursor stands.
func NewText(c Cursor) *Text {
	return &Text{dec: [2]Decoder{c.Stdout.Decoder(), c.Stderr.Decoder()}}
}

// Append appends the text of a chunk to dst.
func (t *Text) Append(dst []byte, c Chunk) []byte {
	n := len(dst)
	if c.Gap > 0 {
		// Whatever was open at the gap is void: its end is gone.
		dst = t.Flush(dst)
		if t.mid {
			dst = append(dst, '\n')
		}
		dst = fmt.Appendf(dst, "[%d bytes of output are missing here]\n", c.Gap)
	}
	dst = t.dec[t.of(c.Stream)].Append(dst, c.Data)
	t.note(dst[n:])
	return dst
}

// Flush appends what is left of unfinished runes and forgets unfinished
// sequences: the output has ended.
func (t *Text) Flush(dst []byte) []byte {
	n := len(dst)
	dst = t.dec[1].Flush(t.dec[0].Flush(dst))
	t.note(dst[n:])
	return dst
}

func (t *Text) note(added []byte) {
	if len(added) > 0 {
		t.mid = added[len(added)-1] != '\n'
	}
}

func (t *Text) of(s Stream) int {
	if s == Stderr {
		return 1
	}
	return 0
}

// The characters of each stream that one poll shows (spec 1.8).
const (
	DefaultPending = 30000
	minPending     = 1000
	maxPending     = 200000
)

// Drained is what Drain found.
type Drained struct {
	Text    string
	Next    Cursor // to be saved once the text has been delivered
	Omitted bool   // Text lacks earlier characters of a stream that log still has
	Missing int64  // bytes between the cursors that are not on disk any more
	Bytes   int64  // raw bytes between the cursors that were read
	Binary  bool   // they look like no text; Base64 is set
	Base64  string // the last of them, at most as many bytes as a stream may have characters
}

// Drain reads what is unread after c, both streams in order of arrival, of
// each at most its last pending characters (0 is DefaultPending; clamped to
// 1000…200000). A rune or a sequence that is not complete waits for the next
// call, unless final says that there will be no more bytes. Nothing is
// changed: save Next to move on.
func (r *Reader) Drain(c Cursor, pending int, final bool) (Drained, error) {
	if pending == 0 {
		pending = DefaultPending
	}
	pending = min(max(pending, minPending), maxPending)
	size, err := r.size()
	if err == nil && c.Offset > size {
		size, err = r.size() // a folder listed while it changes may look older than it is
	}
	if err != nil {
		return Drained{}, err
	}
	if c.Offset > size { // a power cut has taken what was read: go on from there
		c = Cursor{Offset: size, EmptyPolls: c.EmptyPolls, PolledAt: c.PolledAt}
	}
	var d Drained
	t, keep, raw := NewText(c), newPending(pending), lastBytes{max: pending}
	var buf []byte
	next, err := r.Scan(c.Offset, size, Selection{}, func(chunk Chunk) error {
		d.Missing += chunk.Gap
		d.Bytes += int64(len(chunk.Data))
		raw.add(chunk.Data)
		buf = t.Append(buf[:0], chunk)
		keep.add(t.of(chunk.Stream), buf)
		return nil
	})
	if err != nil {
		return Drained{}, fmt.Errorf("read output: %w", err)
	}
	if final {
		keep.add(0, t.dec[0].Flush(nil))
		keep.add(1, t.dec[1].Flush(nil))
	}
	d.Text, d.Omitted = keep.text(), keep.cut()
	if d.Binary = LooksBinary(raw.bytes()); d.Binary {
		d.Base64 = base64.StdEncoding.EncodeToString(raw.bytes())
	}
	d.Next = Cursor{Offset: next, Stdout: t.dec[0].State(), Stderr: t.dec[1].State(), PolledAt: c.PolledAt}
	if d.Bytes == 0 && d.Missing == 0 && d.Text == "" {
		d.Next.EmptyPolls = c.EmptyPolls + 1
	}
	return d, nil
}
