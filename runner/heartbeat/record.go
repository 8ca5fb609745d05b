package heartbeat

import (
	"context"
	"time"

	"claw/state"
	"claw/state/heartbeat"
)

// repeat is how often the same skip is written again, at most. A wake that
// finds a busy session is looked at after every change of the state directory,
// and what it writes is a change too.
const repeat = time.Minute

// monitorOf is the row of an agent, which may not have been converged yet.
func monitorOf(tx *state.Tx, agent string) (state.Row[heartbeat.Monitor], error) {
	key := heartbeat.Key(agent)
	row, ok, err := state.Heartbeats.Get(tx, key)
	if !ok {
		row = state.Row[heartbeat.Monitor]{ID: key, Rec: heartbeat.NewMonitor(agent)}
	}
	return row, err
}

// edit changes the row of an agent.
func edit(tx *state.Tx, agent string, change func(m *heartbeat.Monitor)) error {
	row, err := monitorOf(tx, agent)
	if err != nil {
		return err
	}
	change(&row.Rec)
	return state.Heartbeats.Put(tx, row.ID, row.Rev, row.Rec)
}

// started notes a run's start for the flood guard, and moves the schedule: a
// slot is used up before anything runs, so that no crash can use it twice.
func (e *Engine) started(m *heartbeat.Monitor, w Wake, periodic bool, now time.Time) {
	m.Starts = heartbeat.Started(m.Starts, now)
	e.advance(m, w, periodic, now)
}

// advance moves the schedule after what a wake did at now: a slot of the clock
// is followed by the next one, everything else puts the next check off. A
// check that is due, but came second to events, follows them, and one that an
// answer has proposed stays when it is.
func (e *Engine) advance(m *heartbeat.Monitor, w Wake, periodic bool, now time.Time) {
	intent := w.Intent
	switch {
	case periodic:
		m.CheckedAt = now
		if !w.Due.IsZero() {
			intent = heartbeat.IntentScheduled
		}
	case !w.Due.IsZero(), m.IsProposed():
		return
	}
	s := e.Settings(m.Agent)
	m.NextDue = m.AfterRun(intent, now, hoursOf(s), zone(s.Zone, s.UserZone))
}

// skip records why a wake did not run. One that will be looked at again before
// long leaves the schedule alone, every other one has used up its slot.
func (e *Engine) skip(ctx context.Context, w Planned) error {
	now := e.Clock.Now()
	retry := w.Status == Deferred || w.Retry
	write := func(tx *state.Tx, record bool) (needed bool, err error) {
		row, err := monitorOf(tx, w.Agent)
		if err != nil {
			return false, err
		}
		m := row.Rec
		last := heartbeat.Event{At: now, Status: heartbeat.StatusSkipped, Reason: w.Reason, SessionKey: w.SessionKey, Count: 1}
		same := m.Last != nil && m.Last.Status == last.Status && m.Last.Reason == last.Reason && m.Last.SessionKey == last.SessionKey
		moves := !retry && !w.Due.IsZero()
		if !moves && repeats(m.Last, last) {
			return false, nil
		}
		if !record {
			return true, nil
		}
		if same {
			last.Count = m.Last.Count + 1
		}
		m.Last = &last
		if moves {
			e.advance(&m, w.Wake, true, now)
		}
		return true, state.Heartbeats.Put(tx, row.ID, row.Rev, m)
	}
	needed := false
	err := e.Store.View(func(tx *state.Tx) (err error) {
		needed, err = write(tx, false)
		return err
	})
	if err != nil || !needed {
		return err
	}
	return e.Store.Update(ctx, func(tx *state.Tx) error {
		_, err := write(tx, true)
		return err
	}, state.Relaxed())
}

// repeats tells that a skip says what was just said: the same again, or that
// another session of the agent has to wait as well.
func repeats(last *heartbeat.Event, next heartbeat.Event) bool {
	if last == nil || last.Status != next.Status || next.At.Sub(last.At) >= repeat {
		return false
	}
	return last.Reason == next.Reason || last.SessionKey != next.SessionKey
}

// quietly records a heartbeat that needed no agent: its checks were quiet.
func (e *Engine) quietly(ctx context.Context, sc *scene, d draft, took time.Duration) error {
	return e.Store.Update(ctx, func(tx *state.Tx) error {
		return edit(tx, sc.Agent, func(m *heartbeat.Monitor) {
			m.Last = &heartbeat.Event{
				At: sc.now, Status: heartbeat.StatusOkChecks, Reason: sc.wake.Reason, SessionKey: sc.wake.SessionKey, Checks: len(d.checks),
				DurationMs: took.Milliseconds(), Silent: true, Indicator: heartbeat.IndicatorOk,
			}
			e.advance(m, sc.wake, true, sc.now)
		})
	}, state.Relaxed())
}
