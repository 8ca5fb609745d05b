package deliver

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/state/delivery"
	"claw/state/process"
)

// program is one child that is to be started.
type program struct {
	path    string
	argv    []string
	env     []string
	dir     string
	stdin   string
	timeout time.Duration
	mark    string // value of proc.RunVar in env
}

// ended is how it went.
type ended struct {
	exit   delivery.Exit
	signal string
	stdout string // the first MaxReceipt bytes
	stderr string // the last errorBytes
	failed error  // why it could not be started
	after  time.Duration
}

// The bounds of one child.
const (
	errorBytes = 1 << 10
	killGrace  = time.Second            // from TERM to KILL
	drainGrace = 500 * time.Millisecond // for output, after its end: a grandchild may hold the pipe
)

// why is one sentence about a failure: what it said itself comes first.
func (e ended) why() string {
	said := lastLines(e.stderr)
	switch {
	case e.failed != nil:
		return e.failed.Error()
	case e.exit.TimedOut:
		return withCause("it did not end within "+process.HumanDuration(e.after)+" and was ended", said)
	case e.exit.Signalled:
		return withCause("it was ended by "+e.signal, said)
	}
	return withCause("exit code "+strconv.Itoa(e.exit.Code), said)
}

func withCause(what, said string) string {
	if said == "" {
		return what
	}
	return what + ": " + said
}

// lastLines is text on one line.
func lastLines(s string) string {
	return process.Collapse(output.Sanitize([]byte(s)))
}

// run starts a program in a session of its own, with no descriptor of ours but
// its three pipes, and waits for its end. When its time is up it is ended with
// everything it started. It leaves no zombie. What it has sent by then nobody
// knows, so a caller that goes away does not end it.
func run(p program) ended {
	pipes, err := openPipes()
	if err != nil {
		return ended{failed: err}
	}
	child, err := proc.Start(proc.StartSpec{
		Path: p.path, Argv: p.argv, Env: p.env, Dir: p.dir, NewSession: true,
		Files: [3]*os.File{pipes.inR, pipes.outW, pipes.errW},
	})
	pipes.closeChild()
	if err != nil {
		pipes.closeOurs()
		return ended{failed: err}
	}
	out, errs := &head{limit: delivery.MaxReceipt}, &tail{limit: errorBytes}
	pipes.carry(p.stdin, out, errs)
	e := wait(p, child)
	pipes.drain()
	e.exit.Started, e.after = true, p.timeout
	e.stdout, e.stderr = strings.ToValidUTF8(strings.TrimSpace(string(out.kept)), "\uFFFD"), string(errs.kept)
	return e
}

// wait waits for the end of the child, or ends it.
func wait(p program, child proc.Child) ended {
	c := clock.New() // of the machine: the child lives in no other time
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	late := make(chan struct{})
	go func() {
		if clock.Sleep(ctx, c, p.timeout) == nil {
			close(late)
		}
	}()
	status := make(chan unix.WaitStatus, 1)
	go func() { status <- reap(child.PID) }()
	select {
	case ws := <-status:
		return endOf(ws)
	case <-late:
	}
	target := proc.Target{Root: child.Identity, Ungrouped: child.Ungrouped, Mark: proc.Mark{Key: proc.RunVar, Value: p.mark}}
	proc.Terminate(context.Background(), c, target, proc.Timing{Grace: killGrace, Settle: proc.DefaultSettle}, nil)
	return ended{exit: delivery.Exit{TimedOut: true}} // reaped as soon as the kernel lets go of it
}

func reap(pid int) unix.WaitStatus {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			return ws
		}
	}
}

func endOf(ws unix.WaitStatus) ended {
	if ws.Signaled() {
		return ended{exit: delivery.Exit{Signalled: true}, signal: proc.SignalName(ws.Signal())}
	}
	return ended{exit: delivery.Exit{Code: ws.ExitStatus()}}
}

// pipes are the three ends of a child and ours of them.
type pipes struct {
	inR, inW, outR, outW, errR, errW *os.File
	readers                          sync.WaitGroup
}

func openPipes() (*pipes, error) {
	var p pipes
	var err error
	for _, pair := range [][2]**os.File{{&p.inR, &p.inW}, {&p.outR, &p.outW}, {&p.errR, &p.errW}} {
		if *pair[0], *pair[1], err = os.Pipe(); err != nil {
			p.closeChild()
			p.closeOurs()
			return nil, err
		}
	}
	return &p, nil
}

func (p *pipes) closeChild() { closeAll(p.inR, p.outW, p.errW) }
func (p *pipes) closeOurs()  { closeAll(p.inW, p.outR, p.errR) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// carry moves bytes until the child is done with them. A child that does not
// read its stdin is no error.
func (p *pipes) carry(stdin string, out, errs io.Writer) {
	go func() {
		io.WriteString(p.inW, stdin)
		p.inW.Close()
	}()
	p.readers.Go(func() { io.Copy(out, p.outR) })
	p.readers.Go(func() { io.Copy(errs, p.errR) })
}

// drain reads what is left after the child's end, but does not wait for
// something in the background that holds its pipes.
func (p *pipes) drain() {
	soon := time.Now().Add(drainGrace)
	p.outR.SetReadDeadline(soon)
	p.errR.SetReadDeadline(soon)
	p.readers.Wait()
	p.closeOurs()
}

// head keeps the first bytes that are written to it, tail the last.
type head struct {
	limit int
	kept  []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.kept = append(h.kept, b[:min(len(b), h.limit-len(h.kept))]...)
	return len(b), nil
}

type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}
