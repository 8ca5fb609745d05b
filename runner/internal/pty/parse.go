package pty

import "strings"

// parseState is where in the syntax of ECMA-48 the output is.
type parseState uint8

const (
	ground         parseState = iota // plain text
	inEscape                         // after ESC
	inIntermediate                   // after ESC and intermediate bytes: the next other byte ends it
	inCSI                            // after ESC [
	inString                         // in OSC, DCS, SOS, PM or APC
	inStringEscape                   // ESC in such a string: an end, if \ follows
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
)

// parse moves the state by one byte and takes note of modes.
func (r *Responder) parse(b byte) {
	if b == can || b == sub { // they abort any sequence
		r.state = ground
		return
	}
	switch r.state {
	case ground:
		if b == esc {
			r.state = inEscape
		}
	case inEscape:
		r.parseEscape(b)
	case inIntermediate:
		r.parseIntermediate(b)
	case inCSI:
		r.parseCSI(b)
	case inString, inStringEscape:
		r.parseString(b)
	}
}

// parseEscape reads the byte after ESC. C0 characters act at once and do not
// end the sequence, 0x20 to 0x2f are intermediate bytes.
func (r *Responder) parseEscape(b byte) {
	switch {
	case b == '[':
		r.state, r.n = inCSI, 0
	case strings.IndexByte("]PX^_", b) >= 0:
		r.state = inString
	case b < 0x20: // C0; ESC too, it begins anew
	case b < 0x30:
		r.state = inIntermediate
	default:
		if b == 'c' { // full reset
			r.cursor.Store(uint32(CursorNormal))
			r.paste.Store(false)
		}
		r.state = ground
	}
}

// parseIntermediate waits for the end of a sequence such as ESC ( B.
func (r *Responder) parseIntermediate(b byte) {
	switch {
	case b == esc:
		r.state = inEscape
	case b >= 0x30:
		r.state = ground
	}
}

// parseCSI collects parameters and intermediate bytes up to the final one.
func (r *Responder) parseCSI(b byte) {
	switch {
	case b == esc:
		r.state = inEscape
	case b < 0x20 || b == 0x7f: // acts at once, the sequence goes on
	case b < 0x40:
		r.collect(b)
	default:
		r.state = ground
		r.modes(b)
	}
}

func (r *Responder) collect(b byte) {
	if r.n < maxParams {
		r.params[r.n] = b
	}
	r.n = min(r.n+1, maxParams+1)
}

// parseString waits for the end of a string: BEL or ESC \.
func (r *Responder) parseString(b byte) {
	switch {
	case b == bel, r.state == inStringEscape && b == '\\':
		r.state = ground
	case b == esc:
		r.state = inStringEscape
	default:
		r.state = inString
	}
}

// modes acts on a whole CSI: set and reset of private modes, soft reset.
func (r *Responder) modes(final byte) {
	if r.n > maxParams {
		return
	}
	params := string(r.params[:r.n])
	if final == 'p' && params == "!" {
		r.cursor.Store(uint32(CursorNormal))
	}
	list, private := strings.CutPrefix(params, "?")
	if !private || (final != 'h' && final != 'l') {
		return
	}
	for mode := range strings.SplitSeq(list, ";") {
		r.setMode(mode, final == 'h')
	}
}

// setMode follows the two private modes that matter for typing.
func (r *Responder) setMode(mode string, on bool) {
	switch mode {
	case "1":
		if on {
			r.cursor.Store(uint32(CursorApplication))
		} else {
			r.cursor.Store(uint32(CursorNormal))
		}
	case "2004":
		r.paste.Store(on)
	}
}
