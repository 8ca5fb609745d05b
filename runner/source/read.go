package source

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"claw/runner/output"
	"claw/state/automation"
)

// The bounds of one Read.
const (
	MaxLine  = 64 << 10 // bytes of a line that are taken in; what is longer is cut
	MostRead = 4 << 20  // bytes of output that one Read looks at, of each stream
)

// Cursor is how far the output of a command has been read: its lines on
// stdout and on stderr are apart, so each has a place of its own.
type Cursor struct{ Out, Err int64 }

// Output is what Read found after a cursor.
type Output struct {
	Lines   []automation.Line // whole lines, in the order in which they began
	Next    Cursor            // after them
	Dropped int64             // bytes in between that the cap on output has taken
	More    bool              // there is more than one Read looks at
}

// Read takes the whole lines after a cursor from the output of the process in
// dir. final says that there will be no more: then a last line needs no end.
// A process whose output has been removed has none.
func Read(dir string, from Cursor, final bool) (Output, error) {
	r, err := output.Open(dir)
	if err != nil {
		return Output{Next: from}, err
	}
	defer r.Close()
	var found []placed
	out := Output{Next: from}
	for _, s := range []struct {
		stream output.Stream
		cursor *int64
	}{{output.Stdout, &out.Next.Out}, {output.Stderr, &out.Next.Err}} {
		t := &taker{stream: s.stream, final: final}
		if err := t.take(r, *s.cursor); err != nil {
			return Output{Next: from}, err
		}
		*s.cursor = t.next
		found = append(found, t.lines...)
		out.More = out.More || t.more
		if s.stream == output.Stdout { // both see the same gaps
			out.Dropped = t.dropped
		}
	}
	slices.SortStableFunc(found, func(a, b placed) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.offset, b.offset))
	})
	for _, l := range found {
		out.Lines = append(out.Lines, l.Line)
	}
	return out, nil
}

// Unread tells whether there is output after a cursor, a line or not.
func Unread(dir string, from Cursor) bool {
	r, err := output.Open(dir)
	if err != nil {
		return false
	}
	defer r.Close()
	return r.Size() > max(from.Out, from.Err)
}

// placed is a line with the offset of its first byte.
type placed struct {
	automation.Line
	offset int64
}

// taker cuts one stream into lines.
type taker struct {
	stream output.Stream
	final  bool

	lines   []placed
	next    int64
	dropped int64
	more    bool

	part  []byte // of a line that has no end yet, at most MaxLine
	begun bool   // there is one
	cut   bool   // it was longer, or its rest is gone
	at    time.Time
	place int64
}

func (t *taker) take(r *output.Reader, from int64) error {
	to := from + MostRead
	end, err := r.Scan(from, to, output.Selection{Stream: t.stream}, func(c output.Chunk) error {
		t.chunk(c)
		return nil
	})
	if err != nil {
		return err
	}
	t.more = end >= to
	switch {
	case !t.begun:
		t.next = end
	case t.final && !t.more:
		t.end()
		t.next = end
	case t.place == from && t.more: // a line without an end
		t.cut = true
		t.end()
		t.next = end
	default:
		t.next = t.place
	}
	return nil
}

func (t *taker) chunk(c output.Chunk) {
	if c.Gap > 0 {
		t.dropped += c.Gap
		if t.begun {
			t.cut = true
			t.end()
		}
		return
	}
	for p, offset := c.Data, c.Offset; len(p) > 0; {
		if !t.begun {
			t.begun, t.at, t.place = true, c.Time, offset
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.grow(p)
			return
		}
		t.grow(p[:i])
		t.end()
		p, offset = p[i+1:], offset+int64(i)+1
	}
}

func (t *taker) grow(p []byte) {
	n := min(len(p), MaxLine-len(t.part))
	t.part = append(t.part, p[:n]...)
	t.cut = t.cut || n < len(p)
}

// end closes the line that was begun.
func (t *taker) end() {
	text := output.Sanitize(bytes.TrimSuffix(t.part, []byte{'\r'}))
	t.lines = append(t.lines, placed{automation.Line{At: t.at, Text: text, Cut: t.cut}, t.place})
	t.part, t.begun, t.cut = t.part[:0], false, false
}
