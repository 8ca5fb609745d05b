package subagents

import (
	"context"
	"errors"
	"time"

	"claw/runner/agent"
	"claw/runner/settle"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

// Work is what a Pass has decided.
type Work struct {
	Start []string  // each is for Run
	Said  []string  // lines about what was done
	Told  bool      // somebody was told: there are events to be shown
	Next  time.Time // when there is something to do by the clock; zero: never
}

// Pass tells of ends, settles what nobody carries out, and says which runs may
// begin now; begin false holds that back. atWork tells the runs whose Run has not
// returned. Only the holder of runner.lock may call it, and must Run what it
// returns.
func (s *Service) Pass(ctx context.Context, begin bool, atWork func(id string) bool) (Work, error) {
	var w Work
	plan, surplus, err := s.plan(atWork)
	if err != nil {
		return w, err
	}
	if w.Next = plan.Next; begin {
		w.Start = plan.Start
	}
	for _, id := range plan.Orphan {
		err = errors.Join(err, s.orphan(ctx, id))
	}
	for _, id := range plan.Tell {
		line, told, tellErr := s.tell(ctx, id)
		if err = errors.Join(err, tellErr); line != "" {
			w.Said = append(w.Said, line)
		}
		w.Told = w.Told || told
	}
	err = errors.Join(err, s.discard(ctx, surplus))
	for _, id := range plan.Aside {
		later, asideErr := s.aside(ctx, id)
		if err = errors.Join(err, asideErr); later && (w.Next.IsZero() || s.Clock.Now().Add(time.Minute).Before(w.Next)) {
			w.Next = s.Clock.Now().Add(time.Minute)
		}
	}
	return w, errors.Join(err, s.reap(ctx))
}

// plan is what subagent.Make says, without suspended announcements for which
// nothing has changed. A directory without runs costs one ledger.
func (s *Service) plan(atWork func(id string) bool) (plan subagent.Plan, surplus []string, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		all, err := ledger(tx)
		if err != nil || len(all) == 0 {
			plan, surplus = subagent.Plan{}, nil
			return err
		}
		now := tx.Now()
		plan = subagent.Make(all, func(r subagent.Run) subagent.Limits { return s.policy(r.CallerAgent).Limits }, atWork, now)
		surplus = subagent.Surplus(all)
		byID := make(map[string]subagent.Run, len(all))
		for _, r := range all {
			byID[r.ID] = r
		}
		orphans, tells := plan.Orphan[:0], plan.Tell[:0]
		for _, id := range plan.Orphan {
			row, ok, err := state.Turns.Find(tx, byID[id].TurnID)
			if err != nil {
				return err
			}
			if !ok || row.Rec.Status.Ended() {
				orphans = append(orphans, id)
			}
		}
		for _, id := range plan.Tell {
			r := byID[id]
			door, why, err := look(tx, r.Announce)
			if err != nil {
				return err
			}
			if door == subagent.Open || r.Announce.Attempt(door, why, r.EndedAt, now, 0) != r.Announce {
				tells = append(tells, id)
			}
		}
		plan.Orphan, plan.Tell = orphans, tells
		return nil
	})
	return plan, surplus, err
}

// orphan ends a run whose turn is gone: with its turn its end would have been
// written.
func (s *Service) orphan(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, id)
		if err != nil || !ok || row.Rec.Status != subagent.Running {
			return err
		}
		turn, ok, err := state.Turns.Find(tx, row.Rec.TurnID)
		if err != nil || ok && !turn.Rec.Status.Ended() {
			return err
		}
		return closeRun(tx, row, subagent.End{Outcome: subagent.Unknown, Reason: subagent.Broke, Error: "orphaned: nothing is left of its turn", At: tx.Now()})
	})
}

// aside puts the session of a run that has ended aside, unless somebody has gone on
// with it since. later: somebody is in it now.
func (s *Service) aside(ctx context.Context, id string) (later bool, err error) {
	var r subagent.Run
	used := false
	err = s.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, id)
		if r = row.Rec; err != nil || !ok {
			return err
		}
		of, ok, err := state.Sessions.Get(tx, r.SessionKey)
		used = ok && of.Rec.TurnID != r.TurnID
		return err
	})
	if err != nil {
		return false, err
	}
	switch {
	case used:
	case r.Kind == subagent.Completion: // nothing is kept of it but its turn
		err = s.Turns.Forget(ctx, r.SessionKey, func(of session.Session) bool { return of.TurnID == r.TurnID })
		if err != nil {
			return false, err
		}
	default: // also where the row is gone: whoever removed it may have died before the transcript was put aside
		_, err := s.Turns.Remove(ctx, r.SessionKey)
		_, busy := errors.AsType[*agent.BusyError](err)
		_, fenced := errors.AsType[*agent.FencedError](err) // given up: it stays, for a person to see
		if err != nil && !fenced {
			return busy, notBusy(err)
		}
	}
	return false, s.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, id)
		if err != nil || !ok || !row.Rec.ArchivedAt.IsZero() {
			return err
		}
		row.Rec.ArchivedAt = tx.Now()
		return state.Subagents.Put(tx, id, row.Rev, row.Rec)
	})
}

