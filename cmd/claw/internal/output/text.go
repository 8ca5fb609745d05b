package output

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	joblog "claw/runner/output"
)

// Safe makes text of unknown origin harmless for a terminal, by the rules of
// spec/exec-process.md 1.8: terminal sequences and invisible format characters
// are dropped, other controls become visible (`\x07`), what is not UTF-8 becomes
// U+FFFD. Line feeds and tabs stay. A carriage return stays only as part of a line
// end, and is dropped there: alone it could write over what was said before.
func Safe(s string) string {
	if isPlain(s) {
		return s
	}
	var d joblog.Decoder
	text := string(d.Flush(d.Append(nil, []byte(s))))
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", `\x0d`)
}

// isPlain tells printable ASCII with line feeds and tabs, the usual case.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Escape writes any bytes as one field of a tab-separated line. A tab is \t, a
// line feed \n, a carriage return \r, a backslash \\; other controls are \x1b or
// \u0085, bytes that are not UTF-8 \xff. It is reversible: these are Go's and
// Python's escapes.
func Escape(s string) string {
	if isPlain(s) && !strings.ContainsAny(s, "\n\t\\") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		b.WriteString(escapeRune(r, s[:n]))
		s = s[n:]
	}
	return b.String()
}

func escapeRune(r rune, raw string) string {
	switch {
	case r == '\\':
		return `\\`
	case r == '\t':
		return `\t`
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == utf8.RuneError && len(raw) == 1, r < ' ', r == 0x7f:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029: // some readers end lines there
		return `\u` + fmt.Sprintf("%04x", r)
	}
	return raw
}

// oneLine is text as a cell of a table on a terminal: safe, line ends visible,
// tabs as spaces.
func oneLine(s string) string {
	s = strings.TrimRight(Safe(s), "\n")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\n", "⏎"), "\t", " ")
}

// Cut is what a program printed, as one line that the terminal has room for
// beside so many other columns; "…" stands for what is left out.
func (s *Streams) Cut(text string, beside int) string {
	return runewidth.Truncate(oneLine(text), max(1, s.width()-beside), "…")
}

func itoa(n int) string { return strconv.Itoa(n) }
