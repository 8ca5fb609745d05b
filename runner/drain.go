package runner

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/runner/clock"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/ulid"
)

// A runner is drained by an Order in the row of its boot. It then holds
// runner.drain, by which others know that they must refuse what it would have to
// wait for, and begins nothing any more: no turn, no run, no message. It makes
// passes as before, so that what ends is written down, until nothing goes on
// that it has been told to wait for, or until the budget is used up.
//
// It waits for every turn, whoever runs it, and for every run of an automation
// (spec/tasks-recovery.md 4.2, 1.12). It does not wait for commands in the
// background: they do not end with it.
//
// What has not ended then is neither marked nor aborted (4.2 step 3). It is no
// part of the runner: an agent has a supervisor of its own, and its turn is
// ended, by the same code, by whoever makes the next pass. The claim of its
// admission is the marker. So is it on SIGTERM, which is a drain of ten seconds
// for what the runner itself has started: the machine may be going down.

func drainLock(dir string) string { return filepath.Join(dir, "runner.drain") }

// Draining tells that the runner of a state directory is about to end and that
// nothing new should be begun that it would have to wait for. It writes nothing.
func Draining(dir string) bool {
	held, err := state.Held(drainLock(dir))
	return held && err == nil
}

// errRestart ends a life that is to be followed by another.
var errRestart = errors.New("the runner was told to restart")

// obey begins to do what this runner has been told, and takes over a shorter
// budget.
func (l *life) obey() {
	o := l.shift.order
	if o.IsZero() || o == l.order {
		return
	}
	left := min(o.Budget(), max(0, o.At.Add(o.Budget()).Sub(l.Clock.Now())))
	first := l.order.IsZero()
	l.order, l.deadline = o, l.Clock.Elapsed()+left
	l.note.Until = l.Clock.Now().Add(left)
	if !first {
		l.Log("told again to end")
		return
	}
	if unlock, free, err := state.TryLock(drainLock(l.Dir)); free && err == nil {
		l.admit = unlock
	}
	what := "draining: nothing new begins"
	if o.Restart {
		what = "restarting: nothing new begins until then"
	}
	l.Log(what + "; what goes on gets up to " + left.Round(time.Second).String())
}

// over tells that the drain has come to its end.
func (l *life) over() bool {
	if l.order.IsZero() {
		return false
	}
	return len(l.note.WaitsFor) == 0 || l.Clock.Elapsed() >= l.deadline
}

// lookAround notes what the drain waits for.
func (l *life) lookAround() {
	if l.order.IsZero() {
		return
	}
	list, err := l.shift.goingOn()
	if err != nil {
		l.Log("error: " + err.Error())
		return // as before: it ends with the budget
	}
	if slices.Equal(list, l.note.WaitsFor) {
		return
	}
	l.note.WaitsFor = list
	if len(list) > 0 {
		l.Log("waiting for " + strings.Join(list, "; "))
	}
}

// goingOn is what a drain waits for, in words: turns, runs, and what the runner
// has begun that is neither yet.
func (s *shift) goingOn() ([]string, error) {
	var list []string
	known := map[string]bool{} // agents, and runs that are turns
	for _, t := range s.going {
		list = append(list, "turn "+t.ID+" of agent "+t.Agent+" in "+t.SessionKey)
		known[t.Agent], known[t.RunID] = true, true
	}
	for slot := range s.busy {
		if slot != slotPost && slot != slotSweep && slot != slotRun && !known[slot] {
			list = append(list, "a wake of agent "+slot)
		}
	}
	err := s.r.Store.View(func(tx *state.Tx) error {
		rows, err := state.Runs.All(tx)
		for _, row := range rows {
			if r := row.Rec; r.Status == automation.Running && !known[r.ID] {
				list = append(list, "a run of "+r.Name)
			}
		}
		return err
	})
	slices.Sort(list)
	return list, err
}

// finish ends in order: nothing begins any more, what runs gets its time. A
// restart that a signal comes before is none.
func (l *life) finish(ctx context.Context) error {
	restart := l.order.Restart && !l.outdated() && ctx.Err() == nil
	if restart {
		l.Ready.tell(reloading()) // it is the same unit: to stop it would end it
	} else {
		l.Ready.tell("STOPPING=1")
	}
	grace := Grace
	if !l.order.IsZero() {
		grace = min(grace, max(0, l.deadline-l.Clock.Elapsed()))
	}
	if n := len(l.shift.busy); n > 0 && grace > 0 {
		l.Log("ending; waiting up to " + grace.String() + " for what is at work")
	}
	left := l.shift.drain(grace, l.Hurry, l.feed)
	if l.order.IsZero() {
		l.note.WaitsFor = nil
	}
	l.tellErrors()
	l.writeEnd(restart, left)
	if restart {
		l.Log("ended, to begin anew")
		return errRestart
	}
	l.Log("ended")
	return nil
}

