package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/failpoint"
	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// start starts the command, reports that it runs and supervises it.
func (s *supervisor) start() int {
	defer rescue(s)
	if err := proc.Subreaper(); err != nil {
		s.note("become a subreaper: " + err.Error())
	}
	s.requests = make(chan request)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		s.listenControl()
	}()
	err := s.startCommand()
	<-listening
	if errors.Is(err, errAbandoned) {
		s.control.close()
		return s.takeBack()
	}
	if err != nil {
		s.control.close()
		return s.couldNotStart(err)
	}
	failpoint.Hit("child-started")
	s.acceptRequests()
	s.announce()
	failpoint.Hit("started")
	s.drained = s.capture()
	return s.run()
}

// announce makes it known that the command runs: in the row, to those who
// look for the control socket, and to the caller.
func (s *supervisor) announce() {
	if !s.spec.Rush {
		s.recordStart()
	}
	if s.spec.Attached {
		s.link.open()
	}
	if err := writeJSONFrame(s.link.conn, frameStarted, Started{PID: s.root.PID, Warnings: s.warnings}); err != nil && !s.spec.Attached {
		s.note("report the start: " + err.Error())
	}
	s.announced = true
	switch {
	case s.spec.Attached:
	case s.spec.Rush:
		s.rush = s.rushEnds()
	default:
		s.link.conn.Close()
	}
}

// startCommand opens the command's terminal or pipes and starts it.
func (s *supervisor) startCommand() error {
	if s.spec.Row.PTY {
		err := s.startOnTerminal()
		if !errors.Is(err, errNoTerminal) {
			return err
		}
		s.warn("Warning: PTY spawn failed (%v); retrying without PTY for %s", err, s.spec.Row.Command)
	}
	return s.startOnPipes()
}

func (s *supervisor) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

var errNoTerminal = errors.New("no terminal")

func (s *supervisor) startOnTerminal() error {
	term, err := pty.Open(s.spec.Row.Cols, s.spec.Row.Rows)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	slave := term.Slave()
	s.term = term
	s.stdin = &input{file: term, tty: true}
	s.streams = []*stream{newStream(output.Stdout, term)}
	if err := s.spawnChild([3]*os.File{slave, slave, slave}, true); err != nil {
		term.Close()
		s.term, s.stdin, s.streams = nil, nil, nil
		return err
	}
	return nil
}

func (s *supervisor) startOnPipes() error {
	stdout, outEnd, err := capturePipe("stdout")
	if err != nil {
		return err
	}
	defer outEnd.Close()
	stderr, errEnd, err := capturePipe("stderr")
	if err != nil {
		stdout.Close()
		return err
	}
	defer errEnd.Close()
	if s.spec.Merged {
		errEnd = outEnd // the other pipe ends at once
	}
	in, err := s.commandStdin()
	if err != nil {
		return err
	}
	defer in.Close()
	s.streams = []*stream{newStream(output.Stdout, stdout), newStream(output.Stderr, stderr)}
	if err := s.spawnChild([3]*os.File{in, outEnd, errEnd}, false); err != nil {
		return err
	}
	if s.ungrouped {
		s.warn("Warning: the command could not get a session of its own; only it, not what it starts, can be signalled")
	}
	return nil
}

// commandStdin opens what the command reads.
func (s *supervisor) commandStdin() (*os.File, error) {
	switch s.spec.Stdin {
	case StdinCaller:
		f := s.callerStdin
		s.callerStdin = nil
		return f, nil
	case StdinOpen:
		var fds [2]int
		if err := pipeCloexec(&fds); err != nil {
			return nil, err
		}
		w, err := pollable(fds[1], "stdin")
		s.stdin = &input{file: w}
		return os.NewFile(uintptr(fds[0]), "stdin"), err
	}
	return os.Open(os.DevNull)
}

func (s *supervisor) spawnChild(files [3]*os.File, ctty bool) error {
	if err := s.held(); err != nil {
		return err
	}
	row := s.spec.Row
	child, err := proc.Start(proc.StartSpec{
		Path: string(s.spec.Path), Argv: s.spec.Argv, Dir: string(s.spec.Dir), Files: files, NewSession: true, Ctty: ctty,
		Env: marked(s.spec.Env, "CLAW_PROCESS_ID="+row.Slug, proc.RunVar+"="+s.id),
	})
	if err != nil {
		return err
	}
	s.started(child)
	failpoint.Hit("child-forked")
	return nil
}

