package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// begin opens a segment at the end of the output, after removing old ones for
// which there is no more room. False: not now.
func (w *Writer) begin(now time.Time) bool {
	if wait := w.retryAt.Sub(now); wait > 0 && wait <= maxBackoff {
		return false // a longer wait means that the clock was set back
	}
	if w.end > 0 && !w.evict(now) {
		w.backOff(now)
		return false
	}
	c, err := w.create()
	if err != nil {
		w.note("create", filepath.Join(w.dir, segmentName(w.end)), err, now)
		w.backOff(now)
		return false
	}
	w.cur, w.checkAt = c, now.Add(checkEvery)
	w.segs = append(w.segs, segment{start: w.end, startLine: w.lines, startBOL: w.bol, index: headerSize})
	return true
}

// create makes the files of the segment at the end: index first (doc.go).
func (w *Writer) create() (*current, error) {
	c := w.open(w.end)
	var err error
	if c.index, err = w.fs.OpenFile(c.path+indexSuffix, os.O_RDWR|createFlags, 0o600); err != nil {
		if !errors.Is(err, fs.ErrExist) || w.fs.Remove(c.path+indexSuffix) != nil {
			return nil, err
		}
		// The index of a segment that is gone was in the way.
		if c.index, err = w.fs.OpenFile(c.path+indexSuffix, os.O_RDWR|createFlags, 0o600); err != nil {
			return nil, err
		}
	}
	h := head{start: w.end, lines: w.lines, bol: w.bol}
	if _, err = c.index.WriteAt(h.append(nil), 0); err == nil {
		if c.data, err = w.fs.OpenFile(c.path, appendFlags|createFlags, 0o600); err == nil {
			if c.info, err = c.data.Stat(); err == nil {
				return c, nil
			}
			c.data.Close()
			w.fs.Remove(c.path)
		}
	}
	c.index.Close()
	w.fs.Remove(c.path + indexSuffix)
	return nil, err
}

// open names the segment at start and its limits.
func (w *Writer) open(start int64) *current {
	return &current{
		path:       filepath.Join(w.dir, segmentName(start)),
		limit:      w.plan.size(start),
		indexLimit: w.plan.index(start),
	}
}

// backOff spaces attempts: at once after the first failure (the next offset
// is another file name), then from 10 ms doubling to a second.
func (w *Writer) backOff(now time.Time) {
	w.retryAt = now
	if w.fails > 0 {
		w.retryAt = now.Add(min(10*time.Millisecond<<min(w.fails-1, 10), maxBackoff))
	}
	w.fails++
}

// finish completes the current segment, if there is one.
func (w *Writer) finish() {
	if w.cur == nil {
		return
	}
	c, seg := w.cur, &w.segs[len(w.segs)-1]
	r := record{offset: seg.size, kind: seal, value: seg.lines}
	if _, err := c.index.WriteAt(r.append(c.buf[:0]), seg.index); err == nil {
		seg.index += recordSize // without it, lines are counted when asked for
	}
	c.data.Close()
	c.index.Close()
	w.cur = nil
}

// abandon gives up the current segment after a failed write. What it holds
// stays; a segment that holds nothing is taken away again, so that a full disk
// does not fill with empty files.
func (w *Writer) abandon(now time.Time) {
	seg := w.segs[len(w.segs)-1]
	path := w.cur.path
	w.finish()
	if seg.size == 0 {
		w.fs.Remove(path)
		w.fs.Remove(path + indexSuffix)
		w.segs = w.segs[:len(w.segs)-1]
	}
	w.backOff(now)
}

// evict removes the oldest tail segments until there is room for another one.
// False: one cannot be removed, and more output would break the cap.
func (w *Writer) evict(now time.Time) bool {
	for {
		i, full := w.oldest()
		if !full {
			return true
		}
		path := filepath.Join(w.dir, segmentName(w.segs[i].start))
		if err := w.remove(path); err != nil {
			w.note("remove", path, err, now)
			return false
		}
		w.segs = append(w.segs[:i], w.segs[i+1:]...)
	}
}

