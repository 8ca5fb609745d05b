package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/process"
	"claw/state/session"
)

// argv is what runs a turn of a kind, nothing filled in.
func (ag Agent) argv(kind session.Kind) []string {
	switch {
	case kind == session.KindRecovery && len(ag.Recover) > 0:
		return ag.Recover
	case kind == session.KindComplete && len(ag.Complete) > 0:
		return ag.Complete
	}
	return ag.Command
}

// fill puts the values of a turn into an argv. What was one word stays one.
func fill(argv []string, t session.Turn, req Request) []string {
	r := strings.NewReplacer(
		"{session}", t.SessionID, "{sessionKey}", t.SessionKey, "{model}", req.Model, "{tools}", tools(t), "{thinking}", req.Thinking,
	)
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = r.Replace(word)
	}
	return words
}

// place is where and with what an agent and its hooks run.
type place struct {
	dir  string
	env  []string
	undo []string // supervisor.Request.Undo
}

// where makes the place of a turn.
func (x *run) where() (place, error) {
	dir, err := x.workdir()
	if err != nil {
		return place{}, err
	}
	p := place{dir: dir, env: x.Environ}
	for name, value := range x.agent.Env {
		p.set(name, value)
	}
	t := x.turn
	for _, v := range [...][2]string{
		{"CLAW_AGENT", t.Agent},
		{"CLAW_SESSION", t.SessionKey},
		{"CLAW_TURN_ID", t.ID},
		{"CLAW_STATE_DIR", x.Store.Dir()},
		{"CLAW_REASON", t.Reason},
		{"CLAW_TOOLS", tools(t)},
		{"CLAW_THINKING", x.req.Thinking},
		{"CLAW_PROMPT_MODE", x.req.PromptMode},
		{"PWD", dir},
	} {
		p.set(v[0], v[1])
	}
	return p, nil
}

// workdir is where the agent runs, absolute. The error says whose choice it is.
func (x *run) workdir() (string, error) {
	dir, whose := x.agent.Workdir, "its workdir"
	if dir == "" {
		dir, whose = x.Cwd, "the directory that claw was started in,"
	}
	if dir == "/" || dir == "" { // a tick that nobody started from anywhere
		dir, whose = proc.Getenv(x.Environ, "HOME"), "$HOME,"
	}
	info, err := os.Stat(dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	if err == nil && !info.IsDir() {
		err = unix.ENOTDIR
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", whose, dir, err)
	}
	return filepath.Abs(dir)
}

// set replaces every NAME=… by one, and notes what was there.
func (p *place) set(name, value string) {
	before := name
	for _, kv := range p.env {
		if k, _, _ := strings.Cut(kv, "="); k == name {
			before = kv
		}
	}
	p.env, p.undo = proc.Setenv(p.env, name, value), append(p.undo, before)
}

// resolve is the program that argv names, as seen from the place.
func (p place) resolve(argv []string) (string, error) {
	return proc.LookPath(argv[0], p.dir, proc.Getenv(p.env, "PATH"))
}

// launch starts the argv under its supervisor. What it returns is the end of
// the turn, if that is known already.
func (x *run) launch(ctx context.Context, input string) *ending {
	req, err := x.supervised()
	if err == nil {
		req.Caller, err = Stdin(x.Store, input)
	}
	if err == nil {
		defer req.Caller.Close()
		err = x.durable() // nothing may happen that could be forgotten
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return refusedBy(err)
	}
	h, err := x.spare.Launch(ctx, x.Store, req)
	x.spare = nil
	if err != nil {
		return x.unlaunched(err)
	}
	h.Close()
	x.recordStart()
	return nil
}

// unlaunched: without a process row nothing was started. With one, it says
// what happened.
func (x *run) unlaunched(err error) *ending {
	if _, ok, findErr := x.process(x.turn.ProcessID); ok || findErr != nil {
		return nil
	}
	return refusedBy(err)
}

// supervised is what the supervisor is asked to run.
func (x *run) supervised() (supervisor.Request, error) {
	at, err := x.where()
	if err != nil {
		return supervisor.Request{}, err
	}
	argv := fill(x.agent.argv(x.turn.Kind), x.turn, x.req)
	path, err := at.resolve(argv)
	if err != nil {
		return supervisor.Request{}, err
	}
	row := process.Process{
		Label: "agent " + x.turn.Agent, Agent: x.turn.Agent, Session: x.turn.SessionKey, TurnID: x.turn.ID,
		Command: process.QuoteArgv(argv), Argv: argv, Cwd: at.dir, Background: true,
		TimeoutMs: millis(x.req.Timeout), MaxOutput: x.MaxOutput,
	}
	return supervisor.Request{
		Row: row, Path: path, Env: at.env, Stdin: supervisor.StdinCaller, OnLoss: x.OnLoss, Retain: x.Retain,
		Wake: x.WakeOnExit, Undo: at.undo,
	}, nil
}

// millis rounds up: a short timeout is not none.
func millis(d time.Duration) int64 {
	return max(0, int64((d+time.Millisecond-1)/time.Millisecond))
}

// Stdin is a file that holds the input and has no name any more: a command can
// read it at its own pace, whatever becomes of claw.
func Stdin(store *state.Store, input string) (*os.File, error) {
	if err := makeFolder(store); err != nil {
		return nil, err
	}
	f, err := scratch(store)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(input)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// scratch is an empty file without a name.
func scratch(store *state.Store) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Join(store.Dir(), "sessions"), ".turn-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// recordStart says in the rows that the argv runs. Nothing depends on it: who
// settles looks at the process.
func (x *run) recordStart() {
	x.Store.Update(context.Background(), func(tx *state.Tx) error {
		row, ok, err := state.Turns.Get(tx, x.turn.ID)
		if err != nil || !ok || row.Rec.Status != session.TurnAdmitted {
			return err
		}
		row.Rec.Status, row.Rec.StartedAt = session.TurnRunning, tx.Now()
		x.turn = row.Rec
		return state.Turns.Put(tx, row.ID, row.Rev, row.Rec)
	}, state.Relaxed())
}

// process finds the row of a process, live or archived.
func (r *Turns) process(id string) (p process.Process, ok bool, err error) {
	err = r.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Processes.Find(tx, id)
		p, ok = row.Rec, found
		return err
	})
	return p, ok, err
}