// marked is env with marks in place of those of an outer command of claw: of
// two equal names most programs see the first.
func marked(env []string, marks ...string) []string {
	kept := make([]string, 0, len(env)+len(marks))
	for _, kv := range env {
		same := func(mark string) bool {
			return kv[:strings.IndexByte(kv+"=", '=')] == mark[:strings.IndexByte(mark, '=')]
		}
		if !slices.ContainsFunc(marks, same) {
			kept = append(kept, kv)
		}
	}
	return append(kept, marks...)
}

// started begins to wait for the command, for its deadline and for silence.
func (s *supervisor) started(child proc.Child) {
	s.root, s.ungrouped = child.Identity, child.Ungrouped
	s.begun = s.clock.Elapsed()
	if ms := s.spec.Row.TimeoutMs; ms > 0 {
		s.deadline = s.begun + time.Duration(ms)*time.Millisecond
	}
	s.reaper = proc.Reap(s.root)
}

// recordStart writes the identity of the command into the row. It is not
// synced: after a power cut there is no command to know about.
func (s *supervisor) recordStart() {
	s.recorded = true
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, s.id)
		if err != nil || !ok {
			return err
		}
		p := row.Rec
		p.Phase, p.StartedAt = process.Running, p.NotBefore(tx.Now())
		p.Root, p.Ungrouped = s.root, s.ungrouped
		p.PTY, p.StdinOpen = s.term != nil, s.stdin != nil
		p.Warnings = s.warnings
		return state.Processes.Put(tx, s.id, row.Rev, p)
	}, state.Relaxed())
	if err != nil {
		s.note("record the start: " + err.Error())
	}
}

// inputEnded makes the end of the input visible in the row.
func (s *supervisor) inputEnded() {
	s.store.Update(context.Background(), func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, s.id)
		if err != nil || !ok || !row.Rec.Live() {
			return err
		}
		row.Rec.StdinOpen = false
		return state.Processes.Put(tx, s.id, row.Rev, row.Rec)
	}, state.Relaxed())
}

// couldNotStart ends the row of a command that never ran: 126 or 127 and the
// reason, for the caller to show. There is no event; the caller knows.
func (s *supervisor) couldNotStart(cause error) int {
	exit := *process.Classify(process.Observed{SpawnError: cause.Error(), SpawnCode: startCode(cause)})
	var row process.Process
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		var err error
		row, err = settle.Conclude(tx, s.id, settle.End{Phase: process.Exited, Exit: exit, At: s.clock.Now(), Shown: true})
		return err
	})
	if err != nil {
		return tell(s.link.conn, errors.Join(cause, err))
	}
	writeJSONFrame(s.link.conn, frameEnd, row)
	s.out.Close()
	if !row.Background {
		os.RemoveAll(s.dir)
	}
	return 0
}

func startCode(err error) int {
	if start, ok := errors.AsType[*proc.StartError](err); ok {
		return start.Code()
	}
	return 125
}

// capturePipe makes the pipe of one output stream. The command's end is
// opened for reading as well: should the supervisor die, the command meets
// no SIGPIPE. End of file is not affected, since the command's own reading
// descriptors go away together with its writing ones.
func capturePipe(name string) (r, w *os.File, err error) {
	var fds [2]int
	if err := pipeCloexec(&fds); err != nil {
		return nil, nil, err
	}
	growPipe(fds[0])
	both, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fds[1]), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fds[1])
		fds[1] = both
	}
	r, err = pollable(fds[0], name)
	return r, os.NewFile(uintptr(fds[1]), name), err
}

// note keeps a line about what went wrong inside the supervisor, in
// processes/ID/supervisor.log; there is nobody to tell.
func (s *supervisor) note(text string) {
	f, err := os.OpenFile(filepath.Join(s.dir, "supervisor.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s\n", s.clock.Now().Format(time.RFC3339Nano), text)
}
