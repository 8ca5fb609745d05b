package pty

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// What is typed to end a line and to end the input; spec/exec-process.md 2.5.
const (
	Submit = "\r"   // not LF: programs in raw mode bind Enter to CR
	EOF    = "\x04" // Ctrl-D; the end of input at the start of a line in canonical mode
)

// The brackets around a paste, for programs that asked for them (?2004h).
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// ErrNoPaste: nothing to paste and no brackets to send.
var ErrNoPaste = errors.New("no paste text provided")

// Pasted is a paste ready to be written.
type Pasted struct {
	Bytes    []byte
	Chars    int // characters of the text that is sent, brackets not counted
	Stripped int // end brackets taken out of the text
}

// Paste encodes text. Bracketed text is freed from end brackets of its own,
// with which it could leave the paste and type commands, and an empty one is
// sent as the bare brackets; otherwise the bytes are the text's own (B18).
func Paste(text string, bracketed bool) (Pasted, error) {
	if !bracketed {
		if text == "" {
			return Pasted{}, ErrNoPaste
		}
		return Pasted{Bytes: []byte(text), Chars: utf8.RuneCountInString(text)}, nil
	}
	clean, stripped := stripEnds(text)
	return Pasted{
		Bytes:    []byte(pasteBegin + clean + pasteEnd),
		Chars:    utf8.RuneCountInString(clean),
		Stripped: stripped,
	}, nil
}

// stripEnds takes every end bracket out, those that taking one out puts
// together included. One pass: the output never ends in a whole bracket.
func stripEnds(text string) (string, int) {
	if !strings.Contains(text, pasteEnd) {
		return text, 0
	}
	out := make([]byte, 0, len(text))
	stripped := 0
	for i := range len(text) {
		out = append(out, text[i])
		if text[i] == '~' && strings.HasSuffix(string(out[max(0, len(out)-len(pasteEnd)):]), pasteEnd) {
			out = out[:len(out)-len(pasteEnd)]
			stripped++
		}
	}
	return string(out), stripped
}
