package heartbeat

import "time"

// Monitor is one row of ledgers/heartbeats.jsonl, keyed by its declaration key
// "heartbeat:AGENT" (spec/heartbeat-automations.md 1.2). Configuration is what
// is wished for; this row owns the tick.
type Monitor struct {
	Key        string `json:"declarationKey"`
	Agent      string `json:"agentId"`
	Name       string `json:"name"`        // heartbeat-AGENT
	Display    string `json:"displayName"` // Heartbeat (AGENT)
	Enabled    bool   `json:"enabled"`
	IntervalMs int64  `json:"everyMs"`
	PhaseMs    int64  `json:"anchorMs"`
	Hours      string `json:"activeHours,omitempty"` // as converged, to see a change: "09:00-22:00 Europe/Berlin"

	NextDue time.Time `json:"nextDue,omitzero"`
	// Proposed is the NextDue that an answer has asked for, by its nextCheck.
	// As long as the two are equal nothing but the check itself, or other
	// settings, moves it.
	Proposed time.Time `json:"proposedDue,omitzero"`
	// CheckedAt is the start of the last periodic check, or when the cadence
	// began: other turns put the next one off, by at most one interval.
	CheckedAt time.Time   `json:"lastCheckAt,omitzero"`
	Starts    []time.Time `json:"starts,omitempty"` // of runs, at most 6, oldest first
	Last      *Event      `json:"last,omitempty"`
	// What was last sent, for the duplicate rule of 24 h. SentAt is the run's start.
	SentText string               `json:"lastHeartbeatText,omitempty"`
	SentAt   time.Time            `json:"lastHeartbeatSentAt,omitzero"`
	Tasks    map[string]time.Time `json:"heartbeatTaskState,omitempty"` // SESSION "\n" NAME: last completed run's start
	Note     string               `json:"note,omitempty"`               // bounded: a notify=false answer worth showing next time
}

// Event is what became of a tick; only the newest is kept. Status is one of
// sent, ok-empty, ok-token, ok-checks, skipped, failed.
type Event struct {
	At         time.Time `json:"ts"`
	Status     string    `json:"status"`
	Reason     string    `json:"reason,omitempty"` // why it was skipped, or what woke it
	Message    string    `json:"message,omitempty"`
	SessionKey string    `json:"sessionKey,omitempty"`
	TurnID     string    `json:"turnId,omitempty"`
	Channel    string    `json:"channel,omitempty"`
	To         string    `json:"to,omitempty"`
	AccountID  string    `json:"accountId,omitempty"`
	Preview    string    `json:"preview,omitempty"` // at most 200 characters
	DurationMs int64     `json:"durationMs,omitempty"`
	Silent     bool      `json:"silent,omitempty"`
	Indicator  string    `json:"indicatorType,omitempty"` // ok, alert, error
	Checks     int       `json:"checks,omitempty"`        // of heartbeat.d that ran
	Count      int       `json:"count,omitempty"`         // the same skip so many times in a row
}

// Switch is the row "switch" of the same ledger's sibling: heartbeat
// enable|disable, for all agents.
type Switch struct {
	Disabled bool      `json:"disabled"`
	At       time.Time `json:"at"`
}

// Scratch is one row of ledgers/scratch.jsonl, keyed by agent: text that a
// heartbeat is shown, at most MaxScratch bytes. Its revision is compared and
// set.
type Scratch struct {
	Agent     string    `json:"agent"`
	Text      string    `json:"text"`
	Revision  int64     `json:"revision"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"` // absent: there has never been one
}

// MaxScratch is the most a scratch may hold.
const MaxScratch = 256 << 10
