package deliver

import (
	"context"
	"io"
	"time"

	"claw/runner/clock"
	"claw/state"
	"claw/state/delivery"
)

// Channel is a configured way to a person; design.md section 5.
type Channel struct {
	Name      string
	Type      string // command, inbox, stdout, desktop, webhook, mail
	Command   []string
	Reconcile []string
	Failure   string // not_sent or unknown
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
}

// Addressed is where a message will go, or why it goes nowhere.
type Addressed struct {
	Route  delivery.Route
	Reason string // "", no-target, unknown-channel, unknown-account
}

// Resolve turns the target of a heartbeat (none, last or a channel), its to
// and account, and the session's last route into a route. last without a
// usable route falls back to the default channel. seed 003 section 6,
// spec/heartbeat-automations.md 1.1.
func (p *Post) Resolve(target, to, account string, last delivery.Route) Addressed {
	return Addressed{}
}

// Intend writes an intent in tx. A delivery with the same idempotency key that
// is there already is returned instead: nothing is told twice.
func (p *Post) Intend(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
	return d, nil
}

// Flushed is what one Flush did.
type Flushed struct {
	Delivered, Failed, Unknown, Deferred int
	Next                                 time.Time // when the earliest of what waits is due; zero: nothing waits
}

// Flush settles attempts whose sender died and sends what is due, oldest
// first, each channel in its own goroutine so that a slow one holds up nobody.
func (p *Post) Flush(ctx context.Context) (Flushed, error) { return Flushed{}, nil }
