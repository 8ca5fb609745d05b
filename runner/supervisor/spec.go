package supervisor

import (
	"encoding/json"

	"claw/runner/retention"
	"claw/state/process"
)

// Spec is what the caller hands to the supervisor over the socketpair. It is
// never written to disk: Env holds the caller's environment at submission
// (pains B38). What is executed is exact; Row has the same as text, for people.
type Spec struct {
	StateDir exact            `json:"stateDir"`
	Row      process.Process  `json:"row"`
	Path     exact            `json:"path"` // Argv[0] resolved
	Argv     exacts           `json:"argv"`
	Dir      exact            `json:"dir"`
	Env      exacts           `json:"env"` // complete, KEY=value
	Stdin    StdinMode        `json:"stdin"`
	Merged   bool             `json:"merged,omitempty"`   // stdout and stderr are one pipe
	Attached bool             `json:"attached,omitempty"` // the caller wants the output streamed until it detaches
	Rush     bool             `json:"rush,omitempty"`     // others start in the same moment, see rush.go
	Held     bool             `json:"held,omitempty"`     // its time has not come, see rush.go
	Wake     string           `json:"wake,omitempty"`     // see Request.Wake
	Undo     exacts           `json:"undo,omitempty"`     // see Request.Undo
	Retain   retention.Policy `json:"retain"`
}

// exact is a string of any bytes. JSON knows only text and replaces what is not
// UTF-8, but the name of a file, an argument or a variable need not be.
type exact string

// MarshalJSON is the bytes in base64.
func (e exact) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(e)) }

// UnmarshalJSON is its inverse.
func (e *exact) UnmarshalJSON(raw []byte) error {
	var b []byte
	err := json.Unmarshal(raw, &b)
	*e = exact(b)
	return err
}

// exacts is a list of such strings.
type exacts []string

// MarshalJSON is a list of bytes in base64.
func (e exacts) MarshalJSON() ([]byte, error) {
	list := make([][]byte, len(e))
	for i, s := range e {
		list[i] = []byte(s)
	}
	return json.Marshal(list)
}

// UnmarshalJSON is its inverse.
func (e *exacts) UnmarshalJSON(raw []byte) error {
	var list [][]byte
	err := json.Unmarshal(raw, &list)
	*e = make(exacts, len(list))
	for i, b := range list {
		(*e)[i] = string(b)
	}
	return err
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
