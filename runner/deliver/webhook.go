package deliver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"claw/state/delivery"
)

// posted is the JSON body of a webhook.
type posted struct {
	Text           string          `json:"text"`
	Title          string          `json:"title"`
	To             string          `json:"to"`
	Source         delivery.Source `json:"source"`
	IdempotencyKey string          `json:"idempotencyKey"`
	At             time.Time       `json:"at"`
}

// What bounds one request besides the channel's timeout.
const (
	connectTimeout = 10 * time.Second
	curlPatience   = 5 * time.Second // curl ends by itself, and says more than a killed one
	// maxLine is what every curl takes as one line of its configuration.
	maxLine = 90 << 10
)

// toWebhook posts through curl: a program that can speak TLS would cost every
// command of claw its start. What must not be seen in a list of processes, the
// address first of all, goes through its stdin.
func (p *Post) toWebhook(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	if ch.URL == "" {
		return nil, notReady("webhook: no address; set channels." + ch.Name + ".url")
	}
	// -q: what stands in somebody's .curlrc is not about this.
	prog, not := p.program(ch, d, []string{"curl", "-q", "--config", "-"})
	if not != nil {
		not.why += "; install curl"
		return nil, not
	}
	prog.Stdin, prog.Limit = curlConfig(ch, d, body(ch, d)), ch.Timeout+curlPatience
	return func() outcome { return answered(run(prog), ch.Failure) }, nil
}

// mark begins the line in which curl reports on the request.
const mark = "claw-http "

// curlConfig is what curl reads: the request with a quoted body, and more
// options, as pairs.
func curlConfig(ch Channel, d delivery.Delivery, body string, more ...[2]string) string {
	var b strings.Builder
	line := func(option, value string) { b.WriteString(option + " = " + curlQuote(value) + "\n") }
	b.WriteString("silent\nshow-error\ngloboff\n")
	line("url", ch.URL)
	line("proto", "=http,https")
	line("user-agent", "claw")
	line("header", "Content-Type: application/json")
	line("header", "Idempotency-Key: "+header(d.IdempotencyKey))
	line("header", "Expect:")
	line("connect-timeout", secondsOf(min(connectTimeout, ch.Timeout)))
	line("max-time", secondsOf(ch.Timeout))
	line("write-out", "%{stderr}\n"+mark+"%{http_code} %{size_request}\n")
	for _, kv := range more {
		line(kv[0], kv[1])
	}
	b.WriteString("data-binary = " + body + "\n")
	return b.String()
}

func secondsOf(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// body is the JSON as curl reads it, with as much of the text as goes into one
// line of its configuration.
func body(ch Channel, d delivery.Delivery) string {
	return shortened(d.Text, func(text string) any {
		return posted{Text: text, Title: d.Title, To: ch.recipient(d.Route), Source: d.Source, IdempotencyKey: d.IdempotencyKey, At: d.CreatedAt}
	})
}

// shortened is the quoted JSON of what with holds of a text, cut until it fits.
func shortened(text string, with func(text string) any) string {
	for {
		quoted := curlQuote(encode(with(text)))
		if len(quoted) <= maxLine || text == "" {
			return quoted
		}
		text = prefix(text, len(text)*3/4)
	}
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // of strings and times only
	return strings.TrimSuffix(b.String(), "\n")
}

// curlQuote is a value in curl's configuration file.
func curlQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", "").Replace(s) + `"`
}

// answered reads what curl says about the request.
func answered(e ended, failure string) outcome {
	h, said, ok := report(e.stderr)
	e.stderr = said
	if !ok { // it was ended, or did not understand its configuration
		return judged(e, failure)
	}
	o := outcome{verdict: delivery.ClassifyHTTP(h, failure), receipt: e.stdout}
	switch {
	case o.verdict == delivery.Sent:
	case h.Status == 0:
		o.why = e.why()
	default:
		o.why = withCause(statusText(h), lastLines(prefix(e.stdout, errorBytes)))
	}
	return o
}

// statusText is an answer that is no success, in words where the number alone
// does not say what is to be done.
func statusText(h delivery.HTTP) string {
	s := "HTTP " + strconv.Itoa(h.Status)
	if h.Redirect() {
		s += ", a redirect, which is not followed; url must be the final address"
	}
	return s
}

// report takes the line of curl's report out of its stderr.
func report(stderr string) (h delivery.HTTP, said string, ok bool) {
	i := strings.LastIndex(stderr, mark)
	if i < 0 {
		return h, stderr, false
	}
	status, size, _ := strings.Cut(strings.TrimSpace(stderr[i+len(mark):]), " ")
	code, err1 := strconv.Atoi(status)
	sent, err2 := strconv.Atoi(size)
	if err1 != nil || err2 != nil {
		return h, stderr, false
	}
	return delivery.HTTP{Status: code, Request: sent > 0}, stderr[:i], true
}
