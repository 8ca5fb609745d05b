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
