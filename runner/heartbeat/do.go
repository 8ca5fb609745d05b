package heartbeat

import (
	"context"
	"errors"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
	"claw/state/ulid"
)

// errMoved: what the turn was to show is not queued any more.
var errMoved = errors.New("the events have been shown meanwhile")

// Do carries out one planned wake: records the skip, or runs the turn. It is
// called in a goroutine of its own for each agent. The turn it returns has no
// ID where no turn was needed: the row of the monitor says then what became of
// the wake.
func (e *Engine) Do(ctx context.Context, w Planned) (session.Turn, error) {
	if !w.Run {
		return session.Turn{}, e.skip(ctx, w)
	}
	r := &run{Engine: e, planned: w, began: e.Clock.Elapsed()}
	if _, err := session.Parse(w.SessionKey); err != nil {
		return session.Turn{}, r.undeliverable(ctx, delivery.Route{}, err)
	}
	if w.Relay {
		return session.Turn{}, r.relay(ctx)
	}
	for {
		t, err := r.attempt(ctx)
		// Whoever took an event has made the queue shorter: this ends.
		if !errors.Is(err, errMoved) {
			return t, err
		}
	}
}

// run is one wake that is being carried out.
type run struct {
	*Engine
	planned Planned
	began   time.Duration
	checked bool // the checks have been run, once is enough
	checks  []Check
}

func (r *run) attempt(ctx context.Context) (session.Turn, error) {
	sc, err := r.look()
	if err != nil {
		return session.Turn{}, err
	}
	kind := sc.kind()
	if kind == "" {
		return session.Turn{}, nil
	}
	if kind == session.KindHeartbeat && !r.checked {
		if r.checks, err = r.check(ctx, sc.Agent, sc.wake.SessionKey); err != nil {
			return session.Turn{}, err
		}
		r.checked = true
	}
	d := sc.draft(kind, r.checks)
	if d.idle() {
		switch {
		case sc.Embedded || sc.Gate:
			return session.Turn{}, r.quietly(ctx, sc, d, r.Clock.Elapsed()-r.began)
		case sc.block:
			return r.skipped(ctx, heartbeat.ReasonNoTasksDue, false)
		case sc.file() == heartbeat.FileEmpty:
			return r.skipped(ctx, heartbeat.ReasonEmptyFile, false)
		}
	}
	return r.turn(ctx, sc, d)
}

// look reads the scene as it is now.
func (r *run) look() (sc *scene, err error) {
	now := r.Clock.Now()
	err = r.Store.View(func(tx *state.Tx) error {
		row, err := monitorOf(tx, r.planned.Agent)
		if err != nil {
			return err
		}
		ready, err := queuedOf(tx, r.planned.SessionKey, now)
		if err != nil {
			return err
		}
		sc, err = r.scene(tx, r.planned.Wake, row.Rec, ready, now)
		return err
	})
	return sc, err
}

// skipped records that the wake does not run after all.
func (r *run) skipped(ctx context.Context, reason string, retry bool) (session.Turn, error) {
	p := r.planned
	p.Run, p.Status, p.Reason, p.Retry = false, Skipped, reason, retry
	return session.Turn{}, r.skip(ctx, p)
}

// turn asks for the turn of d and waits for its end.
func (r *run) turn(ctx context.Context, sc *scene, d draft) (session.Turn, error) {
	req, err := r.request(sc, d)
	if err != nil {
		return session.Turn{}, r.unfit(ctx, err)
	}
	res, err := r.Turns.Run(ctx, req)
	if _, busy := errors.AsType[*agent.BusyError](err); busy {
		return r.skipped(ctx, heartbeat.ReasonInFlight, true)
	}
	if _, fenced := errors.AsType[*agent.FencedError](err); fenced {
		return r.skipped(ctx, heartbeat.ReasonGivenUp, true)
	}
	return res.Turn, err
}

