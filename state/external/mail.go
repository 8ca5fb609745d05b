package external

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"mime"
	"mime/quotedprintable"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mail is what an agent is shown of a message: RFC 5322 with MIME.
type Mail struct {
	From, Subject, ID string
	Text              string // of all parts that are text, and the names of the others
}

// Bounds of what is looked at: nobody can keep claw busy with a message.
const (
	maxDepth  = 8
	maxParts  = 200
	maxHeader = 256 << 10
	maxValue  = 16 << 10 // of a header, but for its first line
)

// ParseMail reads a message; an mbox's "From " line in front of it is skipped.
// ok is false for what does not begin with the header of one. It takes whatever
// is wrong with one as well as it can: mail is what comes in.
func ParseMail(raw []byte) (m Mail, ok bool) {
	if bytes.HasPrefix(raw, []byte("From ")) {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	h, body, ok := header(raw)
	if !ok || !h.isMail() {
		return m, false
	}
	p := &parts{}
	p.read(h, body, 0)
	m = Mail{From: words(h.get("from")), Subject: words(h.get("subject")), ID: strings.TrimSpace(h.get("message-id")), Text: p.text()}
	return m, true
}

// Key is the Message-ID of a mail, or where it has none that could be a key, one
// made of all its bytes: who sends a mail cannot keep it from having one.
func (m Mail) Key(raw []byte) string {
	if m.ID != "" && utf8.RuneCountInString(m.ID) <= MaxKey {
		return m.ID
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// fields is a header: names in lower case, unfolded.
type fields []struct{ name, value string }

func (h fields) get(name string) string {
	for _, f := range h {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

func (h fields) isMail() bool {
	return h.get("from")+h.get("received")+h.get("message-id")+h.get("return-path") != "" || h.get("subject") != "" && h.get("date") != ""
}

// header splits a message or a part. ok is false when its first line is none of
// a header.
func header(raw []byte) (h fields, body []byte, ok bool) {
	if len(raw) > 0 && (raw[0] == '\n' || bytes.HasPrefix(raw, []byte("\r\n"))) {
		_, body, _ = bytes.Cut(raw, []byte("\n"))
		return nil, body, true
	}
	for seen := 0; len(raw) > 0 && seen < maxHeader; {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		seen += len(line) + 1
		text := strings.TrimSuffix(string(line), "\r")
		switch name, value, found := strings.Cut(text, ":"); {
		case text == "":
			return h, rest, len(h) > 0
		case text[0] == ' ' || text[0] == '\t':
			if n := len(h) - 1; n >= 0 && len(h[n].value) < maxValue {
				h[n].value += " " + strings.TrimSpace(text)
			}
		case found && isName(name):
			h = append(h, struct{ name, value string }{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
		case len(h) == 0:
			return nil, raw, false
		default:
			return h, raw, true // somebody has forgotten the blank line
		}
		raw = rest
	}
	return h, raw, len(h) > 0
}

func isName(s string) bool {
	s = strings.TrimRight(s, " \t")
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7F })
}

// words decodes RFC 2047, which some programs write without the blanks around.
func words(s string) string {
	d := mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
		raw, err := io.ReadAll(in)
		return strings.NewReader(decode(raw, charset)), err
	}}
	out, err := d.DecodeHeader(s)
	if err != nil {
		out = s
	}
	return decode([]byte(out), "utf-8")
}

// parts collects the text of a message.
type parts struct {
	b    strings.Builder
	n    int
	more []string // what is no text
}

func (p *parts) text() string {
	text := strings.TrimSpace(p.b.String())
	if cut := MaxContent - 16<<10; len(text) > cut {
		n := len(text) - cut
		text = strings.ToValidUTF8(text[:cut], "") + "\n[… " + strconv.Itoa(n) + " more bytes]"
	}
	if text == "" {
		text = "[no text]"
	}
	for i, m := range p.more {
		if i == 20 {
			text += "\n[… and " + strconv.Itoa(len(p.more)-i) + " more]"
			break
		}
		text += "\n" + m
	}
	return text
}

// read takes one part in.
func (p *parts) read(h fields, body []byte, depth int) {
	if p.n++; p.n > maxParts || depth > maxDepth {
		return
	}
	kind, params, err := mime.ParseMediaType(h.get("content-type"))
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	if boundary := params["boundary"]; strings.HasPrefix(kind, "multipart/") && boundary != "" {
		p.split(kind, body, boundary, depth)
		return
	}
	raw := transfer(body, h.get("content-transfer-encoding"))
	how, named, _ := mime.ParseMediaType(h.get("content-disposition"))
	switch {
	case kind == "message/rfc822" && depth < maxDepth:
		if inner, rest, ok := header(raw); ok {
			p.add("[forwarded message]\nFrom: " + words(inner.get("from")) + "\nSubject: " + words(inner.get("subject")) + "\n")
			p.read(inner, rest, depth+1)
			return
		}
	case how == "attachment":
	case kind == "text/html":
		p.add(stripped(decode(raw, params["charset"])))
		return
	case strings.HasPrefix(kind, "text/"):
		p.add(decode(raw, params["charset"]))
		return
	}
	name := named["filename"]
	if name == "" {
		name = params["name"]
	}
	p.more = append(p.more, "[attachment: "+Line(words(name)+" "+kind, 200)+", "+strconv.Itoa(len(raw))+" bytes]")
}

func (p *parts) add(text string) {
	if p.b.Len() > 0 {
		p.b.WriteString("\n")
	}
	if p.b.Len() < 2*MaxContent {
		p.b.WriteString(strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n") + "\n")
	}
}

// split reads the parts of a multipart body. Of alternatives one is shown: plain
// text where there is some.
func (p *parts) split(kind string, body []byte, boundary string, depth int) {
	var heads []fields
	var bodies [][]byte
	for _, raw := range between(body, boundary) {
		if h, b, ok := header(raw); ok {
			heads, bodies = append(heads, h), append(bodies, b)
		} else {
			heads, bodies = append(heads, nil), append(bodies, raw)
		}
	}
	if kind == "multipart/alternative" && len(heads) > 0 {
		best := len(heads) - 1
		for i := len(heads) - 1; i >= 0; i-- {
			if k, _, _ := mime.ParseMediaType(heads[i].get("content-type")); k == "text/plain" || k == "" {
				best = i
			}
		}
		p.read(heads[best], bodies[best], depth+1)
		return
	}
	for i, h := range heads {
		p.read(h, bodies[i], depth+1)
	}
}

// between are the pieces between the lines of a boundary.
func between(body []byte, boundary string) (pieces [][]byte) {
	delimiter := []byte("--" + boundary)
	start, at := -1, 0
	for at <= len(body) && len(pieces) < maxParts {
		i := bytes.Index(body[at:], delimiter)
		if i < 0 {
			break
		}
		i += at
		at = i + len(delimiter)
		if i > 0 && body[i-1] != '\n' {
			continue
		}
		if start >= 0 {
			pieces = append(pieces, body[start:i])
		}
		last := bytes.HasPrefix(body[at:], []byte("--"))
		eol := bytes.IndexByte(body[at:], '\n')
		if last || eol < 0 {
			return pieces
		}
		start = at + eol + 1
		at = start
	}
	if start >= 0 && start < len(body) { // it was cut off
		pieces = append(pieces, body[start:])
	}
	return pieces
}

// transfer undoes a content transfer encoding. What cannot be decoded ends
// there.
func transfer(body []byte, encoding string) []byte {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		out, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		return out
	case "base64":
		clean := bytes.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/' {
				return r
			}
			return -1
		}, body)
		out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
		n, _ := base64.RawStdEncoding.Decode(out, clean)
		return out[:n]
	}
	return body
}

