package proc

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/state/process"
)

// Target is one command and everything that belongs to it.
type Target struct {
	// Root is the command itself, alive or not. It leads the session and group
	// of its own pid unless Ungrouped.
	Root process.Identity
	// Ungrouped: the root has no session of its own, so its group is claw's and
	// is never signalled or searched (#71662).
	Ungrouped bool
	// Under is the subreaper that started the root, usually Self(): everything
	// below it is the command's. Zero when the caller is not its ancestor.
	Under process.Identity
	// Mark is the variable every process of this command carries. A descendant
	// that carries another value is another command of claw and is spared with
	// all that is below it; without Under, whoever carries it is ours.
	Mark Mark
}

// Limits of a termination; spec/exec-process.md 1.7.
const (
	DefaultGrace  = 5 * time.Second // from TERM to KILL
	DefaultSettle = 4 * time.Second // how long after KILL the end is waited for
)

// Timing bounds a termination.
type Timing struct {
	Grace  time.Duration // from TERM to KILL; 0 kills at once
	Settle time.Duration // from KILL to giving up
}

// Find lists what is alive of the target now, in one pass over all processes:
// the root, its descendants, its session and group as far as they are proven,
// and what escaped to Under. Never the caller, never Under, never a supervisor
// or command that carries another mark. Empty when the table cannot be read.
func (t Target) Find() []process.Identity { return host.find(t) }

func (k kernel) find(t Target) []process.Identity {
	table, err := k.scan()
	if err != nil {
		return nil
	}
	var found []process.Identity
	seen := map[int]bool{os.Getpid(): true, t.Under.PID: true}
	take := func(rows []Row) {
		for _, row := range rows {
			if !seen[row.PID] {
				seen[row.PID] = true
				found = append(found, row.Identity)
			}
		}
	}
	take(t.family(table))
	take(t.session(table))
	if t.Under.IsZero() {
		take(t.marked(table))
	}
	return found
}

// family is the root and what descends from it or, through re-parenting, from
// the subreaper.
func (t Target) family(table Table) []Row {
	var rows []Row
	if row, ok := table[t.Root.PID]; ok && row.Identity == t.Root {
		if !row.Zombie {
			rows = append(rows, row)
		}
		rows = append(rows, table.Descendants(t.Root.PID, t.foreign)...)
	}
	if !t.Under.IsZero() && table.Has(t.Under) {
		rows = append(rows, table.Descendants(t.Under.PID, t.foreign)...)
	}
	return rows
}

// session is the rest of the root's session and group. It is trusted while the
// root holds its pid, and member by member through the mark after that.
func (t Target) session(table Table) []Row {
	if t.Ungrouped || t.Root.PID <= 1 || t.Root.Boot != Boot() {
		return nil
	}
	holder, held := table[t.Root.PID]
	if held && holder.Identity != t.Root {
		return nil // the number was given away
	}
	var rows []Row
	for _, row := range table.Members(t.Root) {
		if (held && !t.foreign(row)) || t.ours(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// marked is whatever carries the target's mark, wherever it hangs. It reads
// the environment of every process, and is only for a command whose
// supervisor is gone.
func (t Target) marked(table Table) []Row {
	if t.Mark.Key == "" || t.Root.Boot != Boot() {
		return nil
	}
	var rows []Row
	for _, row := range table {
		if !row.Zombie && t.ours(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// ours: the process says that it is of this command.
func (t Target) ours(row Row) bool {
	owner, ok := t.Mark.Owner(row.PID)
	return ok && owner == t.Mark.Value
}

// foreign: the process says that it is of another command.
func (t Target) foreign(row Row) bool {
	owner, ok := t.Mark.Owner(row.PID)
	return ok && owner != t.Mark.Value
}

// Terminate ends the target: TERM to its group and to each escapee, then after
// the grace KILL to what remains, looking again until nothing is left or
// Settle has passed. It returns the survivors, none if all went well.
//
// It reaps nothing and needs no help to see an end, since a zombie counts as
// ended; changed, which may be nil, only wakes it early (Reaper.Changed). It
// may be called again or twice at once: the second call finds less to do.
// When ctx ends it stops at once and returns what is alive then.
func Terminate(ctx context.Context, c clock.Clock, t Target, limit Timing, changed <-chan struct{}) []process.Identity {
	return host.terminate(ctx, c, t, limit, changed)
}

func (k kernel) terminate(ctx context.Context, c clock.Clock, t Target, limit Timing, changed <-chan struct{}) []process.Identity {
	w := waiter{ctx: ctx, clock: c, changed: changed}
	if limit.Grace > 0 {
		k.signalAll(t, unix.SIGTERM)
		k.signalAll(t, unix.SIGCONT) // a stopped process acts on TERM only once it goes on
		if w.until(limit.Grace, func() bool { return len(k.find(t)) == 0 }) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return k.find(t)
	}
	w.until(limit.Settle, func() bool { return !k.signalAll(t, unix.SIGKILL) })
	return k.find(t)
}

// signalAll signals the group at once, so that nothing in it can fork away
// from under the list, and then one by one whatever the group signal did not
// reach. It tells whether there was anything to signal.
func (k kernel) signalAll(t Target, sig unix.Signal) bool {
	alive := k.find(t)
	if len(alive) == 0 {
		return false
	}
	grouped := !t.Ungrouped && k.signalGroup(t.Root, sig, provenBy(alive)) == nil
	for _, id := range alive {
		if grouped {
			if row, ok := k.present(id); ok && row.Group == t.Root.PID {
				continue
			}
		}
		_ = k.signal(id, sig) // gone is what we want; EPERM shows as a survivor
	}
	return true
}

// provenBy accepts as a member of the root's group whoever find has just
// proven to be the target's.
func provenBy(alive []process.Identity) func(Row) bool {
	proven := make(map[process.Identity]bool, len(alive))
	for _, id := range alive {
		proven[id] = true
	}
	return func(row Row) bool { return proven[row.Identity] }
}

// The steps at which a termination looks again by itself. Ends of processes
// that are not our children make no event for us.
const (
	firstLook   = 5 * time.Millisecond
	longestLook = 100 * time.Millisecond
)

// waiter waits for a condition within a limit.
type waiter struct {
	ctx     context.Context
	clock   clock.Clock
	changed <-chan struct{}
}

// until looks again after each change and after steps that grow, until done is
// true, the limit has passed or the context ended. It looks at least once.
func (w *waiter) until(limit time.Duration, done func() bool) bool {
	end := w.clock.Elapsed() + limit
	step := firstLook
	timer := w.clock.NewTimer(step)
	defer timer.Stop()
	for {
		if done() {
			return true
		}
		left := end - w.clock.Elapsed()
		if left <= 0 {
			return false
		}
		timer.Reset(min(step, left))
		step = min(2*step, longestLook)
		if !w.pause(timer) {
			return false
		}
	}
}

// pause waits for a reason to look again; false when the context has ended.
func (w *waiter) pause(timer clock.Timer) bool {
	select {
	case <-w.ctx.Done():
		return false
	case _, open := <-w.changed:
		if !open {
			w.changed = nil // no more news: the timer alone
		}
	case <-timer.C():
	}
	return true
}
