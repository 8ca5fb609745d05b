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
}

// LaunchAll is Launch for several commands. One transaction claims all of their
// rows, so that they share one wait for the lock and one for the disk. One that
// cannot be started does not touch the others; without the transaction none is.
func LaunchAll(ctx context.Context, store *state.Store, all []*Launching) {
	var ready []*Launching
	for _, l := range all {
		if l.lifeline, l.Err = l.Spare.takeLifeline(store); l.Err != nil {
			l.Spare.Discard()
			continue
		}
		defer l.lifeline.Close()
		ready = append(ready, l)
	}
	if len(ready) == 0 {
		return
	}
	durable, err := claim(ctx, store, ready)
	if err != nil {
		for _, l := range ready {
			l.Err = err
			l.Spare.Discard()
			os.RemoveAll(store.ProcessDir(l.Spare.id))
		}
		return
	}
	failpoint.Hit("exec-claimed")
	synced := make(chan error, 1)
	if slices.ContainsFunc(ready, func(l *Launching) bool { return l.Synced }) {
		synced <- durable()
	} else {
		go func() { synced <- durable() }()
	}
	for _, l := range ready {
		l.Err = l.send(store)
	}
	for _, l := range ready {
		if l.Err == nil {
			l.Handle, l.Err = l.Spare.await(&Handle{Row: l.row, conn: l.Spare.conn, store: store, onLoss: l.Request.OnLoss})
		}
	}
	syncErr := <-synced
	for _, l := range ready {
		if syncErr != nil && l.Handle != nil && l.Err == nil {
			l.Handle.Warnings = append(l.Handle.Warnings, syncErr.Error())
		} else if syncErr != nil {
			l.Err = errors.Join(l.Err, syncErr)
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
func (l *Launching) send(store *state.Store) error {
	req := l.Request
	files := []*os.File{l.lifeline}
	if req.Stdin == StdinCaller {
		files = append(files, req.Caller)
	}
	spec := Spec{
		StateDir: exact(store.Dir()), Row: l.row,
		Path: exact(req.Path), Argv: exacts(req.Row.Argv), Dir: exact(req.Row.Cwd), Env: exacts(req.Env),
		Stdin: req.Stdin, Merged: req.Merged, Attached: !req.Row.Background, Retain: req.Retain,
		Wake: req.Wake, Undo: exacts(req.Undo),
	}
	spec.Row.Argv = nil // once is enough: it may be long
	if err := sendSpec(l.Spare.conn, spec, files...); err != nil {
		return l.Spare.broken(err)
	}
	l.lifeline.Close() // the supervisor's alone from here on: its death must be seen
	failpoint.Hit("exec-sent")
	return nil
}
