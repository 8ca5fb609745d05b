package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

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
