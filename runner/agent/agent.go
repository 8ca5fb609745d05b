package agent

import (
	"context"
	"errors"
	"io"
	"time"

	"claw/runner/clock"
	"claw/runner/retention"
	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
)

// Agent is a configured argv; design.md section 5.
type Agent struct {
	Name    string
	Command []string // empty: the embedded agent
	Recover []string
	Model   string
	Timeout time.Duration // of one turn; 0 none
	Env     map[string]string
	Workdir string
	Context string     // "prompt" or "transcript"
	Hooks   [][]string // before_agent_run

	AckMaxChars int // for the transcript's filter
}

// Turns runs the turns of one state directory.
type Turns struct {
	Store   *state.Store
	Clock   clock.Clock
	Agent   func(name string) Agent // by configuration; the defaults for a name that is not in it
	Environ []string                // what agents and hooks inherit
	Cwd     string
	Retain  retention.Policy
	// MaxOutput is how much of an agent's output is kept on disk.
	MaxOutput int64
	// WakeOnExit is passed on to the supervisors of agents, see
	// supervisor.Request.Wake.
	WakeOnExit string
	// OnEnd adds to the transaction that ends a turn whatever follows from it:
	// consumed events, a delivery, the monitor's row. It may change t. reply is
	// whole up to session.MaxTranscriptReply. It is called exactly once for
	// every turn that ends, by whoever ends it. Nil adds nothing.
	OnEnd func(tx *state.Tx, t *session.Turn, reply string) error
}

// Request is one turn that is asked for.
type Request struct {
	Agent      string
	SessionKey string
	Kind       session.Kind
	Reason     string
	Message    string // whole, marker included
	EventIDs   []string
	Failures   []string
	Tasks      []string
	Quiet      bool
	Route      delivery.Route
	ReplyMode  string
	Timeout    time.Duration // 0: the agent's
	Model      string        // "": the agent's
	Isolated   bool          // a new transcript for this turn
	// Answer is the reply when it is known without asking anybody (the embedded
	// agent): everything else happens as with a real one. Nil: the argv.
	Answer *string
	// Wait is how long to wait for the lane; 0 does not wait, less is for ever.
	Wait time.Duration
	// Stderr gets the agent's stderr as it comes; nil: it is only kept.
	Stderr io.Writer
	// Admit adds to the admission's transaction, and refuses the turn when it
	// fails: nothing has then happened. It may run more than once.
	Admit func(tx *state.Tx, t *session.Turn) error
}

// Result is a turn that has ended, with its whole reply.
type Result struct {
	Turn  session.Turn
	Reply string
}

// BusyError says that the lane of a session is taken.
type BusyError struct {
	SessionKey string
	Holder     string // who, in words: "turn 01J… of agent main since 12:03 (pid 4711)"
}

func (e *BusyError) Error() string {
	return "session " + e.SessionKey + " is busy: " + e.Holder
}

// ErrNoAgent: the embedded agent has no answer to what a person writes.
var ErrNoAgent = errors.New("no agent is configured")

// Run carries a turn out and returns it when it has ended, however it ended.
// An error means that no turn was admitted, or (ctx) that it goes on without
// this caller.
func (r *Turns) Run(ctx context.Context, req Request) (Result, error) {
	return Result{}, errors.New("not implemented")
}

// Settle ends every turn that nobody waits for any more and whose argv has
// ended, or never began. It returns what it ended. Turns whose argv still runs
// are left alone and listed in going.
func (r *Turns) Settle(ctx context.Context) (ended []Result, going []session.Turn, err error) {
	return nil, nil, nil
}

// Lane tells whether the lane of a session is held, and whether somebody waits
// for it, without waiting and without writing.
func Lane(store *state.Store, sessionKey string) (held, queued bool, err error) {
	return false, false, nil
}
