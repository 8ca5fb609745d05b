package pty_test

import (
	"strings"
	"testing"

	"claw/runner/internal/pty"
)

// filtered runs parts through a new Responder and flushes it.
func filtered(parts ...string) (out string, queries int, r *pty.Responder) {
	r = new(pty.Responder)
	var dst []byte
	for _, p := range parts {
		var n int
		dst, n = r.Filter(dst, []byte(p))
		queries += n
	}
	return string(r.Flush(dst)), queries, r
}

// TestResponder is spec/exec-process.md 2.6 (modes) and 2.7 (queries), each
// row whole, byte by byte, and split at every place.
func TestResponder(t *testing.T) {
	const unknown, normal, application = pty.CursorUnknown, pty.CursorNormal, pty.CursorApplication
	tests := []struct {
		name, in, out string
		queries       int
		cursor        pty.CursorMode
		paste         bool
	}{
		{"plain text", "hello\r\nworld", "hello\r\nworld", 0, unknown, false},
		{"query", "a\x1b[6nb", "ab", 1, unknown, false},
		{"private query", "a\x1b[?6nb", "ab", 1, unknown, false},
		{"several", "\x1b[6n\x1b[?6n\x1b[6n", "", 3, unknown, false},
		{"colours pass", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", 0, unknown, false},
		{"other status queries pass", "\x1b[5n\x1b[c\x1b[16n\x1b[6;1n\x1b[?66n", "\x1b[5n\x1b[c\x1b[16n\x1b[6;1n\x1b[?66n", 0, unknown, false},
		{"broken by ESC", "\x1b[6\x1b[6n", "\x1b[6", 1, unknown, false},
		{"two ESC", "\x1b\x1b[6n", "\x1b", 1, unknown, false},
		{"never finished", "x\x1b[?6", "x\x1b[?6", 0, unknown, false},
		{"lone ESC at the end", "x\x1b", "x\x1b", 0, unknown, false},
		{"C0 inside is no query", "\x1b[\n6n", "\x1b[\n6n", 0, unknown, false},

		{"application", "\x1b[?1h", "\x1b[?1h", 0, application, false},
		{"back to normal", "\x1b[?1h\x1b[?1l", "\x1b[?1h\x1b[?1l", 0, normal, false},
		{"combined", "\x1b[?1;25;2004h", "\x1b[?1;25;2004h", 0, application, true},
		{"combined, last", "\x1b[?25;1l", "\x1b[?25;1l", 0, normal, false},
		{"other numbers", "\x1b[?11h\x1b[?25h\x1b[?12;1000h", "\x1b[?11h\x1b[?25h\x1b[?12;1000h", 0, unknown, false},
		{"not private", "\x1b[1h\x1b[2004h", "\x1b[1h\x1b[2004h", 0, unknown, false},
		{"C0 inside a mode acts and is passed", "\x1b[?1\rh", "\x1b[?1\rh", 0, application, false},
		{"cancelled", "\x1b[?1\x18h", "\x1b[?1\x18h", 0, unknown, false},
		{"paste off", "\x1b[?2004h\x1b[?2004l", "\x1b[?2004h\x1b[?2004l", 0, unknown, false},
		{"keypad mode is another", "\x1b=", "\x1b=", 0, unknown, false},
		{"full reset", "\x1b[?1h\x1b[?2004h\x1bc", "\x1b[?1h\x1b[?2004h\x1bc", 0, normal, false},
		{"soft reset", "\x1b[?1h\x1b[!p", "\x1b[?1h\x1b[!p", 0, normal, false},
		{"charset c is no reset", "\x1b[?1h\x1b(c", "\x1b[?1h\x1b(c", 0, application, false},
		{"charset P opens no string", "\x1b(P\x1b[6n", "\x1b(P", 1, unknown, false},

		{"inside OSC", "\x1b]0;\x1b[?1h\x1b[6n\x07\x1b[?1l", "\x1b]0;\x1b[?1h\x1b[6n\x07\x1b[?1l", 0, normal, false},
		{"OSC ended by ST", "\x1b]0;t\x1b\\\x1b[6n", "\x1b]0;t\x1b\\", 1, unknown, false},
		{"OSC cancelled", "\x1b]0;t\x18\x1b[6n", "\x1b]0;t\x18", 1, unknown, false},
		{"inside DCS", "\x1bPq\x1b[6n\x1b\\\x1b[?1h", "\x1bPq\x1b[6n\x1b\\\x1b[?1h", 0, application, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := func(parts ...string) {
				t.Helper()
				out, queries, r := filtered(parts...)
				if out != tt.out || queries != tt.queries || r.CursorMode() != tt.cursor || r.BracketedPaste() != tt.paste {
					t.Errorf("%q: out %q, %d queries, %v, paste %v", parts, out, queries, r.CursorMode(), r.BracketedPaste())
				}
			}
			check(tt.in)
			check(strings.Split(tt.in, "")...)
			for i := range tt.in {
				check(tt.in[:i], tt.in[i:])
			}
		})
	}
}

// What cannot be the beginning of a query any more is passed on at once.
func TestResponderHoldsBackOnlyPrefixes(t *testing.T) {
	var r pty.Responder
	out, _ := r.Filter(nil, []byte("text\x1b[?6"))
	if string(out) != "text" {
		t.Fatalf("passed %q", out)
	}
	out, _ = r.Filter(nil, []byte("h"))
	if string(out) != "\x1b[?6h" {
		t.Fatalf("passed %q once it was no query", out)
	}
	out, _ = r.Filter(nil, []byte("\x1b[38;5;1"))
	if string(out) != "\x1b[38;5;1" {
		t.Fatalf("held back %q", out)
	}
}

func FuzzResponder(f *testing.F) {
	for _, s := range []string{"a\x1b[6nb\x1b[?6n", "\x1b]0;\x1b[?1h\x07", "\x1b[?1;25h", "\x1b[\x1b[6n6n", "\x1bP\x1b\\", "\x1b(\x1b[6n", "\x18\x1b[?2004h"} {
		f.Add(s, uint8(3), uint8(7))
	}
	f.Fuzz(func(t *testing.T, s string, a, b uint8) {
		out, queries, r := filtered(s)
		i := min(int(a), len(s))
		j := min(i+int(b), len(s))
		out2, queries2, r2 := filtered(s[:i], s[i:j], s[j:])
		if out != out2 || queries != queries2 || r.CursorMode() != r2.CursorMode() || r.BracketedPaste() != r2.BracketedPaste() {
			t.Fatalf("%q split at %d and %d: %q/%d, whole %q/%d", s, i, j, out2, queries2, out, queries)
		}
		// Without strings, queries are plain text to be found and removed.
		if !strings.ContainsAny(s, "]PX^_\x18\x1a") {
			if want := strings.Count(s, "\x1b[6n") + strings.Count(s, "\x1b[?6n"); queries != want {
				t.Fatalf("%q: %d queries, want %d", s, queries, want)
			}
		}
		if got, removed := len(s)-len(out), queries; got < 4*removed || got > 5*removed {
			t.Fatalf("%q: %d bytes gone with %d queries", s, got, removed)
		}
	})
}

func BenchmarkResponder(b *testing.B) {
	line := strings.Repeat("compiling \x1b[32mok\x1b[0m something longer than a few bytes\r\n", 500)
	b.SetBytes(int64(len(line)))
	var r pty.Responder
	var dst []byte
	for b.Loop() {
		dst, _ = r.Filter(dst[:0], []byte(line))
	}
}
