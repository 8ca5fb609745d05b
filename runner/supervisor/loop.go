package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/failpoint"
	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
	"claw/runner/output"
	"claw/runner/retention"
	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
)

const (
	// settleQuiet is how long output must have been silent after the command
	// has ended before a descendant that holds the pipe is no longer waited for.
	settleQuiet = 250 * time.Millisecond
	// settleCeiling bounds that wait for a descendant that never falls silent
	// (pains B04).
	settleCeiling = time.Second
	// callerPatience is how long a caller that reads slowly is waited for once
	// its command has been ended by claw.
	callerPatience = 2 * time.Second
	// endEvery is the longest pause between attempts to write the end.
	endEvery = 10 * time.Second
	// outputPatience is how long the end waits for a disk to have room for the
	// output that stands before it.
	outputPatience = 10 * time.Minute
	// reaperLag is how long the reaper may take to find that no child is left.
	reaperLag = 2 * time.Millisecond
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
	term      *pty.PTY // nil without a PTY; what it shows goes through responder
	responder pty.Responder
	stdin     *input // nil when nothing can be written
	streams   []*stream
	deadline  time.Duration // on the monotonic clock; 0: none
	begun     time.Duration // since when it could have printed something, see silence.go
	ungrouped bool          // the command shares our session: signal it alone
	gate      sync.RWMutex  // readers hold it while a piece is between pipe and disk

	forced   process.Reason // the first forced reason wins
	killing  *termination   // nil until somebody asked for the end
	exited   *proc.Status   // set once the command itself was reaped
	exitedAt time.Duration  // when that was seen
	reaper   *proc.Reaper
	drained  chan struct{} // closed when every stream has reached its end
	requests chan request  // from the control server
	control  *controlServer

	warnings  []string // about the start, for the caller and the row
	announced bool     // the caller has been told that the command runs
	recorded  bool     // and so has its row, see rush.go
	told      bool     // the end has been told before it could be written
	rush      <-chan struct{}

	panics int      // of earlier incarnations
	handed handover // by the last of them
}

// run is the life of a started command: it waits for whatever comes next
// until the end can be written, writes it and lets go.
func (s *supervisor) run() int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	timer := newAlarm(s.clock)
	defer timer.stop()
	trim := time.AfterFunc(trimAfter, trimMemory)
	defer trim.Stop()
	for !s.over() {
		timer.set(s.nextInstant())
		select {
		case x := <-s.reaper.Exit():
			s.rootEnded(x)
		case <-s.drained:
			s.drained = nil
		case <-s.rush:
			s.rushed()
		case req := <-s.requests:
			s.serve(req)
		case msg := <-s.link.messages:
			s.fromCaller(msg)
			s.link.done()
		case <-signals:
			s.cancel(process.ReasonManualCancel)
		case <-s.killing.doneChan():
			s.killing.over, s.killing.endedAt = true, s.clock.Elapsed()
		case <-timer.timer.C():
			s.elapsed()
		}
	}
	return s.finish()
}

