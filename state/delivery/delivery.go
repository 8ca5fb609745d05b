package delivery

import "time"

// Route is where a message goes: a channel's name, and on it a recipient, an
// account and a thread. Only Channel is always needed; what is empty is the
// channel's own default.
type Route struct {
	Channel string `json:"channel,omitempty"`
	To      string `json:"to,omitempty"`
	Account string `json:"accountId,omitempty"`
	Thread  string `json:"threadId,omitempty"`
}

// IsZero tells a route to nowhere.
func (r Route) IsZero() bool { return r == Route{} }

// State is where a delivery stands; it never changes the execution's.
type State string

// The states. Pending and Sending are live, the others are ends, except that a
// person may retry Failed and Unknown.
const (
	Pending   State = "pending"   // the intent is written, nothing has been sent
	Sending   State = "sending"   // an attempt was begun; if its sender is dead the outcome is not known
	Delivered State = "delivered" // there is a receipt
	Failed    State = "failed"    // a dead letter: permanent, or out of attempts
	Unknown   State = "unknown"   // it may or may not have arrived; never sent again by itself
	Dismissed State = "dismissed" // a person has settled it
)

// Source says what a message is about, for whoever lists messages.
type Source struct {
	Kind       string `json:"kind"`                 // "exec", "heartbeat", "task", "turn", "check", "test"
	Name       string `json:"name,omitempty"`       // slug, check or agent, for reading
	SessionKey string `json:"sessionKey,omitempty"` //
	TurnID     string `json:"turnId,omitempty"`
	TaskID     string `json:"taskId,omitempty"`
	EventID    string `json:"eventId,omitempty"`
	RunID      string `json:"runId,omitempty"` // of an automation
}

// Report is a run of an automation that has ended, as a webhook gets it
// (spec/heartbeat-automations.md 2.13).
type Report struct {
	AutomationID string     `json:"automationId"`
	Name         string     `json:"name"`
	RunID        string     `json:"runId"`
	Slot         *time.Time `json:"slot"` // null: by hand, or by a source
	Status       string     `json:"status"`
	Error        string     `json:"error"`   // empty: none
	Summary      string     `json:"summary"` // what it printed or replied, cut
	DurationMs   int64      `json:"durationMs"`
	NextRunAt    *time.Time `json:"nextRunAt"` // null: nothing will come
}

// Delivery is one row of ledgers/deliveries.jsonl, keyed by ID.
type Delivery struct {
	ID             string `json:"id"`             // ULID
	IdempotencyKey string `json:"idempotencyKey"` // the same for every attempt, also by hand
	Route          Route  `json:"route"`
	Text           string `json:"text"`
	Title          string `json:"title,omitempty"` // first line for channels that have one
	Body           string `json:"body,omitempty"`  // what stands under Title where both are shown; empty: Text
	Source         Source `json:"source"`
	// Report is what a webhook about a run gets instead of the text.
	Report *Report `json:"report,omitempty"`

	State         State     `json:"state"`
	Attempts      int       `json:"attempts"`             // charged ones
	Sender        Sender    `json:"sender,omitzero"`      // of the attempt that was begun
	CreatedAt     time.Time `json:"createdAt"`            //
	AttemptedAt   time.Time `json:"attemptedAt,omitzero"` // the last attempt's begin
	NextAt        time.Time `json:"nextAt,omitzero"`      // not before; zero is at once
	EndedAt       time.Time `json:"endedAt,omitzero"`
	Error         string    `json:"error,omitempty"`
	Receipt       string    `json:"receipt,omitempty"` // what the channel printed, capped
	ReceiptAt     time.Time `json:"receiptAt,omitzero"`
	Asked         int       `json:"asked,omitempty"`  // how often the channel was asked about an unknown outcome
	Answer        string    `json:"answer,omitempty"` // what it said then, or why it said nothing; capped like Receipt
	DismissedNote string    `json:"dismissedNote,omitempty"`
	RetriedAt     time.Time `json:"retriedAt,omitzero"` // when a person last asked for it again
}

// Under is what stands under the title, where it is shown.
func (d Delivery) Under() string { return under(d.Title, d.Body, d.Text) }

func under(title, body, text string) string {
	if title != "" && body != "" {
		return body
	}
	return text
}

// Sender is the program that began an attempt: boot, pid and start stamp, as
// process.Identity.
type Sender struct {
	Boot  string `json:"boot"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Message is one row of ledgers/inbox.jsonl, keyed by the ID of its delivery:
// writing it and the receipt is one transaction.
type Message struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Title  string    `json:"title,omitempty"`
	Text   string    `json:"text"`
	Body   string    `json:"body,omitempty"` // see Delivery
	To     string    `json:"to,omitempty"`
	Source Source    `json:"source"`
	ReadAt time.Time `json:"readAt,omitzero"`
}

// Under is what stands under the title, where it is shown.
func (m Message) Under() string { return under(m.Title, m.Body, m.Text) }
