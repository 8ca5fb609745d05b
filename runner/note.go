package runner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/runner/poke"
	"claw/state"
	"claw/state/process"
)

// State is how a runner stands: its note in runner.json, and what the locks
// say.
type State struct {
	Running bool      `json:"running"`
	PID     int       `json:"pid,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Mode    string    `json:"mode,omitempty"`      // normal, safe or draining; waiting while a tick is at work
	Watch   string    `json:"watch,omitempty"`     // told by the kernel, or why it looks every two seconds
	Last    time.Time `json:"lastPassAt,omitzero"` // when it last had something to look at
	Next    time.Time `json:"next,omitzero"`       // what it will do next; zero: nothing is foreseen

	Error    string    `json:"error,omitempty"`    // what the last pass could not do
	BootID   string    `json:"bootId,omitempty"`   // the row of this life in ledgers/boots.jsonl
	Why      string    `json:"why,omitempty"`      // of a mode that is not normal
	Until    time.Time `json:"until,omitzero"`     // when that is over at the latest
	WaitsFor []string  `json:"waitsFor,omitempty"` // draining: what goes on, in words

	// Without a runner:
	TickAtWork bool      `json:"tickAtWork,omitempty"` // a tick holds runner.lock
	LastTick   time.Time `json:"lastTickAt,omitzero"`  // the end of the last one
}

// note is the file runner.json. The identity is there to signal safely.
type note struct {
	State
	Identity process.Identity `json:"identity"`
}

// modeWaiting is the mode of a State while a tick is at work; the others are
// those of package boot.
const modeWaiting = "waiting"

func upLock(dir string) string   { return filepath.Join(dir, "runner.up") }
func noteFile(dir string) string { return filepath.Join(dir, "runner.json") }

// isUp tells whether a runner lives.
func isUp(dir string) bool {
	held, err := state.Held(upLock(dir))
	return held && err == nil
}

// Look tells how the runner of a state directory stands. It writes nothing.
func Look(dir string) (State, error) {
	up, err := state.Held(upLock(dir))
	if err != nil {
		return State{}, err
	}
	if up {
		n := readNote(dir)
		n.Running = true
		return n.State, nil
	}
	var s State
	if s.TickAtWork, err = state.Held(poke.Lock(dir)); err != nil {
		return s, err
	}
	if info, err := os.Stat(poke.Lock(dir)); err == nil {
		s.LastTick = info.ModTime()
	}
	return s, nil
}

// readNote is what the last runner wrote; empty when that cannot be read.
func readNote(dir string) note {
	var n note
	raw, err := os.ReadFile(noteFile(dir))
	if err == nil && json.Unmarshal(raw, &n) != nil {
		return note{}
	}
	return n
}

// write replaces the note. It is for reading only, so that nothing waits for
// the disk, and a full one stops nobody.
func (n note) write(dir string) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	temp := noteFile(dir) + ".new"
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NOFOLLOW
	f, err := os.OpenFile(temp, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(temp)
		return err
	}
	return os.Rename(temp, noteFile(dir))
}

// UpError says that a runner is at work on the directory already.
type UpError struct{ State State }

// Error names it.
func (e *UpError) Error() string {
	if e.State.PID == 0 {
		return "a runner is at work on this state directory already"
	}
	return "a runner is at work on this state directory already: pid " + itoa(e.State.PID) + " since " + e.State.Since.Local().Format(time.RFC3339)
}

// Remedy says how to replace it.
func (e *UpError) Remedy() string {
	return "claw runner status says how it does; claw runner stop ends it"
}

// Reasons why Stop did not stop a runner.
var (
	ErrNotUp    = errors.New("no runner is at work on this state directory")
	ErrStillUp  = errors.New("the runner has been told to end, and has not ended yet")
	ErrNoRunner = errors.New("a runner is at work, but its note does not say which process it is")
)

// Stop tells the runner of a state directory to end, and returns how it stood
// when it has ended; ErrStillUp when ctx ended before.
func Stop(ctx context.Context, dir string) (State, error) {
	s, err := Look(dir)
	switch {
	case err != nil:
		return s, err
	case !s.Running:
		return s, ErrNotUp
	}
	n := readNote(dir)
	if n.Identity.IsZero() {
		return s, ErrNoRunner
	}
	if err := proc.Signal(n.Identity, unix.SIGTERM); err != nil && !errors.Is(err, proc.ErrGone) {
		return s, err
	}
	if err := state.LockShared(ctx, upLock(dir)); err != nil {
		if ctx.Err() != nil {
			return s, ErrStillUp
		}
		return s, err
	}
	return s, nil
}

// inode tells a file from another of the same name; 0 when there is none.
func inode(path string) uint64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 1
}
