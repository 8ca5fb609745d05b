package subagents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/flows"
	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
	"claw/state/ulid"
)

// Service looks after the sub-agents of one state directory.
type Service struct {
	Store *state.Store
	Clock clock.Clock
	Turns *agent.Turns
	// Policy is what an agent may have done by others.
	Policy func(agent string) Policy
	Known  func(agent string) bool // nil: all are
	Jitter func() float64          // from 0 to 1; nil: at random

	answer *string // of every agent, in tests
}

// Policy is what the configuration says of one agent: Limits, Override and Allowed
// about what it asks of others, Tools about what its own sub-agents may use.
type Policy struct {
	Limits   subagent.Limits
	Override bool
	Allowed  []string
	Tools    []string // nil: all
	// ToolFree: it can be asked without tools; its argv says {tools}, or there is one
	// for completions.
	ToolFree bool
}

// Caller is who asks, as claw has seen for itself; the zero value is a person.
type Caller struct {
	Agent   string
	Session string
	TurnID  string
	Tools   []string // what its turn may use; nil: all
}

// Operator tells a person.
func (c Caller) Operator() bool { return c.TurnID == "" && c.Session == "" }

// MissingError: there is no such run.
type MissingError struct{ Query string }

func (e *MissingError) Error() string { return "there is no run " + e.Query }

// Accept writes a wish for a detached run down, whole or not at all, and durably.
// The error is a *subagent.Refusal, or one of the state directory: one that matches
// state.ErrNotDurable leaves open whether it was written.
func (s *Service) Accept(ctx context.Context, a subagent.Ask, c Caller) (r subagent.Run, err error) {
	a.Kind = subagent.Detached
	if err := s.check(a); err != nil {
		return r, err
	}
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		if r, err = s.draft(tx, a, c); err != nil {
			return err
		}
		if err := addTask(tx, &r); err != nil {
			return err
		}
		return state.Subagents.Put(tx, r.ID, 0, r)
	})
	if err == nil {
		failpoint.Hit("subagent-accepted")
	}
	return r, err
}

// check is what is wrong with a wish whatever there is already.
func (s *Service) check(a subagent.Ask) error {
	if no := subagent.Check(a); no != nil {
		return no
	}
	if s.Known != nil && !s.Known(a.Agent) {
		return &MissingAgentError{Agent: a.Agent}
	}
	if len(s.Turns.Agent(a.Agent).Command) == 0 {
		return agent.ErrNoAgent
	}
	return nil
}

// MissingAgentError: nobody has configured such an agent.
type MissingAgentError struct{ Agent string }

func (e *MissingAgentError) Error() string { return "there is no agent " + e.Agent }

// draft is the row of a wish, or why there is none.
func (s *Service) draft(tx *state.Tx, a subagent.Ask, c Caller) (r subagent.Run, err error) {
	now := tx.Now()
	r = subagent.Run{
		ID: ulid.New(now), Kind: a.Kind, Status: subagent.Queued, Agent: a.Agent, Caller: c.Session, CallerTurn: c.TurnID, CallerAgent: c.Agent, Depth: 1,
		Task: a.Message, Label: strings.TrimSpace(a.Label), System: a.System, Thinking: a.Thinking, PromptMode: a.PromptMode,
		TimeoutMs: a.Timeout.Milliseconds(), Cleanup: a.Cleanup, CreatedAt: now, Announce: subagent.Announce{State: subagent.NotRequired},
	}
	if a.Timeout < 0 {
		r.TimeoutMs = -1
	}
	if r.Cleanup == "" {
		r.Cleanup = subagent.Keep
	}
	asks := s.policy(c.Agent)
	all, err := ledger(tx)
	if err != nil {
		return r, err
	}
	if n := len(all); n > 0 && r.ID <= all[n-1].ID { // they begin in the order of their ids
		if at, ok := ulid.Time(all[n-1].ID); ok {
			r.ID = ulid.New(at.Add(time.Millisecond))
		}
	}
	var no *subagent.Refusal
	models := subagent.Models{Operator: c.Operator(), Override: asks.Override, Allowed: asks.Allowed, Configured: s.Turns.Agent(a.Agent).Model}
	if r.Model, no = models.Choose(a.Model); no != nil {
		return r, no
	}
	if a.Kind == subagent.Completion {
		r.Tools, r.Cleanup = []string{}, ""
		return r, nil
	}
	r.SessionKey = session.Key{Agent: a.Agent, Kind: session.KeySubagent, Rest: strings.ToLower(r.ID)}.String()
	if r.Tools, no = subagent.Surface(a, s.policy(a.Agent).Tools, c.Tools); no != nil {
		return r, no
	}
	if r.Depth, no = asks.Limits.Admit(c.Session, all, now); no != nil {
		return r, no
	}
	if a.Delivery == subagent.CurrentRequester {
		r.Announce, err = requester(tx, c)
	}
	return r, err
}

