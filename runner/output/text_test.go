package output_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"claw/runner/output"
)

// The rules of spec/exec-process.md 1.8, one by one.
var textVectors = []struct{ name, in, want string }{
	{"empty", "", ""},
	{"the example of the spec", "a\x00b\a", `a\x00b\x07`},
	{"tab, LF and CR stay", "a\tb\r\nc\r", "a\tb\r\nc\r"},
	{"other C0", "\x01\x08\x0b\x0c\x1f", `\x01\x08\x0b\x0c\x1f`},
	{"DEL", "a\x7fb", `a\x7fb`},
	{"C1 that starts nothing", "a\u0080\u0085\u0099b", `a\x80\x85\x99b`},
	{"stray ST", "a\u009cb", `a\x9cb`},
	{"CAN and SUB outside", "a\x18b\x1ac", `a\x18b\x1ac`},

	{"CSI colour", "\x1b[1;31mred\x1b[0m", "red"},
	{"CSI private", "\x1b[?25l\x1b[?1049h.", "."},
	{"CSI with intermediate", "\x1b[2 q\x1b[!p.", "."},
	{"CSI final bytes at the edges", "\x1b[@\x1b[~.", "."},
	{"CSI colon parameters", "\x1b[38:2:1:2:3mx", "x"},
	{"C1 CSI", "\u009b31mred\u009b0m", "red"},
	{"C0 inside a CSI is passed on", "\x1b[3\n1mred", "\nred"},
	{"BEL inside a CSI is passed on", "\x1b[3\a1mred", `\x07red`},
	{"DEL inside a CSI is ignored", "\x1b[3\x7f1mred", "red"},
	{"CAN aborts a CSI", "\x1b[31\x18mred", "mred"},
	{"SUB aborts a CSI", "\x1b[31\x1amred", "mred"},
	{"ESC restarts", "\x1b[31\x1b[32mgreen", "green"},
	{"a letter that is no part of a CSI", "\x1b[31é", "é"},

	{"OSC to BEL", "\x1b]0;title\aafter", "after"},
	{"OSC to ST", "\x1b]0;title\x1b\\after", "after"},
	{"OSC to C1 ST", "\x1b]0;title\u009cafter", "after"},
	{"C1 OSC", "\u009d0;title\aafter", "after"},
	{"OSC hyperlink", "\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\.", "link."},
	{"OSC with UTF-8 in it", "\x1b]0;läuft 🌊\aafter", "after"},
	{"CAN aborts an OSC", "\x1b]0;ti\x18tle", "tle"},
	{"SUB aborts an OSC", "\x1b]0;ti\x1atle", "tle"},
	{"unterminated OSC swallows", "a\x1b]0;title\nb\x1b[0mc", "a"},
	{"ESC in an OSC that is no ST", "\x1b]0;a\x1b[0m\x1b\\b", "b"},
	{"ESC ESC backslash ends", "\x1b]0;a\x1b\x1b\\b", "b"},

	{"DCS to ST", "\x1bP1$r0m\x1b\\after", "after"},
	{"BEL does not end a DCS", "\x1bPab\acd\x1b\\after", "after"},
	{"C1 DCS", "\u0090q\u009cafter", "after"},
	{"SOS, PM, APC", "\x1bXa\x1b\\1\x1b^b\x1b\\2\x1b_c\x1b\\3", "123"},
	{"C1 SOS, PM, APC", "\u0098a\u009c1\u009eb\u009c2\u009fc\u009c3", "123"},
	{"CAN aborts a DCS", "\x1bPab\x18cd", "cd"},

	{"short escapes", "\x1b7\x1b8\x1b=\x1b>\x1bc\x1bM.", "."},
	{"escapes with intermediate", "\x1b(B\x1b)0\x1b#8\x1b%G.", "."},
	{"stray ST in its two-byte form", "a\x1b\\b", "ab"},
	{"ESC at the end", "a\x1b", "a"},
	{"ESC before a letter outside ASCII", "\x1bé", "é"},

	{"zero width and joiners", "a\u200bb\u200cc\u200dd\ufeffe\u00adf", "abcdef"},
	{"bidi marks", "\u202eabc\u202c\u2066d\u2069\u200e", "abcd"},
	{"joined emoji come apart", "👩\u200d💻", "👩💻"},
	{"other text stays", "äß 完了 🌊 e\u0301", "äß 完了 🌊 e\u0301"},
	{"U+FFFD itself", "a\ufffdb", "a\ufffdb"},
}

