package output

import (
	"bytes"
	"io/fs"
	"sync"
	"time"

	"claw/state/process"
)

// WriterOptions says how to capture. The zero value captures under
// DefaultCap.
type WriterOptions struct {
	Cap int64            // bytes kept on disk; 0 is DefaultCap, less than MinCap is MinCap
	Now func() time.Time // the wall clock for the index
	FS  FS               // nil: the operating system
}

const (
	indexEvery = 10 * time.Millisecond  // how finely arrival times are kept
	checkEvery = 100 * time.Millisecond // how soon a removed file is noticed
	maxBackoff = time.Second            // between attempts to create a segment
)

// Writer captures the output of one process. It is safe for the concurrent
// use by one goroutine per stream.
type Writer struct {
	dir  string
	fs   FS
	now  func() time.Time
	plan plan

	mu       sync.Mutex
	closed   bool
	end      int64     // offset after the last byte, dropped ones counted
	lines    int64     // line ends before end
	bol      bool      // the last byte ended a line, or there is none
	last     time.Time // of the last write
	segs     []segment // kept, oldest first; the last one is being written if cur is open
	cur      *current
	ring     ring
	held     held
	problems []Problem
	blame    int // the problem that drops are charged to

	fails   int       // failed attempts to begin a segment, in a row
	retryAt time.Time // when to try next
	checkAt time.Time // when to look whether the files are still there
}

// current is the segment being written: the last of Writer.segs.
type current struct {
	data, index File
	info        fs.FileInfo // of data when it was opened, to know it again
	path        string
	last        record // written to the index; of kind 0 before the first
	buf         [recordSize]byte
	limit       int64 // bytes of data
	indexLimit  int64 // bytes of index
}

// NewWriter begins to capture into dir, which must exist and hold no output
// yet. It touches nothing until there is something to write.
func NewWriter(dir string, o WriterOptions) *Writer {
	w := &Writer{dir: dir, fs: o.FS, now: o.Now, plan: planFor(o.Cap), bol: true, blame: -1}
	if w.fs == nil {
		w.fs = disk{}
	}
	if w.now == nil {
		w.now = time.Now
	}
	return w
}

// Write captures p. Whatever happens, it returns and the command goes on:
// what cannot be written is counted as dropped (Totals, Problems), but for the
// last of it where the disk is full: that is written when there is room. After Close
// it does nothing, late output of an ended process is not kept
// (spec/exec-process.md 1.8).
func (w *Writer) Write(stream Stream, p []byte) {
	if len(p) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	now := w.now()
	w.last = now
	w.ring.add(stream, p)
	w.check(now)
	w.flush(now)
	if w.held.bytes > 0 {
		w.hold(stream, p)
		return
	}
	switch rest := w.keep(stream, p, now); {
	case len(rest) == 0:
	case w.full():
		w.hold(stream, rest)
	default:
		w.lose(rest)
	}
}

// keep writes p, and returns what of it cannot be written now.
func (w *Writer) keep(stream Stream, p []byte, now time.Time) []byte {
	for len(p) > 0 {
		n := w.room(p)
		if n == 0 {
			w.finish()
			if !w.begin(now) {
				return p
			}
			continue
		}
		k, ok := w.put(stream, p[:n], now)
		if p = p[k:]; !ok {
			return p
		}
	}
	return nil
}

// room says how much of p goes into the current segment; 0 asks for a new
// one. A segment ends at a line end when one lies in the last stretch of it,
// so that what is dropped later is whole lines.
func (w *Writer) room(p []byte) int {
	if w.cur == nil {
		return 0
	}
	seg := &w.segs[len(w.segs)-1]
	room := w.cur.limit - seg.size
	if room <= 0 || seg.index+2*recordSize > w.cur.indexLimit {
		return 0
	}
	if int64(len(p)) <= room {
		return len(p)
	}
	look := min(room, w.cur.limit/8, 4<<10)
	if i := bytes.LastIndexByte(p[room-look:room], '\n'); i >= 0 {
		return int(room-look) + i + 1
	}
	if w.bol && look == room {
		return 0
	}
	return int(room)
}

