package deliver

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"claw/runner/clock"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/ulid"
)

// Channel is a configured way to a person; design.md section 5.
type Channel struct {
	Name      string
	Type      string // command, inbox, stdout, desktop, webhook, mail
	Command   []string
	Reconcile []string
	Failure   string // not_sent or unknown; empty: what is usual for the type
	To        string
	URL       string
	Timeout   time.Duration
	Env       map[string]string
	Accounts  map[string]Account
}

// Account is one of several identities on a channel.
type Account struct{ To string }

// Post sends the deliveries of one state directory.
type Post struct {
	Store    *state.Store
	Clock    clock.Clock
	Channels map[string]Channel // the configured ones; built-ins are known by name
	Default  string             // for what has nowhere else to go: "inbox"
	Environ  []string
	Stdout   io.Writer // for the channel stdout; nil: not in the foreground, it has to wait
	Hook     Hook      // of the channel RunHook
	// OnEnd adds to the transaction in which a delivery is delivered, has failed,
	// is of unknown outcome or is dismissed what follows from it. One that ended
	// may end again, when a person has retried it. Nil adds nothing.
	OnEnd func(tx *state.Tx, d delivery.Delivery) error
}

// Why a message goes nowhere; spec/heartbeat-automations.md section 5.
const (
	NoTarget       = "no-target"
	UnknownChannel = "unknown-channel"
	UnknownAccount = "unknown-account"
)

// Addressed is where a message will go, or why it goes nowhere.
type Addressed struct {
	Route  delivery.Route
	Reason string // "", no-target, unknown-channel, unknown-account
}

// Resolve turns the target of a heartbeat (none, last or a channel), its to
// and account, and the session's last route into a route. last without a
// usable route falls back to the default channel. An empty target is last. to
// and account belong to a channel that is named; with last the account counts
// where the channel has several and the route names none. seed 003 section 6,
// spec/heartbeat-automations.md 1.1.
func (p *Post) Resolve(target, to, account string, last delivery.Route) Addressed {
	switch target {
	case "none":
		return Addressed{Reason: NoTarget}
	case "last", "":
		ch, known := p.Channel(last.Channel)
		if !known {
			return p.address(delivery.Route{Channel: p.fallback()})
		}
		if last.Account == "" && len(ch.Accounts) > 0 {
			last.Account = account
		}
		return p.address(last)
	}
	return p.address(delivery.Route{Channel: target, To: to, Account: account})
}

// fallback is the default channel, which is always there.
func (p *Post) fallback() string {
	if _, known := p.Channel(p.Default); known {
		return p.Default
	}
	return Inbox
}

// address checks a route and fills in the recipient, so that a later change of
// the configuration does not send it elsewhere.
func (p *Post) address(r delivery.Route) Addressed {
	ch, known := p.Channel(r.Channel)
	if !known {
		return Addressed{Reason: UnknownChannel}
	}
	if _, known := ch.Accounts[r.Account]; r.Account != "" && !known {
		return Addressed{Reason: UnknownAccount}
	}
	r.To = ch.recipient(r)
	return Addressed{Route: r}
}

// recipient is whom a route means on this channel; it may be empty.
func (c Channel) recipient(r delivery.Route) string {
	switch {
	case r.To != "":
		return r.To
	case c.Accounts[r.Account].To != "":
		return c.Accounts[r.Account].To
	}
	return c.To
}

// Intend writes an intent in tx: ID, state and time are filled in, a key where
// there is none, and the text is cut to delivery.MaxText. A delivery with the
// same idempotency key that is there already is returned instead: nothing is
// told twice.
func (p *Post) Intend(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
	return settle.Intend(tx, filled(d, tx.Now()))
}

// filled is a new intent with all that it needs.
func filled(d delivery.Delivery, now time.Time) delivery.Delivery {
	if d.ID == "" {
		d.ID = ulid.New(now)
	}
	if d.IdempotencyKey == "" {
		d.IdempotencyKey = d.ID
	}
	d.State, d.CreatedAt = delivery.Pending, now
	d.Text, d.Body, d.Title = capped(d.Text, d.Source), capped(d.Body, d.Source), capped(d.Title, d.Source)
	return d
}

// capped is text as valid UTF-8 of at most delivery.MaxText bytes, with a note
// of what is missing and where it is.
func capped(text string, from delivery.Source) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= delivery.MaxText {
		return text
	}
	note := fmt.Sprintf("\n[cut here: %d bytes in all%s]", len(text), whereWhole(from))
	return prefix(text, delivery.MaxText-len(note)) + note
}

func whereWhole(from delivery.Source) string {
	switch {
	case from.Kind == "exec" && from.Name != "":
		return "; the whole output: claw process log " + from.Name
	case from.TaskID != "":
		return "; the whole output: claw tasks log " + from.TaskID
	case from.SessionKey != "":
		return "; the whole text: claw sessions show " + from.SessionKey
	}
	return ""
}

// prefix is the first n bytes of s at most, in whole characters.
func prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(0, n)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
