package hook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/state"
	"claw/state/external"
)

// Dispatcher sees to what comes from outside, in one state directory.
type Dispatcher struct {
	Store *state.Store
	Clock clock.Clock
	Turns *agent.Turns
	Post  *deliver.Post
	// Max is cron.maxConcurrentRuns, which hooks share with automations; 0: no
	// limit. KeepHTTP keeps one of them for webhooks.
	Max      int
	KeepHTTP bool
	Window   time.Duration           // how long a key is known after the end; 0: external.KeyWindow
	Known    func(agent string) bool // nil: all are
	// Held is why nothing that is asked for begins now; empty, and nil: it does.
	// What need not begin at once is accepted all the same.
	Held func() string
	// Call has somebody come who makes a Pass; nil: somebody is there.
	Call func() error
	// Retention is cron.sessionRetention, see Reap; 0: for ever.
	Retention time.Duration
	Tools     []string // of turns of which nothing else is said; nil: all

	answer *string // in tests: the reply, without asking anybody
}

// RefusedError says why a request was not accepted, or was not begun.
type RefusedError struct {
	Reason external.Reason
	Detail string
	Item   int // which of several, from 0
}

func (e *RefusedError) Error() string {
	if e.Detail == "" || e.Detail == string(e.Reason) {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Detail
}

// nonce is the id of a marker.
func nonce() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// ledger are the dispatches in the order of their acceptance.
func ledger(tx *state.Tx) ([]external.Dispatch, error) {
	rows, err := state.Dispatches.All(tx)
	all := make([]external.Dispatch, len(rows))
	for i, row := range rows {
		all[i] = row.Rec
	}
	return all, err
}

// Find is one dispatch, wherever it is kept.
func (h *Dispatcher) Find(id string) (d external.Dispatch, ok bool, err error) {
	err = h.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Dispatches.Find(tx, id)
		d, ok = row.Rec, found
		return err
	})
	return d, ok, err
}

// refuse ends a dispatch that has not begun, with its task. It returns it as it
// is then: it may have begun after all.
func (h *Dispatcher) refuse(ctx context.Context, id string, why external.Reason, detail string) (d external.Dispatch, err error) {
	err = h.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Dispatches.Get(tx, id)
		if err != nil || !ok {
			return errors.Join(err, missing(ok, id))
		}
		var changed bool
		if d, changed = external.Refuse(row.Rec, why, detail, tx.Now()); !changed {
			return nil
		}
		if err := errors.Join(endTask(tx, d), h.tellRefused(tx, d)); err != nil {
			return err
		}
		return state.Dispatches.Put(tx, id, row.Rev, d)
	})
	return d, err
}

func missing(ok bool, id string) error {
	if ok {
		return nil
	}
	return errors.New("there is no dispatch " + id)
}
