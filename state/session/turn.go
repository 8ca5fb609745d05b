package session

import (
	"time"

	"claw/state/delivery"
)

// Kind is what a turn is made of.
type Kind string

// The kinds. Those but KindUser are wakes, and their messages begin with a
// marker (see Marker).
const (
	KindUser      Kind = "user"      // somebody wrote
	KindHeartbeat Kind = "heartbeat" // the periodic check, also its tasks: block
	KindExec      Kind = "exec"      // background commands ended
	KindCron      Kind = "cron"      // reminders
	KindEvent     Kind = "event"     // other events of the session
	KindRecovery  Kind = "recovery"  // continues a cut-off turn
	KindHook      Kind = "hook"      // content from outside
	KindSubagent  Kind = "subagent"  // work that somebody has given to an agent, in a session of its own
	KindComplete  Kind = "complete"  // a question without tools, of which no session is left
)

// TurnStatus is where a turn stands.
type TurnStatus string

// A turn is admitted before anything runs and running once its argv was
// started. The others are ends.
const (
	TurnAdmitted    TurnStatus = "admitted"
	TurnRunning     TurnStatus = "running"
	TurnSucceeded   TurnStatus = "succeeded"
	TurnFailed      TurnStatus = "failed"       // it exited with an error, or said nothing it should have said
	TurnTimedOut    TurnStatus = "timed_out"    //
	TurnBlocked     TurnStatus = "blocked"      // a before_agent_run hook said no; the agent saw nothing
	TurnNotAccepted TurnStatus = "not_accepted" // exit 75, or it could not be started: the agent did nothing
	TurnLost        TurnStatus = "lost"         // nobody knows what the agent did; not repeated by itself
)

// Ended tells a status that is an end.
func (s TurnStatus) Ended() bool { return s != TurnAdmitted && s != TurnRunning }

// Reply modes: who gets the answer.
const (
	ReplyCaller  = "caller"  // whoever ran the turn in the foreground prints it
	ReplyDeliver = "deliver" // it goes to Turn.Route
	ReplyNone    = "none"    // it stays in the transcript (target none)
)

// Turn is one row of ledgers/turns.jsonl, keyed by ID: the claim made before
// the agent is started, and later how it went.
type Turn struct {
	ID         string `json:"id"`         // ULID
	DispatchID string `json:"dispatchId"` // the same for every attempt at one dispatch; the first turn's ID
	Attempt    int    `json:"attempt"`    // from 1
	SessionKey string `json:"sessionKey"`
	SessionID  string `json:"sessionId"` // of the transcript
	Agent      string `json:"agent"`
	Kind       Kind   `json:"kind"`
	Reason     string `json:"reason"` // why now: "exec-event", "interval", "manual", …

	Message   string         `json:"message"`            // all of what the agent is told in this turn
	EventIDs  []string       `json:"eventIds,omitempty"` // shown in Message; consumed if it succeeds
	Route     delivery.Route `json:"route,omitzero"`     // fixed at admission
	ReplyMode string         `json:"replyMode"`
	// Failures are the failed completions shown, one notice each: an
	// acknowledgement never swallows them.
	Failures []string `json:"failures,omitempty"`
	// Alerts are what checks of heartbeat.d said, one text each: they are sent
	// as they are when the agent fails.
	Alerts []string `json:"alerts,omitempty"`
	Checks int      `json:"checks,omitempty"` // of heartbeat.d that ran
	// Title and Source are those of a delivery of the reply.
	Title  string          `json:"title,omitempty"`
	Source delivery.Source `json:"source,omitzero"`
	RunID  string          `json:"runId,omitempty"` // of the automation it is carried out for
	// Tasks are the names of the periodic tasks (tasks: block) in Message.
	Tasks []string `json:"tasks,omitempty"`
	// Tools are what the agent may use in this turn, and what an automation that
	// it makes may use at most; nil: nothing is said, which is all; empty: none.
	Tools []string `json:"tools,omitzero"`
	Quiet bool     `json:"quiet,omitempty"` // the reply may be an acknowledgement (every wake)

	Status     TurnStatus `json:"status"`
	ProcessID  string     `json:"processId,omitempty"` // of the agent's argv; empty for the embedded agent
	Reply      string     `json:"reply,omitempty"`     // its first MaxRowReply bytes
	ReplyBytes int64      `json:"replyBytes,omitempty"`
	Response   *Response  `json:"response,omitempty"` // what heartbeat respond said within the turn; the last wins
	Outcome    string     `json:"outcome,omitempty"`  // of a wake: ok-token, ok-empty, ok-checks, sent, skipped, …
	ExitCode   *int       `json:"exitCode,omitempty"`
	Error      string     `json:"error,omitempty"` // one sentence; for a block, the hook's words
	DeliveryID string     `json:"deliveryId,omitempty"`

	CreatedAt time.Time `json:"createdAt"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// MaxMessage is how many bytes a turn's message may have, MaxRowReply how many
// of the reply stay in the row. The whole reply is in the transcript up to
// MaxTranscriptReply, and with the process's output for its retention.
const (
	MaxMessage         = 1 << 20
	MaxRowReply        = 64 << 10
	MaxTranscriptReply = 1 << 20
)

// Response is a structured answer; spec/heartbeat-automations.md 1.11.
type Response struct {
	Outcome          string  `json:"outcome"` // no_change, progress, done, blocked, needs_attention
	Notify           bool    `json:"notify"`
	Summary          string  `json:"summary"`
	NotificationText string  `json:"notificationText,omitempty"` // Summary when empty
	Reason           string  `json:"reason,omitempty"`
	Priority         string  `json:"priority,omitempty"` // low, normal, high
	NextCheck        string  `json:"nextCheck,omitempty"`
	Scratch          *string `json:"scratch,omitempty"` // replaces the monitor's scratch
}
