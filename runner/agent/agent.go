package agent

import (
	"errors"
	"fmt"
	"io"
	"time"

	"claw/runner/clock"
	"claw/runner/retention"
	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
)

// Agent is a configured argv; design.md section 5.
//
// In each word of Command and Recover these are filled in, and the word stays
// one word: {session} the id of the transcript (it changes with `claw sessions
// new`), {sessionKey} the key, {model} the model, {thinking} how much to think,
// which may be empty, {tools} what it may use: "read-only" in a recovery turn,
// "all", "none", or names with commas between them (see Tools).
type Agent struct {
	Name    string
	Command []string // empty: the embedded agent
	Recover []string
	// Complete is what is asked without tools; empty: Command.
	Complete []string
	Model    string
	Timeout  time.Duration // of one turn; 0 none
	Env      map[string]string
	Workdir  string
	Context  string     // "prompt" or "transcript"
	Hooks    [][]string // before_agent_run

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
	// OnLoss is tools.exec.onSupervisorLoss: "kill" ends an argv whose
	// supervisor died, anything else leaves it.
	OnLoss string
	// OnEnd adds to the transaction that ends a turn whatever follows from it:
	// consumed events, a delivery, the monitor's row. It may change t. reply is
	// whole up to session.MaxTranscriptReply. It is called exactly once for
	// every turn that ends, by whoever ends it. Nil adds nothing.
	OnEnd func(tx *state.Tx, t *session.Turn, reply string) error
	// OnOver adds what a person is owed of a cycle that is over, in the
	// transaction that ends it; see session.Cycle.Owes. Where the end of a turn
	// ends it, it comes after OnEnd. Nil adds nothing.
	OnOver func(tx *state.Tx, c session.Cycle) error
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
	Timeout    time.Duration // 0: the agent's; less: none
	Model      string        // "": the agent's
	Thinking   string        // how much it is to think, as it is written in its argv; "": nothing is said
	Tools      []string      // what it may use; nil: nothing is said, which is all, empty is none
	PromptMode string        // "minimal": the agent is to be given no more than this message; "": its full prompt
	Light      bool          // the message alone, without the conversation before it
	Isolated   bool          // a new transcript for this turn, in a session beside the one that is named
	Fresh      bool          // a new transcript for this turn
	RunID      string        // of the automation it is carried out for
	// Answer is the reply when it is known without asking anybody (the embedded
	// agent): everything else happens as with a real one. Nil: the argv.
	Answer *string
	// Wait is how long to wait for the lane; 0 does not wait, less is for ever.
	Wait time.Duration
	// Waiting is told, once, who holds the lane when it has to be waited for.
	Waiting func(holder string)
	// Stdout and Stderr get what the agent writes, byte for byte as it comes;
	// nil: it is only kept. A writer that fails is not written to again; the
	// turn goes on.
	Stdout, Stderr io.Writer
	// Stop ends the agent, TERM first, when it is closed; the turn ends as
	// failed and its session as killed. Nil: never.
	Stop <-chan struct{}
	// Drain puts the session's ordinary queued events (neither completions nor
	// reminders) in front of Message as "System:" lines, read in the admission's
	// transaction, and adds them to EventIDs.
	Drain bool
	// Admit adds to the admission's transaction, and refuses the turn when it
	// fails: nothing has then happened. It may run more than once.
	Admit func(tx *state.Tx, t *session.Turn) error
	// Recover makes it an attempt at going on with what was cut off in the
	// session. Run fails with a *session.Rejection when that is not to be
	// continued any more. Nil: it is a turn of its own.
	Recover *Attempt
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

// TooLongError refuses a message that no turn can hold.
type TooLongError struct {
	Bytes int
	More  bool // there are more, which nobody has counted
}

func (e *TooLongError) Error() string {
	most := ""
	if e.More {
		most = "at least "
	}
	return fmt.Sprintf("the message has %s%d bytes; a turn takes at most %d", most, e.Bytes, session.MaxMessage)
}

// Remedy says how to hand over more than that.
func (e *TooLongError) Remedy() string {
	return "put it into a file and tell the agent where it is"
}
