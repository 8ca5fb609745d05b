package output

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// OpenWriter begins to capture into dir, or goes on where an earlier Writer
// stopped, whatever became of it: a supervisor that executed itself again, or
// one that was killed. The error is that dir cannot be listed.
func OpenWriter(dir string, o WriterOptions) (*Writer, error) {
	w := NewWriter(dir, o)
	l, err := list(w.fs, dir)
	if err != nil {
		return nil, err
	}
	if len(l.segments)+len(l.indexes) == 0 {
		return w, nil
	}
	w.sweepIndexes(l)
	w.segs, _ = measure(w.fs, dir, l.segments) // nobody else removes segments now
	if len(w.segs) == 0 {
		return w, nil
	}
	last := w.segs[len(w.segs)-1]
	w.end, w.lines, w.bol = last.end(), last.startLine+last.lines, last.startBOL
	w.resume()
	w.refill()
	return w, nil
}

// measure inspects segments in order; those that cannot be read count as
// dropped. It returns errVanished when the last one is gone.
func measure(fsys FS, dir string, starts []int64) ([]segment, error) {
	segs := make([]segment, 0, len(starts))
	var prev segment
	for i, start := range starts {
		s, err := inspect(fsys, dir, start, limitOf(starts, i), prev)
		switch {
		case err == nil:
			segs = append(segs, s)
			prev = s
		case errors.Is(err, errVanished) && i == len(starts)-1:
			return segs, err
		}
	}
	return segs, nil
}

// sweepIndexes removes indexes whose segment was never created or is gone.
func (w *Writer) sweepIndexes(l listing) {
	have := make(map[int64]bool, len(l.segments))
	for _, s := range l.segments {
		have[s] = true
	}
	for _, s := range l.indexes {
		if !have[s] {
			w.fs.Remove(filepath.Join(w.dir, segmentName(s)) + indexSuffix)
		}
	}
}

// resume opens the last segment for more, also when it was completed; unless
// its index is damaged, then the next byte begins another one.
func (w *Writer) resume() {
	seg := &w.segs[len(w.segs)-1]
	o, err := openForReading(w.fs, w.dir, seg.start)
	if err != nil {
		return
	}
	defer o.Close()
	var b [1]byte
	if n, _ := o.data.ReadAt(b[:], max(seg.size-1, 0)); n == 1 && seg.size > 0 {
		w.bol = b[0] == '\n'
	}
	last, n := o.table.prefix(seg.size)
	if last.kind != 0 {
		w.last = time.Unix(0, last.value)
	}
	c := w.open(seg.start)
	if !o.table.valid {
		if seg.size == 0 && w.remove(c.path) == nil { // the next one has the same name
			w.segs = w.segs[:len(w.segs)-1]
		}
		return
	}
	c.last = last
	if c.index, err = w.fs.OpenFile(c.path+indexSuffix, os.O_RDWR|nofollow, 0); err != nil {
		return
	}
	seg.index = headerSize + n*recordSize
	if err = c.index.Truncate(seg.index); err == nil {
		if c.data, err = w.fs.OpenFile(c.path, appendFlags, 0); err == nil {
			if c.info, err = c.data.Stat(); err == nil {
				w.cur = c
				return
			}
			c.data.Close()
		}
	}
	c.index.Close()
}

// refill reads the tail back into memory.
func (w *Writer) refill() {
	r := &Reader{dir: w.dir, fs: w.fs}
	w.ring.total = max(w.end-ringBytes, 0)
	w.ring.from = w.ring.total
	r.Scan(w.ring.total, w.end, Selection{}, func(c Chunk) error {
		w.ring.add(c.Stream, c.Data)
		return nil
	})
}