// put writes p, which fits, and returns how many bytes of it are kept. After
// false there is no current segment.
func (w *Writer) put(stream Stream, p []byte, now time.Time) (int, bool) {
	w.mark(stream, now)
	n, err := w.cur.data.Write(p)
	if n > 0 {
		lines := int64(bytes.Count(p[:n], newline))
		seg := &w.segs[len(w.segs)-1]
		seg.size += int64(n)
		seg.lines += lines
		w.advance(p[:n], lines)
	}
	if err == nil {
		w.fails = 0
		return n, true
	}
	w.note("write", w.cur.path, err, now)
	w.abandon(now)
	return n, false
}

// mark writes an index record when one is due. It goes before the bytes, so
// that whoever sees them knows whose they are. A record that cannot be written
// is tried again with the next bytes; the current ones then count to the
// stream before them, which is better than losing them.
func (w *Writer) mark(stream Stream, now time.Time) {
	c, seg := w.cur, &w.segs[len(w.segs)-1]
	t := now.UnixNano()
	if c.last.kind == stream && t >= c.last.value && t-c.last.value < int64(indexEvery) {
		return
	}
	r := record{offset: seg.size, kind: stream, value: t}
	if _, err := c.index.WriteAt(r.append(c.buf[:0]), seg.index); err != nil {
		w.note("index", c.path+indexSuffix, err, now)
		return
	}
	c.last = r
	seg.index += recordSize
}

// lose counts bytes that are not kept.
func (w *Writer) lose(p []byte) {
	w.charge(int64(len(p)))
	w.advance(p, int64(bytes.Count(p, newline)))
}

func (w *Writer) advance(p []byte, lines int64) {
	w.end += int64(len(p))
	w.lines += lines
	w.bol = p[len(p)-1] == '\n'
}

// Totals counts what the command has written so far. Lines counts an
// unfinished last line; DroppedLines those whose end was dropped. It is
// what Reader.Totals finds on disk, as long as nobody removes files.
func (w *Writer) Totals() process.Totals {
	w.mu.Lock()
	defer w.mu.Unlock()
	end, lines, bol := w.end, w.lines, w.bol
	for _, piece := range w.held.pieces {
		end += int64(len(piece.data))
		lines += int64(bytes.Count(piece.data, newline))
		bol = piece.data[len(piece.data)-1] == '\n'
	}
	return totals(w.segs, end, lines, bol)
}

func totals(segs []segment, end, lines int64, bol bool) process.Totals {
	t := process.Totals{Bytes: end, Lines: lines, DroppedBytes: end, DroppedLines: lines}
	for _, s := range segs {
		t.DroppedBytes -= s.size
		t.DroppedLines -= s.lines
	}
	t.DroppedLines = max(t.DroppedLines, 0) // files changed by hand
	if !bol {
		t.Lines++
	}
	return t
}

// Tail returns the last n characters, sanitised (spec/exec-process.md 1.8),
// from memory. It holds when the files are gone.
func (w *Writer) Tail(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ring.tail(n)
}

// LastAt is when output last arrived, zero when none has.
func (w *Writer) LastAt() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Close completes the files. It does not sync them: a power cut soon after
// may cost the last seconds of output, a sync would cost every command
// that many milliseconds. It returns the last problem when bytes at the very
// end of the output are not accounted for on disk.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	now := w.now()
	w.checkAt, w.retryAt = time.Time{}, time.Time{}
	w.check(now)
	w.flush(now)
	w.loseHeld()
	w.finish()
	w.sweep(now)
	if w.end == w.keptEnd() {
		return nil
	}
	// Only an empty segment at the end can tell a reader how much is missing.
	w.retryAt = time.Time{}
	if w.begin(now) {
		w.finish()
		return nil
	}
	return w.problems[w.blame]
}
