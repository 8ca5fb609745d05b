package pty

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CursorMode is what arrows, Home and End are encoded for.
type CursorMode uint8

// The cursor-key modes. A plain child is CursorNormal; a terminal starts
// CursorUnknown and follows what the program sends (Responder).
const (
	CursorUnknown CursorMode = iota
	CursorNormal
	CursorApplication
)

// String is the mode as the command line and JSON write it.
func (m CursorMode) String() string {
	switch m {
	case CursorNormal:
		return "normal"
	case CursorApplication:
		return "application"
	}
	return "unknown"
}

// ParseCursorMode reads "normal" or "application".
func ParseCursorMode(s string) (CursorMode, bool) {
	switch s {
	case "normal":
		return CursorNormal, true
	case "application":
		return CursorApplication, true
	}
	return CursorUnknown, false
}

// Reasons to send nothing.
var (
	ErrNoKeys     = errors.New("no key data provided")
	ErrCursorMode = errors.New("cursor key mode is not known yet; retry once the program has drawn its screen")
)

// Keys is one send-keys request; spec/exec-process.md 2.6. The order of the
// bytes is fixed: Literal, then Hex, then Keys.
type Keys struct {
	Literal string   // UTF-8, as it is
	Hex     []string // one byte each: 1 or 2 hex digits, optional 0x
	Keys    []string // tokens: "Enter", "C-c", "^D", "M-Up", "x"
	// Mode is the terminal's mode, as tracked or as the caller insists.
	Mode CursorMode
	// Assume is used while Mode is unknown. Leave it unknown to refuse an
	// unmodified arrow, Home or End then; set CursorNormal once the program has
	// written something, since one that never sends the toggle means normal.
	Assume CursorMode
}

// Encoded is what a request comes to.
type Encoded struct {
	Bytes    []byte
	Warnings []string // whole sentences: invalid hex, unknown keys
}

// Encode turns the request into bytes. ErrCursorMode refuses it entirely,
// ErrNoKeys says that there was nothing to send; Warnings are valid with
// ErrNoKeys too.
func (k Keys) Encode() (Encoded, error) {
	e := encoder{mode: k.Mode}
	if e.mode == CursorUnknown {
		e.mode = k.Assume
	}
	e.out = append(e.out, k.Literal...)
	for _, item := range k.Hex {
		e.hex(item)
	}
	for _, token := range k.Keys {
		e.token(strings.TrimSpace(token))
	}
	if e.refused {
		return Encoded{}, ErrCursorMode
	}
	if len(e.out) == 0 {
		return Encoded{Warnings: e.warnings}, ErrNoKeys
	}
	return Encoded{Bytes: e.out, Warnings: e.warnings}, nil
}

// encoder collects one request.
type encoder struct {
	mode     CursorMode
	out      []byte
	warnings []string
	refused  bool // a key needed the mode and it is unknown
}

// hex appends one raw byte, never re-encoded as UTF-8 (#139648).
func (e *encoder) hex(item string) {
	s := strings.ToLower(strings.TrimSpace(item))
	s = strings.TrimPrefix(s, "0x")
	b, err := strconv.ParseUint(s, 16, 8)
	if err != nil || len(s) > 2 {
		e.warnings = append(e.warnings, "Invalid hex byte: "+item)
		return
	}
	e.out = append(e.out, byte(b))
}

// mods are the modifiers of one token.
type mods struct{ shift, alt, ctrl bool }

func (m mods) any() bool { return m.shift || m.alt || m.ctrl }

// param is the xterm modifier parameter.
func (m mods) param() int {
	n := 1
	if m.shift {
		n++
	}
	if m.alt {
		n += 2
	}
	if m.ctrl {
		n += 4
	}
	return n
}

// token appends one trimmed key token; an empty one is nothing.
func (e *encoder) token(token string) {
	if token == "" {
		return
	}
	if rest, ok := strings.CutPrefix(token, "^"); ok && utf8.RuneCountInString(rest) == 1 {
		if c, ok := control(firstRune(rest)); ok {
			e.out = append(e.out, c)
			return
		}
	}
	m, base := splitMods(token)
	switch {
	case utf8.RuneCountInString(base) == 1:
		e.char(firstRune(base), m)
	case e.named(strings.ToLower(base), m):
	default:
		if m.any() {
			e.warnings = append(e.warnings, `Unknown key "`+base+`" for modifiers; sending literal.`)
		}
		e.out = append(e.out, base...)
	}
}

// splitMods takes C-, M- and S- off the front while more than two characters
// remain, so that "C--" is Ctrl and minus, and "C-" two letters.
func splitMods(token string) (mods, string) {
	var m mods
	for utf8.RuneCountInString(token) > 2 && token[1] == '-' {
		switch token[0] {
		case 'C', 'c':
			m.ctrl = true
		case 'M', 'm':
			m.alt = true
		case 'S', 's':
			m.shift = true
		default:
			return m, token
		}
		token = token[2:]
	}
	return m, token
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// control maps a character to its control character, if it has one.
func control(r rune) (byte, bool) {
	if r == '?' {
		return 0x7f, true
	}
	if 'a' <= r && r <= 'z' {
		r -= 'a' - 'A'
	}
	if 64 <= r && r <= 95 {
		return byte(r & 31), true
	}
	return 0, false
}

// char appends a single character with its modifiers.
func (e *encoder) char(r rune, m mods) {
	if m.shift && 'a' <= r && r <= 'z' {
		r -= 'a' - 'A'
	}
	if m.alt {
		e.out = append(e.out, esc)
	}
	if c, ok := control(r); ok && m.ctrl {
		e.out = append(e.out, c)
		return
	}
	e.out = utf8.AppendRune(e.out, r)
}

// named appends a key that has a name; false when it has none.
func (e *encoder) named(name string, m mods) bool {
	if name == "tab" && m.shift {
		e.out = append(e.out, "\x1b[Z"...) // BTab, whatever else is held
		return true
	}
	if key, ok := cursorKey(name); ok {
		e.cursor(key, m)
		return true
	}
	seq, ok := plainKey(name)
	if !ok {
		return false
	}
	if m.alt { // Ctrl and Shift are ignored for these
		e.out = append(e.out, esc)
	}
	e.out = append(e.out, seq...)
	return true
}

// cursor appends a cursor or editing key.
func (e *encoder) cursor(key cursorSeq, m mods) {
	switch {
	case m.any() && key.tilde != 0:
		e.out = append(e.out, "\x1b["+strconv.Itoa(key.tilde)+";"+strconv.Itoa(m.param())+"~"...)
	case m.any():
		e.out = append(e.out, "\x1b[1;"+strconv.Itoa(m.param())+string(key.letter)...)
	case key.letter == 0:
		e.out = append(e.out, "\x1b["+strconv.Itoa(key.tilde)+"~"...)
	case e.mode == CursorUnknown:
		e.refused = true
	case e.mode == CursorApplication:
		e.out = append(e.out, esc, 'O', key.letter)
	case key.tilde != 0:
		e.out = append(e.out, "\x1b["+strconv.Itoa(key.tilde)+"~"...)
	default:
		e.out = append(e.out, esc, '[', key.letter)
	}
}