// undeliverable sends the events of a session that cannot exist, or that takes
// nothing any more, to the person as they are: no turn will ever show them.
func (r *run) undeliverable(ctx context.Context, route delivery.Route, why error) error {
	return r.Store.Update(ctx, func(tx *state.Tx) error {
		ready, err := queuedOf(tx, r.planned.SessionKey, tx.Now())
		if err != nil || len(ready) == 0 {
			return err
		}
		id := ulid.New(tx.Now())
		t := &session.Turn{ID: id, DispatchID: id, Agent: r.planned.Agent, SessionKey: r.planned.SessionKey, Route: route, Status: session.TurnFailed, Error: why.Error()}
		for _, ev := range ready {
			row, _, err := state.Events.Get(tx, ev.ID)
			if err != nil {
				return err
			}
			ev.State, ev.EndedAt = event.Relayed, tx.Now()
			if err := state.Events.Put(tx, ev.ID, row.Rev, ev); err != nil {
				return err
			}
		}
		return r.tell(tx, t, told{relayed: ready})
	})
}

// unfit records that no turn could be made of a wake: a text of the
// configuration cannot be used. The events stay, the error is for whoever runs
// the tick.
func (r *run) unfit(ctx context.Context, why error) error {
	err := r.Store.Update(ctx, func(tx *state.Tx) error {
		return edit(tx, r.planned.Agent, func(m *heartbeat.Monitor) {
			m.Last = &heartbeat.Event{
				At: tx.Now(), Status: heartbeat.StatusFailed, Reason: r.planned.Wake.Reason, Message: why.Error(),
				SessionKey: r.planned.SessionKey, Indicator: heartbeat.IndicatorError,
			}
			if !r.planned.Due.IsZero() {
				r.advance(m, r.planned.Wake, true, tx.Now())
			}
		})
	}, state.Relaxed())
	return errors.Join(why, err)
}

func (r *run) request(sc *scene, d draft) (agent.Request, error) {
	message, err := r.message(sc, d)
	if err != nil {
		return agent.Request{}, err
	}
	req := agent.Request{
		Agent: sc.Agent, SessionKey: sc.wake.SessionKey, Kind: d.kind, Reason: sc.wake.Reason, Message: message,
		Failures: d.failures(), Quiet: true, Route: sc.route, ReplyMode: session.ReplyDeliver,
		Admit: func(tx *state.Tx, t *session.Turn) error { return r.admit(tx, t, sc, d) },
	}
	if sc.noRoute != "" {
		req.ReplyMode = session.ReplyNone
	}
	for _, ev := range d.events {
		req.EventIDs = append(req.EventIDs, ev.ID)
	}
	for _, t := range d.tasks {
		req.Tasks = append(req.Tasks, t.Name)
	}
	if d.kind == session.KindHeartbeat {
		// Events continue the agent's work, with its own model and time.
		req.Timeout, req.Model = sc.Timeout, sc.Model
		if sc.IsolatedSession {
			req.SessionKey, req.Isolated = session.Isolated(req.SessionKey), true
		}
	}
	if sc.Embedded {
		answer := d.answer()
		req.Answer = &answer
	}
	return req, nil
}

// admit adds to the admission of a turn: its events must still be queued, and
// its start is noted in the monitor's row, the slot used up with it.
func (r *run) admit(tx *state.Tx, t *session.Turn, sc *scene, d draft) error {
	for _, ev := range d.events {
		row, ok, err := state.Events.Get(tx, ev.ID)
		if err != nil {
			return err
		}
		if !ok || row.Rec.State != event.Queued || row.Rec.NotBefore.After(sc.now) {
			return errMoved
		}
		if t.SessionKey == ev.SessionKey {
			continue
		}
		// The isolated session has a lane of its own: a turn of the other one
		// must not show the event meanwhile. The end of this turn decides.
		row.Rec.NotBefore = tx.Now().Add(isolatedClaim)
		if err := state.Events.Put(tx, ev.ID, row.Rev, row.Rec); err != nil {
			return err
		}
	}
	t.Source = d.source(sc)
	t.Source.TurnID = t.ID
	if d.kind == session.KindHeartbeat {
		t.Alerts, t.Checks = alerts(d.loud), len(d.checks)
	}
	return edit(tx, sc.Agent, func(m *heartbeat.Monitor) {
		r.started(m, sc.wake, d.kind == session.KindHeartbeat, tx.Now())
	})
}

// isolatedClaim outlasts every turn; see admit.
const isolatedClaim = 7 * 24 * time.Hour
