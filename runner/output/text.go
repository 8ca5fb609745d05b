package output

import "unicode/utf8"

// Decoder turns raw bytes of one stream into text that is safe to show
// (spec/exec-process.md 1.8): terminal sequences and invisible format
// characters are removed, other control characters become a visible \xNN, and
// bytes that are not UTF-8 become U+FFFD. How the bytes are cut into calls
// makes no difference. The zero Decoder is ready for use.
type Decoder struct {
	mode    mode
	partial [utf8.UTFMax]byte // a rune that has not come whole
	n       int
}

// mode is where in a terminal sequence a decoder is.
type mode uint8

const (
	ground       mode = iota
	escape            // after ESC
	intermediate      // after ESC and a byte of 20-2f, as in ESC ( B
	csi               // after ESC [ or U+009B
	osc               // after ESC ] or U+009D, up to BEL or ST
	oscEscape         // after ESC in there: a backslash makes it ST
	text              // after ESC P, X, ^ or _ (DCS, SOS, PM, APC), up to ST
	textEscape        // after ESC in there
	modes             // how many there are
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
	st  = 0x9c
)

// Append appends the text of p to dst. What p leaves unfinished, a rune or
// a sequence, is kept for the next call.
func (d *Decoder) Append(dst, p []byte) []byte {
	for d.n > 0 && len(p) > 0 {
		dst, p = d.complete(dst, p)
	}
	for len(p) > 0 {
		switch d.mode {
		case ground:
			dst, p = easy(dst, p)
		case csi:
			p = p[parameters(p):]
		}
		if len(p) == 0 {
			break
		}
		r, n := rune(p[0]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRune(p) {
				d.n = copy(d.partial[:], p)
				break
			}
			if r, n = utf8.DecodeRune(p); n == 1 {
				n = badPrefix(p)
			}
		}
		p = p[n:]
		dst = d.step(dst, r)
	}
	return dst
}

// complete takes one more byte into a rune that was cut.
func (d *Decoder) complete(dst, p []byte) ([]byte, []byte) {
	d.partial[d.n] = p[0]
	if !utf8.FullRune(d.partial[:d.n+1]) {
		d.n++
		return dst, p[1:]
	}
	r, n := utf8.DecodeRune(d.partial[:d.n+1])
	if n == 1 {
		// The byte does not belong to it: what stood before is one mistake,
		// and the byte is looked at afresh.
		d.n = 0
		return d.step(dst, utf8.RuneError), p
	}
	d.n = 0
	return d.step(dst, r), p[1:]
}

// Flush appends what an end of input makes of an unfinished rune, and
// forgets an unfinished sequence.
func (d *Decoder) Flush(dst []byte) []byte {
	if d.n > 0 {
		dst = d.step(dst, utf8.RuneError)
	}
	*d = Decoder{}
	return dst
}

// badPrefix is the length of the longest start of p that could have become a
// rune: it makes one U+FFFD, as in the Unicode Standard (3.9, U+FFFD
// substitution of maximal subparts), browsers and Python.
func badPrefix(p []byte) int {
	n := 1
	for n < min(len(p), utf8.UTFMax-1) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	if n > 1 || !utf8.FullRune(p[:1]) {
		return n
	}
	return 1
}

// step moves by one character.
func (d *Decoder) step(dst []byte, r rune) []byte {
	switch d.mode {
	case osc, oscEscape, text, textEscape:
		d.inString(r)
		return dst
	case ground:
		return d.inGround(dst, r)
	}
	switch {
	case r == esc: // a sequence inside a sequence: the first one is void
		d.mode = escape
	case r == can, r == sub:
		d.mode = ground
	case r < 0x20: // carried out by a terminal as if it stood outside
		dst = appendVisible(dst, r)
	case r == del: // ignored by a terminal
	case r < del:
		d.mode = d.next(r)
	default: // not part of any sequence
		d.mode = ground
		return d.inGround(dst, r)
	}
	return dst
}

// inGround handles a character outside of sequences.
func (d *Decoder) inGround(dst []byte, r rune) []byte {
	switch r {
	case esc:
		d.mode = escape
	case 0x9b:
		d.mode = csi
	case 0x9d:
		d.mode = osc
	case 0x90, 0x98, 0x9e, 0x9f:
		d.mode = text
	default:
		return appendVisible(dst, r)
	}
	return dst
}

// next is the mode after a printable character c of 20-7e in a sequence.
func (d *Decoder) next(c rune) mode {
	switch d.mode {
	case csi:
		if c < 0x40 {
			return csi
		}
		return ground
	case intermediate:
		if c < 0x30 {
			return intermediate
		}
		return ground
	}
	switch {
	case c < 0x30:
		return intermediate
	case c == '[':
		return csi
	case c == ']':
		return osc
	case c == 'P', c == 'X', c == '^', c == '_':
		return text
	}
	return ground
}

// inString handles a character of an OSC, DCS, SOS, PM or APC string, which
// swallows everything up to its end.
func (d *Decoder) inString(r rune) {
	isOSC := d.mode == osc || d.mode == oscEscape
	afterEscape := d.mode == oscEscape || d.mode == textEscape
	switch {
	case r == can, r == sub, r == st, r == bel && isOSC, r == '\\' && afterEscape:
		d.mode = ground
	case r == esc && isOSC:
		d.mode = oscEscape
	case r == esc:
		d.mode = textEscape
	case isOSC:
		d.mode = osc
	default:
		d.mode = text
	}
}

// appendVisible appends a character that is not part of a sequence.
func appendVisible(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '\n', r == '\r', r == '\t':
		return append(dst, byte(r))
	case r < 0x20, r >= del && r <= 0x9f:
		return append(dst, '\\', 'x', hex[r>>4], hex[r&15])
	case isFormat(r):
		return dst
	}
	return utf8.AppendRune(dst, r)
}

// State is a Decoder between two calls, to be stored.
type State struct {
	Mode    uint8  `json:"mode,omitempty"`    // 0: outside of sequences
	Partial []byte `json:"partial,omitempty"` // up to 3 bytes of a rune
}

// State returns where the decoder is.
func (d *Decoder) State() State {
	s := State{Mode: uint8(d.mode)}
	if d.n > 0 {
		s.Partial = append([]byte(nil), d.partial[:d.n]...)
	}
	return s
}

// Decoder goes on from a state. One that no Decoder can have left is taken
// for the zero State.
func (s State) Decoder() Decoder {
	if s.Mode >= uint8(modes) || len(s.Partial) >= utf8.UTFMax || len(s.Partial) > 0 && utf8.FullRune(s.Partial) {
		return Decoder{}
	}
	d := Decoder{mode: mode(s.Mode)}
	d.n = copy(d.partial[:], s.Partial)
	return d
}

// Sanitize is the text of p alone, as a whole.
func Sanitize(p []byte) string {
	var d Decoder
	return string(d.Flush(d.Append(make([]byte, 0, len(p)), p)))
}
