package automation

import "time"

// Source is one row of ledgers/sources.jsonl, keyed by the automation's id:
// what goes on for one that is not run by the clock
// (spec/heartbeat-automations.md 3.4, 3.5; pains B30).
type Source struct {
	AutomationID string       `json:"automationId"`
	ScheduleRev  int          `json:"scheduleRev,omitempty"` // of the automation when this was armed; another: arm anew
	Status       SourceStatus `json:"status"`
	ArmedAt      time.Time    `json:"armedAt,omitzero"`
	RetryAt      time.Time    `json:"retryAt,omitzero"`    // not to be started again before
	Failures     int          `json:"failures,omitempty"`  // starts in a row that failed or were short
	Exhausted    bool         `json:"exhausted,omitempty"` // given up until it is switched on again
	Error        string       `json:"error,omitempty"`
	FiredAt      time.Time    `json:"firedAt,omitzero"` // when it last queued a run

	// Owner is who has claimed to start the command; its ProcessID is the command
	// (on-exit, stream).
	Owner *Owner `json:"owner,omitempty"`

	Offset    int64 `json:"offset,omitempty"`    // stream: the output up to here has been told or counted as lost
	OffsetErr int64 `json:"offsetErr,omitempty"` // stream: the same of its stderr; Offset is that of its stdout
	Dropped   int64 `json:"dropped,omitempty"`   // stream: batches that were not told
	Coalesced int64 `json:"coalesced,omitempty"` // stream: batches that were told together with another

	Seen   string    `json:"seen,omitempty"`  // watch: the digest of what was there when it last fired
	SeenAt time.Time `json:"seenAt,omitzero"` // watch: when that was
	Loops  int       `json:"loops,omitempty"` // watch: firings in a row whose changes were all made during the run before

	Boot string `json:"boot,omitempty"` // boot: the one that it has run for
}

// SourceStatus is how a source stands.
type SourceStatus string

// The states of a source (3.5).
const (
	SourceStarting   SourceStatus = "starting"
	SourceRunning    SourceStatus = "running"
	SourceRestarting SourceStatus = "restarting" // waits for RetryAt
	SourceStopping   SourceStatus = "stopping"   // its command is being ended: what it still prints, and how it ends, is nobody's business
	SourceStopped    SourceStatus = "stopped"    // nothing goes on: its command has ended and was reported, or it is switched off
	SourceError      SourceStatus = "error"      // given up
)
