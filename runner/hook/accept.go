package hook

import (
	"context"
	"errors"
	"math"
	"time"

	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/delivery"
	"claw/state/external"
	"claw/state/session"
	"claw/state/task"
	"claw/state/ulid"
)

// Accept writes a request down, whole or not at all, and durably. again: it is
// the one that d was written for before, which may have ended. The error is a
// *RefusedError, or one of the state directory: one that matches
// state.ErrNotDurable leaves open whether it was written.
func (h *Dispatcher) Accept(ctx context.Context, req external.Request) (d external.Dispatch, again bool, err error) {
	all, again, err := h.AcceptAll(ctx, []external.Request{req})
	if err != nil {
		return d, false, err
	}
	return all[0], again, nil
}

// AcceptAll is Accept for several: all of them, or none. again: each was written
// before. A *RefusedError says which it is of.
func (h *Dispatcher) AcceptAll(ctx context.Context, reqs []external.Request) (all []external.Dispatch, again bool, err error) {
	held := ""
	for i, req := range reqs {
		if err := h.check(req); err != nil {
			return nil, false, ofItem(err, i)
		}
		if held == "" && !req.Patient && h.Held != nil {
			held = h.Held()
		}
	}
	err = h.Store.Update(ctx, func(tx *state.Tx) error {
		all, again = nil, true
		newest, err := newestID(tx)
		for i, req := range reqs {
			if err != nil {
				break
			}
			var d external.Dispatch
			var old bool
			if d, old, err = h.accept(tx, req, newest, held); err != nil {
				return ofItem(err, i)
			}
			if again = again && old; !old {
				newest = d.ID
			}
			all = append(all, d)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	failpoint.Hit("hook-accepted")
	return all, again, nil
}

// ofItem is a refusal that says which of several it is of.
func ofItem(err error, i int) error {
	if no, ok := errors.AsType[*RefusedError](err); ok {
		no.Item = i
	}
	return err
}

// accept is the row that answers a request: one that is there, or a new one
// behind the newest.
func (h *Dispatcher) accept(tx *state.Tx, req external.Request, newest, held string) (d external.Dispatch, old bool, err error) {
	digest := external.Digest(req)
	if digest != "" {
		if d, old, err = h.same(tx, digest); err != nil || old {
			return d, old, err
		}
	}
	if held != "" && !req.Patient {
		return d, false, &RefusedError{Reason: external.ReasonHeld, Detail: held}
	}
	if d, err = h.draft(tx, req, newest); err != nil {
		return d, false, err
	}
	d.Digest = digest
	return d, false, h.add(tx, &d, req)
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
func (h *Dispatcher) draft(tx *state.Tx, req external.Request, newest string) (external.Dispatch, error) {
	now := tx.Now()
	d := external.Dispatch{
		ID: behind(newest, now), Status: external.Queued, Lane: req.Lane, Name: external.NameOf(req.Name), Agent: req.Agent, SessionKey: req.SessionKey,
		Source: req.Source, Deliver: req.Deliver, Announce: session.Main(req.Agent), Model: req.Model, Thinking: req.Thinking,
		TimeoutMs: min(req.TimeoutSeconds, maxTimeout) * 1000, Tools: req.Tools, AcceptedAt: now, Warnings: external.Suspicious(req.Subject + "\n" + req.Message),
	}
	d.WakeMode, d.Patient = req.WakeMode, req.Patient
	if !req.Patient {
		d.Deadline = now.Add(external.StartDeadline)
	}
	d.Message = external.Wrap(external.Wrapping{
		ID: nonce(), Source: req.Source, From: req.From, Subject: req.Subject, Content: req.Message,
		Task: d.Name, Job: d.ID, Received: now.UTC().Format(time.RFC3339),
	})
	if len(d.Message) > session.MaxMessage {
		return d, &RefusedError{Reason: external.ReasonTooLong}
	}
	if d.Deliver {
		var err error
		if d.Route, err = h.route(tx, req); err != nil {
			return d, err
		}
	}
	return d, nil
}

// behind is an id behind the newest: they are the order in which those of a
// session begin.
func behind(newest string, now time.Time) string {
	id := ulid.New(now)
	if at, ok := ulid.Time(newest); ok && id <= newest {
		id = ulid.New(at.Add(time.Millisecond))
	}
	return id
}

func newestID(tx *state.Tx) (string, error) {
	rows, err := state.Dispatches.All(tx)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[len(rows)-1].ID, nil
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
