package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"claw/runner/output"
	"claw/state/process"
	"claw/state/session"
)

// excerpt keeps the head and the tail of what is written to it, whole where it
// fits.
type excerpt struct {
	max   int
	head  []byte // up to max/2
	tail  []byte // a ring of the last bytes after the head
	at    int    // where the ring is written next, once it is full
	cut   bool   // something is gone: the head is not added to any more
	total int64
}

func newExcerpt(max int) *excerpt { return &excerpt{max: max} }

func (x *excerpt) half() int { return x.max / 2 }

// Write takes p; it never fails.
func (x *excerpt) Write(p []byte) (int, error) {
	n := len(p)
	x.total += int64(n)
	if free := x.half() - len(x.head); free > 0 && !x.cut {
		k := min(free, len(p))
		x.head, p = append(x.head, p[:k]...), p[k:]
	}
	room := x.max - x.half()
	if len(p) > room {
		p = p[len(p)-room:]
	}
	if k := min(room-len(x.tail), len(p)); k > 0 {
		x.tail, p = append(x.tail, p[:k]...), p[k:]
	}
	for len(p) > 0 {
		k := copy(x.tail[x.at:], p)
		x.at, p = (x.at+k)%len(x.tail), p[k:]
	}
	return n, nil
}

// gap counts bytes that are gone. What came before them and is not in the head
// is left out with them.
func (x *excerpt) gap(n int64) {
	x.total, x.cut = x.total+n, true
	x.tail, x.at = x.tail[:0], 0
}

// String is everything, or the head, a line that says how much is missing,
// and the tail; with the line it is a little shorter than max.
func (x *excerpt) String() string {
	tail := string(x.tail[x.at:]) + string(x.tail[:x.at])
	missing := x.total - int64(len(x.head)+len(tail))
	if missing == 0 {
		return string(x.head) + tail
	}
	const note = 80 // room for the line
	head := wholeRunes(string(x.head[:max(0, len(x.head)-note)]))
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left := x.total - int64(len(head)+len(tail))
	return head + fmt.Sprintf("\n[… %d bytes are left out here …]\n", left) + tail
}

// wholeRunes is s without the beginning of a character at its end.
func wholeRunes(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// replyOf reads what an agent has said: its stdout, and the last line of its
// stderr. Output that was captured once and is not there any more, or never
// got to the disk, is missing: that is not an agent that said nothing.
func replyOf(dir string, t process.Totals) (e ending, lastErr string, err error) {
	out, err := output.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ending{missing: true}, "", nil
	}
	if err != nil {
		return ending{}, "", err
	}
	defer out.Close()
	end := out.Size()
	kept, said := newExcerpt(session.MaxTranscriptReply), newExcerpt(2*maxError)
	_, err = out.Scan(0, end, output.Selection{}, func(c output.Chunk) error {
		switch {
		case c.Gap > 0:
			kept.gap(c.Gap)
		case c.Stream == output.Stderr:
			said.Write(c.Data)
		default:
			kept.Write(c.Data)
		}
		return nil
	})
	e = ending{reply: kept.String(), bytes: kept.total, missing: end == 0 && t.Bytes+t.DroppedBytes > 0}
	return e, lastLine(said.String()), err
}

// lastLine is the last line of s that says something, fit to be shown.
func lastLine(s string) string {
	s = strings.TrimSpace(output.Sanitize([]byte(s)))
	s = s[strings.LastIndexAny(s, "\r\n")+1:]
	const most = 300
	return cutText(strings.TrimSpace(s), most)
}

// CopyReply writes the whole reply of an ended turn, byte for byte as the
// agent wrote it, as long as its output is kept; else what its row has of it.
func (r *Turns) CopyReply(w io.Writer, t session.Turn) error {
	if t.ProcessID != "" {
		if out, err := output.Open(r.Store.ProcessDir(t.ProcessID)); err == nil {
			defer out.Close()
			_, _, err := out.Copy(w, output.Selection{Stream: output.Stdout})
			return err
		}
	}
	_, err := io.WriteString(w, t.Reply)
	return err
}

// broken remembers that a writer has failed and is not written to again.
type broken struct {
	w    io.Writer
	done bool
}

func (b *broken) write(p []byte) {
	if b.w == nil || b.done {
		return
	}
	if _, err := b.w.Write(p); err != nil {
		b.done = true
	}
}