// oldest finds the segment to go next, and whether one has to.
func (w *Writer) oldest() (i int, full bool) {
	if len(w.segs) > 0 && w.segs[0].start == 0 {
		i = 1
	}
	tail := w.segs[i:]
	if len(tail) == 0 {
		return 0, false
	}
	data, index := w.plan.segment, w.plan.index(1)
	for _, s := range tail {
		data += s.size
		index += s.index
	}
	return i, data > w.plan.tail || index > w.plan.tailIndex() || len(tail) >= w.plan.count
}

// remove deletes a segment, the data first (doc.go). What has been put in
// its place by somebody else is theirs and no longer counts.
func (w *Writer) remove(path string) error {
	if err := w.fs.Remove(path); err != nil {
		info, statErr := w.fs.Lstat(path)
		if !errors.Is(statErr, fs.ErrNotExist) && (statErr != nil || info.Mode().IsRegular()) {
			return err
		}
	}
	w.fs.Remove(path + indexSuffix)
	return nil
}

// check looks, now and then, whether the files being written are still the
// ones in the folder, and leaves them if they are not: what is written to a
// deleted file is written nowhere.
func (w *Writer) check(now time.Time) {
	if w.cur == nil || now.Before(w.checkAt) && w.checkAt.Sub(now) <= checkEvery {
		return
	}
	w.checkAt = now.Add(checkEvery)
	seg := &w.segs[len(w.segs)-1]
	path, info := w.cur.path, w.cur.info
	found, err := w.fs.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.vanished("removed", path, now)
	case err != nil:
		w.note("check", path, err, now) // perhaps it can still be written
	case !os.SameFile(found, info):
		w.vanished("replaced", path, now)
	case found.Size() != seg.size:
		w.truncated(found.Size(), now)
	default:
		if _, err := w.fs.Lstat(path + indexSuffix); errors.Is(err, fs.ErrNotExist) {
			w.note("removed", path+indexSuffix, nil, now)
			w.finish()
		}
	}
}

// vanished counts the current segment as dropped.
func (w *Writer) vanished(op, path string, now time.Time) {
	seg := w.segs[len(w.segs)-1]
	w.note(op, path, nil, now)
	w.charge(seg.size)
	w.finish()
	w.fs.Remove(path + indexSuffix)
	w.segs = w.segs[:len(w.segs)-1]
}

// truncated leaves a segment that somebody has cut (or written to).
func (w *Writer) truncated(size int64, now time.Time) {
	seg := &w.segs[len(w.segs)-1]
	path := w.cur.path
	w.note("truncated", path, nil, now)
	w.charge(max(seg.size-size, 0))
	w.finish()
	seg.size = min(size, seg.size)
	if f, err := w.fs.OpenFile(path, readFlags, 0); err == nil {
		seg.lines, _ = countLines(f, seg.size)
		f.Close()
	}
}

// sweep notices completed segments that are gone, so that the last Totals
// says what is there.
func (w *Writer) sweep(now time.Time) {
	kept := w.segs[:0]
	for _, s := range w.segs {
		path := filepath.Join(w.dir, segmentName(s.start))
		if info, err := w.fs.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			w.note("removed", path, nil, now)
			w.charge(s.size)
			continue
		}
		kept = append(kept, s)
	}
	w.segs = kept
}

// keptEnd is the end of the output as the files tell it.
func (w *Writer) keptEnd() int64 {
	if len(w.segs) == 0 {
		return 0
	}
	return w.segs[len(w.segs)-1].end()
}

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
	w.segs = measure(w.fs, dir, l.segments)
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
// dropped.
func measure(fsys FS, dir string, starts []int64) []segment {
	segs := make([]segment, 0, len(starts))
	var prev segment
	for _, start := range starts {
		if s, err := inspect(fsys, dir, start, prev); err == nil {
			segs = append(segs, s)
			prev = s
		}
	}
	return segs
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
	if !o.table.valid {
		return
	}
	c := w.open(seg.start)
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