func (s *Service) policy(name string) Policy {
	if s.Policy == nil {
		return Policy{Limits: subagent.Limits{Depth: subagent.DefaultDepth, Children: subagent.DefaultChildren, Concurrent: subagent.DefaultConcurrent, Archive: subagent.DefaultArchive}}
	}
	return s.Policy(name)
}

// requester is who is told of the end: whoever is spoken to in the turn that asks,
// on the way on which that turn answers. A turn that has ended is no requester, and
// neither is one about what came from outside.
func requester(tx *state.Tx, c Caller) (subagent.Announce, error) {
	refuse := func(why string) (subagent.Announce, error) {
		return subagent.Announce{}, &subagent.Refusal{
			Code: subagent.NotRequester, Text: "nobody can be told of the end: " + why,
			Hint: "current-requester is for a running turn in which somebody has asked for something; without it, claw agent wait RUNID has the result",
		}
	}
	if c.TurnID == "" {
		return refuse("this is not within a turn of an agent")
	}
	row, ok, err := state.Turns.Get(tx, c.TurnID)
	if err != nil {
		return subagent.Announce{}, err
	}
	t := row.Rec
	switch {
	case !ok || t.Status.Ended():
		return refuse("the turn has ended")
	case t.Kind == session.KindHook:
		return refuse("the turn is about what came from outside")
	case t.Kind == session.KindComplete:
		return refuse("a completion has no session")
	}
	s, ok, err := state.Sessions.Get(tx, t.SessionKey)
	if err != nil {
		return subagent.Announce{}, err
	}
	if !ok || s.Rec.TurnID != t.ID || s.Rec.ID != t.SessionID {
		return refuse("its conversation is over")
	}
	a := subagent.Announce{
		State: subagent.Pending, Requester: t.SessionKey, SessionID: t.SessionID, Route: t.Route, Agent: t.Agent, Tools: session.LimitTo(c.Tools),
	}
	if a.Route.IsZero() {
		a.Route = s.Rec.Route
	}
	if !session.IsSubagent(t.SessionKey) {
		return a, nil
	}
	// A sub-agent is never woken: whoever is told of its own end is told.
	all, err := ledger(tx)
	for _, r := range all {
		if r.SessionKey == t.SessionKey && r.Announce.Requester != "" {
			up := r.Announce
			up.State, up.Attempts, up.NextAt, up.Why, up.EventID, up.EndedAt = subagent.Pending, 0, time.Time{}, "", "", time.Time{}
			up.Tools = session.LimitTo(session.Narrow(up.Tools.List(), c.Tools))
			return up, err
		}
	}
	if err != nil {
		return a, err
	}
	return refuse("this is a sub-agent of which nobody is told")
}

