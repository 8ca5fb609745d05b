package hook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"math"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/delivery"
	"claw/state/external"
	"claw/state/session"
	"claw/state/task"
	"claw/state/ulid"
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
}

func (e *RefusedError) Error() string {
	if e.Detail == "" || e.Detail == string(e.Reason) {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Detail
}

// Accept writes a request down, whole or not at all, and durably. again: it is
// the one that d was written for before, which may have ended. The error is a
// *RefusedError, or one of the state directory: one that matches
// state.ErrNotDurable leaves open whether it was written.
func (h *Dispatcher) Accept(ctx context.Context, req external.Request) (d external.Dispatch, again bool, err error) {
	if err := h.check(req); err != nil {
		return d, false, err
	}
	mark, digest := nonce(), external.Digest(req)
	err = h.Store.Update(ctx, func(tx *state.Tx) error {
		again = false
		if digest != "" {
			old, ok, err := h.same(tx, digest)
			if err != nil || ok {
				d, again = old, ok
				return err
			}
		}
		if d, err = h.draft(tx, req, mark); err != nil {
			return err
		}
		d.Digest = digest
		return h.add(tx, &d, req)
	})
	if err == nil {
		failpoint.Hit("hook-accepted")
	}
	return d, again, err
}

func (h *Dispatcher) check(req external.Request) error {
	if why := external.Check(req); why != "" {
		return &RefusedError{Reason: why}
	}
	if h.Known != nil && !h.Known(req.Agent) {
		return &RefusedError{Reason: external.ReasonUnknown, Detail: req.Agent}
	}
	if len(h.Turns.Agent(req.Agent).Command) == 0 {
		return &RefusedError{Reason: external.ReasonPrepare, Detail: "[agents." + req.Agent + "] has no command"}
	}
	return nil
}

// same is a dispatch that answers a request with this digest.
func (h *Dispatcher) same(tx *state.Tx, digest string) (external.Dispatch, bool, error) {
	if has, err := state.Dispatches.Mentions(tx, `"digest":"`+digest+`"`); err != nil || !has {
		return external.Dispatch{}, false, err
	}
	all, err := ledger(tx)
	window := h.Window
	if window == 0 {
		window = external.KeyWindow
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Answers(digest, tx.Now(), window) {
			return all[i], true, err
		}
	}
	return external.Dispatch{}, false, err
}

// maxTimeout is how many seconds a duration can have. More is as much: it must
// not come round to nothing, which is no limit.
const maxTimeout = int64(math.MaxInt64 / time.Second)

// draft is the row of a request.
func (h *Dispatcher) draft(tx *state.Tx, req external.Request, mark string) (external.Dispatch, error) {
	now := tx.Now()
	d := external.Dispatch{
		ID: ulid.New(now), Status: external.Queued, Lane: req.Lane, Name: external.NameOf(req.Name), Agent: req.Agent, SessionKey: req.SessionKey,
		Source: req.Source, Deliver: req.Deliver, Announce: session.Main(req.Agent), Model: req.Model, Thinking: req.Thinking,
		TimeoutMs: min(req.TimeoutSeconds, maxTimeout) * 1000, Tools: req.Tools, AcceptedAt: now, Warnings: external.Suspicious(req.Subject + "\n" + req.Message),
	}
	if !req.Patient {
		d.Deadline = now.Add(external.StartDeadline)
	}
	var err error
	if d.ID, err = inOrder(tx, d.ID, now); err != nil {
		return d, err
	}
	d.Message = external.Wrap(external.Wrapping{
		ID: mark, Source: req.Source, From: req.From, Subject: req.Subject, Content: req.Message,
		Task: d.Name, Job: d.ID, Received: now.UTC().Format(time.RFC3339),
	})
	if len(d.Message) > session.MaxMessage {
		return d, &RefusedError{Reason: external.ReasonTooLong}
	}
	if d.Deliver {
		d.Route, err = h.route(tx, req)
	}
	return d, err
}

// inOrder is an id behind all that are there: they are the order in which those
// of a session begin.
func inOrder(tx *state.Tx, id string, now time.Time) (string, error) {
	rows, err := state.Dispatches.All(tx)
	if err != nil || len(rows) == 0 {
		return id, err
	}
	newest := rows[len(rows)-1].ID
	if at, ok := ulid.Time(newest); ok && id <= newest {
		id = ulid.New(at.Add(time.Millisecond))
	}
	return id, nil
}

// route is where the reply goes, fixed now: the channel that is named, or where
// the agent's main session was last spoken to.
func (h *Dispatcher) route(tx *state.Tx, req external.Request) (delivery.Route, error) {
	s, _, err := state.Sessions.Get(tx, session.Main(req.Agent))
	if err != nil {
		return delivery.Route{}, err
	}
	a := h.Post.Resolve(req.Channel, req.To, req.Account, s.Rec.Route)
	if a.Reason != "" {
		return a.Route, &RefusedError{Reason: external.ReasonAccount, Detail: a.Reason}
	}
	return a.Route, nil
}

// add writes the row and its task.
func (h *Dispatcher) add(tx *state.Tx, d *external.Dispatch, req external.Request) error {
	what := d.Name
	if s := external.Line(external.Clean(req.Subject), 200); s != "" {
		what += ": " + s
	}
	t, err := task.New(task.Task{
		ID: ulid.New(tx.Now()), Runtime: task.Cron, Kind: task.KindHook, SourceID: string(req.Source), RunID: d.ID, AgentID: d.Agent,
		ChildSessionKey: d.SessionKey, Label: d.Name, Task: what, ScopeKind: task.ScopeSystem, Status: task.Queued, NotifyPolicy: task.Silent,
	}, tx.Now())
	if err != nil {
		return err
	}
	if d.TaskID = t.ID; d.Tools == nil {
		d.Tools = h.Tools
	}
	if err := state.Tasks.Add(tx, t.ID, t); err != nil {
		return err
	}
	return state.Dispatches.Put(tx, d.ID, 0, *d)
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
		if err := endTask(tx, d); err != nil {
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
