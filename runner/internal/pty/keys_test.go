package pty_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/runner/internal/pty"
)

// unhex reads "1b 5b 41".
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestKeyTokens holds every token of spec/exec-process.md 2.6: the table of
// names in both cursor modes, then the vectors.
func TestKeyTokens(t *testing.T) {
	const both = ""
	rows := []struct{ token, normal, application string }{
		// The table of named bases.
		{"Enter", "0d", both},
		{"Return", "0d", both},
		{"Tab", "09", both},
		{"Esc", "1b", both},
		{"Escape", "1b", both},
		{"Space", "20", both},
		{"BSpace", "7f", both},
		{"Backspace", "7f", both},
		{"Up", "1b5b41", "1b4f41"},
		{"Down", "1b5b42", "1b4f42"},
		{"Right", "1b5b43", "1b4f43"},
		{"Left", "1b5b44", "1b4f44"},
		{"Home", "1b5b317e", "1b4f48"},
		{"End", "1b5b347e", "1b4f46"},
		{"Insert", "1b5b327e", both},
		{"IC", "1b5b327e", both},
		{"Delete", "1b5b337e", both},
		{"Del", "1b5b337e", both},
		{"DC", "1b5b337e", both},
		{"PageUp", "1b5b357e", both},
		{"PgUp", "1b5b357e", both},
		{"PPage", "1b5b357e", both},
		{"PageDown", "1b5b367e", both},
		{"PgDn", "1b5b367e", both},
		{"NPage", "1b5b367e", both},
		{"BTab", "1b5b5a", both},
		{"F1", "1b4f50", both},
		{"F2", "1b4f51", both},
		{"F3", "1b4f52", both},
		{"F4", "1b4f53", both},
		{"F5", "1b5b31357e", both},
		{"F6", "1b5b31377e", both},
		{"F7", "1b5b31387e", both},
		{"F8", "1b5b31397e", both},
		{"F9", "1b5b32307e", both},
		{"F10", "1b5b32317e", both},
		{"F11", "1b5b32337e", both},
		{"F12", "1b5b32347e", both},
		{"KP0", "1b4f70", both},
		{"KP1", "1b4f71", both},
		{"KP2", "1b4f72", both},
		{"KP3", "1b4f73", both},
		{"KP4", "1b4f74", both},
		{"KP5", "1b4f75", both},
		{"KP6", "1b4f76", both},
		{"KP7", "1b4f77", both},
		{"KP8", "1b4f78", both},
		{"KP9", "1b4f79", both},
		{"KP/", "1b4f6f", both},
		{"KP*", "1b4f6a", both},
		{"KP-", "1b4f6d", both},
		{"KP+", "1b4f6b", both},
		{"KP.", "1b4f6e", both},
		{"KPEnter", "1b4f4d", both},
		// Names are read without regard to case, tokens are trimmed.
		{"enter", "0d", both},
		{"uP", "1b5b41", "1b4f41"},
		{" kpenter ", "1b4f4d", both},
		{"pGdN", "1b5b367e", both},
		// The vectors.
		{"C-c", "03", both},
		{"c-C", "03", both},
		{"^C", "03", both},
		{"^c", "03", both},
		{"C-[", "1b", both},
		{"^[", "1b", both},
		{"C-?", "7f", both},
		{"^?", "7f", both},
		{"M-x", "1b78", both},
		{"C-@", "00", both},
		{"^@", "00", both},
		{"C-i", "09", both},
		{"C-m", "0d", both},
		{"C-Space", "20", both},
		{"C-Enter", "0d", both},
		{"M-Enter", "1b0d", both},
		{"S-Tab", "1b5b5a", both},
		{"S-M-Tab", "1b5b5a", both},
		{"M-Tab", "1b09", both},
		{"S-a", "41", both},
		{"S-1", "31", both},
		{"C-M-x", "1b18", both},
		{"M-C-x", "1b18", both},
		{"C-1", "31", both},
		{"M-Up", "1b5b313b3341", both},
		{"C-Right", "1b5b313b3543", both},
		{"S-Down", "1b5b313b3242", both},
		{"C-Home", "1b5b313b357e", both},
		{"M-C-End", "1b5b343b377e", both},
		{"S-M-C-PgDn", "1b5b363b387e", both},
		{"S-Insert", "1b5b323b327e", both},
		{"S-M-Del", "1b5b333b347e", both},
		{"M-F1", "1b1b4f50", both},
		{"C-F5", "1b5b31357e", both},
		{"hello", "68656c6c6f", both},
		{"C-", "432d", both},
		{"C--", "2d", both},
		{"^1", "5e31", both},
		{"é", "c3a9", both},
		{"M-é", "1bc3a9", both},
		// What follows from the grammar: modifiers repeat, a lone ^ is itself,
		// Shift counts for letters only, keypad and function keys know Alt only.
		{"C-C-c", "03", both},
		{"^", "5e", both},
		{"^^", "1e", both},
		{"S-é", "c3a9", both},
		{"C-S-a", "01", both},
		{"C-KP5", "1b4f75", both},
		{"M-KP5", "1b1b4f75", both},
		{"M-BTab", "1b1b5b5a", both},
		{"KP10", "4b503130", both},
		{"-", "2d", both},
		{"x-y", "782d79", both},
		{"😀", "f09f9880", both},
	}
	for _, row := range rows {
		if row.application == both {
			row.application = row.normal
		}
		for mode, want := range map[pty.CursorMode]string{pty.CursorNormal: row.normal, pty.CursorApplication: row.application} {
			got, err := pty.Keys{Keys: []string{row.token}, Mode: mode}.Encode()
			if err != nil {
				t.Errorf("%q in %v mode: %v", row.token, mode, err)
				continue
			}
			if diff := cmp.Diff(want, hex.EncodeToString(got.Bytes)); diff != "" || len(got.Warnings) > 0 {
				t.Errorf("%q in %v mode (-want +got), warnings %q:\n%s", row.token, mode, got.Warnings, diff)
			}
		}
	}
}

