package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"claw/runner/clock"
	"claw/runner/output"
	"claw/state"
)

// Main is the hidden subcommand: it supervises one process from its start to
// its end. It returns the program's exit status, which nobody waits for.
func Main() int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	if len(os.Args) == 4 && os.Args[3] == drainWord {
		return drainMain(os.Args[2])
	}
	if s, ok := resume(); ok {
		return s.again()
	}
	conn, err := pollable(connFD, "caller")
	if err != nil {
		return 1
	}
	store := warm(os.Getenv(hintVar))
	spec, files, err := recvSpec(conn)
	if err != nil {
		return tell(conn, err)
	}
	s, err := adopt(spec, conn, files, store)
	if err != nil {
		return tell(conn, err)
	}
	return s.start()
}

// tell reports what went wrong before the loop runs. A caller that left
// without a word (end of file) wants nothing.
func tell(conn *os.File, err error) int {
	if !errors.Is(err, io.EOF) {
		writeFrame(conn, frameError, []byte(err.Error()))
	}
	return 1
}

// adopt takes over what the caller sent.
func adopt(spec Spec, conn *os.File, files []*os.File, store *state.Store) (*supervisor, error) {
	if len(files) == 0 {
		return nil, errors.New("no life-line came with the specification")
	}
	s := &supervisor{spec: spec, id: spec.Row.ID, lifeline: files[0], clock: clock.New()}
	s.link.conn = conn
	if store != nil && store.Dir() == string(spec.StateDir) {
		s.store = store
	}
	if spec.Stdin == StdinCaller {
		if len(files) < 2 {
			return nil, errors.New("no stdin came with the specification")
		}
		s.callerStdin = files[1]
	}
	return s, s.open()
}

// open opens what outlives a re-execution only by name.
func (s *supervisor) open() error {
	var err error
	if s.store == nil {
		if s.store, err = openState(string(s.spec.StateDir)); err != nil {
			return err
		}
	}
	s.dir = s.store.ProcessDir(s.id)
	s.out, err = output.OpenWriter(s.dir, output.WriterOptions{Cap: s.spec.Row.MaxOutput, Now: s.clock.Now})
	if err != nil {
		return fmt.Errorf("open the output of %s: %w", s.spec.Row.Slug, err)
	}
	return nil
}
