package heartbeat

import (
	"slices"
	"time"

	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
)

// scene is what one wake finds: read anew when it is carried out, for time may
// have passed since it was planned.
type scene struct {
	Settings
	wake    Wake
	session session.Session // whose wake it is; zero where there is none yet
	now     time.Time
	monitor heartbeat.Monitor
	ready   []event.Event // queued for the session, those that wake nobody included
	route   delivery.Route
	noRoute string // why there is no route; empty when there is one
	loc     *time.Location

	scratch heartbeat.Scratch
	notes   notes
	rest    string                   // HEARTBEAT.md outside its tasks: block
	block   bool                     // it has a tasks: block
	due     []heartbeat.PeriodicTask // of that, those that are due
}

// periodic tells a wake that is for the check itself, perhaps besides others.
func (w Wake) periodic() bool {
	return w.Intent == heartbeat.IntentScheduled || w.Intent == heartbeat.IntentManual || !w.Due.IsZero()
}

func (e *Engine) scene(tx *state.Tx, w Wake, m heartbeat.Monitor, ready []event.Event, now time.Time) (*scene, error) {
	s := e.Settings(w.Agent)
	ready, err := allowed(tx, ready)
	if err != nil {
		return nil, err
	}
	sc := &scene{Settings: s, wake: w, now: now, monitor: m, ready: ready, loc: zone("", s.UserZone)}
	if err := e.address(tx, sc); err != nil {
		return nil, err
	}
	if !w.periodic() {
		return sc, nil
	}
	row, _, err := state.Scratches.Get(tx, w.Agent)
	if err != nil {
		return nil, err
	}
	sc.scratch = row.Rec
	if !s.LightContext && !s.Embedded {
		sc.notes = e.notes(s)
		tasks, rest := heartbeat.ParseTasks(sc.notes.text)
		sc.rest, sc.block = rest, len(tasks) > 0
		sc.due = heartbeat.Due(tasks, m.Tasks, w.SessionKey, now)
	}
	return sc, nil
}

// restarts are the continuations among events.
func restarts(ready []event.Event) []event.Event {
	var found []event.Event
	for _, ev := range ready {
		if ev.Kind == event.KindRestart {
			found = append(found, ev)
		}
	}
	return found
}

// allowed are the events that a turn may show: all, or with heartbeats off only
// what a restart was to be followed by (spec/tasks-recovery.md 4.9,
// openclaw#131888).
func allowed(tx *state.Tx, ready []event.Event) ([]event.Event, error) {
	continued := restarts(ready)
	if len(continued) == 0 {
		return ready, nil
	}
	off, err := switchedOff(tx)
	if off {
		return continued, err
	}
	return ready, err
}

// address finds where a reply would go: by the target, where last is the route
// on which the session was last spoken to, else the one that its newest event
// came by.
func (e *Engine) address(tx *state.Tx, sc *scene) error {
	row, _, err := state.Sessions.Get(tx, sc.wake.SessionKey)
	if err != nil {
		return err
	}
	sc.session = row.Rec
	last := row.Rec.Route
	for _, ev := range restarts(sc.ready) { // on the way it was asked for
		if !ev.Route.IsZero() {
			last = ev.Route
		}
	}
	for _, ev := range slices.Backward(sc.ready) {
		if last.IsZero() {
			last = ev.Route
		}
	}
	a := e.Post.Resolve(sc.Target, sc.To, sc.AccountID, last)
	sc.route, sc.noRoute = a.Route, a.Reason
	if a.Reason != "" {
		sc.route = delivery.Route{}
	}
	return nil
}

// visible is what the channel of the route shows of heartbeats.
func (sc *scene) visible() Visibility {
	if sc.Visible == nil {
		return Visibility{Alerts: true, Indicator: true}
	}
	return sc.Visible(sc.route.Channel, sc.route.Account)
}

// kind is what a turn of this wake would be made of: due tasks go before ended
// commands, these before reminders, and these before the plain check
// (spec/exec-process.md 4.4). Empty: there is nothing to say any more.
func (sc *scene) kind() session.Kind {
	shows := func(k session.Kind) bool {
		shown, _ := event.Show(sc.ready, k, 1)
		return len(shown) > 0
	}
	switch {
	case sc.wake.periodic() && len(sc.due) > 0:
		return session.KindHeartbeat
	case shows(session.KindExec):
		return session.KindExec
	case shows(session.KindCron):
		return session.KindCron
	case sc.wake.periodic():
		return session.KindHeartbeat
	case slices.ContainsFunc(sc.ready, func(ev event.Event) bool { return !ev.NextTurn }):
		return session.KindEvent
	}
	return ""
}

// file is what HEARTBEAT.md and the scratch hold, for the rule that a
// heartbeat with nothing in them is skipped.
func (sc *scene) file() heartbeat.File {
	there, content := false, false
	for _, text := range []struct {
		there bool
		text  string
	}{{sc.notes.there, sc.notes.text}, {sc.scratch.Text != "", sc.scratch.Text}} {
		there = there || text.there
		content = content || text.there && !heartbeat.EffectivelyEmpty(text.text)
	}
	switch {
	case content || sc.block:
		return heartbeat.FileContent
	case there:
		return heartbeat.FileEmpty
	}
	return heartbeat.FileMissing
}
