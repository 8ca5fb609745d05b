package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxDepth bounds how deeply keys and brackets may nest. The schema needs six
// levels; the decoder takes minutes or all memory for hundred thousand.
const maxDepth = 32

// document is a parsed file that can still tell the line of each key.
type document struct {
	name   string
	text   string
	md     toml.MetaData
	root   map[string]toml.Primitive
	tables []string       // names of the automations
	rank   map[string]int // dotted key → 1-based position among the keys; filled on the first question
}

// parse reads TOML. An error is an *Error with line and column.
func parse(name string, data []byte) (*document, error) {
	if line := tooDeep(data); line > 0 {
		return nil, &Error{Problems: []Problem{{
			File: name, Line: line, Rule: "nested deeper than any key of claw.toml",
		}}}
	}
	doc := &document{name: name, text: string(data)}
	var err error
	if doc.md, err = toml.Decode(string(data), &doc.root); err == nil {
		return doc, nil
	}
	p := Problem{File: name, Rule: "not valid TOML: " + err.Error()}
	var pe toml.ParseError
	if errors.As(err, &pe) {
		p.Line, p.Col, p.Key = pe.Position.Line, column(pe.Position, data), pe.LastKey
		p.Rule = "not valid TOML: " + pe.Message
	}
	return nil, &Error{Problems: []Problem{p}}
}

// column is the 1-based column of a syntax error, or 0 where the decoder points
// beside the line, as it does for a key that is set twice.
func column(at toml.Position, data []byte) int {
	text := string(data)
	for range at.Line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	if at.Col < 1 || at.Col > lineLen(text)+1 {
		return 0
	}
	return at.Col
}

// values gives the whole file as maps, lists, strings, int64, float64, bool
// and times.
func (doc *document) values() map[string]any {
	out := make(map[string]any, len(doc.root))
	for key, prim := range doc.root {
		var v any
		if doc.md.PrimitiveDecode(prim, &v) == nil { // into any: cannot fail
			out[key] = v
		}
	}
	return out
}

// place asks the decoder where a value stands: it answers with the error of an
// Unmarshaler, and only there.
type place struct{}

func (*place) UnmarshalTOML(any) error { return errors.New("here") }

// line is the 1-based line of a key, of the first key below it when the table
// itself is never written down, or 0.
func (doc *document) line(path []string) int {
	if section, n, key, ok := inArray(path); ok {
		if line := tableLine(doc.text, section, n, key); line > 0 {
			return line
		}
		path = path[:1]
	}
	if n := doc.exact(path); n > 0 || len(path) == 0 {
		return n
	}
	for _, k := range doc.md.Keys() {
		if len(k) > len(path) && keyString(k[:len(path)]) == keyString(path) {
			if n := doc.exact(k); n > 0 {
				return n
			}
		}
	}
	return 0
}

// inArray takes the path of a key in an array of tables apart: its second word
// is the number of the table.
func inArray(path []string) (section string, n int, key []string, ok bool) {
	if len(path) < 2 || path[0] != automationSection {
		return "", 0, nil, false
	}
	n, err := strconv.Atoi(path[1])
	return path[0], n, path[2:], err == nil
}

func (doc *document) exact(path []string) int {
	prim, ok := doc.find(path)
	if !ok {
		return 0
	}
	var pe toml.ParseError
	if errors.As(doc.md.PrimitiveDecode(prim, &place{}), &pe) {
		return pe.Position.Line
	}
	return 0
}

func (doc *document) find(path []string) (prim toml.Primitive, ok bool) {
	table := doc.root
	for i, word := range path {
		if prim, ok = table[word]; !ok || i == len(path)-1 {
			return prim, ok
		}
		table = nil
		if doc.md.PrimitiveDecode(prim, &table) != nil {
			return prim, false
		}
	}
	return prim, false
}

// order is where a key stands among the keys of the file, for sorting; a key
// that is not written counts as its table.
func (doc *document) order(path []string) int {
	if doc.rank == nil {
		doc.rank = make(map[string]int)
		for i, k := range doc.md.Keys() {
			for n := range k {
				if s := keyString(k[:n+1]); doc.rank[s] == 0 {
					doc.rank[s] = i + 1
				}
			}
		}
	}
	for n := len(path); n > 0; n-- {
		if r := doc.rank[keyString(path[:n])]; r > 0 {
			return r
		}
	}
	return 0
}

// tooDeep gives the line of the first key or bracket beyond maxDepth, or 0. It
// knows strings and comments, and nothing else of TOML.
func tooDeep(data []byte) int {
	text, line, dots, open := string(data), 1, 0, 0
	for i := 0; i < len(text); {
		n := 1
		switch text[i] {
		case '\n', '=', ',':
			dots = 0
		case '.':
			dots++
		case '[', '{':
			open++
		case ']', '}':
			open--
		case '#':
			n = lineLen(text[i:])
		case '"', '\'':
			n = stringLen(text[i:])
		}
		if dots >= maxDepth || open > maxDepth {
			return line
		}
		line += strings.Count(text[i:i+n], "\n")
		i += n
	}
	return 0
}

// stringLen is the length of the string literal that text begins with. One
// that is not closed ends with its line or the file; the decoder says so later.
func stringLen(text string) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(text)
}

// lineLen is the length of the line that text begins with, without its end.
func lineLen(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}
