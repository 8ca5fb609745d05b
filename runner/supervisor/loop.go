package supervisor

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

const (
	// grace is the time between TERM and KILL; spec/exec-process.md 1.7.
	grace = 5 * time.Second
	// settleQuiet is how long output must have been silent after the command
	// has ended before a descendant that holds the pipe is no longer waited for.
	settleQuiet = 250 * time.Millisecond
	// settleCeiling bounds that wait for a descendant that never falls silent
	// (pains B04).
	settleCeiling = time.Second
)

// supervisor owns one process. Its fields belong to the goroutine of run,
// except where a comment says otherwise; the other goroutines send it values.
type supervisor struct {
	spec  Spec
	id    string
	dir   string
	store *state.Store
	out   *output.Writer // safe for concurrent use
	clock clock.Clock

	lifeline    *os.File // held until the end is written
	callerStdin *os.File // passed on to the command, then closed
	link        link     // to the caller while it is attached

	root      process.Identity
	term      *pty.PTY // nil without a PTY
	stdin     *input   // nil when nothing can be written
	streams   []*stream
	deadline  time.Time    // monotonic; zero: none
	ungrouped bool         // the command shares our session: signal it alone
	gate      sync.RWMutex // readers hold it while a piece is between pipe and disk

	forced   process.Reason // the first forced reason wins
	killing  *termination   // nil until somebody asked for the end
	exited   *proc.Exit     // set once the command itself was reaped
	rootDone chan proc.Exit
	drained  chan struct{} // closed when every stream has reached its end
	requests chan request  // from the control server
	control  *controlServer

	panics        int  // of earlier incarnations
	resumeKilling bool // an earlier incarnation was terminating the command
}

// run is the life of a started command: it waits for whatever comes next
// until the end can be written, writes it and lets go.
func (s *supervisor) run() int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	timer := newAlarm()
	defer timer.stop()
	trim := time.AfterFunc(trimAfter, trimMemory)
	defer trim.Stop()
	for !s.over() {
		timer.set(s.nextInstant())
		select {
		case x := <-s.rootDone:
			s.rootEnded(x)
		case <-s.drainedIfEnded():
			s.drained = nil
		case req := <-s.requests:
			s.serve(req)
		case msg := <-s.link.messages:
			s.fromCaller(msg)
		case <-signals:
			s.cancel(process.ReasonManualCancel)
		case <-s.killing.doneChan():
			s.killing.finished()
		case <-timer.c:
			s.elapsed()
		}
	}
	return s.finish()
}

// over tells that nothing more is waited for: the command has ended and its
// output is complete, or what holds the pipe has been silent long enough.
func (s *supervisor) over() bool {
	if s.exited == nil {
		return false
	}
	if s.drained == nil {
		return s.killing == nil || s.killing.over
	}
	if s.killing != nil && !s.killing.over {
		return false // TERM, grace, KILL own the wait
	}
	now := time.Now()
	quiet := now.Sub(s.lastSign()) >= settleQuiet
	if s.killing != nil {
		return quiet
	}
	return s.paid() && (quiet || now.Sub(s.exitedAt()) >= settleCeiling)
}

// paid tells that everything written before the command ended has been read.
func (s *supervisor) paid() bool {
	for _, st := range s.streams {
		if !st.paid() {
			return false
		}
	}
	return true
}

func (s *supervisor) exitedAt() time.Time { return s.exited.At }

// lastSign is the last moment at which output came or the command (or the
// killing of its descendants) ended.
func (s *supervisor) lastSign() time.Time {
	last := s.exitedAt()
	if s.killing != nil && s.killing.endedAt.After(last) {
		last = s.killing.endedAt
	}
	for _, st := range s.streams {
		if t := st.lastRead(); t.After(last) {
			last = t
		}
	}
	return last
}

// nextInstant is when run must look again if nothing happens; zero: never.
func (s *supervisor) nextInstant() time.Time {
	if s.exited != nil && s.drained != nil && (s.killing == nil || s.killing.over) {
		next := s.lastSign().Add(settleQuiet)
		if !s.paid() {
			return time.Now().Add(settleQuiet)
		}
		if ceiling := s.exitedAt().Add(settleCeiling); ceiling.Before(next) {
			next = ceiling
		}
		return next
	}
	if s.exited == nil && s.forced == "" {
		return s.deadline
	}
	return time.Time{}
}

