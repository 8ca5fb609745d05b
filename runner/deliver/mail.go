package deliver

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/state/delivery"
)

// toMail hands a message to the machine's sendmail, whose exit codes are those
// of sysexits.h. Without a recipient it goes to the user himself, as cron's
// mail does.
func (p *Post) toMail(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	env := p.environment(ch, d)
	to := firstOf(ch.recipient(d.Route), proc.Getenv(env, "LOGNAME"), proc.Getenv(env, "USER"))
	switch {
	case to == "":
		return nil, notReady("mail: no recipient; set channels." + ch.Name + ".to, or name one with --notify " + ch.Name + ":ADDRESS")
	case strings.HasPrefix(to, "-") || strings.ContainsAny(to, "\r\n\x00"):
		return nil, &outcome{verdict: delivery.Permanent, why: "mail: " + strconv.Quote(to) + " cannot be a recipient"}
	}
	prog, not := p.program(ch, d, []string{sendmail(proc.Getenv(env, "PATH")), "-i", to})
	if not != nil {
		not.why += "; install a mail transfer agent, or use another channel"
		return nil, not
	}
	prog.Stdin = letter(d, to)
	return func() outcome { return judged(run(prog), ch.Failure) }, nil
}

// sendmail is where it is: often not in the PATH of a user.
func sendmail(path string) string {
	for _, name := range []string{"sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail"} {
		if _, err := proc.LookPath(name, "/", path); err == nil {
			return name
		}
	}
	return "sendmail"
}

// letter is the message with its headers. The Message-ID is that of the
// delivery, so that a mail program that gets it twice can tell.
func letter(d delivery.Delivery, to string) string {
	subject := d.Title
	if subject == "" {
		subject, _, _ = strings.Cut(strings.TrimSpace(d.Text), "\n")
	}
	lines := []string{
		"To: " + to,
		"Subject: " + header(prefix(strings.TrimSpace(subject), 200)),
		"Date: " + d.CreatedAt.Format(time.RFC1123Z),
		"Message-ID: <" + strings.ToLower(d.ID) + "@claw.invalid>",
		"X-Claw-Idempotency-Key: " + header(d.IdempotencyKey),
		"MIME-Version: 1.0",
		"Content-Type: text/plain; charset=utf-8",
		"Content-Transfer-Encoding: 8bit",
		"", "",
	}
	return strings.Join(lines, "\n") + endLine(d.Text)
}

// wordBytes is how many bytes an encoded word holds: with its frame it must
// not be longer than 75 characters (RFC 2047).
const wordBytes = 45

// header is text as the value of a header: on one line, and in encoded words
// unless it is plain.
func header(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if isASCII(text) {
		return text
	}
	var words []string
	for len(text) > 0 {
		word := prefix(text, wordBytes)
		words = append(words, "=?utf-8?B?"+base64.StdEncoding.EncodeToString([]byte(word))+"?=")
		text = text[len(word):]
	}
	return strings.Join(words, "\n ")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
