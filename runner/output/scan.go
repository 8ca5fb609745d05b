package output

import (
	"errors"
	"io"
	"slices"
	"time"
)

// Chunk is a piece of output: bytes of one stream that arrived at one time.
type Chunk struct {
	Offset int64     // of Data in the whole output
	Gap    int64     // bytes just before Offset that are gone; Data is empty then
	Stream Stream    // Stdout or Stderr
	Time   time.Time // when the first of them arrived, to 10 ms
	Data   []byte    // only valid during the call
}

const scanBuffer = 64 << 10

// Scan calls fn for what is kept between the offsets from and to, in order of
// arrival, and for each gap. It returns the offset it came to, which is less
// than to when there is no more. An error of fn ends it and is returned.
func (r *Reader) Scan(from, to int64, sel Selection, fn func(Chunk) error) (int64, error) {
	s := &scan{r: r, pos: max(from, 0), to: to, sel: sel, fn: fn}
	for s.pos < s.to {
		before := s.pos
		again, err := s.pass()
		if err != nil {
			return s.pos, err
		}
		if s.pos == before && !again {
			break
		}
	}
	return s.pos, nil
}

type scan struct {
	r       *Reader
	pos, to int64
	sel     Selection
	fn      func(Chunk) error
	buf     []byte
}

// pass reads all segments that are there. The last of them may have grown, or
// have been followed by others, when it is done; the next pass sees that:
// a segment never grows once another one exists.
func (s *scan) pass() (again bool, err error) {
	l, err := list(s.r.fs, s.r.dir)
	if err != nil {
		return false, err
	}
	first := firstAt(l.segments, s.pos)
	for i, start := range l.segments[first:] {
		if s.pos >= s.to {
			return false, nil
		}
		if start > s.pos {
			if again, err = s.gap(start, l.segments); again || err != nil {
				return again, err
			}
		}
		if err := s.segment(start, limitOf(l.segments, first+i)); err != nil && !errors.Is(err, errVanished) {
			return false, err
		}
	}
	return false, nil
}

// firstAt is the index of the segment that may hold pos.
func firstAt(starts []int64, pos int64) int {
	i := 0
	for i+1 < len(starts) && starts[i+1] <= pos {
		i++
	}
	return i
}

// limitOf is where segment i must end: what somebody has added to a file by
// hand does not hide the segment after it.
func limitOf(starts []int64, i int) int64 {
	if i+1 < len(starts) {
		return starts[i+1]
	}
	return forever
}

// gap moves to start over bytes that are not there. It lists the folder once
// more first: a segment that was created while the folder was being listed may
// have been missed although a later one was seen. Then again asks for another
// pass.
func (s *scan) gap(start int64, known []int64) (again bool, err error) {
	l, err := list(s.r.fs, s.r.dir)
	if err != nil {
		return false, err
	}
	for _, other := range l.segments {
		if other >= s.pos && other < start && !slices.Contains(known, other) {
			return true, nil
		}
	}
	n := min(start, s.to) - s.pos
	s.pos += n
	if !s.sel.Since.IsZero() {
		return false, nil
	}
	return false, s.fn(Chunk{Offset: s.pos, Gap: n})
}

// segment reads one segment from pos to its end, which is at most limit.
func (s *scan) segment(start, limit int64) error {
	if s.pos < start || s.pos >= s.to {
		return nil
	}
	o, err := openForReading(s.r.fs, s.r.dir, start)
	if err != nil {
		return err
	}
	defer o.Close()
	end := min(o.size, limit-start, s.to-start)
	if s.buf == nil {
		s.buf = make([]byte, scanBuffer)
	}
	runs := runsFrom(&o.table, s.pos-start, o.info.ModTime())
	for off := s.pos - start; off < end; off = s.pos - start {
		n, err := o.data.ReadAt(s.buf[:min(scanBuffer, end-off)], off)
		if n == 0 {
			if err == io.EOF {
				return nil // cut short by somebody; what follows is a gap
			}
			return err
		}
		if err := s.split(s.buf[:n], start, runs); err != nil {
			return err
		}
	}
	return nil
}

// split hands out a block that stands at pos, run by run.
func (s *scan) split(p []byte, start int64, runs *runs) error {
	for len(p) > 0 {
		off := s.pos - start
		runs.seek(off)
		n := min(int64(len(p)), runs.next-off)
		c := Chunk{Offset: s.pos, Stream: runs.now.kind, Time: time.Unix(0, runs.now.value), Data: p[:n]}
		s.pos += n
		p = p[n:]
		if !s.sel.has(c) {
			continue
		}
		if err := s.fn(c); err != nil {
			return err
		}
	}
	return nil
}
