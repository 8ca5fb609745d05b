package automation

import "time"

// Run is one row of ledgers/runs.jsonl: what became of one slot, of several
// missed ones in a row, or of one start by hand. A second attempt at a slot is
// a row of its own.
type Run struct {
	ID           string    `json:"id"` // RunID, or of the caller's making for Manual
	AutomationID string    `json:"automationId"`
	Name         string    `json:"name,omitempty"` // the automation's, for when it is gone
	ScheduleRev  int       `json:"scheduleRev,omitempty"`
	Slot         time.Time `json:"slot,omitzero"`      // zero: by hand, or by a trigger
	Through      time.Time `json:"through,omitzero"`   // the last one, if the row is for several slots
	Count        int       `json:"count,omitempty"`    // how many slots, if several
	AtLeast      bool      `json:"atLeast,omitempty"`  // there were more than could be counted
	Attempt      int       `json:"attempt,omitempty"`  // from 1
	Manual       bool      `json:"manual,omitempty"`   // started by a person
	CatchUp      bool      `json:"catchUp,omitempty"`  // made up later
	Requeued     int       `json:"requeued,omitempty"` // claims that provably did not begin

	Status Status `json:"status"`
	Code   Code   `json:"code,omitempty"` // why it waits or did not run
	Why    string `json:"why,omitempty"`  // the same as a sentence

	QueuedAt   time.Time `json:"queuedAt,omitzero"`
	NotBefore  time.Time `json:"notBefore,omitzero"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	LateMs     int64     `json:"lateMs,omitempty"`    // from the slot to the start
	StoppedAt  time.Time `json:"stoppedAt,omitzero"`  // when it was to be stopped for a later slot
	ReplacedBy time.Time `json:"replacedBy,omitzero"` // that slot
	EndedAt    time.Time `json:"endedAt,omitzero"`
	Error      string    `json:"error,omitempty"`
	Category   Category  `json:"errorReason,omitempty"`
	DeliveryID string    `json:"deliveryId,omitempty"` // of the message about its end
	// Delivery is what became of that message, apart from how the run ended;
	// empty: not known yet.
	Delivery      DeliveryStatus `json:"deliveryStatus,omitempty"`
	DeliveryError string         `json:"deliveryError,omitempty"` // why it was not delivered, or not requested
	// Input is what a source or a trigger script has to say: it follows the
	// message or the event after a blank line, and is the stdin of a command.
	Input string `json:"input,omitempty"`
	// Checked: the trigger script has said that the payload shall run.
	Checked bool `json:"checked,omitempty"`
	// TriggerState is what the script wants to be given again once the run has
	// succeeded, and TriggerRev which script that was.
	TriggerState string `json:"triggerState,omitempty"`
	TriggerRev   int    `json:"triggerRev,omitempty"`
	// BestEffort: a message that is not delivered does not matter.
	BestEffort bool `json:"bestEffort,omitempty"`
	// Owner is the runner's own: what it needs to know about who carries, or
	// has carried, the run out.
	Owner *Owner `json:"owner,omitempty"`
}

// Owner is the claim of a running run.
type Owner struct {
	Boot       string `json:"boot,omitempty"`
	Pid        int    `json:"pid,omitempty"`
	StartTicks uint64 `json:"startTicks,omitempty"`
	TaskID     string `json:"taskId,omitempty"`
	TurnID     string `json:"turnId,omitempty"`
	ProcessID  string `json:"processId,omitempty"`
	CheckID    string `json:"checkId,omitempty"` // the process of the trigger script, while it decides
}

// Status is where a run stands. Queued and running are open, the others ends.
type Status string

// The states of a run.
const (
	Queued      Status = "queued"
	Running     Status = "running"
	Succeeded   Status = "succeeded"
	Failed      Status = "failed"
	TimedOut    Status = "timed_out"
	Cancelled   Status = "cancelled"   // by a person
	Interrupted Status = "interrupted" // who carried it out died
	Unknown     Status = "unknown"     // nobody knows how it ended
	Skipped     Status = "skipped"     // decided against at its time
	Missed      Status = "missed"      // not decided at its time, and not made up
	Replaced    Status = "replaced"    // gave way to a later slot
)

// Open tells a run that has not ended.
func (s Status) Open() bool { return s == Queued || s == Running }

// failed tells an end that counts as an error.
func (s Status) failed() bool {
	return s == Failed || s == TimedOut || s == Interrupted || s == Unknown
}

// Code is why a run waits, or did not run.
type Code string

// The codes of runs.
const (
	CodeLate        Code = "late"        // its time had passed
	CodeCoalesced   Code = "coalesced"   // a later slot stands for it
	CodeLimit       Code = "limit"       // more were missed than are made up
	CodeWindow      Code = "window"      // too old to be made up
	CodeOverlap     Code = "overlap"     // an earlier run had not ended
	CodeQueueFull   Code = "queue-full"  // too many wait already
	CodeConcurrency Code = "concurrency" // others run
	CodeBackoff     Code = "backoff"     // after failures
	CodeRefire      Code = "refire-gap"  // the last run has only just ended
	CodeCatchUp     Code = "catch-up"    // made up, spread over time
	CodeBoot        Code = "boot"        // the machine has only just come up
	CodePaced       Code = "paced"       // the last run asked for another time
	CodeRetry       Code = "retry"       // another attempt
	CodeEdited      Code = "edited"      // the schedule was changed
	CodeDisabled    Code = "disabled"    // the automation was switched off
	CodeRemoved     Code = "removed"     // the automation is gone
	CodeReplaced    Code = "replaced"    // by a later slot
	CodeStuck       Code = "stuck"       // waited two hours for its turn, or nobody knew for two hours
	CodeOwnerDied   Code = "interrupted" // while it ran
	CodeNotBegun    Code = "not-begun"   // a claim that was not carried out
	CodeManual      Code = "manual"      // by hand
	CodeRunning     Code = "already-running"
)

// Category is what kind of error a run ended with; the first five pass by
// themselves (2.8).
type Category string

// The categories.
const (
	RateLimit   Category = "rate_limit"
	Overloaded  Category = "overloaded"
	Network     Category = "network"
	Timeout     Category = "timeout"
	ServerError Category = "server_error"
	Auth        Category = "auth"
	Billing     Category = "billing"
	Validation  Category = "validation"
	Other       Category = "unknown"
)

// RunID is the id of the run for one slot, in attempts from 1:
// "daily@20261130T090000Z", "daily@20261130T090000.250Z#2".
func RunID(automation string, slot time.Time, attempt int) string {
	layout := "20060102T150405Z"
	if slot.Nanosecond()/1e6 != 0 {
		layout = "20060102T150405.000Z"
	}
	id := automation + "@" + slot.UTC().Format(layout)
	if attempt > 1 {
		id += "#" + itoa(attempt)
	}
	return id
}
