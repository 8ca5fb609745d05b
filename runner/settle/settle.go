// Package settle writes the end of a process, in one place: row, task and
// completion event in one transaction, whether the end was seen by its
// supervisor (Conclude) or can only be inferred from a free life-line (Lost).
//
// Settling twice changes nothing: only a live row can be concluded.
package settle

import (
	"context"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/task"
	"claw/state/ulid"
)

// End is what became known when a process ended.
type End struct {
	Phase    process.Phase // Exited or Lost
	Exit     process.Exit
	At       time.Time
	Totals   process.Totals
	Tail     string // last 2000 characters, sanitised: they stay in the row
	Told     string // last event.MaxDetails characters, for the event; empty: Tail
	Leftover []process.Leftover
	// Shown means that the caller is told the result directly, so that no
	// event is queued: the command could not be started.
	Shown bool
}

// Conclude writes the end of process id and returns the final row. A row that
// has already ended is returned as it is.
func Conclude(tx *state.Tx, id string, end End) (process.Process, error) {
	row, ok, err := state.Processes.Get(tx, id)
	if err != nil || !ok || !row.Rec.Live() {
		return row.Rec, err
	}
	p := row.Rec
	if err := process.CanMove(p.Phase, end.Phase); err != nil {
		return p, err
	}
	exit := end.Exit
	p.Phase, p.Exit, p.EndedAt = end.Phase, &exit, p.NotBefore(end.At)
	p.Output, p.Tail, p.Leftover, p.StdinOpen = end.Totals, end.Tail, end.Leftover, false
	if err := finish(tx, &p, end.Told, end.Shown); err != nil {
		return p, err
	}
	return p, state.Processes.Put(tx, id, row.Rev, p)
}

// Unclaimed turns the end of a foreground process, whose caller was killed
// before it could take the result, into that of a background process: listed,
// with a task, and told.
func Unclaimed(tx *state.Tx, id string) (process.Process, error) {
	row, ok, err := state.Processes.Get(tx, id)
	if err != nil || !ok || row.Rec.Live() || row.Rec.Background {
		return row.Rec, err
	}
	p := row.Rec
	if err := AddTask(tx, &p); err != nil {
		return p, err
	}
	if err := finish(tx, &p, "", false); err != nil {
		return p, err
	}
	return p, state.Processes.Put(tx, id, row.Rev, p)
}

func queueEvent(tx *state.Tx, p *process.Process, output string, shown bool) error {
	if queue, _ := event.ShouldQueue(*p); !queue || shown {
		return nil
	}
	e := event.Completion(newID(tx.Now()), *p, tx.Now())
	if output != "" {
		e.Details = event.Details(output)
	}
	p.EventID = e.ID
	return state.Events.Add(tx, e.ID, e)
}

// Actionable tells an end that somebody has to act on: an event, a message to
// whoever asked, a turn that waits for its reply, or a
// run of an automation.
func Actionable(p process.Process) bool {
	return p.EventID != "" || p.TurnID != "" || p.RunID != "" || !p.Origin.IsZero() && p.Background
}

// Retire takes back the completion event of p because its end has been shown
// by a poll, or because p was removed; spec/exec-process.md 2.2.5.
func Retire(tx *state.Tx, p process.Process) error {
	if p.EventID == "" {
		return nil
	}
	row, ok, err := state.Events.Get(tx, p.EventID)
	if err != nil || !ok || row.Rec.State != event.Queued {
		return err
	}
	row.Rec.State, row.Rec.EndedAt = event.Retired, tx.Now()
	return state.Events.Put(tx, row.ID, row.Rev, row.Rec)
}

// Abandoned tells a row that says live although nobody holds its life-line.
func Abandoned(store *state.Store, p process.Process) bool {
	_, gone := look(store, p)
	return gone
}

// look tells whether p is abandoned, and how its row stands. A supervisor
// writes the end and then lets its life-line go; if both happen after p was
// read, a free life-line says nothing about p, so the row is read again.
func look(store *state.Store, p process.Process) (process.Process, bool) {
	if !p.Live() {
		return p, false
	}
	if held, err := state.Held(Lifeline(store.ProcessDir(p.ID))); held || err != nil {
		return p, false
	}
	err := store.View(func(tx *state.Tx) error {
		row, ok, err := state.Processes.Find(tx, p.ID)
		if ok {
			p = row.Rec
		}
		return err
	})
	return p, err == nil && p.Live()
}

// Lifeline is the path of the lock that a process's supervisor holds for life.
func Lifeline(processDir string) string { return processDir + "/lock" }

// View is p as it really is: a row whose supervisor is gone is shown as lost
// without anything being written (design.md 3.3).
func View(store *state.Store, p process.Process, now time.Time) process.Process {
	p, gone := look(store, p)
	if !gone {
		return p
	}
	end := inferred(store, p, now)
	exit := end.Exit
	p.Phase, p.Exit, p.EndedAt = end.Phase, &exit, p.NotBefore(end.At)
	p.Output, p.Tail, p.Leftover, p.StdinOpen = end.Totals, end.Tail, end.Leftover, false
	p.Background = true // what Lost will make of it: nobody waits for it any more
	return p
}