// over tells that nothing more is waited for: the command has ended and its
// output is complete, or what holds the pipe has been silent long enough.
func (s *supervisor) over() bool {
	if s.exited == nil || s.rush != nil {
		return false
	}
	if s.killing.pending() {
		return false // TERM, grace, KILL own the wait
	}
	if s.drained == nil {
		return true
	}
	now := s.clock.Elapsed()
	quiet := now-s.lastSign() >= settleQuiet
	if s.killing != nil {
		// A caller that does not read must not keep a timeout from ending on time.
		return quiet && (s.paid() || now-s.killing.endedAt >= callerPatience)
	}
	return s.paid() && (quiet || now-s.exitedAt >= settleCeiling)
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

// lastSign is the last moment at which output came or the command (or the
// killing of its descendants) ended.
func (s *supervisor) lastSign() time.Duration {
	last := s.exitedAt
	if s.killing != nil {
		last = max(last, s.killing.endedAt)
	}
	for _, st := range s.streams {
		last = max(last, st.lastRead())
	}
	return last
}

// nextInstant is when run must look again if nothing happens; 0: never.
func (s *supervisor) nextInstant() time.Duration {
	switch {
	case s.exited == nil && s.forced == "":
		return sooner(s.deadline, s.silenceEnds())
	case s.exited == nil || s.drained == nil || s.rush != nil || s.killing.pending():
		return 0
	case !s.paid():
		return s.clock.Elapsed() + settleQuiet
	}
	return min(s.lastSign()+settleQuiet, max(s.exitedAt+settleCeiling, s.clock.Elapsed()+time.Millisecond))
}

// elapsed handles the deadline and silence; the settle instants are read by
// over.
func (s *supervisor) elapsed() {
	now := s.clock.Elapsed()
	switch {
	case s.exited != nil:
	case s.pastDeadline(now):
		s.cancel(process.ReasonOverallTimeout)
	case s.silentFor(now) && !s.unread():
		s.cancel(process.ReasonNoOutputTimeout)
	}
}

func (s *supervisor) pastDeadline(at time.Duration) bool {
	return s.deadline != 0 && at >= s.deadline
}

// rootEnded notes the end of the command. A later incarnation may hear of it
// a second time, as lost.
func (s *supervisor) rootEnded(x proc.Status) {
	if s.exited != nil {
		return
	}
	s.exited, s.exitedAt = &x, s.clock.Elapsed()
	failpoint.Hit("child-exited")
	s.afterExit()
}

// afterExit closes what only the command itself needed, and notes what it has
// written that is still to be read.
func (s *supervisor) afterExit() {
	s.gate.Lock()
	for _, st := range s.streams {
		st.owe()
	}
	s.gate.Unlock()
	if s.term != nil {
		s.term.Hangup(settleQuiet)
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
	failpoint.Hit("settling")
	s.control.close()
	left := s.leftover()
	row := s.conclude(left)
	failpoint.Hit("concluded")
	if taken := s.told || s.link.end(row); !taken && !row.Background {
		row = s.unclaimed(row)
	}
	sweep := retention.Due(s.store, s.clock.Now())
	s.lifeline.Close()
	failpoint.Hit("released")
	s.wake(row)
	if !row.Background {
		os.RemoveAll(s.dir) // a foreground result is never kept
	}
	if sweep { // it may take a while, and nobody is to wait for it
		retention.Once(context.Background(), s.store, s.spec.Retain, s.clock.Now())
	}
	s.linger(len(left) > 0)
	return 0
}

// conclude retries until the end is written: a full disk must not make a
// finished command look as if claw had died, nor cost what it printed last. A
// caller is not kept that long: it gets the result, and the word that the ledger
// has not. Where the whole state directory is gone there is nobody to write it
// for, and where a newer claw has taken it over nobody may: letting the life-line
// go leaves the end to that one.
func (s *supervisor) conclude(left []process.Leftover) process.Process {
	end := settle.End{Phase: process.Exited, Exit: s.outcome(), At: s.clock.Now(), Leftover: left}
	began, noted := s.clock.Elapsed(), ""
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, endEvery) {
		if _, err := os.Stat(s.store.Dir()); errors.Is(err, fs.ErrNotExist) {
			return s.unwritten(end)
		}
		var row process.Process
		err := s.out.Flush()
		if waited := s.clock.Elapsed() - began; err == nil || waited >= outputPatience || s.ownResult() {
			s.out.Close()
			end.Totals, end.Tail, end.Told = s.out.Totals(), s.out.Tail(process.TailChars), s.out.Tail(event.MaxDetails)
			row, err = s.writeEnd(end)
		}
		switch {
		case err == nil && row.ID == "":
			return s.unwritten(end)
		case err == nil:
			return row
		case errors.Is(err, state.ErrNewerFormat):
			s.note("write the end: " + err.Error())
			return s.unwritten(end)
		}
		if err.Error() != noted {
			noted = err.Error()
			s.note("write the end: " + noted)
		}
		if s.clock.Elapsed()-began >= callerPatience && s.ownResult() {
			s.told = s.link.end(s.unrecorded(end, err))
		}
		clock.Sleep(context.Background(), s.clock, wait)
	}
}

// ownResult tells that somebody waits for the end who needs no ledger for it. A
// turn and a run of an automation are their rows: whoever looks after one writes
// the next from this one.
func (s *supervisor) ownResult() bool {
	return s.link.attached() && s.spec.Row.TurnID == "" && s.spec.Row.RunID == ""
}

// unrecorded is the final row for a caller that cannot wait for the ledger.
func (s *supervisor) unrecorded(end settle.End, why error) process.Process {
	row := s.unwritten(end)
	row.Output, row.Tail, row.Leftover = end.Totals, end.Tail, end.Leftover
	row.Warnings = append(slices.Clone(row.Warnings), "its end is not recorded yet: "+why.Error())
	return row
}

// unclaimed lists the end of a foreground process whose caller was killed
// before it could take the result: nobody else has it.
func (s *supervisor) unclaimed(row process.Process) process.Process {
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		kept, err := settle.Unclaimed(tx, s.id)
		if err == nil && kept.ID != "" {
			row = kept
		}
		return err
	})
	if err != nil {
		s.note("list the result that nobody took: " + err.Error())
		row.Background = true // at least its output stays
	}
	return row
}

// unwritten is the final row for the caller alone.
func (s *supervisor) unwritten(end settle.End) process.Process {
	row := s.spec.Row
	row.Phase, row.Exit, row.EndedAt = end.Phase, &end.Exit, end.At
	return row
}

func (s *supervisor) writeEnd(end settle.End) (process.Process, error) {
	var row process.Process
	var opts []state.UpdateOption
	if s.link.attached() {
		opts = append(opts, state.Relaxed())
	}
	err := s.store.Update(context.Background(), func(tx *state.Tx) error {
		if !s.link.attached() && !s.told {
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

// outcome classifies what was seen of the end.
func (s *supervisor) outcome() process.Exit {
	o := process.Observed{
		Forced: s.forced, OverallDue: s.forced == "" && s.pastDeadline(s.exitedAt), SilenceDue: s.forced == "" && s.silentFor(s.exitedAt),
	}
	switch x := s.exited; {
	case x.Lost:
	case x.Signal != 0:
		o.Signal, o.Core = proc.SignalName(x.Signal), x.Core
	default:
		o.Exited, o.Code = true, x.Code
	}
	return *process.Classify(o)
}

// leftover lists what the command left behind. As a subreaper the supervisor
// has every orphan as its child, so with no child left there is nothing to
// look for and /proc is not read.
func (s *supervisor) leftover() []process.Leftover {
	soon := s.clock.NewTimer(reaperLag)
	defer soon.Stop()
	select {
	case <-s.reaper.Done():
		if orphansAreOurs {
			return nil
		}
	case <-soon.C():
	}
	return proc.Describe(s.target().Find())
}

// target is the command and everything that can be proved to be its own.
func (s *supervisor) target() proc.Target {
	return proc.Target{Root: s.root, Under: proc.Self(), Ungrouped: s.ungrouped, Mark: proc.Mark{Key: proc.RunVar, Value: s.id}}
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
