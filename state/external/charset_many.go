package external

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// packed are the characters of charsets that have many, or are rare; see
// charset_gen.go.
//
//go:embed charsets.bin
var packed []byte

// Where the tables begin, and how many characters they have: for each first byte
// of two, each second byte.
const (
	gbk      = 0
	big5     = gbk + 126*190
	jis      = big5 + 89*157 // as Shift_JIS has them, which is by rows of 94
	korean   = jis + 60*188
	single   = korean + 126*190 // each 128 characters
	packedBy = single + 128*len(rare)
)

// rare are the charsets of one byte that are packed, in the order of their tables.
var rare = [...]string{
	"iso-8859-3", "iso-8859-4", "iso-8859-6", "iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-16",
	"windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874", "cp437", "cp850", "cp852", "cp866", "macintosh", "x-mac-cyrillic",
}

// unpacked are the tables; 0 is a place with no character.
var unpacked = sync.OnceValue(func() []uint16 {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	n := len(raw) / 2
	if err != nil || n != packedBy {
		return make([]uint16, packedBy) // it is part of the program, and tested
	}
	all := make([]uint16, n)
	var at uint16
	for i := range all {
		at += uint16(raw[i])<<8 | uint16(raw[n+i])
		all[i] = at
	}
	return all
})

// many makes UTF-8 of a text in a charset of several bytes, or of a rare one; ok
// is false for any other. Bytes that are no character are U+FFFD, and one that
// could stand for itself behind half a character does: nothing is swallowed.
func many(raw []byte, charset string) (text string, ok bool) {
	switch charset {
	case "utf-16", "utf-16be", "utf-16le":
		return utf16Text(raw, charset), true
	case "iso-2022-jp", "iso-2022-kr", "hz-gb-2312":
		return shifted(raw, charset), true
	}
	read := reader(charset)
	if read == nil {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(raw))
	for len(raw) > 0 {
		if raw[0] < utf8.RuneSelf {
			b.WriteByte(raw[0])
			raw = raw[1:]
			continue
		}
		r, n := read(raw)
		if r == 0 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		raw = raw[n:]
	}
	return b.String(), true
}

// reader reads one character that begins with a byte from 0x80 on; r is 0 for
// none, n at least 1.
func reader(charset string) func(raw []byte) (r rune, n int) {
	if i := slices.Index(rare[:], charset); i >= 0 {
		at := single + 128*i
		return func(raw []byte) (rune, int) { return rune(unpacked()[at+int(raw[0])-0x80]), 1 }
	}
	switch charset {
	case "gbk", "gb18030":
		return chinese
	case "big5":
		return func(raw []byte) (rune, int) { return pair(raw, big5, 0xA1, 0xF9, 0x40, 0x7E, 0xA1, 0xFE) }
	case "shift_jis":
		return japanese
	case "euc-jp":
		return func(raw []byte) (rune, int) {
			switch {
			case raw[0] == 0x8E && len(raw) > 1 && raw[1] >= 0xA1 && raw[1] <= 0xDF:
				return 0xFF61 + rune(raw[1]-0xA1), 2
			case raw[0] == 0x8F && len(raw) > 2 && raw[1] >= 0xA1 && raw[2] >= 0xA1: // of JIS X 0212
				return 0, 3
			}
			return pair(raw, jis, 0xA1, 0xFE, 0xA1, 0xFE)
		}
	case "euc-kr":
		return func(raw []byte) (rune, int) { return pair(raw, korean, 0x81, 0xFE, 0x41, 0xFE) }
	}
	return nil
}

// pair reads two bytes by a table that has first bytes from one to another, and
// second ones in these ranges.
func pair(raw []byte, table int, from, to byte, ranges ...byte) (r rune, n int) {
	if raw[0] < from || raw[0] > to || len(raw) < 2 {
		return 0, 1
	}
	at, width := -1, 0
	for i := 0; i < len(ranges); i += 2 {
		if c := raw[1]; c >= ranges[i] && c <= ranges[i+1] {
			at = width + int(c-ranges[i])
		}
		width += int(ranges[i+1]-ranges[i]) + 1
	}
	if at < 0 {
		return 0, 1
	}
	if r = rune(unpacked()[table+int(raw[0]-from)*width+at]); r == 0 && raw[1] < utf8.RuneSelf {
		return 0, 1
	}
	return r, 2
}

