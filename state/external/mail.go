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
	maxText   = 16 * MaxContent // of a part, in bytes
	maxValue  = 16 << 10        // of a header, but for its first line
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

// words decodes RFC 2047, which some programs write without the blanks around,
// and others do not write at all.
func words(s string) string {
	s = decode([]byte(s), "")
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
	kind := mediaType(h)
	_, params, _ := mime.ParseMediaType(h.get("content-type"))
	if strings.HasPrefix(kind, "multipart/") {
		if p.split(kind, body, params["boundary"], depth) {
			return
		}
		kind = "text/plain" // there is none of its boundaries: it is shown as it is
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
		p.add(stripped(decode(raw[:min(len(raw), maxText)], params["charset"])))
		return
	case strings.HasPrefix(kind, "text/"):
		p.add(decode(raw[:min(len(raw), maxText)], params["charset"]))
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

// split reads the parts of a multipart body. False: there are none.
func (p *parts) split(kind string, body []byte, boundary string, depth int) bool {
	var heads []fields
	var bodies [][]byte
	if boundary == "" {
		return false
	}
	for _, raw := range between(body, boundary) {
		if h, b, ok := header(raw); ok {
			heads, bodies = append(heads, h), append(bodies, b)
		} else {
			heads, bodies = append(heads, nil), append(bodies, raw)
		}
	}
	if kind == "multipart/alternative" {
		p.best(heads, bodies, depth+1)
		return len(heads) > 0
	}
	for i, h := range heads {
		p.read(h, bodies[i], depth+1)
	}
	return len(heads) > 0
}

// best shows one of several alternatives: the first that is plain text and has
// some, or else the last that has text, of which a calendar's is the least.
func (p *parts) best(heads []fields, bodies [][]byte, depth int) {
	order := make([]int, 0, 2*len(heads))
	for i, h := range heads {
		if mediaType(h) == "text/plain" {
			order = append(order, i)
		}
	}
	for _, calendar := range [...]bool{false, true} {
		for i := len(heads) - 1; i >= 0; i-- {
			if kind := mediaType(heads[i]); kind != "text/plain" && calendar == (kind == "text/calendar") {
				order = append(order, i)
			}
		}
	}
	for _, i := range order {
		before := p.b.Len()
		p.read(heads[i], bodies[i], depth)
		if strings.TrimSpace(p.b.String()[before:]) != "" {
			return
		}
	}
}

// mediaType is what a part says that it is. What cannot be understood is plain
// text, as RFC 2045 5.2 says.
func mediaType(h fields) string {
	kind, _, _ := mime.ParseMediaType(h.get("content-type"))
	if !strings.Contains(kind, "/") {
		return "text/plain"
	}
	return kind
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
		line, _, whole := bytes.Cut(body[at:], []byte("\n"))
		rest, last := bytes.CutPrefix(bytes.TrimRight(line, " \t\r"), []byte("--"))
		if len(rest) > 0 { // a longer boundary begins like this one
			continue
		}
		if start >= 0 {
			pieces = append(pieces, body[start:i])
		}
		if last || !whole {
			return pieces
		}
		start = at + len(line) + 1
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
		return base64Text(body)
	}
	return body
}

// base64Text decodes the lines that can be base64: others, which mailing lists
// add at the end, are passed over. What is padded ends there, and the next
// begins anew.
func base64Text(body []byte) []byte {
	out := make([]byte, 0, base64.StdEncoding.DecodedLen(len(body)))
	var run []byte
	flush := func() {
		got, _ := base64.RawStdEncoding.AppendDecode(nil, run)
		out, run = append(out, got...), run[:0]
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if bytes.ContainsFunc(line, notBase64) {
			continue
		}
		for len(line) > 0 {
			digits, rest, padded := bytes.Cut(line, []byte("="))
			run = append(run, digits...)
			if line = bytes.TrimLeft(rest, "="); padded {
				flush()
			}
		}
	}
	flush()
	return out
}

func notBase64(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/' || r == '=')
}
