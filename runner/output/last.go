package output

import (
	"bytes"
	"unicode/utf8"
)

// lastChars keeps the last max characters of what is added, in little more
// memory than that.
type lastChars struct {
	max int
	buf []byte
	cut int64 // bytes dropped at the front
}

func (l *lastChars) add(p []byte) {
	if room := l.max * 2 * utf8.UTFMax; len(p) > room { // only its end can stay
		n := len(p) - room/2
		for n < len(p) && !utf8.RuneStart(p[n]) {
			n++
		}
		l.cut += int64(len(l.buf) + n)
		l.buf, p = l.buf[:0], p[n:]
	}
	l.buf = append(l.buf, p...)
	if len(l.buf) > l.max*2*utf8.UTFMax {
		l.trim()
	}
}

// trim drops all but the last max characters.
func (l *lastChars) trim() {
	if len(l.buf) <= l.max {
		return
	}
	n := cutFront(l.buf, l.max)
	l.cut += int64(n)
	l.buf = append(l.buf[:0], l.buf[n:]...)
}

func (l *lastChars) bytes() []byte {
	l.trim()
	return l.buf
}

// cutFront is where the last n characters of p begin.
func cutFront(p []byte, n int) int {
	i := len(p)
	for ; n > 0 && i > 0; n-- {
		_, k := utf8.DecodeLastRune(p[:i])
		i -= k
	}
	return i
}

// lastBytes is lastChars for raw bytes.
type lastBytes struct {
	max int
	buf []byte
}

func (l *lastBytes) add(p []byte) {
	p = p[max(len(p)-l.max, 0):]
	l.buf = append(l.buf, p...)
	if len(l.buf) > 2*l.max {
		l.buf = append(l.buf[:0], l.bytes()...)
	}
}

func (l *lastBytes) bytes() []byte { return l.buf[max(len(l.buf)-l.max, 0):] }

// pending keeps the last characters of each of two streams and the order in
// which they came.
type pending struct {
	streams [2]lastChars
	total   [2]int64 // bytes ever added
	runs    []pendingRun
	limit   int // of runs, before they are gone through
}

// pendingRun is text of one stream, up to where in that stream.
type pendingRun struct {
	stream int
	end    int64
}

func newPending(n int) *pending {
	return &pending{streams: [2]lastChars{{max: n}, {max: n}}, limit: 1024}
}

func (p *pending) add(stream int, text []byte) {
	if len(text) == 0 {
		return
	}
	p.streams[stream].add(text)
	p.total[stream] += int64(len(text))
	if n := len(p.runs); n > 0 && p.runs[n-1].stream == stream {
		p.runs[n-1].end = p.total[stream]
		return
	}
	p.runs = append(p.runs, pendingRun{stream, p.total[stream]})
	if len(p.runs) > p.limit {
		p.compact()
	}
}

// compact drops the runs whose text has been dropped, and joins what becomes
// neighbours. There are never more runs left than characters.
func (p *pending) compact() {
	kept := p.runs[:0]
	for _, r := range p.runs {
		if r.end <= p.streams[r.stream].cut {
			continue
		}
		if n := len(kept); n > 0 && kept[n-1].stream == r.stream {
			kept[n-1].end = r.end
			continue
		}
		kept = append(kept, r)
	}
	p.runs, p.limit = kept, 2*len(kept)+1024
}

func (p *pending) cut() bool { return p.streams[0].cut+p.streams[1].cut > 0 }

// text joins the streams again.
func (p *pending) text() string {
	for i := range p.streams {
		p.streams[i].trim()
	}
	p.compact()
	var b bytes.Buffer
	at := [2]int64{p.streams[0].cut, p.streams[1].cut}
	for _, r := range p.runs {
		s := &p.streams[r.stream]
		b.Write(s.buf[at[r.stream]-s.cut : r.end-s.cut])
		at[r.stream] = r.end
	}
	return b.String()
}
