package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"claw/runner/internal/failpoint"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/event"
	"claw/state/session"
	"claw/state/ulid"
)

// Run carries a turn out and returns it when it has ended, however it ended.
// An error means that no turn was admitted, or (ctx) that it goes on without
// this caller, or that its end could not be written; whoever calls Settle next
// then ends it.
func (r *Turns) Run(ctx context.Context, req Request) (Result, error) {
	ag := r.Agent(req.Agent)
	if err := prepare(&req, ag); err != nil {
		return Result{}, err
	}
	leave, err := r.take(ctx, req.SessionKey, req.Wait, req.Waiting)
	if err != nil {
		return Result{}, err
	}
	x := &run{Turns: r, req: req, agent: ag}
	res, err := x.inLane(ctx)
	leave()
	if x.passed != nil && err == nil {
		<-x.passed // somebody may read slowly: the lane is free meanwhile
	}
	return res, err
}

// inLane is what the lane is held for.
func (x *run) inLane(ctx context.Context) (res Result, err error) {
	defer x.discard()
	if x.req.Answer == nil {
		// The supervisor boots while the turn is admitted and the hooks run.
		if x.spare, err = supervisor.Prepare(x.Store.Dir()); err != nil {
			return Result{}, err
		}
	}
	if err := x.admit(ctx); err != nil {
		return Result{}, err
	}
	defer x.durable()
	return x.carry(ctx)
}

// run is one turn on its way.
type run struct {
	*Turns
	req     Request
	agent   Agent
	spare   *supervisor.Spare // nil once used, and with an Answer
	turn    session.Turn
	durable func() error  // waits until the admission is on disk
	passed  chan struct{} // closed when all output has been passed on; nil: there is none
}

func (x *run) discard() {
	if x.spare != nil {
		x.spare.Discard()
		x.spare = nil
	}
}

// prepare refuses what can never be a turn and fills in what is left to the
// agent's configuration.
func prepare(req *Request, ag Agent) error {
	if req.Answer == nil && len(ag.argv(req.Kind)) == 0 {
		return ErrNoAgent
	}
	if _, err := session.Parse(req.SessionKey); err != nil {
		return err
	}
	if req.Isolated {
		req.SessionKey = session.Isolated(req.SessionKey)
	}
	if req.Timeout == 0 {
		req.Timeout = ag.Timeout
	}
	if req.Model == "" {
		req.Model = ag.Model
	}
	req.Message = strings.ToValidUTF8(req.Message, "\uFFFD")
	if req.Kind == session.KindUser && req.Recover == nil { // claw speaks for itself, nobody for it
		req.Message = event.Neutralise(req.Message)
	}
	return checkMessage(req.Message)
}

// checkMessage refuses a message that the row could not hold: JSON writes
// control characters as six.
func checkMessage(message string) error {
	if len(message) > session.MaxMessage {
		return &TooLongError{Bytes: len(message)}
	}
	if raw, err := json.Marshal(message); err != nil || len(raw) > 3*session.MaxMessage {
		return &TooLongError{Bytes: len(raw)}
	}
	return nil
}

// admit is the claim: the turn with its whole message, and the session that
// runs it, in one transaction before anything is started (seed 003, 14). The
// disk is waited for later, but before the agent can do anything.
func (x *run) admit(ctx context.Context) error {
	var wait func() error
	id := ulid.New(x.Clock.Now())
	err := x.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, x.req.SessionKey)
		if err != nil {
			return err
		}
		s := row.Rec
		if !ok {
			s = session.Session{Key: x.req.SessionKey, Agent: x.req.Agent, CreatedAt: tx.Now()}
		}
		t := x.newTurn(id, tx.Now())
		if s, err = x.fence(s, &t, tx.Now()); err != nil {
			return err
		}
		if !ok || x.req.Isolated || x.req.Fresh {
			s.ID, s.Turns = ulid.New(tx.Now()), 0
		}
		t.SessionID = s.ID
		if x.req.Drain {
			if err := drain(tx, &t); err != nil {
				return err
			}
		}
		if x.req.Admit != nil {
			if err := x.req.Admit(tx, &t); err != nil {
				return err
			}
		}
		if t.Unasked() {
			if t.Tools, err = inherited(tx, s, t); err != nil {
				return err
			}
		}
		x.turn = t
		if err := state.Turns.Add(tx, t.ID, t); err != nil {
			return err
		}
		return state.Sessions.Put(tx, s.Key, row.Rev, begun(s, t))
	}, state.Deferred(&wait))
	if err == nil {
		x.durable = sync.OnceValue(wait)
		failpoint.Hit("turn-admitted")
	}
	return err
}

func (x *run) newTurn(id string, now time.Time) session.Turn {
	req := x.req
	t := session.Turn{
		ID: id, DispatchID: id, Attempt: 1, SessionKey: req.SessionKey, Agent: req.Agent,
		Kind: req.Kind, Reason: req.Reason, Message: req.Message, EventIDs: req.EventIDs, Route: req.Route, ReplyMode: req.ReplyMode,
		Failures: req.Failures, Tasks: req.Tasks, RunID: req.RunID, Tools: req.Tools, Quiet: req.Quiet, Status: session.TurnAdmitted, CreatedAt: now,
	}
	if x.spare != nil {
		t.ProcessID = x.spare.ID()
	}
	return t
}

// begun is a session with a turn in it. A wake does not make it fresher.
func begun(s session.Session, t session.Turn) session.Session {
	s.Status, s.TurnID, s.StartedAt, s.EndedAt = session.Running, t.ID, t.CreatedAt, time.Time{}
	s.Turns++
	if k, err := session.Parse(s.Key); err == nil && k.Kind == session.KeyCron && t.RunID != "" {
		s.Tools = session.LimitTo(t.Tools)
	}
	if t.Kind == session.KindUser {
		s.UpdatedAt = t.CreatedAt
		if !t.Route.IsZero() {
			s.Route = t.Route
		}
	}
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = s.CreatedAt
	}
	return s
}

// carry takes an admitted turn to its end.
func (x *run) carry(ctx context.Context) (Result, error) {
	input, err := x.input()
	if err != nil {
		return x.end(x.turn, *refusedBy(err))
	}
	wanted, done := x.untilStopped(ctx)
	e := x.hooks(wanted, input)
	if e == nil && wanted.Err() != nil {
		e = refusedBy(context.Cause(wanted))
	}
	if done(); e != nil {
		return x.end(x.turn, *e)
	}
	if x.req.Answer != nil {
		return x.end(x.turn, answered(x.turn, *x.req.Answer))
	}
	if e := x.launch(ctx, input); e != nil {
		return x.end(x.turn, *e)
	}
	failpoint.Hit("turn-launched")
	if err := x.wait(ctx); err != nil {
		return Result{Turn: x.turn}, err
	}
	res, _, err := x.conclude(context.WithoutCancel(ctx), x.turn, false)
	return res, err
}

var errStopped = errors.New("the turn was stopped")

// untilStopped is ctx until the turn is to end: until then nothing has been
// started that would have to be ended.
func (x *run) untilStopped(ctx context.Context) (context.Context, func()) {
	wanted, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-x.req.Stop: // never, when it is nil
			cancel(errStopped)
		case <-wanted.Done():
		}
	}()
	return wanted, func() { cancel(nil) }
}
