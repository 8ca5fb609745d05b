package output

import (
	"errors"
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
	end, _ := r.size()
	return end
}

// size is Size for those who must not take what cannot be read for nothing.
func (r *Reader) size() (int64, error) {
	s, _, err := r.lastSegment()
	if err != nil {
		return 0, fmt.Errorf("read output: %w", err)
	}
	return s.end(), nil
}

// LastAt is when output last arrived, to 10 ms; zero when none has.
func (r *Reader) LastAt() time.Time {
	_, at, _ := r.lastSegment()
	return at
}

// lastSegment finds the end of the output and the time of the last byte.
func (r *Reader) lastSegment() (last segment, at time.Time, err error) {
	err = r.steady(func(starts []int64) error {
		for i := len(starts) - 1; i >= 0 && at.IsZero(); i-- {
			o, err := openForReading(r.fs, r.dir, starts[i])
			if errors.Is(err, errVanished) && i < len(starts)-1 {
				continue
			}
			if err != nil {
				return err
			}
			if i == len(starts)-1 {
				last = segment{start: starts[i], size: o.size}
			}
			if o.size > 0 {
				at = time.Unix(0, runsFrom(&o.table, o.size-1, o.info.ModTime()).now.value)
			}
			o.Close()
		}
		return nil
	})
	return last, at, err
}

// steady lists the segments for fn, and does so again when fn finds that the
// last of them has vanished. Then the writer has been so fast that all but the
// head are other ones by now, and to go on would be to find the output shorter
// than it was.
func (r *Reader) steady(fn func(starts []int64) error) error {
	var err error
	for range 1000 {
		var l listing
		if l, err = list(r.fs, r.dir); err != nil {
			return err
		}
		if err = fn(l.segments); !errors.Is(err, errVanished) {
			return err
		}
	}
	return err
}

// Totals counts bytes and lines, kept and dropped, from the files alone. Only
// the segment being written has to be read for it.
func (r *Reader) Totals() process.Totals {
	var segs []segment
	r.steady(func(starts []int64) (err error) {
		segs, err = measure(r.fs, r.dir, starts)
		return err
	})
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
	end, err := r.size()
	if err != nil {
		return sel.From, 0, err
	}
	next, err = r.Scan(sel.From, end, sel, func(c Chunk) error {
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
