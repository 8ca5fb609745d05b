package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/retention"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
	"claw/state/ulid"
)

// Command is the hidden subcommand that a supervisor runs as. Its argv holds
// the process's ULID and never the command's text (pains B17).
const Command = "supervise"

// connFD is where a supervisor finds its end of the socketpair.
const connFD = 3

// Request is one command to run, every default already applied.
type Request struct {
	Row    process.Process // what to record; ID, Slug, Phase and times are filled in by Launch
	Path   string          // Argv[0] resolved against the command's own PATH and directory
	Env    []string        // the command's whole environment
	Stdin  StdinMode
	Caller *os.File // the descriptor of StdinCaller
	Merged bool     // stdout and stderr are one pipe: all counts as stdout, in the order it was written
	InTurn bool     // it is started from within an agent's turn, and its end may lead to no more than that turn may do
	OnLoss string   // "leave" (default) or "kill": what settling does to a command whose supervisor died
	Retain retention.Policy
	// Wake says who acts on the end, see package poke; empty is off. Undo are
	// the caller's own values of variables that Env has otherwise, NAME=VALUE or
	// NAME for one it did not have: a tick gets the caller's environment.
	Wake string
	Undo []string
}

// Spare is a supervisor process that has been started and waits for its
// specification, so that it boots while the caller reads configuration and
// state. Exactly one of Launch or Discard must follow.
type Spare struct {
	id   string
	pid  int
	conn *os.File
}

// Prepare starts a supervisor that does nothing yet. If the caller dies or
// discards it before Launch, it leaves without a trace.
//
// stateDir is where the state most likely is; the supervisor looks at it
// beforehand. The specification decides.
func Prepare(stateDir string) (*Spare, error) {
	return PrepareAs(ulid.New(clock.New().Now()), stateDir)
}

// PrepareAs is Prepare for a process whose ULID somebody has written down
// already, so that what became of it can be found whoever dies. The ULID must
// be new.
func PrepareAs(id, stateDir string) (*Spare, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	defer unix.Close(fds[1])
	pid, err := proc.Detach([]string{Command, id}, append(supervisorEnv(os.Environ(), id), hintVar+"="+stateDir), fds[1])
	if err != nil {
		unix.Close(fds[0])
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	conn, err := pollable(fds[0], "supervisor")
	return &Spare{id: id, pid: pid, conn: conn}, err
}

// supervisorEnv keeps a supervisor's own environment small: the command's
// travels in the specification and nowhere else. The mark says that this
// supervisor belongs to process id: one that was started from within another
// process of claw must not be taken for a descendant of that one's command.
func supervisorEnv(environ []string, id string) []string {
	kept := []string{proc.RunVar + "=" + id, "GOGC=50", "GOMAXPROCS=1"}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if name == "CLAW_FAILPOINT" || name == "GOCOVERDIR" || name == "TZ" || name == "GODEBUG" {
			kept = append(kept, kv)
		}
	}
	return kept
}

// pollable wraps a descriptor so that reads can be woken and have deadlines.
func pollable(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// ID is the ULID that the process will have.
func (s *Spare) ID() string { return s.id }

// Discard lets the supervisor go; it exits when its socket closes.
func (s *Spare) Discard() { s.conn.Close() }

// Launch claims the row of req, hands the specification over and returns when
// the command has really started and its claim is durable, or with a Handle
// that says why it could not.
func (s *Spare) Launch(ctx context.Context, store *state.Store, req Request) (*Handle, error) {
	one := []*Launching{{Spare: s, Request: req}}
	LaunchAll(ctx, store, one)
	return one[0].Handle, one[0].Err
}

// takeLifeline makes the folder and takes the life-line in it. Where the clock is
// wrong somebody may take an empty folder for an old one and remove it in between.
func (s *Spare) takeLifeline(store *state.Store) (*os.File, error) {
	for tries := 0; ; tries++ {
		dir, err := store.MakeProcessDir(s.id)
		if err != nil {
			return nil, err
		}
		f, err := state.LockFile(settle.Lifeline(dir))
		if tries == 3 || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
}

// newSlug draws a slug that nothing live or listed has. Rows that have left
// for the archive give theirs back.
func newSlug(tx *state.Tx) (string, error) {
	var failed error
	taken := func(slug string) bool {
		has, err := state.Processes.Mentions(tx, `"slug":"`+slug+`"`)
		failed = errors.Join(failed, err)
		return has && err == nil
	}
	return process.NewSlug(taken, rand.IntN, tx.Now().UnixMilli()), failed
}

// await reads the supervisor's first answer.
func (s *Spare) await(h *Handle) (*Handle, error) {
	f, err := readFrame(s.conn, nil)
	if err != nil {
		if outcome, _ := h.hungUp(); outcome == OutcomeEnded {
			return h, nil
		}
		return nil, s.broken(err)
	}
	switch f.kind {
	case frameStarted:
		var st Started
		if err := decodeInto(f.payload, &st); err != nil {
			return nil, s.broken(err)
		}
		h.Warnings, h.PID = st.Warnings, st.PID
		return h, nil
	case frameEnd:
		return h, h.takeEnd(f.payload)
	case frameError:
		s.conn.Close()
		return nil, errors.New(string(f.payload))
	}
	return nil, s.broken(fmt.Errorf("unexpected answer %q", f.kind))
}

func (s *Spare) broken(err error) error {
	s.conn.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return ErrSupervisorDied
	}
	return fmt.Errorf("talk to the supervisor: %w", err)
}

// ErrSupervisorDied means that the supervisor ended without a word, as after
// kill -9. What became of the command is settled by the next look at it.
var ErrSupervisorDied = errors.New("the supervisor died before it could answer")
