package proc

import (
	"sync"

	"golang.org/x/sys/unix"

	"claw/state/process"
)

// Status is how the root ended, as wait4(2) told it.
type Status struct {
	PID    int
	Code   int         // exit code 0…255; meaningless when Signal is set
	Signal unix.Signal // the signal that ended it; 0 when it exited by itself
	Core   bool        // a core was dumped
	Lost   bool        // somebody else had reaped it: neither code nor signal is known
}

// statusOf reads a wait status.
func statusOf(pid int, ws unix.WaitStatus) Status {
	if ws.Signaled() {
		return Status{PID: pid, Signal: ws.Signal(), Core: ws.CoreDump()}
	}
	return Status{PID: pid, Code: ws.ExitStatus()}
}

// Reaper collects the children of this process for good. It is the only one
// that waits: while it runs, a child started by other means than Start loses
// its exit status to it.
type Reaper struct {
	mu   sync.Mutex // held while one is reaped; for good once halted
	last *Status    // of the root, once it was reaped

	exit    chan Status
	changed chan struct{}
	done    chan struct{}
}

// Reap begins to wait, in a goroutine of its own that sleeps in the kernel
// until there is something to reap. The root must be a child that nobody has
// waited for: start it, then call Reap, so that its end cannot be taken for an
// orphan's (B13). It goes on with adopted orphans after the root has ended and
// stops when no child is left.
func Reap(root process.Identity) *Reaper {
	r := &Reaper{
		exit:    make(chan Status, 1),
		changed: make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	go r.run(root.PID)
	return r
}

// Exit delivers the root's end, once. Nothing is received a second time.
func (r *Reaper) Exit() <-chan Status { return r.exit }

// Halt stops the reaping for good: a child that has not been reaped by now
// keeps its status for whoever comes after. It returns how the root ended if
// that is known already, whether or not Exit has delivered it.
func (r *Reaper) Halt() (Status, bool) {
	r.mu.Lock()
	if r.last == nil {
		return Status{}, false
	}
	return *r.last, true
}

// take reaps exactly pid, unless the reaping was halted.
func (r *Reaper) take(pid, root int) (Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, err := wait4(pid)
	if pid == root && r.last == nil {
		r.last = &st
	}
	return st, err
}

// Changed is poked after each child that was reaped, root included; pokes that
// nobody received are one. It is never closed.
func (r *Reaper) Changed() <-chan struct{} { return r.changed }

// Done is closed when no child is left: nothing that descends from this
// process lives any more, provided it is a subreaper.
func (r *Reaper) Done() <-chan struct{} { return r.done }

// poke tells that something was reaped.
func (r *Reaper) poke() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Wait reaps exactly this child and tells how it ended; it blocks until then.
// Lost, with an error, when it was no child or somebody else has reaped it. It
// is for a program that starts helpers, and never beside a Reaper.
func Wait(pid int) (Status, error) { return wait4(pid) }

// wait4 reaps exactly pid.
func wait4(pid int) (Status, error) {
	var ws unix.WaitStatus
	_, err := ignoringEINTR(func() (int, error) { return unix.Wait4(pid, &ws, 0, nil) })
	if err != nil {
		return Status{PID: pid, Lost: true}, err
	}
	return statusOf(pid, ws), nil
}
