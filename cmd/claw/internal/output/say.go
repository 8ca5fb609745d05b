package output

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// indent is what stands under "claw: ".
const indent = "      "

// Error says on stderr what could not be done and, indented, what to do. An
// error of several lines is several errors. A remedy may be of several lines.
func (s *Streams) Error(text string, remedies ...string) {
	var b strings.Builder
	for line := range strings.Lines(Safe(text)) {
		s.begin(&b, bold+red)
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	under(&b, remedies)
	io.WriteString(s.Err, b.String())
}

// Say tells something on stderr that is not an error, with next steps under
// it.
func (s *Streams) Say(text string, next ...string) {
	var b strings.Builder
	s.begin(&b, bold)
	first, rest, more := strings.Cut(Safe(text), "\n")
	b.WriteString(first + "\n")
	if more {
		under(&b, []string{rest})
	}
	under(&b, next)
	io.WriteString(s.Err, b.String())
}

// Note tells one thing on stderr.
func (s *Streams) Note(text string) { s.Say(strings.TrimRight(text, "\n")) }

func (s *Streams) begin(b *strings.Builder, style string) {
	b.WriteString(paint("claw:", style, s.colored(s.ErrTTY)) + " ")
}

func under(b *strings.Builder, paragraphs []string) {
	for _, p := range paragraphs {
		for line := range strings.Lines(Safe(p)) {
			b.WriteString(strings.TrimRight(indent+strings.TrimSuffix(line, "\n"), " ") + "\n")
		}
	}
}

// JSON writes v as one object and a newline: indented on a terminal, on one line
// elsewhere. Field names are those of the seeds; fields may be added, so readers
// ignore unknown ones.
func (s *Streams) JSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if s.OutTTY {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := s.Out.Write(plainJSON(b.Bytes()))
	return err
}

// plainJSON escapes what encoding/json leaves and a terminal may obey: DEL and
// the C1 controls. They can only stand in strings, so the value is the same.
func plainJSON(text []byte) []byte {
	if bytes.IndexFunc(text, isC1) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if isC1(r) {
			const hex = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

func isC1(r rune) bool { return r >= 0x7f && r < 0xa0 }
