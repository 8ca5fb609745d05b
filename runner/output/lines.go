package output

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Lines is the log of a process as lines of text: what Reader.Lines counted,
// to be read from any line. It holds no text.
type Lines struct {
	Total   int   // lines; a last line without its end counts, nothing after the last end does not
	Chars   int64 // characters, line ends included
	Missing int64 // bytes not on disk any more within the selection; each gap shows as a line

	// Stamp, when set, appends what is to stand before a line whose first
	// byte arrived at t.
	Stamp func(dst []byte, t time.Time) []byte

	r      *Reader
	sel    Selection
	end    int64 // of the output when it was counted
	marks  []mark
	stride int64 // raw bytes between marks
}

// mark is a place to start reading from.
type mark struct {
	cur  Cursor
	line int  // line ends before it
	mid  bool // it is within a line
}

const (
	firstStride = 1 << 20
	maxMarks    = 128
)

// Lines counts the lines of the selected output (spec/exec-process.md 2.3):
// sanitised, both streams in order of arrival, CRLF for LF. What is written
// later is not seen.
func (r *Reader) Lines(sel Selection) (*Lines, error) {
	end, err := r.size()
	if err != nil {
		return nil, err
	}
	l := &Lines{r: r, sel: sel, end: end, stride: firstStride}
	var buf []byte
	n, mid, since := 0, false, int64(0)
	t := NewText(Cursor{})
	count := func(p []byte) {
		if len(p) == 0 {
			return
		}
		n += bytes.Count(p, newline)
		l.Chars += int64(utf8.RuneCount(p))
		mid = p[len(p)-1] != '\n'
	}
	_, err = r.Scan(sel.From, l.end, sel, func(c Chunk) error {
		if since += int64(len(c.Data)); since >= l.stride {
			l.mark(mark{Cursor{Offset: c.Offset - c.Gap, Stdout: t.dec[0].State(), Stderr: t.dec[1].State()}, n, mid})
			since = 0
		}
		l.Missing += c.Gap
		buf = t.Append(buf[:0], c)
		count(buf)
		return nil
	})
	count(t.Flush(nil))
	if l.Total = n; mid {
		l.Total++
	}
	return l, err
}

// mark remembers a place; when there are many, every other one is forgotten.
func (l *Lines) mark(m mark) {
	if len(l.marks) == maxMarks {
		for i := range maxMarks / 2 {
			l.marks[i] = l.marks[2*i+1]
		}
		l.marks = l.marks[:maxMarks/2]
		l.stride *= 2
	}
	l.marks = append(l.marks, m)
}

// before is the last place from which line from can be read whole.
func (l *Lines) before(from int) mark {
	best := mark{cur: Cursor{Offset: l.sel.From}}
	for _, m := range l.marks {
		if m.line < from || m.line == from && !m.mid {
			best = m
		}
	}
	return best
}

// Copy writes the lines from and up to, but not including, to, each with its
// line end. It reads no more than it has to and holds no line in memory.
func (l *Lines) Copy(w io.Writer, from, to int) error {
	if from >= to || from >= l.Total {
		return nil
	}
	m := l.before(max(from, 0))
	out := bufio.NewWriter(w)
	p := &printer{w: out, from: max(from, 0), to: to, n: m.line, mid: m.mid, stamp: l.Stamp}
	t := NewText(m.cur)
	t.mid = m.mid
	var buf []byte
	_, err := l.r.Scan(m.cur.Offset, l.end, l.sel, func(c Chunk) error {
		buf = t.Append(buf[:0], c)
		if p.add(buf, c.Time); p.n >= p.to {
			return io.EOF
		}
		return nil
	})
	if err != nil && err != io.EOF {
		return err
	}
	p.add(t.Flush(nil), time.Time{})
	p.finish()
	return out.Flush()
}

// Text is what Copy writes, without the last line end.
func (l *Lines) Text(from, to int) (string, error) {
	var b strings.Builder
	err := l.Copy(&b, from, to)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// printer cuts text into lines and prints some of them. An error of w comes
// out when it is flushed.
type printer struct {
	w        *bufio.Writer
	from, to int
	n        int  // line ends so far: the line we are in
	mid      bool // it has begun
	cr       bool // a CR is held back: with an LF it is none
	stamp    func([]byte, time.Time) []byte
}

func (p *printer) add(text []byte, t time.Time) {
	for len(text) > 0 && p.n < p.to {
		line, rest, ended := bytes.Cut(text, newline)
		text = rest
		if p.n < p.from {
			p.mid = true
			if ended {
				p.n, p.mid = p.n+1, false
			}
			continue
		}
		p.line(line, ended, t)
	}
}

func (p *printer) line(part []byte, ended bool, t time.Time) {
	if !p.mid && p.stamp != nil {
		p.w.Write(p.stamp(nil, t))
	}
	p.mid = true
	if p.cr && (len(part) > 0 || !ended) {
		p.w.WriteByte('\r')
		p.cr = false
	}
	if n := len(part); n > 0 && part[n-1] == '\r' {
		p.cr, part = true, part[:n-1]
	}
	p.w.Write(part)
	if ended {
		p.w.WriteByte('\n')
		p.n, p.mid, p.cr = p.n+1, false, false
	}
}

// finish ends a last line that has no end.
func (p *printer) finish() {
	if p.mid && p.n >= p.from && p.n < p.to {
		p.line(nil, false, time.Time{})
		p.w.WriteByte('\n')
	}
}

// Aggregate returns the last n characters of the sanitised output, both
// streams in order of arrival, and whether there was more
// (spec/exec-process.md 1.8; n is 200000 there).
func (r *Reader) Aggregate(n int) (s string, cut bool, err error) {
	end, err := r.size()
	if err != nil {
		return "", false, err
	}
	keep := lastChars{max: n}
	t := NewText(Cursor{})
	var buf []byte
	_, err = r.Scan(0, end, Selection{}, func(c Chunk) error {
		buf = t.Append(buf[:0], c)
		keep.add(buf)
		return nil
	})
	keep.add(t.Flush(nil))
	b := keep.bytes()
	return string(b), keep.cut > 0, err
}
