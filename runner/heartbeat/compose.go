package heartbeat

import (
	"strings"
	"time"

	"claw/prompts"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
)

// draft is a turn before it is asked for.
type draft struct {
	kind    session.Kind
	events  []event.Event // shown in it, at most event.MaxShown
	waiting int           // of the same class, for the next turn
	checks  []Check       // that ran
	loud    []Check       // of these, those that have something to say
	tasks   []heartbeat.PeriodicTask
}

func (sc *scene) draft(kind session.Kind, checks []Check) draft {
	d := draft{kind: kind, checks: checks, loud: loud(checks)}
	d.events, d.waiting = event.Show(sc.ready, kind, event.MaxShown)
	if kind == session.KindHeartbeat {
		d.tasks = sc.due
	}
	return d
}

// idle tells a heartbeat with nothing but itself as a reason.
func (d draft) idle() bool {
	return d.kind == session.KindHeartbeat && len(d.loud) == 0 && len(d.events) == 0 && len(d.tasks) == 0
}

// message is all that the agent is told: the marker, a blank line and the
// text (seed 000).
func (e *Engine) message(sc *scene, d draft) (string, error) {
	text, err := e.text(sc, d)
	return session.Compose(d.kind, text), err
}

func (e *Engine) text(sc *scene, d draft) (string, error) {
	deliver := sc.noRoute == ""
	switch d.kind {
	case session.KindExec:
		return e.Prompts.Exec(prompts.Exec{Details: event.ExecDetails(d.events), Deliver: deliver, Waiting: d.waiting})
	case session.KindCron:
		return e.Prompts.Cron(prompts.Cron{Texts: event.Reminders(d.events, heartbeat.PureAck), Deliver: deliver, Waiting: d.waiting})
	case session.KindEvent:
		return e.Prompts.Event(prompts.Event{Lines: event.Lines(d.events, sc.loc), Deliver: deliver, Waiting: d.waiting})
	}
	h := prompts.Heartbeat{
		Prompt: sc.Prompt, Scratch: sc.scratch.Text, File: strings.TrimSpace(sc.rest), FilePath: sc.notes.path,
		Checks: alerts(d.loud), Lines: event.Lines(d.events, sc.loc), Now: timeLine(sc.now, sc.loc), Waiting: d.waiting,
	}
	for _, t := range d.tasks {
		h.Tasks = append(h.Tasks, t.Line())
	}
	return e.Prompts.Heartbeat(h)
}

// timeLine is the current time as a line of a prompt, in the user's zone.
func timeLine(now time.Time, loc *time.Location) string {
	return "Current time: " + now.In(loc).Format("Monday, 2 January 2006, 15:04 MST")
}

// answer is the reply of the embedded agent: what the events and the checks
// say, as they are. It may be empty only for a heartbeat without either.
func (d draft) answer() string {
	parts := alerts(d.loud)
	for _, ev := range d.events {
		parts = append(parts, event.Notice(ev))
	}
	return strings.Join(parts, "\n\n")
}

// failures are notices of the failed commands in d: no acknowledgement
// swallows them.
func (d draft) failures() []string {
	var texts []string
	for _, ev := range d.events {
		if event.Failed(ev) {
			texts = append(texts, event.Notice(ev))
		}
	}
	return texts
}

// source is what a delivery of the reply says it is about.
func (d draft) source(sc *scene) delivery.Source {
	t := &session.Turn{SessionKey: sc.wake.SessionKey}
	switch {
	case d.kind != session.KindHeartbeat:
		return about(d.events, t)
	case len(d.loud) == 1:
		return delivery.Source{Kind: "check", Name: "heartbeat.d/" + d.loud[0].Name, SessionKey: sc.wake.SessionKey}
	case len(d.loud) > 1:
		return delivery.Source{Kind: "check", Name: "heartbeat.d", SessionKey: sc.wake.SessionKey}
	case sc.Embedded:
		return about(d.events, t)
	}
	return delivery.Source{Kind: "heartbeat", Name: sc.Agent, SessionKey: sc.wake.SessionKey}
}
