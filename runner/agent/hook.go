package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/state/process"
	"claw/state/session"
	"claw/state/ulid"
)

// hookTimeout is how long one before_agent_run hook may take, hookGrace how
// long it then has between TERM and KILL: somebody waits for the turn.
const (
	hookTimeout = 60 * time.Second
	hookGrace   = time.Second
)

// maxWords is how many bytes of a hook's words are kept.
const maxWords = 1000

// hooks shows each before_agent_run hook exactly what the agent would read.
// The first that does not exit with 0 blocks the turn, and so does one that
// cannot be started: what guards a door that nobody can open is no guard. Nil:
// all agree.
func (x *run) hooks(ctx context.Context, input string) *ending {
	if len(x.agent.Hooks) == 0 {
		return nil
	}
	at, err := x.where()
	if err != nil {
		return refusedBy(err)
	}
	for _, argv := range x.agent.Hooks {
		if len(argv) == 0 {
			continue
		}
		if e := x.hook(ctx, fill(argv, x.turn, x.req.Model), at, input); e != nil {
			return e
		}
	}
	return nil
}

// hook asks one of them.
func (x *run) hook(ctx context.Context, argv []string, at place, input string) *ending {
	seen, err := x.ask(ctx, argv, at, input)
	if ctx.Err() != nil {
		return refusedBy(context.Cause(ctx))
	}
	name := "hook " + filepath.Base(argv[0])
	e := ending{status: session.TurnBlocked, unstarted: true, code: seen.code}
	switch {
	case err != nil:
		e.error = name + " could not be asked, so it blocks the turn: " + err.Error()
	case seen.late:
		e.error = because(name+" did not answer within "+process.HumanDuration(hookTimeout), seen.words)
	case seen.code == nil:
		e.error = because(name+" was ended by "+seen.signal, seen.words)
	case *seen.code != 0:
		e.error = because(name+" blocked the turn (exit code "+strconv.Itoa(*seen.code)+")", seen.words)
	default:
		return nil
	}
	return &e
}

// answer is what became of a hook.
type answer struct {
	code   *int
	signal string
	late   bool
	words  string // what it printed, for people
}

// ask runs a hook to its end, in a session of its own. It reads and writes
// files, so that what it leaves running holds up nobody.
func (x *run) ask(ctx context.Context, argv []string, at place, input string) (answer, error) {
	path, err := at.resolve(argv)
	if err != nil {
		return answer{}, err
	}
	in, err := x.stdin(input)
	if err != nil {
		return answer{}, err
	}
	defer in.Close()
	out, err := x.scratch()
	if err != nil {
		return answer{}, err
	}
	defer out.Close()
	mark := proc.Mark{Key: proc.RunVar, Value: ulid.New(x.Clock.Now())}
	at.set(mark.Key, mark.Value)
	child, err := proc.Start(proc.StartSpec{
		Path: path, Argv: argv, Env: at.env, Dir: at.dir, Files: [3]*os.File{in, out, out}, NewSession: true,
	})
	if err != nil {
		return answer{}, err
	}
	a, err := x.outlast(ctx, child, mark)
	a.words = words(out)
	return a, err
}

// outlast waits for the end of a hook, and brings it about when the time is
// over.
func (x *run) outlast(ctx context.Context, child proc.Child, mark proc.Mark) (answer, error) {
	over := make(chan syscall.WaitStatus, 1)
	failed := make(chan error, 1)
	go func() {
		status, err := reap(child.PID)
		if err != nil {
			failed <- err
			return
		}
		over <- status
	}()
	timer := x.Clock.NewTimer(hookTimeout)
	defer timer.Stop()
	late := false
	for {
		select {
		case status := <-over:
			return ended(status, late), nil
		case err := <-failed:
			return answer{}, err
		case <-timer.C():
			late = true
			endHook(ctx, child, mark)
		case <-ctx.Done():
			endHook(context.WithoutCancel(ctx), child, mark)
			return answer{}, ctx.Err()
		}
	}
}

// endHook ends it and all that it started: they carry its mark, as the commands
// of a claw process do.
func endHook(ctx context.Context, child proc.Child, mark proc.Mark) {
	timing := proc.Timing{Grace: hookGrace, Settle: proc.DefaultSettle}
	proc.Terminate(ctx, clock.New(), proc.Target{Root: child.Identity, Ungrouped: child.Ungrouped, Mark: mark}, timing, nil)
}

func ended(status syscall.WaitStatus, late bool) answer {
	a := answer{late: late}
	if status.Signaled() {
		a.signal = proc.SignalName(status.Signal())
		return a
	}
	code := status.ExitStatus()
	a.code = &code
	return a
}

func reap(pid int) (status syscall.WaitStatus, err error) {
	for {
		if _, err = syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status, err
		}
	}
}

// words is the end of what a hook printed, as one line or several that can be
// shown.
func words(f *os.File) string {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return ""
	}
	buf := make([]byte, min(size, 4*maxWords))
	n, _ := f.ReadAt(buf, size-int64(len(buf)))
	text := strings.TrimSpace(output.Sanitize(buf[:n]))
	if len(text) <= maxWords {
		return text
	}
	return fmt.Sprintf("…%s", strings.ToValidUTF8(text[len(text)-maxWords:], ""))
}
