package supervisor

import (
	"claw/runner/retention"
	"claw/state/process"
)

// Spec is what the caller hands to the supervisor over the socketpair. It is
// never written to disk: Env holds the caller's environment at submission
// (pains B38).
type Spec struct {
	StateDir string           `json:"stateDir"`
	UnsafeFS bool             `json:"unsafeFs,omitempty"`
	Row      process.Process  `json:"row"`
	Rev      int64            `json:"rev"`
	Path     string           `json:"path"` // Argv[0] resolved
	Env      []string         `json:"env"`  // complete, KEY=value
	Stdin    StdinMode        `json:"stdin"`
	Merged   bool             `json:"merged,omitempty"`   // stdout and stderr are one pipe
	Attached bool             `json:"attached,omitempty"` // the caller wants the output streamed until it detaches
	Retain   retention.Policy `json:"retain"`
}

// StdinMode says what the command reads as standard input.
type StdinMode string

// The modes. A PTY is always open.
const (
	StdinNull   StdinMode = "null"   // /dev/null: end of file at once
	StdinOpen   StdinMode = "open"   // a pipe that process write feeds
	StdinCaller StdinMode = "caller" // the caller's own descriptor, received with the spec
)

// Started is the supervisor's answer once the command really runs.
type Started struct {
	PID      int      `json:"pid"`
	Warnings []string `json:"warnings,omitempty"`
}
