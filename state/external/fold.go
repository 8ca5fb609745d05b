package external

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claw/state/event"
)

// letter is one character of a text as a quick reader sees it, with the bytes
// of the text that it stands for. What is folded away shifts everything behind
// it, so that a place in the folded text means nothing in the text itself.
type letter struct {
	c          byte  // lower-case ASCII; ' ' for all space
	n          uint8 // how many of it: one ⋘ is three <
	start, end int32 // in the text
}

// fold is a text as a quick reader sees it: look-alikes are ASCII, case and width
// do not count, HTML's entities are what they stand for, and what is not seen is
// left out. 'i' is folded to 'l', because one look-alike stands for both.
func fold(text string) []letter {
	out := make([]letter, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '&' {
			if e, n := entity(text[i:]); n > 0 {
				r, size = e, n
			}
		}
		if c, n := seen(r); c != 0 {
			out = append(out, letter{c, n, int32(i), int32(i + size)})
		}
		i += size
	}
	return out
}

// seen is the ASCII character for which a reader takes r, and how many of it;
// 0 for one that is not seen.
func seen(r rune) (c byte, n uint8) {
	switch {
	case r == 'i' || r == 'I':
		return 'l', 1
	case r < utf8.RuneSelf && (r > ' ' && r != 0x7F):
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return byte(r), 1
	case unicode.IsSpace(r):
		return ' ', 1
	case r < utf8.RuneSelf || unicode.In(r, unicode.Me, unicode.Other_Default_Ignorable_Code_Point):
		return 0, 0
	}
	if c, n := sign(r); c != 0 {
		return c, n
	}
	if c := dressed(r); c != 0 {
		r = rune(c)
	}
	if c = event.Plain(r); c == 'i' {
		c = 'l'
	}
	return c, 1
}

// sign is a bracket, a line or a quotation mark that looks like an ASCII one;
// spec/tasks-recovery.md 5.5 and what its ports have missed.
func sign(r rune) (c byte, n uint8) {
	switch r {
	case '＜', '\u2329', '〈', '⟨', '‹', '﹤', '❬', '❮', '❰', '˂', '⧼', '⦑', '⪡', '﹝', '︿', '⌃', '𝤀', 'ᐸ', '≺', '⩹', '⋖', 'ㄑ', '⟬', '≮':
		return '<', 1
	case '＞', '\u232A', '〉', '⟩', '›', '﹥', '❭', '❯', '❱', '˃', '⧽', '⦒', '⪢', '﹞', '﹀', '⌄', 'ᐳ', '≻', '⩺', '⋗', '⟭', '≯':
		return '>', 1
	case '«', '《', '⟪', '≪', '⪻', '︽':
		return '<', 2
	case '»', '》', '⟫', '≫', '⪼', '︾':
		return '>', 2
	case '⋘':
		return '<', 3
	case '⋙':
		return '>', 3
	case '＿', '‗', '﹍', '﹎', '﹏', '▁', '‿', '⁀', 'ˍ', '⎯', '︳', '︴':
		return '_', 1
	case '–', '—', '‐', '‑', '‒', '―', '−', '－', '﹣':
		return '-', 1
	case '“', '”', '„', '‟', '＂', '″', '〝', '〞':
		return '"', 1
	case '｜', '│', '┃', '∣', '❘', '❙', '❚', '¦', 'ǀ', '￨', '⏐':
		return '|', 1
	case '·', '․', '‧', '•', '∙', '⋅', '﹒', '．', '｡', '。':
		return '.', 1
	case '＼', '﹨', '∖', '⧵', '⧹':
		return '\\', 1
	case '／', '⁄', '∕', '⧸':
		return '/', 1
	case '［', '⟦', '〚', '【', '〔', '❲':
		return '[', 1
	case '］', '⟧', '〛', '】', '〕', '❳':
		return ']', 1
	case '＝', '⹀', '꞊', '﹦':
		return '=', 1
	}
	return 0, 0
}

// dressed is the letter in one of Unicode's blocks of letters in another dress:
// mathematical, circled, squared, in parentheses, of flags, with marks. 0: it is
// in none of them.
func dressed(r rune) byte {
	switch {
	case r >= 0x1D400 && r <= 0x1D6A3:
		return 'a' + byte((r-0x1D400)%26)
	case r >= 0x24B6 && r <= 0x24E9:
		return 'a' + byte((r-0x24B6)%26)
	case r >= 0x249C && r <= 0x24B5:
		return 'a' + byte(r-0x249C)
	case r >= 0x1F110 && r <= 0x1F129:
		return 'a' + byte(r-0x1F110)
	case r >= 0x1F130 && r <= 0x1F149:
		return 'a' + byte(r-0x1F130)
	case r >= 0x1F150 && r <= 0x1F169:
		return 'a' + byte(r-0x1F150)
	case r >= 0x1F170 && r <= 0x1F189:
		return 'a' + byte(r-0x1F170)
	case r >= 0x1F1E6 && r <= 0x1F1FF:
		return 'a' + byte(r-0x1F1E6)
	case r >= 0xE0020 && r <= 0xE007E: // tags: not seen
		return 0
	case r >= 0xC0 && r <= 0x17F:
		return marked[r-0xC0]
	}
	for _, d := range dresses {
		if i := int(r - d.from); i >= 0 && i < len(d.letters) && d.letters[i] != ' ' {
			return d.letters[i]
		}
	}
	return 0
}

