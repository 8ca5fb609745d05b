package deliver

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"claw/state/delivery"
)

// FuzzHeader: one header line whatever is put in, which the standard library
// reads back.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "plain", "Grüße\r\nBcc: x", "=?utf-8?B?eA==?=", strings.Repeat("ü", 300), "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := header(s)
		for line := range strings.SplitSeq(got, "\n") {
			if strings.ContainsAny(line, "\r\x00\x7f") || isASCII(s) == false && len(line) > 76 {
				t.Errorf("line %q", line)
			}
		}
		if lines := strings.Split(got, "\n"); len(lines) > 1 {
			for _, l := range lines[1:] {
				if !strings.HasPrefix(l, " =?utf-8?B?") {
					t.Errorf("a new header: %q", l)
				}
			}
		}
		if isASCII(s) || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return
		}
		back, err := new(mime.WordDecoder).DecodeHeader(strings.ReplaceAll(got, "\n", ""))
		if err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	})
}

// FuzzReport: what is said beside the report never breaks it, and what is no
// report is not taken for one.
func FuzzReport(f *testing.F) {
	f.Add("curl: (52) Empty reply", 0, 163)
	f.Add("", 200, 1)
	f.Add("claw-http 500 1\n", 204, 0)
	f.Fuzz(func(t *testing.T, said string, status, size int) {
		h, rest, ok := report(said + "\n" + mark + strconv.Itoa(status) + " " + strconv.Itoa(size) + "\n")
		if !ok || h.Status != status || h.Request != (size > 0) || rest != said+"\n" {
			t.Errorf("%+v %q %v", h, rest, ok)
		}
		if _, rest, ok := report(strings.ReplaceAll(said, mark, "")); ok || rest != strings.ReplaceAll(said, mark, "") {
			t.Errorf("%q is a report", said)
		}
	})
}

// FuzzCurlQuote reads back by the rules of curl's manual.
func FuzzCurlQuote(f *testing.F) {
	f.Add("plain")
	f.Add("a\"b\\c\nd\te\r")
	f.Fuzz(func(t *testing.T, s string) {
		q := curlQuote(s)
		if strings.ContainsAny(q, "\n\r\x00") {
			t.Fatalf("%q", q)
		}
		var back strings.Builder
		inner := q[1 : len(q)-1]
		for i := 0; i < len(inner); i++ {
			if inner[i] != '\\' {
				if inner[i] == '"' {
					t.Fatalf("it ends early: %q", q)
				}
				back.WriteByte(inner[i])
				continue
			}
			i++
			switch inner[i] {
			case 't':
				back.WriteByte('\t')
			case 'n':
				back.WriteByte('\n')
			case 'r':
				back.WriteByte('\r')
			default:
				back.WriteByte(inner[i])
			}
		}
		if want := strings.ReplaceAll(s, "\x00", ""); back.String() != want {
			t.Errorf("%q came back as %q", want, back.String())
		}
	})
}

func TestEncodedWordsAreShort(t *testing.T) {
	if n := len("=?utf-8?B?") + base64.StdEncoding.EncodedLen(wordBytes) + len("?="); n > 75 {
		t.Errorf("%d characters, RFC 2047 allows 75", n)
	}
}

func TestBodyFitsALine(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("\x01", delivery.MaxText), strings.Repeat("\"", delivery.MaxText), strings.Repeat("x", delivery.MaxText)} {
		q := body(Channel{}, delivery.Delivery{Text: text})
		if len(q) > maxLine {
			t.Errorf("%d bytes", len(q))
		}
		var got posted
		inner := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(q[1 : len(q)-1])
		if err := json.Unmarshal([]byte(inner), &got); err != nil || !strings.HasPrefix(text, got.Text) {
			t.Errorf("%v", err)
		}
	}
}
