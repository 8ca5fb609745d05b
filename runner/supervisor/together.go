package supervisor

import (
	"context"
	"errors"
	"os"
	"slices"

	"claw/runner/internal/failpoint"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// Launching is one of several commands that are launched together, and what
// became of it: Handle or Err.
type Launching struct {
	Spare   *Spare
	Request Request
	// Synced: the claim, and all that was written before it, is on the disk
	// before the command starts. Else that is waited for beside its start.
	Synced bool
	Handle *Handle
	Err    error

	lifeline *os.File
	row      process.Process
	unsynced error // what kept the disk from taking the claim
	held     bool  // it has its specification and waits for the word
}

// LaunchAll is Launch for several commands. One transaction claims all of their
// rows, so that they share one wait for the lock and one for the disk. One that
// cannot be started does not touch the others; without the transaction none is.
func LaunchAll(ctx context.Context, store *state.Store, all []*Launching) {
	startAll(store, all, claimAll(ctx, store, all))
}

// ClaimAll is the first half of LaunchAll, for commands whose time is near: when
// it returns, all is on the disk that must be before they start. StartAll must
// follow, for any number of such groups at once.
func ClaimAll(ctx context.Context, store *state.Store, all []*Launching) {
	err := claimAll(ctx, store, all)()
	for _, l := range waiting(all) {
		l.unsynced, l.held = err, true
		l.send(store, len(all) > 1)
	}
	failpoint.Hit("exec-held")
}

// StartAll is the second half.
func StartAll(store *state.Store, all []*Launching) {
	startAll(store, all, func() error { return nil })
}

// claimAll makes ready what can be started, and claims it; the others get an Err
// and their supervisors go. durable waits for the disk.
func claimAll(ctx context.Context, store *state.Store, all []*Launching) (durable func() error) {
	for _, l := range all {
		if l.lifeline, l.Err = l.Spare.takeLifeline(store); l.Err != nil {
			l.Spare.Discard()
		}
	}
	durable, err := claim(ctx, store, waiting(all))
	if err != nil {
		for _, l := range all {
			l.drop(store, err)
		}
	}
	failpoint.Hit("exec-claimed")
	return durable
}

// waiting are those of all that can still be started.
func waiting(all []*Launching) (list []*Launching) {
	for _, l := range all {
		if l.Err == nil {
			list = append(list, l)
		}
	}
	return list
}

// drop lets go of a command that nobody starts any more.
func (l *Launching) drop(store *state.Store, why error) {
	if l.Err != nil {
		return
	}
	l.Err = why
	l.Spare.Discard()
	l.lifeline.Close()
	os.RemoveAll(store.ProcessDir(l.Spare.id))
}

// startAll starts what has been claimed and waits for the answers.
func startAll(store *state.Store, all []*Launching, durable func() error) {
	ready := waiting(all)
	synced := make(chan error, 1)
	if slices.ContainsFunc(ready, func(l *Launching) bool { return l.Synced }) {
		synced <- durable()
	} else {
		go func() { synced <- durable() }()
	}
	rush := len(ready) > 1
	for _, l := range ready {
		if l.held {
			writeFrame(l.Spare.conn, frameGo, nil) // one that is gone has left its answer
			failpoint.Hit("exec-sent")
		} else {
			l.send(store, rush)
		}
	}
	for _, l := range ready {
		if l.Err == nil {
			l.Handle, l.Err = l.Spare.await(&Handle{Row: l.row, conn: l.Spare.conn, store: store, onLoss: l.Request.OnLoss})
		}
	}
	syncErr := <-synced
	for _, l := range ready {
		switch err := errors.Join(l.unsynced, syncErr); {
		case err == nil:
		case l.Handle != nil && l.Err == nil:
			l.Handle.Warnings = append(l.Handle.Warnings, err.Error())
		default:
			l.Err = errors.Join(l.Err, err)
		}
	}
}

// claim writes the rows before anything runs, and with those of the background
// their tasks.
//
// durable waits for the disk. A power cut ends the commands as well, so that
// the claim may become durable while they start; but nobody is told an id that
// could be lost.
func claim(ctx context.Context, store *state.Store, all []*Launching) (durable func() error, err error) {
	durable = func() error { return nil }
	if len(all) == 0 {
		return durable, nil
	}
	opt := state.Relaxed()
	for _, l := range all {
		if l.Request.Row.Background {
			opt = state.Deferred(&durable)
		}
		l.row = l.Request.Row
		l.row.ID, l.row.Phase = l.Spare.id, process.Starting
		l.row.Supervisor, _ = proc.Identify(l.Spare.pid)
	}
	err = store.Update(ctx, func(tx *state.Tx) error {
		for _, l := range all {
			if err := l.claim(tx); err != nil {
				return err
			}
		}
		return nil
	}, opt)
	return durable, err
}

func (l *Launching) claim(tx *state.Tx) error {
	slug, err := newSlug(tx)
	if err != nil {
		return err
	}
	l.row.Slug, l.row.CreatedAt, l.row.TaskID = slug, tx.Now(), l.Request.Row.TaskID
	if l.Request.InTurn {
		if l.row.Tools, err = state.ToolsIn(tx, l.row.Session); err != nil {
			return err
		}
	}
	if l.row.Background {
		if err := settle.AddTask(tx, &l.row); err != nil {
			return err
		}
	}
	return state.Processes.Put(tx, l.row.ID, 0, l.row)
}

// send hands the specification over, and the life-line with it.
func (l *Launching) send(store *state.Store, rush bool) {
	defer l.lifeline.Close() // the supervisor's alone from here on: its death must be seen
	req := l.Request
	files := []*os.File{l.lifeline}
	if req.Stdin == StdinCaller {
		files = append(files, req.Caller)
	}
	spec := Spec{
		StateDir: exact(store.Dir()), Row: l.row,
		Path: exact(req.Path), Argv: exacts(req.Row.Argv), Dir: exact(req.Row.Cwd), Env: exacts(req.Env),
		Stdin: req.Stdin, Merged: req.Merged, Attached: !req.Row.Background, Rush: rush && req.Row.Background, Held: l.held, Retain: req.Retain,
		Wake: req.Wake, Undo: exacts(req.Undo),
	}
	spec.Row.Argv = nil // once is enough: it may be long
	if err := sendSpec(l.Spare.conn, spec, files...); err != nil {
		l.Err = l.Spare.broken(err)
	} else if !l.held {
		failpoint.Hit("exec-sent")
	}
}
