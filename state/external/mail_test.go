package external_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claw/state/external"
)

// TestParseMail: odd encodings as they come in (RFC 2045 to 2047).
func TestParseMail(t *testing.T) {
	tests := []struct{ name, raw, from, subject, text string }{
		{"plain", "From: a@x\nSubject: s\n\nhello\n", "a@x", "s", "hello"},
		{"CRLF, folded, of an mbox", "From a@x Tue Dec  1\r\nFrom: A\r\n <a@x>\r\nSubject: one\r\n\ttwo\r\n\r\nhello\r\nthere\r\n", "A <a@x>", "one two", "hello\nthere"},
		{"RFC 2047", "From: =?utf-8?B?SsO8cmdlbg==?= <j@x>\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?= =?windows-1252?Q?_=80?=\n\nx", "Jürgen <j@x>", "Grüße €", "x"},
		{"quoted-printable", "From: a@x\nContent-Type: text/plain; charset=iso-8859-15\nContent-Transfer-Encoding: quoted-printable\n\n5 =A4 =E4=\nb", "a@x", "", "5 € äb"},
		{"base64", "From: a@x\nContent-Transfer-Encoding: BASE64\n\naGVs\nbG8g8J+Y\ngA==\n", "a@x", "", "hello 😀"},
		{"8 bit without a charset", "From: a@x\n\nGr\xfc\xdfe", "a@x", "", "Grüße"},
		{"alternative", "From: a@x\nContent-Type: multipart/alternative; boundary=b\n\npreamble\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b\nContent-Type: text/plain\n\nplain\n--b--\nend", "a@x", "", "plain"},
		{
			"HTML alone", "From: a@x\nContent-Type: text/html; charset=utf-8\n\n<html><head><title>t</title><style>p{}</style></head><body><p>One &amp; two</p><script>evil()</script><div>three<br>four</div></body></html>",
			"a@x", "", "One & two\n\nthree\nfour",
		},
		{
			"with an attachment", "From: a@x\nContent-Type: multipart/mixed; boundary=\"b b\"\n\n--b b\n\ntext\n--b b\nContent-Type: application/pdf; name=\"=?utf-8?Q?B=C3=A4r.pdf?=\"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b b--\n",
			"a@x", "", "text\n[attachment: Bär.pdf application/pdf, 3 bytes]",
		},
		{"attached text", "From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=x.txt\n\nlong\n--b--\n", "a@x", "", "text\n[attachment: x.txt text/plain, 5 bytes]"},
		{"forwarded", "From: a@x\nContent-Type: message/rfc822\n\nFrom: b@y\nSubject: old\n\ninner\n", "a@x", "", "[forwarded message]\nFrom: b@y\nSubject: old\n\ninner"},
		{"cut off", "From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhalf", "a@x", "", "half"},
		{"nothing to read", "From: a@x\nContent-Type: image/png\n\n\x89PNG", "a@x", "", "[no text]\n[attachment: image/png, 4 bytes]"},
		{
			"one boundary begins like another", "From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=b2\n\n--b2\n\nplain\n--b2 \nContent-Type: text/html\n\n<p>html</p>\n--b2--\n\n--b\n\nend\n--b--",
			"a@x", "", "plain\n\nend",
		},
		{"the plain one is blank", "From: a@x\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n \n--b\nContent-Type: text/html\n\n<p>html</p>\n--b--", "a@x", "", "html"},
		{"an invitation", "From: a@x\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b\nContent-Type: text/calendar\n\nBEGIN\n--b--", "a@x", "", "html"},
		{"no boundary", "From: a@x\nContent-Type: multipart/mixed\n\n--b\n\nx\n--b--", "a@x", "", "--b\n\nx\n--b--"},
		{"a wrong boundary", "From: a@x\nContent-Type: multipart/mixed; boundary=c\n\n--b\n\nx\n--b--", "a@x", "", "--b\n\nx\n--b--"},
		{"base64 with a footer", "From: a@x\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n_____\nsent by a list\n", "a@x", "", "hello"},
		{"base64 twice", "From: a@x\nContent-Transfer-Encoding: base64\n\nYQ==\nYmM=\n", "a@x", "", "abc"},
		{"a type that is none", "From: a@x\nContent-Type: text\n\nx", "a@x", "", "x"},
		{"8 bit in a header", "From: Andr\xe9 <a@x>\nSubject: \xc3\xbc\n\nx", "André <a@x>", "ü", "x"},
		{"HTML that is odd", "From: a@x\nContent-Type: text/html\n\n1 < 2 <!-- a > b --><a title=\"x>y\" b='>'>link</a> don't <b>you</b>", "a@x", "", "1 < 2 link don't you"},
		{"HTML's entities", "From: a@x\nContent-Type: text/html\n\n&amp;&Auml;&rsquo;&nbsp;&unknown;&", "a@x", "", "&Ä’ &unknown;&"},
		{"HTML that does not end", "From: a@x\nContent-Type: text/html\n\na<!-- b>c<i d=\"e>f", "a@x", "", "acf"},
		{"no blank line", "From: a@x\nSubject: s\nhello there\n", "a@x", "s", "hello there"},
	}
	for _, tt := range tests {
		m, ok := external.ParseMail([]byte(tt.raw))
		if !ok || m.From != tt.from || m.Subject != tt.subject || m.Text != tt.text {
			t.Errorf("%s: %v %q %q\n got %q\nwant %q", tt.name, ok, m.From, m.Subject, m.Text, tt.text)
		}
	}
	for _, raw := range []string{"", "hello", "hello: world\n\nx", "\n\nFrom: a@x\n", "{\"From\": 1}"} {
		if _, ok := external.ParseMail([]byte(raw)); ok {
			t.Errorf("%q is no mail", raw)
		}
	}
}