// What Python 3.11 makes of these with bytes.decode("utf-8", "replace").
var invalidVectors = []struct{ in, want string }{
	{"\xff", "\ufffd"},
	{"\x61\x80\x62", "a\ufffdb"},
	{"\xc0\xaf", "\ufffd\ufffd"},
	{"\xe2\x82", "\ufffd"},
	{"\xe2\x82\x41", "\ufffdA"},
	{"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},
	{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
	{"\xf0\x9f\x92", "\ufffd"},
	{"\xf0\x9f\x92\x41", "\ufffdA"},
	{"\xf0\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
	{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
	{"\xf5\x80", "\ufffd\ufffd"},
	{"\xe4\xbd\xe4\xbd\xa0", "\ufffd你"},
	{"\xc3\xc3\xa9", "\ufffdé"},
	{"\xf1\x80\x80\xe2\x82\x82\xac", "\ufffd₂\ufffd"},
	{"\xfe\xfe\xff\xff", "\ufffd\ufffd\ufffd\ufffd"},
}

func TestSanitize(t *testing.T) {
	for _, v := range textVectors {
		t.Run(v.name, func(t *testing.T) {
			if got := output.Sanitize([]byte(v.in)); got != v.want {
				t.Errorf("Sanitize(%q) = %q, want %q", v.in, got, v.want)
			}
		})
	}
	for _, v := range invalidVectors {
		if got := output.Sanitize([]byte(v.in)); got != v.want {
			t.Errorf("Sanitize(%q) = %q, want %q", v.in, got, v.want)
		}
	}
}

// B06: bytes that arrive in two reads, cut anywhere, make the same text.
func TestB06SplitAnywhere(t *testing.T) {
	var all []string
	for _, v := range textVectors {
		all = append(all, v.in)
	}
	for _, v := range invalidVectors {
		all = append(all, v.in)
	}
	all = append(all, strings.Join(all, "\x18 "))
	for _, in := range all {
		want := output.Sanitize([]byte(in))
		for i := range len(in) + 1 {
			if got := cutAt(t, []byte(in), i); got != want {
				t.Fatalf("%q cut at %d: %q, want %q", in, i, got, want)
			}
		}
		if got := cutAt(t, []byte(in), every(len(in))...); got != want {
			t.Fatalf("%q byte by byte: %q, want %q", in, got, want)
		}
	}
}

func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// cutAt decodes p in pieces, and stores and restores the decoder in between.
func cutAt(t testing.TB, p []byte, cuts ...int) string {
	var out []byte
	var s output.State
	last := 0
	for _, c := range append(cuts, len(p)) {
		d := s.Decoder()
		out = d.Append(out, p[last:c])
		b, err := json.Marshal(d.State())
		if err != nil {
			t.Fatal(err)
		}
		s = output.State{}
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		last = c
	}
	d := s.Decoder()
	return string(d.Flush(out))
}

func TestFormatCharactersAreCf(t *testing.T) {
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		want := string(r)
		if unicode.Is(unicode.Cf, r) {
			want = ""
		}
		if got := output.Sanitize([]byte(string(r))); got != want {
			t.Fatalf("Sanitize(%U) = %q, want %q", r, got, want)
		}
	}
}

func TestStateThatNoDecoderLeaves(t *testing.T) {
	for _, s := range []output.State{
		{Mode: 200},
		{Partial: []byte("abc")},
		{Partial: []byte{0xe2, 0x82, 0xac}},
		{Partial: []byte{0xf0, 0x9f, 0x92, 0x80, 0x80}},
	} {
		d := s.Decoder()
		if got := string(d.Flush(d.Append(nil, []byte("x")))); got != "x" {
			t.Errorf("%+v: %q, want a fresh decoder", s, got)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for i, v := range textVectors {
		f.Add([]byte(v.in), i%7, i%5)
	}
	for i, v := range invalidVectors {
		f.Add([]byte(v.in), i%3, i%4)
	}
	f.Fuzz(func(t *testing.T, p []byte, a, b int) {
		want := output.Sanitize(p)
		if n := len(p) + 1; true {
			a, b = ((a%n)+n)%n, ((b%n)+n)%n
		}
		if got := cutAt(t, p, min(a, b), max(a, b)); got != want {
			t.Fatalf("cut at %d and %d: %q, whole: %q", a, b, got, want)
		}
		if !utf8.ValidString(want) {
			t.Fatalf("not UTF-8: %q", want)
		}
		for _, r := range want {
			if r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%U in %q", r, want)
			}
		}
		if again := output.Sanitize([]byte(want)); again != want {
			t.Fatalf("text is not left alone: %q became %q", want, again)
		}
	})
}

func TestLooksBinary(t *testing.T) {
	gz := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00\x00"
	for _, v := range []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", false},
		{"text", "läuft 🌊\n\x1b[31mred\x1b[0m\r\n", false},
		{"the example of the spec", "a\x00b\a", false},
		{"find -print0", strings.Repeat("./some/path/file.go\x00", 50), false},
		{"latin-1 prose", strings.Repeat("la f\xeate \xe0 la maison, bient\xf4t.", 20), false},
		{"a rune cut at the end", strings.Repeat("x", 20) + "\xf0\x9f\x92", false},
		{"gzip", gz, true},
		{"zeros", strings.Repeat("\x00", 4096), true},
		{"UTF-16", strings.Repeat("h\x00i\x00", 64), true},
	} {
		if got := output.LooksBinary([]byte(v.in)); got != v.want {
			t.Errorf("%s: %v, want %v", v.name, got, v.want)
		}
	}
}
