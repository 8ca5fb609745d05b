package event

import "strings"

// Neutralise makes lines of data harmless that read as if claw itself had
// written them: a "System:" or "System (untrusted):" line, one of claw's
// markers ("[OpenClaw …]"), or the end of a command. Such a line is quoted,
// "> " goes before it; everything else stays as it is. Case, width, invisible
// characters, look-alike letters and space before or inside do not hide one
// (spec/exec-process.md 4.3, spec/tasks-recovery.md 5.5).
func Neutralise(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := lineEnd(text)
		if imitates(text[:n]) {
			b.WriteString("> ")
		}
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}

// neutralLines is Neutralise, with every kind of line break made "\n": where
// each line gets a prefix, none must be able to escape it.
func neutralLines(text string) string {
	return Neutralise(strings.Join(splitLines(text), "\n"))
}

func splitLines(text string) []string {
	var lines []string
	for {
		n := lineEnd(text)
		line := strings.TrimRight(text[:n], breaks)
		lines = append(lines, line)
		if n == len(text) {
			if len(line) < n {
				lines = append(lines, "")
			}
			return lines
		}
		text = text[n:]
	}
}

// breaks are the characters that some reader takes for the end of a line.
const breaks = "\n\r\v\f\u0085\u2028\u2029"

// lineEnd is where the first line of text ends, its break included.
func lineEnd(text string) int {
	i := strings.IndexAny(text, breaks)
	if i < 0 {
		return len(text)
	}
	if strings.HasPrefix(text[i:], "\r\n") {
		return i + 2
	}
	for w := 1; ; w++ { // a break is one character of up to three bytes
		if i+w == len(text) || text[i+w]&0xC0 != 0x80 {
			return i + w
		}
	}
}

// foldLimit is how much of a line is looked at.
const foldLimit = 256

func imitates(line string) bool {
	s := fold(line)
	if strings.HasPrefix(s, "[openclaw") {
		return true
	}
	if rest, ok := strings.CutPrefix(s, "system"); ok {
		if strings.HasPrefix(rest, "(") {
			_, rest, _ = strings.Cut(rest, ")")
		}
		return strings.HasPrefix(rest, ":")
	}
	for _, verb := range [...]string{"execcompleted(", "execfailed(", "execfinished(", "execfinished:"} {
		if strings.HasPrefix(s, verb) {
			return true
		}
	}
	return false
}

// fold is the beginning of a line as a quick reader sees it: in lower-case
// ASCII, without space and invisible characters.
func fold(line string) string {
	b := make([]byte, 0, 64)
	seen := 0
	for _, r := range line {
		if seen++; seen > foldLimit {
			break
		}
		if c := Plain(r); c != 0 {
			b = append(b, c)
		}
	}
	return string(b)
}

// Plain is the ASCII character, in lower case, for which a quick reader takes r: 0
// for space and what is not seen, "?" for any other. Package external asks it too.
func Plain(r rune) byte {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		r -= 0xFF01 - '!'
	case r > 0x7F:
		return lookAlike(r)
	}
	switch {
	case r <= ' ' || r == 0x7F:
		return 0
	case r >= 'A' && r <= 'Z':
		r += 'a' - 'A'
	}
	return byte(r)
}
