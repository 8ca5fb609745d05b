package scheduler

import (
	"context"
	"errors"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/task"
	"claw/state/ulid"
)

// lanePatience is how long a run waits for a session that is busy
// (spec/heartbeat-automations.md 2.11).
const lanePatience = 2 * time.Minute

// turn asks the agent and waits for the end of its turn, which is the end of
// the run, see TurnEnded.
func (s *Scheduler) turn(ctx context.Context, a automation.Automation, r automation.Run) error {
	res, err := s.Turns.Run(ctx, s.request(a, r))
	switch busy, ok := errors.AsType[*agent.BusyError](err); {
	case err == nil:
		return nil
	case ok:
		return s.conclude(r, automation.End{Status: automation.Skipped, Code: automation.CodeOverlap, Error: busy.Error()})
	case errors.Is(err, errGone):
		return nil // somebody else has ended it
	case errors.Is(err, errGivesWay):
		return s.conclude(r, automation.End{Status: automation.Replaced, Code: automation.CodeReplaced})
	case ctx.Err() != nil || res.Turn.ID != "":
		return nil // it goes on, or its claim is taken back
	}
	return s.conclude(r, automation.End{Status: automation.Failed, Category: automation.Validation, Error: err.Error()})
}

// Why a turn is not admitted.
var (
	errGone      = errors.New("the run has ended already")
	errGivesWay  = errors.New("a later slot takes its place")
	maxTurnTimes = -time.Second // no limit, as agent.Request says it
)

func (s *Scheduler) request(a automation.Automation, r automation.Run) agent.Request {
	key, fresh := s.sessionKey(a)
	timeout := a.Payload.Timeout()
	if timeout <= 0 {
		timeout = maxTurnTimes
	}
	return agent.Request{
		Agent: s.agent(a), SessionKey: key, Fresh: fresh, RunID: r.ID, Kind: session.KindCron, Reason: "cron:" + a.Name,
		Message: message(a, r, s.Clock.Now()), Quiet: true, ReplyMode: session.ReplyDeliver, Timeout: timeout, Wait: lanePatience,
		Model: a.Payload.ModelFor(r.Attempt), Thinking: a.Payload.Thinking, Tools: a.Payload.ToolsAllow, Light: a.Payload.LightContext,
		Admit: func(tx *state.Tx, t *session.Turn) error { return s.admitted(tx, t, a, r) },
	}
}

// sessionKey is where the turn runs. An isolated one has the session of the
// automation, with a new transcript each time.
func (s *Scheduler) sessionKey(a automation.Automation) (key string, fresh bool) {
	switch {
	case a.SessionKey != "":
		return a.SessionKey, false
	case a.SessionTarget == "isolated" || a.SessionTarget == "current" || a.SessionTarget == "":
		return Session(a.ID), true
	}
	return a.SessionTarget, false // session:ID
}

// Session is the key of the isolated session of an automation.
func Session(automationID string) string { return string(session.KeyCron) + ":" + automationID }

// message is what the agent reads (spec/heartbeat-automations.md 2.13). What a
// source has to say is data: no line of it may read as if claw had written it.
func message(a automation.Automation, r automation.Run, now time.Time) string {
	r.Input = event.Neutralise(r.Input)
	return "[cron:" + a.ID + " " + a.Name + "] " + a.Told(r) + "\n\nCurrent time: " + now.Format("Monday 2006-01-02 15:04 MST")
}

// admitted ties the turn to its run, in the transaction of its admission.
func (s *Scheduler) admitted(tx *state.Tx, t *session.Turn, a automation.Automation, r automation.Run) error {
	row, ok, err := state.Runs.Get(tx, r.ID)
	switch {
	case err != nil:
		return err
	case !ok || row.Rec.Status != automation.Running:
		return errGone
	case !row.Rec.StoppedAt.IsZero():
		return errGivesWay
	}
	t.Title, t.Source = a.Name, delivery.Source{Kind: "cron", Name: a.Name, SessionKey: t.SessionKey, TurnID: t.ID}
	o := *row.Rec.Owner
	o.TurnID = t.ID
	if o.TaskID, err = s.addTask(tx, a, r, t.SessionKey); err != nil {
		return err
	}
	row.Rec.Owner = &o
	return state.Runs.Put(tx, r.ID, row.Rev, row.Rec)
}

// addTask writes the task of a turn or a reminder: every run has one
// (seed 003 section 8).
func (s *Scheduler) addTask(tx *state.Tx, a automation.Automation, r automation.Run, sessionKey string) (string, error) {
	t, err := task.New(task.Task{
		ID: ulid.New(tx.Now()), Runtime: task.Cron, Kind: task.KindAutomation, SourceID: a.ID, RunID: r.ID, AgentID: s.agent(a),
		ChildSessionKey: sessionKey, Label: a.Name, Task: a.Told(r), ScopeKind: task.ScopeSystem,
		Status: task.Running, NotifyPolicy: task.Silent, CreatedAt: tx.Now(), StartedAt: tx.Now(),
	}, tx.Now())
	if err != nil {
		return "", err
	}
	return t.ID, state.Tasks.Add(tx, t.ID, t)
}

// TurnEnded is what follows from the end of a turn that an automation asked
// for, in the transaction that writes the end; see agent.Turns.OnEnd.
func (s *Scheduler) TurnEnded(tx *state.Tx, t *session.Turn, reply string) error {
	row, ok, err := state.Runs.Get(tx, t.RunID)
	if err != nil || !ok || row.Rec.Owner == nil || row.Rec.Owner.TurnID != t.ID {
		return err
	}
	a, err := automationOf(tx, row.Rec)
	if err != nil {
		return err
	}
	out, err := cancelled(tx, *t, ofTurn(*t, reply, a.Rec.Pacing != nil))
	if err != nil {
		return err
	}
	r, err := s.finish(tx, row.Rec, out)
	t.DeliveryID = r.DeliveryID
	if t.DeliveryID != "" {
		t.Outcome = "sent"
	}
	return err
}