func TestKeyRequests(t *testing.T) {
	const unknownFoo = `Unknown key "foo" for modifiers; sending literal.`
	tests := []struct {
		name     string
		req      pty.Keys
		want     string
		warnings []string
		err      error
	}{
		{
			"order and raw bytes",
			pty.Keys{Literal: "你好😀", Hex: []string{"c3", "a9", "00", "ff"}, Keys: []string{"C-c", "Enter"}},
			"e4bda0e5a5bdf09f9880 c3a900ff 03 0d", nil, nil,
		},
		{
			"one bad hex byte",
			pty.Keys{Literal: "hi", Hex: []string{"0d", "0x0a", "zz"}, Keys: []string{"Enter"}},
			"68690d0a0d",
			[]string{"Invalid hex byte: zz"},
			nil,
		},
		{"hex forms", pty.Keys{Hex: []string{"0XfF", " a ", "0"}}, "ff0a00", nil, nil},
		{"one byte an item", pty.Keys{Hex: []string{"0d0a", "41"}}, "41", []string{"Invalid hex byte: 0d0a"}, nil},
		{
			"no digits",
			pty.Keys{Hex: []string{"0x", "", "+1", "-1", "1_"}},
			"",
			[]string{"Invalid hex byte: 0x", "Invalid hex byte: ", "Invalid hex byte: +1", "Invalid hex byte: -1", "Invalid hex byte: 1_"},
			pty.ErrNoKeys,
		},
		{"unknown key with modifier", pty.Keys{Keys: []string{"C-foo"}}, "666f6f", []string{unknownFoo}, nil},
		{"unknown key keeps its case", pty.Keys{Keys: []string{"M-Foo"}}, "466f6f", []string{`Unknown key "Foo" for modifiers; sending literal.`}, nil},
		{"unknown key without", pty.Keys{Keys: []string{"foo"}}, "666f6f", nil, nil},
		{"nothing", pty.Keys{Keys: []string{"", "  "}}, "", nil, pty.ErrNoKeys},
		{"burst", pty.Keys{Keys: []string{"Down", "Down", "Enter"}, Mode: pty.CursorNormal}, "1b5b421b5b420d", nil, nil},
		{"literal arrow bytes", pty.Keys{Literal: "\x1b[A"}, "1b5b41", nil, nil},

		{"unknown mode refuses an arrow", pty.Keys{Literal: "x", Keys: []string{"Enter", "Up"}}, "", nil, pty.ErrCursorMode},
		{"unknown mode refuses Home", pty.Keys{Keys: []string{"Home"}}, "", nil, pty.ErrCursorMode},
		{"unknown mode refuses End", pty.Keys{Keys: []string{"end"}}, "", nil, pty.ErrCursorMode},
		{"unknown mode and a modified arrow", pty.Keys{Keys: []string{"C-Right"}}, "1b5b313b3543", nil, nil},
		{"unknown mode and other keys", pty.Keys{Keys: []string{"PgUp", "Delete", "F1"}}, "1b5b357e1b5b337e1b4f50", nil, nil},
		{"assumed after output", pty.Keys{Keys: []string{"Up"}, Assume: pty.CursorNormal}, "1b5b41", nil, nil},
		{"tracked wins over assumed", pty.Keys{Keys: []string{"Up"}, Mode: pty.CursorApplication, Assume: pty.CursorNormal}, "1b4f41", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.req.Encode()
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(string(unhex(t, tt.want)), string(got.Bytes)); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCursorModeNames(t *testing.T) {
	for _, m := range []pty.CursorMode{pty.CursorNormal, pty.CursorApplication} {
		if got, ok := pty.ParseCursorMode(m.String()); !ok || got != m {
			t.Errorf("%v reads back as %v, %v", m, got, ok)
		}
	}
	if _, ok := pty.ParseCursorMode(pty.CursorUnknown.String()); ok {
		t.Error("unknown is not a mode to ask for")
	}
}

func FuzzKeys(f *testing.F) {
	for _, s := range []string{"C-c", "^[", "S-M-C-PgDn", "C--", "é", "M-\xff", "^\xff", "C-", "KP9", "x-"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, token, item string) {
		got, err := pty.Keys{Keys: []string{token}, Hex: []string{item}, Mode: pty.CursorNormal}.Encode()
		if err != nil && !errors.Is(err, pty.ErrNoKeys) {
			t.Fatal(err)
		}
		if utf8.ValidString(token) && strings.TrimSpace(token) != "" && len(got.Bytes) == 0 {
			t.Fatalf("%q came to nothing", token)
		}
		if len(got.Warnings) > 2 {
			t.Fatalf("warnings %q", got.Warnings)
		}
	})
}

// TestPaste is spec/exec-process.md 2.5 and pains B18.
func TestPaste(t *testing.T) {
	const begin, end = "\x1b[200~", "\x1b[201~"
	tests := []struct {
		name, text string
		bracketed  bool
		want       pty.Pasted
		err        error
	}{
		{"bracketed", "a;\nb;", true, pty.Pasted{Bytes: []byte(begin + "a;\nb;" + end), Chars: 5}, nil},
		{"plain", "a;\nb;", false, pty.Pasted{Bytes: []byte("a;\nb;"), Chars: 5}, nil},
		{"characters, not bytes", "é😀", true, pty.Pasted{Bytes: []byte(begin + "é😀" + end), Chars: 2}, nil},
		{"empty in brackets", "", true, pty.Pasted{Bytes: []byte(begin + end)}, nil},
		{"empty", "", false, pty.Pasted{}, pty.ErrNoPaste},
		{"breaks out", "x" + end + "rm -rf\r", true, pty.Pasted{Bytes: []byte(begin + "xrm -rf\r" + end), Chars: 8, Stripped: 1}, nil},
		{"breaks out once joined", "\x1b[2" + end + "01~y", true, pty.Pasted{Bytes: []byte(begin + "y" + end), Chars: 1, Stripped: 2}, nil},
		{"plain is verbatim", end, false, pty.Pasted{Bytes: []byte(end), Chars: 6}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pty.Paste(tt.text, tt.bracketed)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if pty.Submit != "\x0d" || pty.EOF != "\x04" {
		t.Errorf("submit %q, end of input %q", pty.Submit, pty.EOF)
	}
}

func FuzzPaste(f *testing.F) {
	f.Add("\x1b[2\x1b[201~01~")
	f.Add("plain")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := pty.Paste(text, true)
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(string(got.Bytes), "\x1b[200~"), "\x1b[201~")
		for strings.Contains(text, "\x1b[201~") { // another way to the same end
			text = strings.Replace(text, "\x1b[201~", "", 1)
		}
		if inner != text {
			t.Fatalf("%q, want %q", inner, text)
		}
	})
}
