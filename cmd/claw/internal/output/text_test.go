package output_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claw/cmd/claw/internal/output"
)

// spec/exec-process.md 1.8, and the carriage return.
func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "": "", "é日🎉": "é日🎉",
		"a\x00b\x07": `a\x00b\x07`, "\x1b[31mred\x1b[0m": "red", "\x1b]0;title\x07x": "x", "\u009b31mred": "red",
		"a\u202eb": "ab", "a\xffb": "a\ufffdb", "\x7f": `\x7f`,
		"a\r\nb": "a\nb", "safe\rEVIL": `safe\x0dEVIL`, "\x1b": "",
	} {
		if got := output.Safe(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCut: what a program printed is one line and no wider than there is room,
// by the columns it takes.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text          string
		width, beside int
		want          string
	}{
		{"fits", 20, 16, "fits"},
		{"not quite", 20, 12, "not qui…"},
		{"two\nlines", 80, 0, "two⏎lines"},
		{"\x1b[31mred\x1b[0m", 80, 77, "red"},
		{"漢字漢字", 80, 75, "漢字…"},
		{strings.Repeat("R", 4096), 0, 18, strings.Repeat("R", 61) + "…"}, // 80 where nobody says
		{"no room", 20, 40, "…"},
		{"", 20, 0, ""},
	} {
		s := output.Streams{Width: tt.width}
		if got := s.Cut(tt.text, tt.beside); got != tt.want {
			t.Errorf("%.20q in %d beside %d: %q, want %q", tt.text, tt.width, tt.beside, got, tt.want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "": "", "é日🎉": "é日🎉", "a\tb\nc\rd": `a\tb\nc\rd`, `c:\new`: `c:\\new`,
		"\x1b[1m\x00\x7f": `\x1b[1m\x00\x7f`, "\u0085\u2028\u2029": `\u0085\u2028\u2029`, "\xff\xc3": `\xff\xc3`, "\ufffd": "\ufffd", `"q"`: `"q"`,
	} {
		if got := output.Escape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzEscape: one line, no tab, no control, and Go's own unquoting gives the
// bytes back.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", "a\tb\n", `\n`, "\xff", "\u0085", "\\x41", "\ufffd\xef\xbf", "\x1b[0m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := output.Escape(s)
		if strings.ContainsFunc(e, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) || !utf8.ValidString(e) {
			t.Errorf("%q is escaped as %q", s, e)
		}
		back, err := strconv.Unquote(`"` + strings.ReplaceAll(e, `"`, `\"`) + `"`)
		if err != nil || back != s {
			t.Errorf("%q: %q is read back as %q, %v", s, e, back, err)
		}
	})
}

// FuzzSafe: nothing a terminal obeys is left, and safe text stays as it is.
func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[31mb", "\r\r\n", "\u009bm", "\x1b]8;;x\x1b\\y", "\xe2\x80\xae"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := output.Safe(s)
		if strings.ContainsFunc(safe, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) || !utf8.ValidString(safe) {
			t.Errorf("%q becomes %q", s, safe)
		}
		if again := output.Safe(safe); again != safe {
			t.Errorf("%q becomes %q, and then %q", s, safe, again)
		}
	})
}

func TestAgo(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 11, 30, 15, 0, 0, 0, berlin)
	for _, row := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "never"},
		{now, "just now"},
		{now.Add(-999 * time.Millisecond), "just now"},
		{now.Add(999 * time.Millisecond), "now"},
		{now.Add(-23 * time.Second), "23s ago"},
		{now.Add(-59*time.Second - 999*time.Millisecond), "59s ago"},
		{now.Add(-12 * time.Minute), "12m ago"},
		{now.Add(-5*time.Hour - 59*time.Minute), "5h ago"},
		{now.Add(-23 * time.Hour), "23h ago"},
		{now.Add(-24 * time.Hour), "yesterday"},
		{now.Add(-38 * time.Hour), "yesterday"},
		{now.Add(-40 * time.Hour), "2 days ago"},
		{now.AddDate(0, 0, -4), "4 days ago"},
		{now.AddDate(0, 0, -30), "30 days ago"},
		{now.AddDate(0, 0, -31), "2026-10-30"},
		{now.Add(41 * time.Minute), "in 41m"},
		{now.Add(14 * time.Hour), "in 14h"},
		{now.Add(30 * time.Hour), "tomorrow"},
		{now.AddDate(0, 0, 3), "in 3 days"},
		{now.AddDate(1, 0, 0), "2027-11-30"},
		{now.Add(-12 * time.Minute).UTC(), "12m ago"},
	} {
		if got := output.Ago(row.t, now); got != row.want {
			t.Errorf("%v: %q, want %q", row.t, got, row.want)
		}
	}
	long := time.Date(2026, 10, 25, 23, 59, 0, 0, berlin) // a day of 25 hours
	if got := output.Ago(time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), long); got != "24h ago" {
		t.Error(got)
	}
}