func notBusy(err error) error {
	if _, busy := errors.AsType[*agent.BusyError](err); busy {
		return nil
	}
	return err
}

// lanePatience is how long a run waits for its session, which a person may be in;
// then it is planned anew.
const (
	lanePatience = 2 * time.Minute
	again        = time.Second
)

// Run carries one run's turn out, and returns when it has ended. When ctx ends it
// goes on under its supervisor. line is what there is to be logged. An error is one
// of the state directory.
func (s *Service) Run(ctx context.Context, id string) (line string, err error) {
	r, err := s.row(id)
	if err != nil || r.Status != subagent.Queued {
		return "", err
	}
	res, err := s.Turns.Run(ctx, s.request(r, lanePatience))
	_, busy := errors.AsType[*agent.BusyError](err)
	switch {
	case err == nil:
	case errors.Is(err, subagent.ErrGone), ctx.Err() != nil, res.Turn.ID != "":
		return "", nil // it has ended otherwise, or goes on
	case busy:
		return "", s.putOff(ctx, id)
	case isState(err):
		return "", err
	default: // it can never begin
		if err := s.fail(context.WithoutCancel(ctx), id, err.Error()); err != nil {
			return "", err
		}
	}
	if r, err = s.row(id); err != nil {
		return "", err
	}
	return logLine(r), nil
}

func logLine(r subagent.Run) string {
	switch {
	case r.Ended():
		return "sub-agent " + r.ID + " of " + r.Agent + ": " + string(r.Outcome)
	case r.Status == subagent.Queued:
		return "sub-agent " + r.ID + " of " + r.Agent + " is asked again"
	}
	return ""
}

func (s *Service) row(id string) (r subagent.Run, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Find(tx, id)
		if r = row.Rec; err == nil && !ok {
			err = &MissingError{id}
		}
		return err
	})
	return r, err
}

// request is the turn of a run: the task in a conversation of its own, or what is
// left of it where that was cut off.
func (s *Service) request(r subagent.Run, wait time.Duration) agent.Request {
	req := agent.Request{
		Agent: r.Agent, SessionKey: r.SessionKey, Kind: session.KindSubagent, Reason: "subagent:" + r.Title(), Message: r.Brief(),
		Quiet: true, ReplyMode: session.ReplyNone, Timeout: r.Timeout(), Model: r.Model, Thinking: r.Thinking, Tools: r.Tools, Wait: wait,
		PromptMode: r.PromptMode, Answer: s.answer,
	}
	if r.Resumed > 0 {
		req.Message = r.Again()
	} else {
		req.Light = true
	}
	req.Admit = func(tx *state.Tx, t *session.Turn) error { return s.admitted(tx, t, r.ID) }
	return req
}

// admitted ties the turn to its run, in the transaction of its admission: here it
// begins, or never does.
func (s *Service) admitted(tx *state.Tx, t *session.Turn, id string) error {
	row, ok, err := state.Subagents.Get(tx, id)
	if err != nil || !ok {
		return errors.Join(err, subagent.ErrGone)
	}
	r, err := subagent.Begin(row.Rec, t.ID, tx.Now())
	if err != nil {
		return err
	}
	if r.TaskID != "" {
		of, ok, err := state.Tasks.Find(tx, r.TaskID)
		if err != nil || ok && of.Rec.Status.Terminal() {
			return errors.Join(err, subagent.ErrGone)
		}
		if err := beginTask(tx, r.TaskID); err != nil {
			return err
		}
	}
	if r.Kind == subagent.Completion {
		r.SessionKey = t.SessionKey // of its place
	}
	t.DispatchID, t.Attempt, t.Title, t.Source = r.ID, r.Tries, r.Title(), source(r, t.SessionKey, t.ID)
	return state.Subagents.Put(tx, id, row.Rev, r)
}

func beginTask(tx *state.Tx, id string) error {
	row, ok, err := state.Tasks.Get(tx, id)
	if err != nil || !ok || row.Rec.Status != task.Queued {
		return err
	}
	t := row.Rec
	t.Status, t.StartedAt, t.LastEventAt = task.Running, tx.Now(), tx.Now()
	if err := state.Tasks.Put(tx, id, row.Rev, task.Normalise(t)); err != nil {
		return err
	}
	return settle.Follow(tx, t)
}

// putOff has a run planned anew in a moment: its session was not to be had.
func (s *Service) putOff(ctx context.Context, id string) error {
	return s.Store.Update(context.WithoutCancel(ctx), func(tx *state.Tx) error {
		row, err := get(tx, id)
		if err != nil || row.Rec.Status != subagent.Queued {
			return err
		}
		row.Rec.NotBefore = tx.Now().Add(again)
		return state.Subagents.Put(tx, id, row.Rev, row.Rec)
	})
}

// fail ends a run that could not begin.
func (s *Service) fail(ctx context.Context, id, why string) error {
	return s.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, id)
		if err != nil || !ok || row.Rec.Status != subagent.Queued {
			return err
		}
		return closeRun(tx, row, subagent.End{Outcome: subagent.Failed, Reason: subagent.Broke, Error: why, At: tx.Now()})
	})
}
