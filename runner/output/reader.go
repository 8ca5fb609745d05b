package output

import (
	"fmt"
	"io"
	"time"

	"claw/state/process"
)

// Reader reads the output of one process, live or ended. It takes no lock
// and writes nothing; a segment that is removed under it counts as dropped.
// It holds no open file between calls and is safe for concurrent use.
type Reader struct {
	dir string
	fs  FS
}

// Open looks at the folder of a process. A process that has printed nothing
// has an empty output; only a folder that cannot be listed is an error.
func Open(dir string) (*Reader, error) { return OpenFS(dir, disk{}) }

// OpenFS is Open on another file system.
func OpenFS(dir string, fsys FS) (*Reader, error) {
	if _, err := fsys.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("open output: %w", err)
	}
	return &Reader{dir: dir, fs: fsys}, nil
}

// Close lets go of the reader.
func (r *Reader) Close() error { return nil }

// Selection says which bytes to read. The zero value is everything that is
// kept.
type Selection struct {
	Stream Stream    // Both, Stdout or Stderr
	Since  time.Time // only what arrived at or after; to 10 ms
	From   int64     // only from this offset on
}

func (s Selection) has(c Chunk) bool {
	return (s.Stream == Both || s.Stream == c.Stream) && (s.Since.IsZero() || !c.Time.Before(s.Since))
}

// Size is the offset after the last byte: what has been written so far, what
// was dropped counted. Zero when nothing can be read.
func (r *Reader) Size() int64 {
	s, _ := r.lastSegment()
	return s.end()
}

// LastAt is when output last arrived, to 10 ms; zero when none has.
func (r *Reader) LastAt() time.Time {
	_, at := r.lastSegment()
	return at
}

// lastSegment finds the end of the output and the time of the last byte.
func (r *Reader) lastSegment() (last segment, at time.Time) {
	l, err := list(r.fs, r.dir)
	if err != nil {
		return last, at
	}
	found := false
	for i := len(l.segments) - 1; i >= 0 && at.IsZero(); i-- {
		o, err := openForReading(r.fs, r.dir, l.segments[i])
		if err != nil {
			continue
		}
		if !found {
			last, found = segment{start: l.segments[i], size: o.size}, true
		}
		if o.size > 0 {
			at = time.Unix(0, runsFrom(&o.table, o.size-1, o.info.ModTime()).now.value)
		}
		o.Close()
	}
	return last, at
}

// Totals counts bytes and lines, kept and dropped, from the files alone. Only
// the segment being written has to be read for it.
func (r *Reader) Totals() process.Totals {
	l, err := list(r.fs, r.dir)
	if err != nil {
		return process.Totals{}
	}
	segs := measure(r.fs, r.dir, l.segments)
	if len(segs) == 0 {
		return process.Totals{}
	}
	last := segs[len(segs)-1]
	bol := last.startBOL
	if last.size > 0 {
		bol = r.byteAt(last.start, last.size-1) == '\n'
	}
	return totals(segs, last.end(), last.startLine+last.lines, bol)
}

func (r *Reader) byteAt(start, offset int64) byte {
	var b [1]byte
	if o, err := openForReading(r.fs, r.dir, start); err == nil {
		o.data.ReadAt(b[:], offset)
		o.Close()
	}
	return b[0]
}

// Copy writes the selected bytes to w, exactly as the command wrote them, up
// to what is there now. It returns the offset after the last byte looked at,
// and how many bytes in between were no longer there. With nothing selected
// and nothing dropped, w gets what the command wrote, byte for byte.
func (r *Reader) Copy(w io.Writer, sel Selection) (next, dropped int64, err error) {
	next, err = r.Scan(sel.From, r.Size(), sel, func(c Chunk) error {
		dropped += c.Gap
		_, err := w.Write(c.Data)
		return err
	})
	return next, dropped, err
}

// Sample returns up to n of the last raw bytes, for LooksBinary.
func (r *Reader) Sample(n int) []byte {
	var b []byte
	end := r.Size()
	r.Scan(max(end-int64(n), 0), end, Selection{}, func(c Chunk) error {
		b = append(b, c.Data...)
		return nil
	})
	return b
}

// Tail returns the last n characters, sanitised, for a list: it reads a
// little of the end only. Where that begins in the middle of the output it
// begins at a line.
func (r *Reader) Tail(n int) string {
	end := r.Size()
	from := max(end-max(64<<10, 8*int64(n)), 0)
	t := newTailText(n, from > 0)
	r.Scan(from, end, Selection{}, func(c Chunk) error {
		t.add(c.Stream, c.Data)
		return nil
	})
	return t.finish()
}