// dresses are what Unicode decomposes into these letters (NFKD), and capitals of
// other scripts that look like them; a blank is none.
var dresses = [...]struct {
	from    rune
	letters string
}{
	{0x180, "                                oo             uu                            aaiioouuuuuuuuuu aaaa    ggkkoooo  j   gg  nnaa    aaaaeeeeiiiioooorrrruuuusstt  hh      aaeeooooooooyy"}, // Latin with marks
	{0x2B0, "h jr   wy                                        lsx"},                                                                                              // modifier letters
	{0x13A0, "drt  i    aje      w   m   h    g  z              r w    vs   lc  p   k             b"},                                                            // Cherokee
	{0x1D2C, "a b de ghijklmn o prtuwa   bde   g km o   ptu  v      iruv                                                      c   f                          z"}, // phonetic, raised
	{0x1E00, "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy s    aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy"}, // Latin with more marks
	{0x2071, "i             n                aeox hklmnpst"},                               // raised and lowered
	{0x2100, "  c       ghhhh iill n   pqrrr      z   z kabc eef mo    i           ddeij"}, // letter-like signs
	{0x2160, "i   v    x  lcdmi   v    x  lcdm"},                                           // Roman numerals
	{0x2C80, "aabb    ee  zzhh  iikk  mmnn  oo  ppccttyy  xx"},                             // Coptic
	{0xA4D0, "bpddt gk jc zf mnlsr  vh  wxy a e iou"},                                      // Lisu
	{0x1F12B, "cr"}, // in italics
}

// marked are the letters from U+00C0 to U+017F without their marks; a blank is
// one that has no letter below.
const marked = "aaaaaa ceeeeiiiidnooooo ouuuuy  aaaaaa ceeeeiiiidnooooo ouuuuy y" + // to U+00FF
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii  jjkkklllllll" +
	"lllnnnnnn nnoooooo  rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// maxEntity is how many bytes of an entity are looked at.
const maxEntity = 24

// entity is the character that an HTML entity at the beginning of text stands
// for, and its length; 0 for none. "&amp;lt;" is seen through too.
func entity(text string) (r rune, n int) {
	n = 1
	for strings.HasPrefix(lower(text[n:], 4), "amp;") && n < 64 {
		n += 4
	}
	rest := text[n:min(len(text), n+maxEntity)]
	if num, ok := strings.CutPrefix(rest, "#"); ok {
		if r, used := number(num); used > 0 {
			return r, n + 1 + used
		}
		return 0, 0
	}
	for _, e := range entities {
		if len(rest) >= len(e.name) && strings.EqualFold(rest[:len(e.name)], e.name) {
			used := len(e.name)
			if used < len(rest) && rest[used] == ';' {
				used++
			}
			return e.r, n + used
		}
	}
	return 0, 0
}

// entities are those that could write a marker. The longer of two with one
// beginning comes first.
var entities = [...]struct {
	name string
	r    rune
}{
	{"lowbar", '_'},
	{"UnderBar", '_'},
	{"quot", '"'},
	{"nbsp", ' '},
	{"verbar", '|'},
	{"vert", '|'},
	{"sol", '/'},
	{"lbrack", '['},
	{"lsqb", '['},
	{"rbrack", ']'},
	{"rsqb", ']'},
	{"equals", '='},
	{"laquo", '«'},
	{"raquo", '»'},
	{"lsaquo", '‹'},
	{"rsaquo", '›'},
	{"lang", '⟨'},
	{"rang", '⟩'},
	{"zwnj", '\u200C'},
	{"zwj", '\u200D'},
	{"shy", '\u00AD'},
	{"lt", '<'},
	{"gt", '>'},
}

// number is a numeric reference behind its "#", and how many bytes it has.
func number(s string) (r rune, used int) {
	base, i := 10, 0
	if strings.HasPrefix(s, "x") || strings.HasPrefix(s, "X") {
		base, i = 16, 1
	}
	from := i
	for i < len(s) && isDigit(s[i], base) {
		i++
	}
	v, err := strconv.ParseUint(s[from:i], base, 32)
	if err != nil || v > unicode.MaxRune {
		return 0, 0
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return rune(v), i
}

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '9' || base == 16 && (c|0x20 >= 'a' && c|0x20 <= 'f')
}

func lower(s string, n int) string { return strings.ToLower(s[:min(len(s), n)]) }