// elapsed handles the deadline; the settle instants are read by over.
func (s *supervisor) elapsed() {
	if s.exited == nil && s.pastDeadline() {
		s.cancel(process.ReasonOverallTimeout)
	}
}

func (s *supervisor) pastDeadline() bool {
	return !s.deadline.IsZero() && !time.Now().Before(s.deadline)
}

// drainedIfEnded is nil, and so never ready, once it has been seen.
func (s *supervisor) drainedIfEnded() <-chan struct{} { return s.drained }

func (s *supervisor) rootEnded(x proc.Exit) {
	s.exited = &x
	hit("child-exited")
	for _, st := range s.streams {
		st.owe()
	}
	if s.term != nil {
		s.term.CloseSlave()
	}
	if s.stdin != nil {
		s.stdin.close()
	}
}

// cancel asks for the end of the command and everything it started. The first
// reason stands; asking again does not restart the grace period.
func (s *supervisor) cancel(why process.Reason) {
	if s.forced == "" && s.exited == nil {
		s.forced = why
	}
	if s.killing == nil {
		s.killing = s.terminate()
	}
}

// finish writes the end, tells the caller and lets the life-line go.
func (s *supervisor) finish() int {
	hit("settling")
	s.control.close()
	left := s.leftover()
	s.out.Close()
	row := s.conclude(left)
	hit("concluded")
	s.link.end(row)
	s.lifeline.Close()
	if !row.Background {
		os.RemoveAll(s.dir) // a foreground result is never kept
	}
	s.linger(len(left) > 0)
	return 0
}

// conclude retries until the end is written: a full disk must not make a
// finished command look as if claw had died.
func (s *supervisor) conclude(left []process.Leftover) process.Process {
	end := settle.End{
		Phase: process.Exited, Exit: s.outcome(), At: s.clock.Now(),
		Totals: s.out.Totals(), Tail: s.out.Tail(tailChars), Leftover: left,
	}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, time.Minute) {
		row, err := s.writeEnd(end)
		if err == nil {
			return row
		}
		s.note("write the end: " + err.Error())
		time.Sleep(wait)
	}
}

const tailChars = 2000

func (s *supervisor) writeEnd(end settle.End) (process.Process, error) {
	var row process.Process
	var opts []state.UpdateOption
	if s.link.attached() {
		opts = append(opts, state.Relaxed())
	}
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		if !s.link.attached() {
			if err := settle.Promote(tx, s.id); err != nil {
				return err
			}
		}
		var err error
		row, err = settle.Conclude(tx, s.id, end)
		return err
	}, opts...)
	return row, err
}

func (s *supervisor) outcome() process.Exit {
	return process.Outcome(process.Observed{
		Code: s.exited.Code, Signal: s.exited.Signal, Forced: s.forced,
		DeadlinePassed: s.forced == "" && !s.deadline.IsZero() && !s.exited.At.Before(s.deadline),
	})
}

// leftover lists what the command left behind. As a subreaper the supervisor
// has every orphan as its child, so without children there is nothing to look
// for and /proc is not read.
func (s *supervisor) leftover() []process.Leftover {
	if !proc.HaveChildren() {
		return nil
	}
	var left []process.Leftover
	for _, id := range proc.Tree(proc.Self(), s.root) {
		left = append(left, process.Leftover{Identity: id, Command: proc.CommandLine(id.PID)})
	}
	return left
}

// linger keeps the read ends of the pipes open, discarding what comes, while
// something the command left behind still writes to them: a daemon must not
// be stopped by a pipe that nobody empties. Nothing depends on this any more,
// the life-line is free.
func (s *supervisor) linger(left bool) {
	if !left || s.drained == nil || s.term != nil {
		return
	}
	for _, st := range s.streams {
		st.discard.Store(true)
	}
	<-s.drained
}