// addTask writes the task of a run, which belongs to whoever asked. One whose end
// is told to him has a mirrored flow, too.
func addTask(tx *state.Tx, r *subagent.Run) error {
	t := task.Task{
		ID: ulid.New(tx.Now()), Runtime: task.Subagent, Kind: task.KindSubagent, RunID: r.ID, AgentID: r.Agent, ChildSessionKey: r.SessionKey,
		OwnerKey: r.Caller, Label: r.Label, Task: r.Title(), Status: task.Queued, NotifyPolicy: task.Silent, DeliveryStatus: task.DeliveryNotApplicable,
	}
	if r.Announce.State == subagent.Pending {
		t.DeliveryStatus, t.RequesterOrigin = task.DeliveryPending, r.Announce.Route
	}
	t, err := task.New(t, tx.Now())
	if err != nil {
		return err
	}
	if err := flows.Mirror(tx, &t); err != nil {
		return err
	}
	r.TaskID = t.ID
	return state.Tasks.Add(tx, t.ID, t)
}

// ledger are the runs in the order in which they were asked for.
func ledger(tx *state.Tx) ([]subagent.Run, error) {
	rows, err := state.Subagents.All(tx)
	all := make([]subagent.Run, len(rows))
	for i, row := range rows {
		all[i] = row.Rec
	}
	return all, err
}

// Find is the run that a person means: by its id, four or more characters from the
// beginning of it, its task, or its session. Whoever is no person sees his own only.
func (s *Service) Find(query string, c Caller) (r subagent.Run, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Find(tx, strings.ToUpper(query))
		if err != nil {
			return err
		}
		if r = row.Rec; ok {
			return nil
		}
		all, err := ledger(tx)
		if err != nil {
			return err
		}
		hits := slices.DeleteFunc(all, func(r subagent.Run) bool {
			return !(len(query) >= 4 && strings.HasPrefix(r.ID, strings.ToUpper(query))) && r.TaskID != strings.ToUpper(query) && (r.SessionKey == "" || r.SessionKey != query)
		})
		switch len(hits) {
		case 0:
			return &MissingError{query}
		case 1:
			r = hits[0]
			return nil
		}
		return &MissingError{fmt.Sprintf("%s: %d runs begin like that", query, len(hits))}
	})
	if err == nil && !c.Operator() && !s.owns(c, r) {
		return subagent.Run{}, &subagent.Refusal{Code: subagent.NotYours, Text: "run " + r.ID + " was not asked for by " + c.Session, Hint: "an agent sees to its own runs only; a person may see to all"}
	}
	return r, err
}

// owns tells that c has asked for r, or for what has asked for it.
func (s *Service) owns(c Caller, r subagent.Run) bool {
	if c.Session == "" {
		return false
	}
	if r.Caller == c.Session {
		return true
	}
	own := false
	s.Store.View(func(tx *state.Tx) error {
		all, err := ledger(tx)
		down := subagent.Descendants(all, subagent.Run{SessionKey: c.Session})
		own = slices.ContainsFunc(down, func(d subagent.Run) bool { return d.ID == r.ID })
		return err
	})
	return own
}

// OwnsSession tells that c has made a session by a run: only such a one it may
// take away.
func (s *Service) OwnsSession(key string, c Caller) (bool, error) {
	if c.Operator() {
		return true, nil
	}
	own := false
	err := s.Store.View(func(tx *state.Tx) error {
		all, err := ledger(tx)
		own = slices.ContainsFunc(all, func(r subagent.Run) bool {
			return r.Kind == subagent.Detached && r.SessionKey == key && r.Caller == c.Session
		})
		return err
	})
	return own, err
}

// jitter is a number from 0 to 1.
func (s *Service) jitter() float64 {
	if s.Jitter != nil {
		return s.Jitter()
	}
	return rand.Float64()
}

// get is a live row, which must be there.
func get(tx *state.Tx, id string) (state.Row[subagent.Run], error) {
	row, ok, err := state.Subagents.Get(tx, id)
	if err == nil && !ok {
		err = &MissingError{id}
	}
	return row, err
}

func isState(err error) bool {
	_, ok := errors.AsType[*state.Error](err)
	return ok || errors.Is(err, state.ErrNotDurable)
}

// source is what a message about a run says it is about.
func source(r subagent.Run, sessionKey, turnID string) delivery.Source {
	return delivery.Source{Kind: "subagent", Name: r.Title(), SessionKey: sessionKey, TurnID: turnID, TaskID: r.TaskID}
}
