package external

import "strings"

// dark are the elements whose text nobody sees.
var dark = [...]string{"script", "style", "head", "title"}

// stripped is the text of HTML: without tags, comments, scripts and styles. Each
// byte is looked at a few times only, whatever it is.
func stripped(s string) string {
	var b strings.Builder
	w := markup{s: s, low: strings.ToLower(s), never: map[string]bool{}}
	if len(w.low) != len(s) { // a letter whose lower case is longer
		w.low = s
	}
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			b.WriteString(s[at:])
			break
		}
		b.WriteString(s[at : at+i])
		at += i
		end := w.past(at)
		switch {
		case end < 0: // there is no > any more
			end = len(s)
		case end == at: // it begins no tag
			b.WriteByte('<')
			end++
		case w.breaks(at):
			b.WriteByte('\n')
		}
		at = end
	}
	var lines []string
	for line := range strings.SplitSeq(unescaped(b.String()), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// markup is HTML, and the same in lower case.
type markup struct {
	s, low string
	never  map[string]bool // what does not come any more: nobody has to look for it again
}

// find is where the next text of the lower case begins; -1: there is none.
func (w markup) find(at int, text string) int {
	if w.never[text] {
		return -1
	}
	i := strings.Index(w.low[at:], text)
	if i < 0 {
		w.never[text] = true
		return -1
	}
	return at + i
}

// past is what comes behind the tag that begins at the < here, with what it
// hides. The same place: it is no tag. -1: it does not end.
func (w markup) past(at int) int {
	if at+1 == len(w.low) || w.low[at+1] != '/' && w.low[at+1] != '!' && w.low[at+1] != '?' && !isLetter(w.low[at+1]) {
		return at
	}
	if strings.HasPrefix(w.low[at:], "<!--") {
		if end := w.find(at+4, "-->"); end >= 0 {
			return end + 3
		}
	}
	for _, name := range dark {
		if !w.named(at+1, name) {
			continue
		}
		if end := w.find(at, "</"+name); end >= 0 {
			return w.close(end)
		}
	}
	return w.close(at)
}

// close is what comes behind the end of a tag; a > in the quotes of an attribute
// is none. -1: there is none.
func (w markup) close(at int) int {
	for at < len(w.s) {
		i := strings.IndexAny(w.s[at:], ">\"'")
		if i < 0 {
			return -1
		}
		at += i + 1
		quote := w.s[at-1 : at]
		if quote == ">" {
			return at
		}
		if !strings.HasSuffix(strings.TrimRight(w.s[max(0, at-8):at-1], " \t\r\n"), "=") {
			continue
		}
		if end := w.find(at, quote); end >= 0 {
			at = end + 1
		}
	}
	return -1
}

// named tells the name of a tag.
func (w markup) named(at int, name string) bool {
	return strings.HasPrefix(w.low[at:], name) && len(w.low) > at+len(name) && !isLetter(w.low[at+len(name)])
}

// breaks tells a tag behind which, or before which, a new line begins.
func (w markup) breaks(at int) bool {
	for _, name := range [...]string{"br", "p", "/p", "div", "/div", "tr", "/tr", "li", "h1", "h2", "h3", "/h1", "/h2", "/h3"} {
		if w.named(at+1, name) {
			return true
		}
	}
	return false
}

// unescaped is a text with its HTML entities undone, as far as they are common.
func unescaped(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		r, n := named(s)
		if n == 0 {
			r, n = entity(s)
		}
		if n == 0 || r == 0 {
			r, n = '&', 1
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String() + s
}

// named is one of the entities that are common in mail and cannot write a marker.
func named(s string) (r rune, n int) {
	name, _, ok := strings.Cut(s[1:min(len(s), 10)], ";")
	if !ok {
		return 0, 0
	}
	switch name {
	case "amp":
		r = '&'
	case "apos":
		r = '\''
	case "euro":
		r = '€'
	case "copy":
		r = '©'
	case "reg":
		r = '®'
	case "hellip":
		r = '…'
	case "ndash":
		r = '–'
	case "mdash":
		r = '—'
	case "bull":
		r = '•'
	case "auml":
		r = 'ä'
	case "ouml":
		r = 'ö'
	case "uuml":
		r = 'ü'
	case "Auml":
		r = 'Ä'
	case "Ouml":
		r = 'Ö'
	case "Uuml":
		r = 'Ü'
	case "szlig":
		r = 'ß'
	case "eacute":
		r = 'é'
	case "egrave":
		r = 'è'
	case "agrave":
		r = 'à'
	case "ccedil":
		r = 'ç'
	case "ntilde":
		r = 'ñ'
	case "lsquo":
		r = '‘'
	case "rsquo":
		r = '’'
	case "ldquo":
		r = '“'
	case "rdquo":
		r = '”'
	case "bdquo":
		r = '„'
	case "middot":
		r = '·'
	case "deg":
		r = '°'
	case "pound":
		r = '£'
	case "sect":
		r = '§'
	default:
		return 0, 0
	}
	return r, len(name) + 2
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