// TestMailCharsets: one character of each, from its table at unicode.org or in its
// RFC, and what is not known.
func TestMailCharsets(t *testing.T) {
	const note = "[the characters of %s are not known here]\n"
	for _, tt := range []struct{ charset, raw, want string }{
		{"us-ascii", "a", "a"},
		{"us-ascii", "\xfc", "ü"},
		{"utf-8", "\xc3\xbc", "ü"},
		{"UTF-8", "\xfc", "\uFFFD"},
		{"", "\xc3\xbc", "ü"},
		{"", "\x80", "€"},
		{"iso-8859-1", "\xc3\xbc", "Ã¼"},
		{"iso-8859-2", "\xb1", "ą"},
		{"iso-8859-5", "\xbf", "П"},
		{"iso-8859-7", "\xe1", "α"},
		{"iso-8859-9", "\xf0", "ğ"},
		{"ISO-8859-15", "\xa4", "€"},
		{"windows-1250", "\x8a", "Š"},
		{"windows-1251", "\xcf", "П"},
		{"windows-1252", "\x93", "“"},
		{"windows-1253", "\xd9", "Ω"},
		{"windows-1254", "\xde", "Ş"},
		{"koi8-r", "\xf0", "П"},
		{"koi8-u", "\xa4", "є"},
		{"gb2312", "plain", "plain"},
		{"x-klingon", "\xc4", strings.Replace(note, "%s", "x-klingon", 1) + "Ä"},
		{"gb2312", "\xc4\xe3", "你"},
		{"GBK", "\x80", "€"},
		{"gb18030", "\x90\x30\x81\x30\x95\x32\x82\x36", "\U00010000\U00020000"},
		{"gb18030", "\xc4<b\x81", "\uFFFD<b\uFFFD"},
		{"Big5", "\xa4\xa4\xa4\xe5", "中文"},
		{"Shift_JIS", "\x93\xfa\x96\x7b\xb1\xe0\x9f", "日本ｱ燹"},
		{"shift_jis", "\x81<b", "\uFFFD<b"},
		{"EUC-JP", "\xc6\xfc\xcb\xdc\x8e\xb1\x8f\xb0\xa1x", "日本ｱ\uFFFDx"},
		{"ISO-2022-JP", "\x1b$BF|K\\\x1b(B.\x1b(I1\x1b(J~", "日本.ｱ~"},
		{"iso-2022-jp", "\x1b$BF|\n<b>", "日\n<b>"},
		{"iso-2022-jp", "\x1b$B<", "\uFFFD"},
		{"euc-kr", "\xb0\xa1", "가"},
		{"ks_c_5601-1987", "\x81\x41", "갂"},
		{"ISO-2022-KR", "\x1b$)C\x0e0!\x0fx", "가x"},
		{"hz-gb-2312", "GB.~{<:Ky2;S{#,NpJ)l6HK!#~}Bye. ~~", "GB.己所不欲，勿施於人。Bye. ~"}, // after RFC 1843
		{"utf-16le", "h\x00\xe4\x00", "hä"},
		{"utf-16", "\xff\xfeh\x00\xe4\x00", "hä"},
		{"UTF-16", "\x00h\x00\xe4", "hä"},
		{"iso8859-1", "\xe4", "ä"},
		{"ISO_8859-2", "\xb1", "ą"},
		{"iso-8859-3", "\xe6", "ĉ"},
		{"iso-8859-4", "\xe8", "č"},
		{"iso-8859-6", "\xc7", "ا"},
		{"iso-8859-8-i", "\xe0", "א"},
		{"iso-8859-10", "\xe8", "č"},
		{"iso-8859-13", "\xe0", "ą"},
		{"iso-8859-14", "\xf0", "ŵ"},
		{"iso-8859-16", "\xa4", "€"},
		{"windows-1255", "\xe0", "א"},
		{"cp1256", "\xc7", "ا"},
		{"windows-1257", "\xe0", "ą"},
		{"windows-1258", "\xd0", "Đ"},
		{"TIS-620", "\xa1", "ก"},
		{"IBM437", "\xe1", "ß"},
		{"cp850", "\xe1", "ß"},
		{"cp852", "\xa5", "ą"},
		{"cp866", "\x8f", "П"},
		{"macintosh", "\x8a", "ä"},
		{"x-mac-cyrillic", "\x8f", "П"},
	} {
		m, ok := external.ParseMail([]byte("From: a@x\nContent-Type: text/plain; charset=\"" + tt.charset + "\"\n\n" + tt.raw))
		if !ok || m.Text != tt.want {
			t.Errorf("%s: %q is %q, want %q", tt.charset, tt.raw, m.Text, tt.want)
		}
	}
}