// writeEnd writes the outcome of this boot: forced when something goes on that
// it has waited for in vain. left is what it had begun itself.
func (l *life) writeEnd(restart bool, left []string) {
	if len(l.note.WaitsFor) > 0 {
		left = l.note.WaitsFor
	}
	reason, outcome := "", boot.CleanStop
	if len(left) > 0 {
		outcome, reason = boot.ForcedStop, "left to their supervisors: "+strings.Join(left, "; ")
		l.Log(reason)
	}
	if restart {
		outcome = boot.PlannedRestart
	}
	l.endBoot(outcome, reason)
}

// Asked is a runner that has been told to end.
type Asked struct {
	Boot  boot.Boot // as it was told
	State State     // as it stood before
	store *state.Store
}

// Drain tells the runner of a state directory to end when what goes on has
// ended, within the budget; a second time it ends at once. The error is ErrNotUp
// when there is none.
func Drain(ctx context.Context, store *state.Store, c clock.Clock, budget time.Duration) (Asked, error) {
	return order(ctx, store, c, boot.Order{BudgetMs: budget.Milliseconds()}, nil)
}

// Restart tells the runner of a state directory to start anew, as Drain tells
// it to end. next is what a session is to go on with then, nil nothing: it is
// written in the same transaction, with the runner it waits for, and not at all
// when the restart is refused. Errors: ErrNotUp, *boot.OrderError.
func Restart(ctx context.Context, store *state.Store, c clock.Clock, budget time.Duration, next *boot.Continuation) (Asked, error) {
	return order(ctx, store, c, boot.Order{BudgetMs: budget.Milliseconds(), Restart: true}, next)
}

// ErrNoRow: a runner is at work that has no row, because the boots could not be
// read when it began. It can be told by signals only.
var ErrNoRow = errors.New("the runner at work cannot be told so: claw knows nothing of its life")

// rowPatience is how long a runner may take from the lock to its row.
const rowPatience = 5 * time.Second

// order writes an order into the row of the runner that lives. One that has just
// taken its lock is about to write its row.
func order(ctx context.Context, store *state.Store, c clock.Clock, o boot.Order, next *boot.Continuation) (Asked, error) {
	a := Asked{store: store}
	for begun := c.Elapsed(); ; {
		var err error
		if a.State, err = Look(store.Dir()); err != nil {
			return a, err
		}
		if !a.State.Running {
			return a, ErrNotUp
		}
		err = store.Update(ctx, func(tx *state.Tx) error { return a.tell(tx, o, next) })
		if !errors.Is(err, ErrNoRow) || c.Elapsed()-begun > rowPatience || clock.Sleep(ctx, c, lookEvery) != nil {
			return a, err
		}
	}
}

func (a *Asked) tell(tx *state.Tx, o boot.Order, next *boot.Continuation) error {
	v, err := readLives(tx, a.store.Dir(), "", tx.Now())
	if err != nil {
		return err
	}
	row, ok := v.row(v.alive)
	if !ok {
		return ErrNoRow
	}
	o.At = tx.Now()
	if a.Boot, err = row.Rec.Tell(o); err != nil {
		return err
	}
	if a.Boot != row.Rec {
		if err := state.Boots.Put(tx, row.ID, row.Rev, a.Boot); err != nil {
			return err
		}
	}
	if next == nil {
		return nil
	}
	next.ID, next.BootID, next.CreatedAt = ulid.New(tx.Now()), row.ID, tx.Now()
	return state.Continuations.Add(tx, next.ID, *next)
}

// lookEvery is how often whoever waits for the end of a runner looks.
const lookEvery = 20 * time.Millisecond

// Wait returns the row of the boot when it has ended and let go of the directory,
// or as it is when it died instead. ErrStillUp when ctx ended before.
func (a Asked) Wait(ctx context.Context, c clock.Clock) (boot.Boot, error) {
	for {
		v, err := a.look()
		if err != nil {
			return a.Boot, err
		}
		row, ok := v.row(a.Boot.ID)
		if !ok || v.alive != row.ID && !a.leaving(v) {
			return row.Rec, nil
		}
		if clock.Sleep(ctx, c, lookEvery) != nil {
			return row.Rec, ErrStillUp
		}
	}
}

// leaving tells that the boot has written its end, and is still seen as being at
// work: the end comes before the lock is let go of.
func (a Asked) leaving(v lives) bool {
	if v.alive != "" || !isUp(a.store.Dir()) {
		return false
	}
	holder := readNote(a.store.Dir()).BootID
	return holder == "" || holder == a.Boot.ID
}

// Next returns the boot that has followed and works; ErrNotUp when ctx ended
// before.
func (a Asked) Next(ctx context.Context, c clock.Clock) (boot.Boot, error) {
	for {
		v, err := a.look()
		if err != nil {
			return boot.Boot{}, err
		}
		if row, ok := v.row(v.alive); ok && row.ID != a.Boot.ID && !row.Rec.ReadyAt.IsZero() {
			return row.Rec, nil
		}
		if clock.Sleep(ctx, c, lookEvery) != nil {
			return boot.Boot{}, ErrNotUp
		}
	}
}

func (a Asked) look() (v lives, err error) {
	err = a.store.View(func(tx *state.Tx) error {
		v, err = readLives(tx, a.store.Dir(), "", tx.Now())
		return err
	})
	return v, err
}
