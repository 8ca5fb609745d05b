// Package control is what can be done to processes from outside: the actions
// of the seeds' process tool (list, poll, log, write, send-keys, submit,
// paste, kill, clear, remove), wait, and the request that exec makes.
//
// Every action answers with a Result: the text a tool caller reads and the
// details as JSON (spec/exec-process.md section 2). The command line shows
// the same answers to people. Refusals are *Refused, which carry the same.
//
//	find    query ──▶ the row it means, within the scope of one agent
//	look    row ──▶ as it really is (package settle)
//	act     over processes/ID/control, or a transaction, or the output on disk
package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"claw/runner/clock"
	"claw/runner/poke"
	"claw/runner/settle"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/process"
)

// Control acts on the processes of one state directory in the name of one
// agent.
type Control struct {
	Store  *state.Store
	Clock  clock.Clock
	Agent  string // whose processes are seen
	All    bool   // every agent's are
	Limits Limits
	OnLoss string // "kill" ends a command whose supervisor died; default leave
	// Wake and Environ have a tick act on the ends that Settle finds, see
	// poke.Act; an empty Wake does not.
	Wake    string
	Environ []string
}

// Limits are how much one answer shows.
type Limits struct {
	OutputChars  int64         // log, results
	PendingChars int64         // one poll, per stream
	InputIdle    time.Duration // silence that means waiting for input
}

// Result is an answer.
type Result struct {
	Text    string
	Details any
}

// Kind says what sort of refusal a Refused is.
type Kind int

// The kinds, each with an exit code of its own in cmd.
const (
	Missing Kind = iota // there is no such process
	Denied              // it is there, but this cannot be done to it now
	Invalid             // the request itself is wrong
)

// Refused is an action that changed nothing; Text is its whole answer.
type Refused struct {
	Kind   Kind
	Text   string
	Remedy string
	Err    error
}

func (r *Refused) Error() string { return r.Text }
func (r *Refused) Unwrap() error { return r.Err }

func missing(text string) error { return &Refused{Kind: Missing, Text: text} }
func denied(text string) error  { return &Refused{Kind: Denied, Text: text} }

// rows are the processes within scope, newest start first, as they really
// are. Ties keep the order of registration, newest first: ULIDs give both.
func (c *Control) rows() ([]process.Process, error) {
	var found []process.Process
	err := c.Store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		if err != nil {
			return err
		}
		found = found[:0]
		for i := len(rows) - 1; i >= 0; i-- {
			if p := rows[i].Rec; c.All || p.Agent == c.Agent {
				found = append(found, settle.View(c.Store, p, c.Clock.Now()))
			}
		}
		return nil
	})
	return found, err
}

// Last stands for the newest process instead of a name.
const Last = "--last"

// Find is the process that query means: a slug, a ULID, a unique beginning of
// one, or Last. The error is a *Refused with absent as its text when nothing
// is called so. Removed and cleared processes are gone; one still in the
// foreground is not for others to handle.
func (c *Control) Find(query, absent string) (process.Process, error) {
	rows, err := c.rows()
	if err != nil {
		return process.Process{}, err
	}
	seen := rows[:0:0]
	refs := []process.Ref{}
	for _, p := range rows {
		if !p.Removed && !p.Cleared && (p.Background || p.Live()) {
			seen = append(seen, p)
			refs = append(refs, process.Ref{ID: p.ID, Slug: p.Slug})
		}
	}
	if query == Last {
		return last(seen)
	}
	i, err := process.Resolve(query, refs)
	switch {
	case err != nil:
		return process.Process{}, unresolved(err, absent)
	case !seen[i].Background:
		return process.Process{}, denied("Session " + seen[i].Slug + " is not backgrounded.")
	}
	return seen[i], nil
}

func unresolved(err error, absent string) error {
	if amb, ok := errors.AsType[*process.AmbiguousError](err); ok {
		return &Refused{Kind: Invalid, Text: amb.Error(), Remedy: amb.Remedy(), Err: err}
	}
	r := &Refused{Kind: Missing, Text: absent, Err: err}
	if nf, ok := errors.AsType[*process.NotFoundError](err); ok {
		r.Remedy = nf.Remedy()
	}
	return r
}

func last(rows []process.Process) (process.Process, error) {
	for _, p := range rows {
		if p.Background && p.TurnID == "" {
			return p, nil
		}
	}
	return process.Process{}, missing("No running or recent sessions.")
}

// FindKept is Find, and then a search among what has left the list: the
// output of a finished process stays for its retention. The newest of several
// with the same slug is meant.
func (c *Control) FindKept(query, absent string) (process.Process, error) {
	p, err := c.Find(query, absent)
	refused, ok := errors.AsType[*Refused](err)
	if !ok || refused.Kind != Missing || query == Last {
		return p, err
	}
	found := false
	keeps := func(q process.Process) bool {
		return (q.Slug == query || q.ID == query) && q.Background && !q.Removed && (c.All || q.Agent == c.Agent)
	}
	viewErr := c.Store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		if err != nil {
			return err
		}
		for i := len(rows) - 1; i >= 0 && !found; i-- { // cleared, but not yet in the archive
			if keeps(rows[i].Rec) {
				p, found = rows[i].Rec, true
			}
		}
		for row, err := range state.Processes.Archived(tx) {
			if err != nil || found {
				return err
			}
			if keeps(row.Rec) {
				p, found = row.Rec, true
			}
		}
		return nil
	})
	switch {
	case viewErr != nil:
		return p, viewErr
	case found:
		return p, nil
	}
	return p, err
}

// Settle writes down what died unnoticed, so that the ledgers say what Find
// shows. Actions that write anyway call it first.
func (c *Control) Settle(ctx context.Context) error {
	gone, err := Settle(ctx, c.Store, c.Clock, c.OnLoss)
	if slices.ContainsFunc(gone, settle.Actionable) {
		// Their supervisors could not do it any more.
		err = errors.Join(err, poke.Act(c.Store.Dir(), c.Wake, c.Environ))
	}
	return err
}

// Settle writes down every process whose supervisor died, and does with what
// it left running as onLoss says: "kill" ends it, otherwise its output is kept
// by a program of its own. It returns what it settled.
func Settle(ctx context.Context, store *state.Store, c clock.Clock, onLoss string) ([]process.Process, error) {
	gone, err := settle.Lost(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, p := range gone {
		if onLoss == "kill" {
			settle.EndLeftover(ctx, c, p)
			continue
		}
		if err := supervisor.Drain(store, p); err != nil {
			return gone, err
		}
	}
	return gone, nil
}
