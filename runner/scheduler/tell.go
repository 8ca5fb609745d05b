package scheduler

import (
	"strings"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/process"
	"claw/state/session"
	"claw/state/ulid"
)

// announce writes the intent to tell a person how a run ended, and returns its
// id; empty when nobody is told. A success tells what it has to say. A failure
// is told when it is the first in a row: what fails each minute is told once,
// and again when it is switched off for it.
func (s *Scheduler) announce(tx *state.Tx, a automation.Automation, r automation.Run, out outcome) (string, error) {
	if a.Delivery == nil || a.Delivery.Mode != "announce" {
		return "", nil
	}
	d := delivery.Delivery{Title: a.Name}
	switch r.Status {
	case automation.Succeeded:
		if silent(out.text) {
			return "", nil
		}
		d.Body = strings.TrimSpace(out.text)
		d.Text = a.Name + "\n" + d.Body
	case automation.Failed, automation.TimedOut, automation.Interrupted, automation.Unknown:
		if a.State.ConsecutiveErrors > 1 && !r.Manual {
			return "", nil
		}
		d.Title, d.Body = failure(a, r, out.text)
		d.Text = strings.TrimRight(d.Title+"\n"+d.Body, "\n")
	default:
		return "", nil
	}
	d.IdempotencyKey = "run:" + r.ID
	return s.intend(tx, a, d)
}

// failure is the message about a run that failed: its first line and the rest.
func failure(a automation.Automation, r automation.Run, text string) (title, body string) {
	how, _, _ := strings.Cut(r.Error, ":")
	title = a.Name + " " + strings.ReplaceAll(string(r.Status), "_", " ")
	if how != "" {
		title += " (" + process.Elide(how, 80) + ")"
	}
	body = strings.TrimSpace(text)
	if body == "" {
		body = r.Error
	}
	return title, body
}

// silent tells a text with nothing to say (spec/heartbeat-automations.md 2.13).
func silent(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text == "NO_REPLY" || heartbeat.PureAck(text)
}

// intend writes a message to where the automation announces.
func (s *Scheduler) intend(tx *state.Tx, a automation.Automation, d delivery.Delivery) (string, error) {
	route, err := s.route(tx, a)
	if err != nil {
		return "", err
	}
	d.ID, d.State, d.CreatedAt, d.Route = ulid.New(tx.Now()), delivery.Pending, tx.Now(), route
	d.Source = delivery.Source{Kind: "cron", Name: a.Name}
	written, err := s.Post.Intend(tx, d)
	return written.ID, err
}

// route is where an automation announces: the channel that it names, else
// where the agent's main session was last reached, else the default channel. A
// channel that is not configured any more must not swallow the message.
func (s *Scheduler) route(tx *state.Tx, a automation.Automation) (delivery.Route, error) {
	main, _, err := state.Sessions.Get(tx, session.Main(s.agent(a)))
	if err != nil {
		return delivery.Route{}, err
	}
	to := automation.Delivery{}
	if a.Delivery != nil {
		to = *a.Delivery
	}
	if to.Channel == "" {
		to.Channel = "last"
	}
	where := s.Post.Resolve(to.Channel, to.To, to.AccountID, main.Rec.Route)
	if where.Reason != "" {
		where = s.Post.Resolve("last", "", "", delivery.Route{})
	}
	return where.Route, nil
}

// notify tells a person something about an automation, whatever its delivery:
// it has stopped running.
func (s *Scheduler) notify(tx *state.Tx, a automation.Automation, n automation.Notice) error {
	text := n.Text
	if n.Hint != "" {
		text += "\n" + n.Hint
	}
	_, err := s.intend(tx, a, delivery.Delivery{
		Title: n.Text, Text: text, Body: n.Hint, IdempotencyKey: "cron:" + n.AutomationID + ":" + n.Code + ":" + tx.Now().UTC().Format(time.RFC3339Nano),
	})
	return err
}

// tellEvents carries the claimed reminders out: they are queued in this
// transaction, and their runs end in it.
func (s *Scheduler) tellEvents(tx *state.Tx, sh *sheet, w *Work) error {
	rest := w.Start[:0:0]
	for _, r := range w.Start {
		a := sh.autos[r.AutomationID].Rec
		if a.Payload.Kind != automation.PayloadEvent {
			rest = append(rest, r)
			continue
		}
		ended, err := s.tellEvent(tx, a, r)
		if err != nil {
			return err
		}
		w.Ended = append(w.Ended, ended)
	}
	w.Start = rest
	return nil
}

func (s *Scheduler) tellEvent(tx *state.Tx, a automation.Automation, r automation.Run) (automation.Run, error) {
	key := session.Main(s.agent(a))
	if a.SessionKey != "" {
		key = a.SessionKey
	}
	row, ok, err := state.Runs.Get(tx, r.ID)
	if err != nil || !ok {
		return r, err
	}
	o := *row.Rec.Owner
	if o.TaskID, err = s.addTask(tx, a, r, key); err != nil {
		return r, err
	}
	row.Rec.Owner = &o
	if err := state.Runs.Put(tx, r.ID, row.Rev, row.Rec); err != nil {
		return r, err
	}
	end := automation.End{Status: automation.Succeeded, At: tx.Now()}
	queued, err := s.enqueue(tx, a, key)
	if err != nil {
		return r, err
	}
	if !queued {
		end.Status, end.Code, end.Error = automation.Skipped, automation.CodeCoalesced, "the same still waits to be told"
	}
	return s.finish(tx, row.Rec, outcome{end: end})
}

// enqueue adds the event of an automation to the queue of a session; false
// when the same waits already.
func (s *Scheduler) enqueue(tx *state.Tx, a automation.Automation, key string) (bool, error) {
	rows, err := state.Events.All(tx)
	if err != nil {
		return false, err
	}
	queue := make([]event.Event, 0, len(rows))
	for _, row := range rows {
		queue = append(queue, row.Rec)
	}
	ev := event.Event{
		ID: ulid.New(tx.Now()), State: event.Queued, Kind: event.KindCron, SessionKey: key, Agent: s.agent(a), ContextKey: ContextKey(a.ID),
		Text: a.Payload.Text, CreatedAt: tx.Now(),
	}
	if a.WakeMode == "next-heartbeat" { // a turn about something else shows it
		ev.Kind, ev.NextTurn = event.KindEvent, true
	}
	if queued, _ := event.Enqueue(queue, &ev); !queued {
		return false, nil
	}
	return true, state.Events.Add(tx, ev.ID, ev)
}

// ContextKey is what the events of an automation are known by in the queue.
func ContextKey(automationID string) string { return "cron:" + strings.ToLower(automationID) }
