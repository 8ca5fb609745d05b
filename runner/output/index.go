package output

import (
	"encoding/binary"
	"io"
	"time"
)

// Stream is where a byte came from.
type Stream uint8

// The streams. A terminal has only Stdout.
const (
	Both   Stream = 0 // in a Selection: no matter which
	Stdout Stream = 1
	Stderr Stream = 2
)

// String is the name people type after --stream.
func (s Stream) String() string {
	switch s {
	case Both:
		return "all"
	case Stdout:
		return "stdout"
	case Stderr:
		return "stderr"
	}
	return "unknown"
}

// seal is the kind of the last record of a segment that is complete: its
// offset is the segment's size and its second half the number of line ends,
// so that nobody has to count them again. It says nothing about a stream.
const seal = 3

// An index is a header of 32 bytes and records of 16, all little endian:
//
//	header  "clawidx1"  start offset  start line << 1 | begins a line  0
//	record  offset in the segment << 2 | kind    nanoseconds since 1970
//
// A record of zeros (a hole left by a power cut) has no kind and is damage.
const (
	headerSize = 32
	recordSize = 16
	magic      = "clawidx1"
)

// head is the header of an index.
type head struct {
	start int64
	lines int64
	bol   bool
}

func (h head) append(b []byte) []byte {
	n := uint64(h.lines) << 1
	if h.bol {
		n |= 1
	}
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.start))
	b = binary.LittleEndian.AppendUint64(b, n)
	return binary.LittleEndian.AppendUint64(b, 0)
}

// parseHead reads a header that must belong to the segment at start.
func parseHead(b []byte, start int64) (head, bool) {
	if len(b) < headerSize || string(b[:8]) != magic || binary.LittleEndian.Uint64(b[8:]) != uint64(start) {
		return head{}, false
	}
	n := binary.LittleEndian.Uint64(b[16:])
	return head{start: start, lines: int64(n >> 1), bol: n&1 == 1}, true
}

// record says: from offset on, bytes are of this stream, and came at time.
type record struct {
	offset int64 // within the segment
	kind   Stream
	value  int64 // nanoseconds; of a seal, line ends
}

func (r record) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.offset)<<2|uint64(r.kind))
	return binary.LittleEndian.AppendUint64(b, uint64(r.value))
}

func parseRecord(b []byte) (record, bool) {
	n := binary.LittleEndian.Uint64(b)
	r := record{offset: int64(n >> 2), kind: Stream(n & 3), value: int64(binary.LittleEndian.Uint64(b[8:]))}
	return r, r.kind != 0
}

// table reads the records of one index, in blocks; it is not safe for
// concurrent use. The zero table has no records.
type table struct {
	f     io.ReaderAt
	bytes int64 // of the file
	n     int64 // records in it, a torn one not counted
	head  head
	valid bool // the header is

	block []byte // records from first on
	first int64
}

// openTable never fails: what cannot be read is a table without records.
func openTable(f File, start int64) table {
	if f == nil {
		return table{}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return table{}
	}
	t := table{f: f, bytes: info.Size()}
	var b [headerSize]byte
	if n, _ := f.ReadAt(b[:], 0); n < headerSize {
		return t
	}
	if t.head, t.valid = parseHead(b[:], start); t.valid {
		t.n = (t.bytes - headerSize) / recordSize
	}
	return t
}

// at returns record i. It is false beyond the last one and for a damaged one.
func (t *table) at(i int64) (record, bool) {
	if i < 0 || i >= t.n {
		return record{}, false
	}
	if i < t.first || i >= t.first+int64(len(t.block)/recordSize) {
		if !t.load(i) {
			return record{}, false
		}
	}
	return parseRecord(t.block[(i-t.first)*recordSize:])
}

func (t *table) load(i int64) bool {
	const blockRecords = 256
	if t.block == nil {
		t.block = make([]byte, blockRecords*recordSize)
	}
	t.block = t.block[:min(blockRecords, t.n-i)*recordSize]
	n, _ := t.f.ReadAt(t.block, headerSize+i*recordSize)
	t.first, t.block = i, t.block[:n-n%recordSize]
	return len(t.block) > 0
}

// find returns the last record at or before offset, -1 when there is none.
// In a damaged table it returns some record before offset, or -1.
func (t *table) find(offset int64) int64 {
	lo, hi := int64(0), t.n // the answer is in [lo-1, hi)
	for lo < hi {
		mid := (lo + hi) / 2
		if r, ok := t.at(mid); ok && r.offset <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// sealed returns the number of line ends when the segment was completed at
// exactly this size.
func (t *table) sealed(size int64) (int64, bool) {
	r, ok := t.at(t.n - 1)
	if !ok || r.kind != seal || r.offset != size || r.value < 0 || r.value > size {
		return 0, false
	}
	return r.value, true
}

// runs walks a table in step with the bytes.
type runs struct {
	t    *table
	i    int64
	now  record // the run we are in
	next int64  // where it ends; a large number for the last
}

const forever = int64(1) << 62

// runsFrom starts at an offset. Bytes before the first record, or without an
// index at all, are taken for stdout at the time given.
func runsFrom(t *table, offset int64, fallback time.Time) *runs {
	r := &runs{t: t, i: t.find(offset), now: record{kind: Stdout, value: fallback.UnixNano()}}
	for i := r.i; i >= 0; i-- { // a seal in the way of the answer belongs to nobody
		if rec, ok := t.at(i); ok && rec.kind != seal {
			r.now = rec
			break
		}
	}
	r.peek()
	return r
}

// peek finds the end of the current run. Records that go backwards end the
// table: what follows belongs to the last good run.
func (r *runs) peek() {
	r.next = forever
	if rec, ok := r.t.at(r.i + 1); ok && rec.kind != seal && rec.offset >= r.now.offset {
		r.next = rec.offset
	}
}

// seek moves on to the run that holds offset.
func (r *runs) seek(offset int64) {
	for r.next <= offset {
		r.i++
		rec, ok := r.t.at(r.i)
		if !ok {
			r.next = forever
			return
		}
		r.now = rec
		r.peek()
	}
}

// prefix reads the whole table and returns the last record that names a
// stream, and how many records from the first on are sound: in order, at or
// below size, no seal among them.
func (t *table) prefix(size int64) (last record, n int64) {
	for ; n < t.n; n++ {
		r, ok := t.at(n)
		if !ok || r.kind == seal || r.offset < last.offset || r.offset > size {
			break
		}
		last = r
	}
	return last, n
}
