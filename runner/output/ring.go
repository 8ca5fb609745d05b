package output

import (
	"bytes"
	"unicode/utf8"
)

const (
	ringBytes = 16 << 10 // 2000 characters of four bytes, and as much again in escape sequences
	ringRuns  = 512
)

// ring remembers the last bytes written, so that the tail of the output is
// known when its files are not. It never allocates.
type ring struct {
	total int64 // bytes ever added; byte i is at buf[i % ringBytes]
	from  int64 // bytes before this have lost their run
	buf   [ringBytes]byte
	runs  [ringRuns]ringRun
	n     int // runs in use, oldest first
}

// ringRun is a stretch of one stream; it begins where the one before it ends.
type ringRun struct {
	end    int64
	stream Stream
}

func (r *ring) add(stream Stream, p []byte) {
	r.mark(stream, r.total+int64(len(p)))
	if cut := len(p) - ringBytes; cut > 0 {
		r.total += int64(cut)
		p = p[cut:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.total%ringBytes:], p)
		r.total += int64(n)
		p = p[n:]
	}
}

// mark notes that bytes up to end are of the stream. When there are too many
// runs, the older half is forgotten.
func (r *ring) mark(stream Stream, end int64) {
	if r.n > 0 && r.runs[r.n-1].stream == stream {
		r.runs[r.n-1].end = end
		return
	}
	if r.n == ringRuns {
		r.from = r.runs[ringRuns/2-1].end
		r.n = copy(r.runs[:], r.runs[ringRuns/2:])
	}
	r.runs[r.n] = ringRun{end: end, stream: stream}
	r.n++
}

// tail returns the last n characters, sanitised.
func (r *ring) tail(n int) string {
	pos := max(r.from, r.total-ringBytes)
	t := newTailText(n, pos > 0)
	for _, run := range r.runs[:r.n] {
		for pos < run.end {
			at := pos % ringBytes
			k := min(run.end-pos, ringBytes-at)
			t.add(run.stream, r.buf[at:at+k])
			pos += k
		}
	}
	return t.finish()
}

// tailText makes the last n characters of text from bytes that may begin
// anywhere. Begun in the middle it skips to the first line end or carriage
// return, because what stands before that may be the rest of a rune or of an
// escape sequence; but not further than tailSkip bytes.
type tailText struct {
	skip int // bytes that may still be passed over
	text *Text
	keep lastChars
	buf  []byte
}

const tailSkip = 4 << 10

func newTailText(n int, middle bool) *tailText {
	t := &tailText{text: NewText(Cursor{}), keep: lastChars{max: n}}
	if middle {
		t.skip = tailSkip
	}
	return t
}

func (t *tailText) add(stream Stream, p []byte) {
	if t.skip > 0 {
		p = t.begin(p)
	}
	t.buf = t.text.Append(t.buf[:0], Chunk{Stream: stream, Data: p})
	t.keep.add(t.buf)
}

// begin passes over the start of p, or all of it.
func (t *tailText) begin(p []byte) []byte {
	n := min(len(p), t.skip)
	if i := bytes.IndexAny(p[:n], "\r\n"); i >= 0 {
		t.skip = 0
		return p[i+1:]
	}
	t.skip -= n
	for n < len(p) && !utf8.RuneStart(p[n]) {
		n++
	}
	return p[n:]
}

func (t *tailText) finish() string {
	t.keep.add(t.text.Flush(nil))
	return string(t.keep.bytes())
}