// chinese reads GBK, and of GB 18030 what has four bytes and is beyond U+FFFF;
// of those below nobody has many.
func chinese(raw []byte) (r rune, n int) {
	if len(raw) > 1 && raw[1] >= '0' && raw[1] <= '9' {
		if len(raw) < 4 || raw[2] < 0x81 || raw[2] > 0xFE || raw[3] < '0' || raw[3] > '9' {
			return 0, 1
		}
		at := ((int(raw[0])-0x90)*10+int(raw[1]-'0'))*1260 + int(raw[2]-0x81)*10 + int(raw[3]-'0')
		if at < 0 || at > 0xFFFFF {
			return 0, 4
		}
		return 0x10000 + rune(at), 4
	}
	if raw[0] == 0x80 {
		return '€', 1
	}
	return pair(raw, gbk, 0x81, 0xFE, 0x40, 0x7E, 0x80, 0xFE)
}

// japanese reads Shift_JIS.
func japanese(raw []byte) (r rune, n int) {
	switch c := raw[0]; {
	case c >= 0xA1 && c <= 0xDF:
		return 0xFF61 + rune(c-0xA1), 1
	case c >= 0xE0:
		return pair(raw, jis+31*188, 0xE0, 0xFC, 0x40, 0x7E, 0x80, 0xFC)
	}
	return pair(raw, jis, 0x81, 0x9F, 0x40, 0x7E, 0x80, 0xFC)
}

// shifted reads charsets of seven bits that say in between what follows.
func shifted(raw []byte, charset string) string {
	var b strings.Builder
	b.Grow(len(raw))
	table, hz := 0, charset == "hz-gb-2312" // 0: ASCII
	modes := map[string]int{"\x1b(B": 0, "\x1b(J": 0, "\x1b(I": kana, "\x1b$@": jis, "\x1b$B": jis, "\x1b$)C": 0, "\x0e": korean, "\x0f": 0}
	if hz {
		modes = map[string]int{"~{": gbkShifted, "~}": 0, "~\n": 0}
	}
next:
	for len(raw) > 0 {
		for mark, mode := range modes {
			if bytes.HasPrefix(raw, []byte(mark)) {
				table, raw = mode, raw[len(mark):]
				continue next
			}
		}
		c := raw[0]
		var r rune
		n := 1
		switch {
		case hz && table == 0 && bytes.HasPrefix(raw, []byte("~~")):
			r, n = '~', 2
		case table == 0 || c <= ' ' || c >= 0x7F:
			if r = rune(c); c >= utf8.RuneSelf {
				r = 0
			}
			if c == '\n' { // a line begins in ASCII, whatever was before
				table = 0
			}
		case table == kana:
			if c <= 0x5F {
				r = 0xFF61 + rune(c-0x21)
			}
		case len(raw) > 1 && raw[1] > ' ' && raw[1] < 0x7F:
			two := []byte{c | 0x80, raw[1] | 0x80}
			n = 2
			switch table {
			case jis:
				r, _ = pair(two, jis, 0xA1, 0xFE, 0xA1, 0xFE)
			case korean:
				r, _ = pair(two, korean, 0x81, 0xFE, 0x41, 0xFE)
			default:
				r, _ = chinese(two)
			}
		}
		if r == 0 && c != 0 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		raw = raw[n:]
	}
	return b.String()
}

// What is shifted to and has no table of that name.
const (
	kana       = -1
	gbkShifted = -2
)

// utf16Text reads UTF-16, by its mark where it has one.
func utf16Text(raw []byte, charset string) string {
	var order binary.ByteOrder = binary.BigEndian
	if charset == "utf-16le" || bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) && charset == "utf-16" {
		order = binary.LittleEndian
	}
	units := make([]uint16, 0, len(raw)/2)
	for ; len(raw) > 1; raw = raw[2:] {
		units = append(units, order.Uint16(raw))
	}
	if len(units) > 0 && units[0] == 0xFEFF {
		units = units[1:]
	}
	return string(utf16.Decode(units))
}
