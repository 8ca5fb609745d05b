package pty

import (
	"bytes"
	"sync/atomic"
)

// Reply answers one cursor position query. The position is not tracked: a
// program that asks gets the top left corner; spec/exec-process.md 2.7.
const Reply = "\x1b[1;1R"

// Responder watches what programs write to a terminal. It takes the queries
// ESC[6n and ESC[?6n out and counts them, and follows the modes that change
// what has to be typed. All other bytes pass exactly. A sequence may be split
// between calls anywhere; inside an OSC, DCS, SOS, PM or APC string nothing is
// a query or a mode.
//
// The zero value is ready. Filter and Flush belong to one goroutine, the modes
// may be read by any.
type Responder struct {
	state  parseState
	held   heldPrefix
	params [maxParams]byte // of the CSI being read
	n      int             // bytes in params; maxParams+1 once it overflowed

	cursor atomic.Uint32 // a CursorMode
	paste  atomic.Bool
}

// maxParams bounds a CSI that modes are read from; longer ones pass unread.
const maxParams = 128

// CursorMode is the last mode set by ESC[?1h or ESC[?1l, or by a reset.
func (r *Responder) CursorMode() CursorMode { return CursorMode(r.cursor.Load()) }

// BracketedPaste tells whether the program wants pastes in brackets (?2004h).
func (r *Responder) BracketedPaste() bool { return r.paste.Load() }

// Filter appends what passes of p to dst and returns it with the number of
// queries taken out, each of which wants one Reply. The beginning of what may
// be a query is kept back until the next byte tells; see Flush.
func (r *Responder) Filter(dst, p []byte) ([]byte, int) {
	queries := 0
	for len(p) > 0 {
		if r.state == ground {
			i := bytes.IndexByte(p, esc)
			if i < 0 {
				return append(dst, p...), queries
			}
			dst, p = append(dst, p[:i]...), p[i:]
		}
		text := r.state == inString || r.state == inStringEscape
		b := p[0]
		p = p[1:]
		r.parse(b)
		if text {
			dst = append(dst, b)
			continue
		}
		next := r.held.after(b)
		switch next {
		case isQuery:
			queries++
			next = nothing
		case nothing:
			dst = append(append(dst, r.held.bytes()...), b)
		case gotESC: // a new sequence: what was kept back was none
			dst = append(dst, r.held.bytes()...)
		}
		r.held = next
	}
	return dst, queries
}

// Flush appends what is kept back, at the end of the output.
func (r *Responder) Flush(dst []byte) []byte {
	dst = append(dst, r.held.bytes()...)
	r.held, r.state = nothing, ground
	return dst
}

// heldPrefix says how much of a query has been read: exactly which bytes.
type heldPrefix uint8

const (
	nothing heldPrefix = iota
	gotESC
	gotCSI
	got6
	gotPrivate
	gotPrivate6
	isQuery
)

func (h heldPrefix) bytes() string {
	switch h {
	case gotESC:
		return "\x1b"
	case gotCSI:
		return "\x1b["
	case got6:
		return "\x1b[6"
	case gotPrivate:
		return "\x1b[?"
	case gotPrivate6:
		return "\x1b[?6"
	}
	return ""
}

// after is the prefix once b has been read too.
func (h heldPrefix) after(b byte) heldPrefix {
	switch {
	case b == esc:
		return gotESC
	case h == gotESC && b == '[':
		return gotCSI
	case h == gotCSI && b == '6':
		return got6
	case h == gotCSI && b == '?':
		return gotPrivate
	case h == gotPrivate && b == '6':
		return gotPrivate6
	case (h == got6 || h == gotPrivate6) && b == 'n':
		return isQuery
	}
	return nothing
}
