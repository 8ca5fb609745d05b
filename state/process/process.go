package process

import (
	"time"

	"claw/state/delivery"
)

// Phase is where a process is in its life. A phase only moves forward:
// starting, running, then exited or lost (see CanMove).
type Phase string

// The phases. Liveness is never read from here: a row may say running while
// its life-line is free, and then it is lost (design.md 3.2).
const (
	Starting Phase = "starting" // claimed in the ledger, the command is not known to run yet
	Running  Phase = "running"  // the command has been started
	Exited   Phase = "exited"   // the supervisor saw the end; Exit is set
	Lost     Phase = "lost"     // the supervisor died before the end; Exit is set, without a code
)

// Reason says why a process ended; spec/exec-process.md 1.6.
type Reason string

// The reasons. The first forced reason wins (see Outcome).
const (
	ReasonExit            Reason = "exit"
	ReasonSignal          Reason = "signal"
	ReasonOverallTimeout  Reason = "overall-timeout"
	ReasonNoOutputTimeout Reason = "no-output-timeout"
	ReasonManualCancel    Reason = "manual-cancel"
	ReasonSpawnError      Reason = "spawn-error"
	ReasonLost            Reason = "lost"
)

// Identity names one process of the operating system for ever: boot, pid and
// the kernel's own start stamp (clock ticks since boot on Linux, microseconds
// since the epoch on macOS), compared exactly and never against a wall clock.
type Identity struct {
	Boot  string `json:"boot"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// IsZero tells an identity that was never learnt.
func (i Identity) IsZero() bool { return i == Identity{} }

// Exit is how a process ended.
type Exit struct {
	Code     *int   `json:"code"`             // nil: no exit code exists (signal, lost, could not start)
	Signal   string `json:"signal,omitempty"` // "SIGTERM"; empty when it exited by itself
	Reason   Reason `json:"reason"`
	TimedOut bool   `json:"timedOut,omitempty"`
	Error    string `json:"error,omitempty"` // one sentence for a person: why it could not start, or what was lost

	Core      bool `json:"coreDumped,omitempty"` // the signal left a core dump
	SpawnCode int  `json:"spawnCode,omitempty"`  // could not start: 126 not runnable, 127 not found, as a shell would say
}

// Leftover is a descendant that was still alive when its process ended.
type Leftover struct {
	Identity
	Command string `json:"command,omitempty"` // its own argv, joined for reading only
}

// Totals counts output: what the command wrote, and what was dropped to keep
// under the cap. Bytes and lines of both streams together.
type Totals struct {
	Bytes        int64 `json:"bytes"`
	Lines        int64 `json:"lines"`
	DroppedBytes int64 `json:"droppedBytes,omitempty"`
	DroppedLines int64 `json:"droppedLines,omitempty"`
}

// Process is one row of ledgers/processes.jsonl, keyed by ID.
// Environment values never stand in it.
type Process struct {
	ID      string `json:"id"`              // ULID, never reused
	Slug    string `json:"slug"`            // what people type; unique among what is live or listed
	Label   string `json:"label,omitempty"` // --name
	Agent   string `json:"agent"`
	Session string `json:"session"` // key of the session that is told about the end

	Command           string   `json:"command"` // for reading; the shell text, or the argv quoted
	Argv              []string `json:"argv"`    // what was executed, as an array
	Shell             bool     `json:"shell,omitempty"`
	Cwd               string   `json:"cwd"`
	PTY               bool     `json:"pty,omitempty"`
	Cols              int      `json:"cols,omitempty"`
	Rows              int      `json:"rows,omitempty"`
	StdinOpen         bool     `json:"stdinOpen,omitempty"`         // input can still be written
	TimeoutMs         int64    `json:"timeoutMs,omitempty"`         // whole life, monotonic; 0 none
	NoOutputTimeoutMs int64    `json:"noOutputTimeoutMs,omitempty"` // it is ended when it prints nothing for so long, monotonic; 0 none
	MaxOutput         int64    `json:"maxOutput"`                   // bytes kept on disk
	TTLMs             int64    `json:"ttlMs"`                       // how long it stays listed once finished
	Warnings          []string `json:"warnings,omitempty"`

	NotifyOnExit             bool `json:"notifyOnExit"`
	NotifyOnExitEmptySuccess bool `json:"notifyOnExitEmptySuccess,omitempty"`

	Phase      Phase    `json:"phase"`
	Background bool     `json:"background"` // listed, has a task, its end is an event
	Supervisor Identity `json:"supervisor,omitzero"`
	Root       Identity `json:"root,omitzero"`       // the command itself; its pid is also its process group unless Ungrouped
	Ungrouped  bool     `json:"ungrouped,omitempty"` // no session of its own: never signal a group

	CreatedAt      time.Time `json:"createdAt"`
	StartedAt      time.Time `json:"startedAt,omitzero"`
	BackgroundedAt time.Time `json:"backgroundedAt,omitzero"`
	EndedAt        time.Time `json:"endedAt,omitzero"`

	Exit     *Exit      `json:"exit,omitempty"`
	Leftover []Leftover `json:"leftover,omitempty"`
	Output   Totals     `json:"output,omitzero"`
	Tail     string     `json:"tail,omitempty"` // last 2000 characters, sanitised, kept at the end

	TaskID  string `json:"taskId,omitempty"`
	EventID string `json:"eventId,omitempty"` // the completion event, queued in the same transaction as the end
	Polled  bool   `json:"polled,omitempty"`  // a poll has shown the end
	// Origin is who is told about the end directly, without an agent
	// (exec --notify); empty: the session is told.
	Origin delivery.Route `json:"requesterOrigin,omitzero"`
	TurnID string         `json:"turnId,omitempty"` // it is an agent's argv: unlisted, without a task, its end is the turn's
	RunID  string         `json:"runId,omitempty"`  // it is the command of an automation: the run it is carried out for
	// Tools are what a turn may use that follows from its end: those of the turn
	// it was started in. Nil: nothing is said.
	Tools   []string `json:"tools,omitzero"`
	Removed bool     `json:"removed,omitempty"` // taken out of sight by remove; no event
	Cleared bool     `json:"cleared,omitempty"` // taken out of sight by clear
}

// NotBefore is a time as what happens to p now gets it: nothing starts before it
// was made and nothing ends before it started, also where the clock was set back
// meanwhile. Both go by it, so that a short command never seems to have run for as
// long as the clock went back.
func (p Process) NotBefore(now time.Time) time.Time {
	for _, begun := range [...]time.Time{p.CreatedAt, p.StartedAt} {
		if now.Before(begun) {
			now = begun
		}
	}
	return now
}

// Live tells a row whose command may still run as far as the ledger knows.
func (p Process) Live() bool { return p.Phase == Starting || p.Phase == Running }
