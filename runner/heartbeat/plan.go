package heartbeat

import (
	"context"
	"strings"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/delivery"
	"claw/state/heartbeat"
	"claw/state/session"
)

// Converge writes the monitor rows that configuration asks for. Without a
// difference nothing is written.
func (e *Engine) Converge(ctx context.Context) error {
	now := e.Clock.Now()
	differs := false
	err := e.Store.View(func(tx *state.Tx) error {
		rows, err := monitors(tx)
		differs = len(e.converged(rows, now)) > 0
		return err
	})
	if err != nil || !differs {
		return err
	}
	return e.Store.Update(ctx, func(tx *state.Tx) error {
		rows, err := monitors(tx)
		if err != nil {
			return err
		}
		for _, m := range e.converged(rows, now) {
			row, err := monitorOf(tx, m.Agent)
			if err != nil {
				return err
			}
			if err := state.Heartbeats.Put(tx, row.ID, row.Rev, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// converged are the rows that differ from what configuration asks for, as they
// are to be.
func (e *Engine) converged(rows []heartbeat.Monitor, now time.Time) []heartbeat.Monitor {
	var wanted []heartbeat.Wanted
	for _, name := range e.Agents {
		s := e.Settings(name)
		if !s.Enrolled {
			continue
		}
		loc, hours := zone(s.Zone, s.UserZone), hoursOf(s)
		wanted = append(wanted, heartbeat.Wanted{Agent: name, Every: s.Every, Hours: hours, Loc: loc, HoursLabel: hours.Label(loc.String())})
	}
	return heartbeat.Converge(rows, wanted, now, e.Seed, e.CronEnabled)
}

// Plan decides; extra are wakes by hand. It costs what is live: queued events,
// monitors and running turns, whatever has happened before.
func (e *Engine) Plan(now time.Time, extra ...Wake) (Plan, error) {
	var p Plan
	err := e.Store.View(func(tx *state.Tx) error {
		b, err := e.board(tx, now)
		if err != nil {
			return err
		}
		for _, w := range e.wakes(b, extra) {
			planned, err := e.decide(tx, b, w)
			if err != nil {
				return err
			}
			b.after(planned.RetryAt)
			p.Wakes = append(p.Wakes, planned)
		}
		p.Next = b.next
		return nil
	})
	return p, err
}

// decide is the cooldown, and then the checks in their order.
func (e *Engine) decide(tx *state.Tx, b *board, w Wake) (Planned, error) {
	p := Planned{Wake: w, Status: Skipped}
	m := b.monitors[w.Agent]
	if d := heartbeat.Gate(m, w.Intent, b.now); d.Deferred {
		p.Status, p.Reason, p.RetryAt = Deferred, d.Reason, d.RetryAt
		return p, nil
	}
	sc, err := e.scene(tx, w, m, b.ready[w.SessionKey], b.now)
	if err != nil {
		return p, err
	}
	p.Route = routeWords(sc)
	if sc.fenced(&p) {
		return p, nil
	}
	sit, err := e.situation(tx, b, sc)
	if err != nil {
		return p, err
	}
	d := heartbeat.Decide(sit)
	switch {
	case d.Run:
		p.Run, p.Status, p.Reason = true, Running, w.Reason
		p.Says = sc.says()
	case d.Retryable:
		p.Reason, p.Retry, p.RetryAt = d.Reason, true, b.now.Add(d.RetryAfter)
	default:
		p.Reason = d.Reason
	}
	return p, nil
}

// situation is what Decide asks about. The checks of heartbeat.d count as
// something to look at: an empty HEARTBEAT.md does not keep them from running.
func (e *Engine) situation(tx *state.Tx, b *board, sc *scene) (heartbeat.Situation, error) {
	m := sc.monitor
	sit := heartbeat.Situation{
		Intent: sc.wake.Intent, Source: sc.wake.Source, Targeted: sc.wake.Source != heartbeat.SourceInterval,
		Disabled: b.off && len(restarts(sc.ready)) == 0, Enrolled: sc.Enrolled, Every: sc.Every, MonitorOff: sc.Every > 0 && !m.Enabled,
		Outside:      !hoursOf(sc.Settings).Inside(b.now.In(zone(sc.Zone, sc.UserZone))),
		SkipWhenBusy: sc.SkipWhenBusy, Events: len(sc.ready) > 0, HasTasks: sc.block, TasksDue: len(sc.due) > 0,
		NoRoute: sc.noRoute != "" && (sc.Target == "" || sc.Target == "last"),
	}
	if v := sc.visible(); sc.noRoute == "" {
		sit.Hidden = !v.Ok && !v.Alerts && !v.Indicator
	}
	if sc.wake.periodic() && !sc.Embedded && len(e.checkFiles()) == 0 {
		sit.File = sc.file()
	} else {
		sit.File, sit.HasTasks = heartbeat.FileContent, false
	}
	var err error
	sit.Busy, err = e.busy(tx, b, sc)
	return sit, err
}

// busy is who is at work for this agent. Other agents never count.
func (e *Engine) busy(tx *state.Tx, b *board, sc *scene) (busy heartbeat.Busy, err error) {
	w := sc.wake
	lane := func(key string) (held, queued bool) {
		if err != nil {
			return false, false
		}
		held, queued, err = agent.Lane(e.Store, key)
		return held, queued
	}
	busy.Target, busy.TargetQueued = lane(w.SessionKey)
	mainHeld, mainQueued := lane(session.Main(w.Agent))
	busy.Main = mainHeld || mainQueued
	if sc.IsolatedSession {
		busy.Isolated, _ = lane(session.Isolated(w.SessionKey))
	}
	for _, t := range b.live {
		if t.Agent != w.Agent {
			continue
		}
		busy.Agent = true
		busy.Lanes = busy.Lanes || t.SessionKey != session.Main(w.Agent)
		busy.Automation = busy.Automation || strings.HasPrefix(t.SessionKey, string(session.KeyCron)+":")
	}
	if err == nil {
		busy.PendingReply, err = pendingReply(tx, w.SessionKey, b.now)
	}
	return busy, err
}

// replyGrace is how long a reply that is being delivered keeps the session
// from being woken.
const replyGrace = 30 * time.Second

// pendingReply tells that the answer to a person waits to be sent, and is
// fresh. What a wake had to say does not count: the next one may follow it.
func pendingReply(tx *state.Tx, sessionKey string, now time.Time) (bool, error) {
	for _, st := range [...]delivery.State{delivery.Pending, delivery.Sending} {
		has, err := state.Deliveries.Mentions(tx, `"state":"`+string(st)+`"`)
		if err != nil {
			return false, err
		}
		if !has {
			continue
		}
		rows, err := state.Deliveries.All(tx)
		for _, r := range rows {
			d := r.Rec
			if d.State == st && d.Source.Kind == "turn" && d.Source.SessionKey == sessionKey && now.Sub(d.CreatedAt) < replyGrace {
				return true, err
			}
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func routeWords(sc *scene) string {
	switch {
	case sc.noRoute == "":
		return RouteWords(sc.route)
	case sc.Target == "none":
		return "nowhere (target none)"
	}
	return "nowhere (" + sc.noRoute + ")"
}

// RouteWords is a route for reading: "inbox", "mail:me@example.org".
func RouteWords(r delivery.Route) string {
	if r.To == "" {
		return r.Channel
	}
	return r.Channel + ":" + r.To
}

// says are the events that the turn of sc would show, one line each.
func (sc *scene) says() []string {
	d := sc.draft(sc.kind(), nil)
	lines := make([]string, len(d.events))
	for i, ev := range d.events {
		lines[i], _, _ = strings.Cut(ev.Text, "\n")
	}
	return lines
}
