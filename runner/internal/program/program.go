package program

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state/ulid"
)

// How patient we are with a program that has to go, or has gone.
const (
	grace      = time.Second            // from TERM to KILL
	reapGrace  = time.Second            // for the kernel, after it has gone
	drainGrace = 500 * time.Millisecond // for its pipes, after its end
)

var errLost = errors.New("nobody knows how it ended: its exit status was taken by somebody else")

// Spec is a program that is to be run.
type Spec struct {
	// Argv is what the program sees; Argv[0] is looked for in the PATH of Env,
	// relative names from Dir.
	Argv []string
	// Path is the file to execute. Empty: Resolve finds it.
	Path string
	// Env is the whole environment. Of several values for one name the last
	// counts. PWD is Dir, and proc.RunVar a mark that is new in each run.
	Env []string
	// Dir is the working directory, absolute. Empty: the caller's.
	Dir string
	// Stdin is what it can read; a program that does not read it is no
	// failure.
	Stdin string
	// Limit is how long it may run; then it is ended.
	Limit time.Duration
	// Clock measures Limit. Nil: the machine's, which also measures all the
	// rest, as the child lives in no other time.
	Clock clock.Clock
	// Stdout and Stderr say how much of either is kept. All is read.
	Stdout, Stderr Keep
	// Merge makes stderr a part of stdout, in the order they were written.
	Merge bool
}

// Result is how a run went.
type Result struct {
	// Err says why it was not started (a *proc.StartError, or an error of the
	// system), or, with Started, what came in between: the cause of the end of
	// ctx, or that nobody knows how it ended. Nil: it was started, and ended by
	// itself, by a signal or by its limit.
	Err     error
	Started bool
	// Code is its exit code, -1 without one.
	Code int
	// Signal has ended it, whoever sent it; 0: none.
	Signal unix.Signal
	// TimedOut: its limit was over, and it was ended. Code or Signal say how
	// it took that.
	TimedOut bool
	// Stdout and Stderr are what was kept: everything, or else the beginning,
	// a line with an ellipsis, and the end. They may begin and end within a
	// character.
	Stdout, Stderr []byte
}

// Resolve finds the file that Argv[0] means, as the child would, and notes it
// in Path. The error is a *proc.StartError.
func (s *Spec) Resolve() error {
	if s.Path != "" {
		return nil
	}
	if len(s.Argv) == 0 {
		return &proc.StartError{Kind: proc.NotFound, Err: unix.ENOENT}
	}
	path, err := proc.LookPath(s.Argv[0], s.Dir, proc.Getenv(s.Env, "PATH"))
	s.Path = path
	return err
}

// Run runs the program to its end. When ctx ends it is ended; a caller whose
// own end changes nothing passes context.WithoutCancel.
func Run(ctx context.Context, s Spec) Result {
	if ctx.Err() != nil {
		return unstarted(context.Cause(ctx))
	}
	if err := s.Resolve(); err != nil {
		return unstarted(err)
	}
	w, err := s.wires()
	if err != nil {
		return unstarted(err)
	}
	mark := proc.Mark{Key: proc.RunVar, Value: ulid.New(clock.New().Now())}
	child, err := proc.Start(proc.StartSpec{
		Path: s.Path, Argv: s.Argv, Env: s.environ(mark), Dir: s.Dir, Files: w.theirs, NewSession: true,
	})
	w.closeTheirs()
	if err != nil {
		w.closeOurs()
		return unstarted(err)
	}
	w.carry(s.Stdin)
	res := s.await(ctx, child, mark)
	w.drain()
	res.Stdout, res.Stderr = w.out.bytes(), w.err.bytes()
	return res
}

func unstarted(err error) Result { return Result{Err: err, Code: -1} }

// environ is Env as the child gets it.
func (s *Spec) environ(mark proc.Mark) []string {
	env := append(make([]string, 0, len(s.Env)+2), s.Env...)
	if filepath.IsAbs(s.Dir) {
		env = append(env, "PWD="+s.Dir)
	}
	return lastOfEach(append(env, mark.Key+"="+mark.Value))
}

// lastOfEach leaves the last value of each name where it stands.
func lastOfEach(env []string) []string {
	at := make(map[string]int, len(env))
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		at[name] = i
	}
	kept := env[:0]
	for i, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); at[name] == i {
			kept = append(kept, kv)
		}
	}
	return kept
}

// await waits for the end of the child, or brings it about.
func (s *Spec) await(ctx context.Context, child proc.Child, mark proc.Mark) Result {
	over := make(chan proc.Status, 1)
	go func() {
		st, _ := proc.Wait(child.PID) // an error is a status that was lost
		over <- st
	}()
	st, late, stopped := s.outlast(ctx, over)
	if stopped || late {
		st = end(child, mark, over)
	}
	res := Result{Started: true, Code: st.Code, Signal: st.Signal, TimedOut: late}
	if st.Signal != 0 || st.Lost {
		res.Code = -1
	}
	switch {
	case stopped:
		res.Err = context.Cause(ctx)
	case st.Lost && !late:
		res.Err = errLost
	}
	return res
}

// outlast waits for whatever comes first: the end of the child, of its time
// (late) or of ctx (stopped).
func (s *Spec) outlast(ctx context.Context, over <-chan proc.Status) (st proc.Status, late, stopped bool) {
	c := s.Clock
	if c == nil {
		c = clock.New()
	}
	until := c.Elapsed() + s.Limit
	timer := c.NewTimer(s.Limit)
	defer timer.Stop()
	for {
		select {
		case st = <-over:
			return st, false, false
		case <-ctx.Done():
			stopped = true
		case <-timer.C():
			left := until - c.Elapsed()
			if left > 0 {
				timer.Reset(left)
				continue
			}
			late = true
		}
		select {
		case st = <-over: // just in time
			return st, false, false
		default:
			return st, late, stopped
		}
	}
}

// end ends the child with all that carries its mark, and tells how the child
// took it.
func end(child proc.Child, mark proc.Mark, over <-chan proc.Status) proc.Status {
	c := clock.New()
	target := proc.Target{Root: child.Identity, Ungrouped: child.Ungrouped, Mark: mark}
	proc.Terminate(context.Background(), c, target, proc.Timing{Grace: grace, Settle: proc.DefaultSettle}, nil)
	timer := c.NewTimer(reapGrace)
	defer timer.Stop()
	select {
	case st := <-over:
		return st
	case <-timer.C():
		return proc.Status{PID: child.PID, Lost: true}
	}
}