// TestMailKey: its Message-ID, where that can be a key.
func TestMailKey(t *testing.T) {
	const none = "From: a@x\n\nhello"
	long := "Message-ID: <" + strings.Repeat("x", external.MaxKey) + "@x>\n\nhello"
	seen := map[string]bool{}
	for _, raw := range []string{"Message-ID:  <1@x> \n\nhello", none, none + "!", long} {
		m, ok := external.ParseMail([]byte(raw))
		key := m.Key([]byte(raw))
		if !ok || key == "" || len(key) > external.MaxKey || seen[key] {
			t.Errorf("%.40q has %q", raw, key)
		}
		seen[key] = true
	}
	if !seen["<1@x>"] {
		t.Errorf("%v", seen)
	}
}

// TestMailIsLinear: nobody can keep claw busy with a mail.
func TestMailIsLinear(t *testing.T) {
	const size = 4 << 20
	const html, multi = "From: a@x\nContent-Type: text/html\n\n", "From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n"
	for _, tt := range []struct{ head, piece string }{
		{html, "<script>"},
		{html, "<!--"},
		{html, "<!-- >"},
		{html, "<a b=\""},
		{html, "<a b='\">"},
		{html, "=\"x\"<"},
		{html, "<style>"},
		{html, "<"},
		{html, "<p"},
		{html, "&"},
		{html, "<head></head"},
		{html, "\n"},
		{html, "&amp;"},
		{html, "</script"},
		{multi, "--b\n"},
		{multi, "--b"},
		{multi, "--b\n\nx\n"},
		{multi, "--b\n" + strings.Repeat("a: b\n c\n", 30000)},
		{multi, "--b\nContent-Type: multipart/mixed; boundary=b\n\n"},
		{"From: a@x\nSubject: x\n", " y\n"},
		{"From: a@x\nSubject: ", "=?utf-8?q?a?= "},
		{"From: a@x\n", "a:\n"},
		{"From: a@x\nContent-Type: ", "a/b; "},
		{"From: a@x\nContent-Transfer-Encoding: quoted-printable\n\n", "=\n"},
		{"From: a@x\nContent-Type: text/plain; charset=iso-2022-jp\n\n", "\x1b$B\x1b"},
		{"From: a@x\nContent-Type: text/plain; charset=gb18030\n\n", "\x81\x30"},
		{"From: a@x\nContent-Type: message/rfc822\n\n", "From: a@x\nContent-Type: message/rfc822\n\n"},
		{"From: a@x\nContent-Type: multipart/alternative; boundary=b\n\n", "--b\nContent-Type: text/html\n\n<script>\n"},
	} {
		begun := time.Now()
		external.ParseMail([]byte(tt.head + strings.Repeat(tt.piece, size/len(tt.piece))))
		if tt.head == html {
			external.ParseMail([]byte(tt.head + strings.Repeat(tt.piece, size/len(tt.piece)) + "</script"))
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("%q with %.40q took %v", tt.head, tt.piece, took)
		}
	}
}

// FuzzParseMail: what it makes of anything is text that fits a request.
func FuzzParseMail(f *testing.F) {
	f.Add([]byte("From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>&lt;<b\n--b\nContent-Transfer-Encoding: base64\n\nAA=\n--b--"))
	for _, charset := range []string{"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "utf-16", "cp437"} {
		f.Add([]byte("From: a\nContent-Type: text/plain; charset=" + charset + "\n\n\x1b$B~{\x90\x30\x81\x30\x8f\xa1\xff"))
	}
	f.Add([]byte("From x\nSubject: =?utf-8?q?=ff?=\nReceived: x\n\n\xff"))
	f.Add([]byte("From: a\nContent-Type: multipart/alternative; boundary=\"\"\n\n--\n--\n" + strings.Repeat("--\n", 300)))
	f.Add([]byte("From: a\nContent-Type: message/rfc822\n\nFrom: a\nContent-Type: message/rfc822\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, ok := external.ParseMail(raw)
		if !ok {
			return
		}
		if m.Text == "" || len(m.Text) > external.MaxContent || !utf8.ValidString(m.Text) || !utf8.ValidString(m.Subject+m.From) {
			t.Errorf("%q became %d bytes: %q", raw, len(m.Text), m.Text)
		}
	})
}
