package output

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// easy takes what needs no state from the start of p: text, and sequences of
// the usual kind that are whole. It is an optimisation of step, nothing else.
func easy(dst, p []byte) ([]byte, []byte) {
	for {
		n := plain(p)
		n += wide(p[n:])
		dst, p = append(dst, p[:n]...), p[n:]
		skip := wholeCSI(p)
		if p = p[skip:]; n+skip == 0 {
			return dst, p
		}
	}
}

// wide is how many bytes at the start of p are text beyond ASCII as it stands.
func wide(p []byte) int {
	i := 0
	for i < len(p) && p[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(p[i:])
		if n == 1 || r <= 0x9f || isFormat(r) {
			break
		}
		i += n
	}
	return i
}

// wholeCSI is the length of the CSI sequence that p begins with, 0 when it
// does not begin with one that is whole and has nothing odd in it.
func wholeCSI(p []byte) int {
	if len(p) < 3 || p[0] != esc || p[1] != '[' {
		return 0
	}
	n := 2 + parameters(p[2:])
	if n == len(p) || p[n] < 0x40 || p[n] >= del {
		return 0
	}
	return n + 1
}

// plain is how many bytes at the start of p are text as they stand. It looks
// at eight at a time while all of them are printable ASCII.
func plain(p []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		control := (x - 0x20*ones) &^ x // top bit of a byte below 20
		y := x ^ del*ones
		deleted := (y - ones) &^ y // top bit of a byte that is 7f
		if (x|control|deleted)&tops == 0 {
			continue
		}
		for _, c := range p[i : i+8] {
			if !isPlain(c) {
				return i
			}
			i++
		}
		i -= 8
	}
	for ; i < len(p) && isPlain(p[i]); i++ {
	}
	return i
}

func isPlain(c byte) bool {
	return c >= 0x20 && c < del || c == '\n' || c == '\r' || c == '\t'
}

// parameters is how many bytes at the start of p cannot end a CSI sequence.
func parameters(p []byte) int {
	i := 0
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x40 {
		i++
	}
	return i
}

// isFormat tells the invisible characters of the Unicode category Cf (ZWJ,
// BOM, soft hyphen, bidi marks). Most text is decided without the table.
func isFormat(r rune) bool {
	switch {
	case r < 0x600:
		return r == 0xad
	case r >= 0x2070 && r < 0xfeff, r >= 0x1d17b && r < 0xe0000:
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

// LooksBinary tells bytes that are no text in any sense (pain B06): more than
// a fifth of them, and not just a few, are NUL, other control characters that
// text does not use, or not UTF-8. Such output is shown in base64 as well.
func LooksBinary(p []byte) bool {
	bad := 0
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1 && utf8.FullRune(rest):
			bad++
		case r < 0x20 && (r < bel || r > '\r' && r != esc):
			bad++
		}
		rest = rest[n:]
	}
	return bad >= 8 && bad*5 > len(p)
}