// Lost settles every abandoned row, and returns the rows it settled. With
// nothing abandoned nothing is written.
func Lost(ctx context.Context, store *state.Store) ([]process.Process, error) {
	var gone []process.Process
	err := store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		for _, r := range rows {
			if Abandoned(store, r.Rec) {
				gone = append(gone, r.Rec)
			}
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	ends := make([]End, len(gone))
	for i, p := range gone {
		ends[i] = patiently(ctx, store, p)
	}
	var settled []process.Process
	err = store.Update(ctx, func(tx *state.Tx) error {
		settled = settled[:0]
		for i, p := range gone {
			// A supervisor that concluded between View and here has left a
			// row that is not live any more; Conclude leaves it alone.
			end := ends[i]
			if !p.Background {
				if err := Promote(tx, p.ID); err != nil {
					return err
				}
			}
			q, err := Conclude(tx, p.ID, end)
			if err != nil {
				return err
			}
			settled = append(settled, q)
		}
		return nil
	})
	return settled, err
}

// patiently infers the end of p for good. A supervisor that died in the
// instant in which it started the command may have a child that has not begun
// to execute, and shows no mark yet: that one is looked for a little longer,
// for nobody will look again.
func patiently(ctx context.Context, store *state.Store, p process.Process) End {
	c := clock.New()
	for {
		end := inferred(store, p, c.Now())
		if !p.Root.IsZero() || len(end.Leftover) > 0 || c.Elapsed() >= birth {
			return end
		}
		if clock.Sleep(ctx, c, birth/10) != nil {
			return end
		}
	}
}

// birth is how long a process may take from fork to exec, on a busy machine.
const birth = 200 * time.Millisecond

// Promote moves a foreground process to the background: it is listed and has
// a task from now on.
func Promote(tx *state.Tx, id string) error {
	row, ok, err := state.Processes.Get(tx, id)
	if err != nil || !ok || row.Rec.Background {
		return err
	}
	p := row.Rec
	if err := AddTask(tx, &p); err != nil {
		return err
	}
	return state.Processes.Put(tx, id, row.Rev, p)
}

// AddTask makes p a background process and writes its task; the caller writes
// p in the same transaction. The argv of an agent has no task: its turn is its
// record.
func AddTask(tx *state.Tx, p *process.Process) error {
	p.Background, p.BackgroundedAt = true, tx.Now()
	if p.TurnID != "" {
		return nil
	}
	p.TaskID = newID(tx.Now())
	return state.Tasks.Add(tx, p.TaskID, task.FromProcess(*p))
}

func newID(now time.Time) string {
	return ulid.New(now)
}

// inferred is the end of a process whose supervisor died: no exit code, the
// output kept up to the last byte that was written, and listed as leftover
// the command, when it still runs, and whatever else carries its mark.
func inferred(store *state.Store, p process.Process, now time.Time) End {
	end := End{Phase: process.Lost, At: now, Exit: process.Exit{Reason: process.ReasonLost, Error: lostText(p)}}
	end.Leftover = proc.Describe(orphaned(p).Find())
	r, err := output.Open(store.ProcessDir(p.ID))
	if err != nil {
		return end
	}
	defer r.Close()
	end.Totals = r.Totals()
	end.Tail, end.Told = r.Tail(process.TailChars), r.Tail(event.MaxDetails)
	if last := r.LastAt(); !last.IsZero() && last.After(p.CreatedAt) && len(end.Leftover) == 0 {
		end.At = last
	}
	return end
}

func lostText(p process.Process) string {
	switch {
	case p.Phase == process.Starting:
		return "it was just being started, and perhaps never ran"
	case p.Root.Boot != "" && p.Root.Boot != proc.Boot():
		return "the machine went down"
	}
	return ""
}

// orphaned is what p started, when nobody is its supervisor any more. Where
// the supervisor died before it could write down which process the command
// is, the mark alone says what belongs to it.
func orphaned(p process.Process) proc.Target {
	root := p.Root
	if root.IsZero() {
		root.Boot = p.Supervisor.Boot
	}
	return proc.Target{Root: root, Ungrouped: p.Ungrouped, Mark: proc.Mark{Key: proc.RunVar, Value: p.ID}}
}

// Survivors are what p left behind and what is still alive of it.
func Survivors(p process.Process) []process.Leftover {
	var alive []process.Leftover
	for _, l := range p.Leftover {
		if proc.Alive(l.Identity) {
			alive = append(alive, l)
		}
	}
	return alive
}

// EndLeftover ends what p left behind, TERM first and KILL after the grace,
// and returns what it could not end.
func EndLeftover(ctx context.Context, c clock.Clock, p process.Process) []process.Identity {
	timing := proc.Timing{Grace: proc.DefaultGrace, Settle: proc.DefaultSettle}
	mark := proc.Mark{Key: proc.RunVar, Value: p.ID}
	var left []process.Identity
	for _, l := range Survivors(p) {
		target := proc.Target{Root: l.Identity, Ungrouped: l.Identity != p.Root || p.Ungrouped, Mark: mark}
		left = append(left, proc.Terminate(ctx, c, target, timing, nil)...)
	}
	return left
}