// dark are the elements whose text nobody sees.
var dark = [...]string{"script", "style", "head", "title"}

// stripped is the text of HTML: without tags, scripts and styles.
func stripped(s string) string {
	var b strings.Builder
	low := strings.ToLower(s)
	if len(low) != len(s) { // a letter whose lower case is longer
		low = s
	}
	var open [len(dark)]bool // it is not closed any more: nobody has to look for that again
	for len(s) > 0 {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s, low = s[i:], low[i:]
		end := strings.IndexByte(s, '>')
		if end < 0 {
			break
		}
		for i, name := range dark {
			if open[i] || !strings.HasPrefix(low[1:], name) || len(low) <= 1+len(name) || isLetter(low[1+len(name)]) {
				continue
			}
			j := strings.Index(low, "</"+name)
			if open[i] = j < 0; open[i] {
				continue
			}
			if k := strings.IndexByte(s[j:], '>'); k >= 0 {
				end = j + k
			}
		}
		for _, breaks := range [...]string{"br", "p", "/p", "div", "/div", "tr", "/tr", "li", "h1", "h2", "h3", "/h1", "/h2", "/h3"} {
			if strings.HasPrefix(low[1:], breaks) && len(low) > 1+len(breaks) && !isLetter(low[1+len(breaks)]) {
				b.WriteByte('\n')
				break
			}
		}
		s, low = s[end+1:], low[end+1:]
	}
	var lines []string
	for line := range strings.SplitSeq(unescaped(b.String()), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
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
	r = map[string]rune{
		"amp": '&', "apos": '\'', "euro": '€', "copy": '©', "reg": '®', "hellip": '…', "ndash": '–', "mdash": '—', "bull": '•', "auml": 'ä', "ouml": 'ö',
		"uuml": 'ü', "Auml": 'Ä', "Ouml": 'Ö', "Uuml": 'Ü', "szlig": 'ß', "eacute": 'é', "egrave": 'è', "agrave": 'à', "ccedil": 'ç', "ntilde": 'ñ',
		"lsquo": '‘', "rsquo": '’', "ldquo": '“', "rdquo": '”', "bdquo": '„', "middot": '·', "deg": '°', "pound": '£', "sect": '§',
	}[name]
	if r == 0 {
		return 0, 0
	}
	return r, len(name) + 2
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
