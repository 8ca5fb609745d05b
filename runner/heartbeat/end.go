package heartbeat

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"claw/prompts"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/ulid"
)

// How a turn that failed puts off the events that it had shown, and after how
// many failures they go to the person as they are.
const (
	maxFailures   = 3
	retryRefused  = time.Minute // nothing was charged: look again soon
	retryFirst    = time.Minute
	retrySecond   = 5 * time.Minute
	refusedForAll = time.Hour // an agent that has accepted nothing for so long has failed
)

// told is what became of the events of a turn that did not succeed, as far as
// a person has to be told of it.
type told struct {
	relayed, unknown []event.Event
}

// settleEvents writes what became of the events that t had shown. Of an event
// that is not queued any more nothing is changed: a poll has retired it. Where
// the turn is kept, to be continued, nobody is told what is not known yet.
func settleEvents(tx *state.Tx, t *session.Turn, kept bool) (told, error) {
	var what told
	for _, id := range t.EventIDs {
		row, ok, err := state.Events.Get(tx, id)
		if err != nil {
			return what, err
		}
		if !ok || row.Rec.State != event.Queued {
			continue
		}
		ev := settled(row.Rec, t, kept, tx.Now())
		switch {
		case ev.State == event.Relayed:
			what.relayed = append(what.relayed, ev)
		case ev.State == event.Unknown && !kept:
			what.unknown = append(what.unknown, ev)
		}
		if err := state.Events.Put(tx, id, row.Rev, ev); err != nil {
			return what, err
		}
	}
	return what, nil
}

// settled is an event after a turn that had shown it.
func settled(ev event.Event, t *session.Turn, kept bool, now time.Time) event.Event {
	ev.TurnID = t.ID
	switch {
	case t.Status == session.TurnSucceeded:
		ev.State = event.Consumed
	case t.Status == session.TurnLost, kept && t.Status == session.TurnFailed:
		ev.State = event.Unknown
	case t.Kind == session.KindUser:
		ev.NotBefore = time.Time{}
	case t.Status == session.TurnNotAccepted && now.Sub(ev.CreatedAt) < refusedForAll:
		ev.NotBefore = now.Add(retryRefused)
	default:
		ev = charged(ev, now)
	}
	if ev.State != event.Queued {
		ev.EndedAt, ev.NotBefore = now, time.Time{}
	}
	return ev
}

func charged(ev event.Event, now time.Time) event.Event {
	switch ev.Failures++; ev.Failures {
	case 1:
		ev.NotBefore = now.Add(retryFirst)
	case 2:
		ev.NotBefore = now.Add(retrySecond)
	default:
		ev.State = event.Relayed
	}
	return ev
}

// tell writes the deliveries about events that no turn will show again.
func (e *Engine) tell(tx *state.Tx, t *session.Turn, what told) error {
	if len(what.relayed) > 0 {
		text := e.notice(prompts.NoticeRelayed, t.Agent, what.relayed) + "\n\nThe last time: " + why(t) + "."
		if err := e.intend(tx, t, "relayed", text, about(what.relayed, t)); err != nil {
			return err
		}
	}
	if len(what.unknown) > 0 {
		return e.intend(tx, t, "unknown", e.notice(prompts.NoticeLost, t.Agent, what.unknown), about(what.unknown, t))
	}
	return nil
}

// notice is a notice of events to a person. A text of the configuration that
// cannot be used must not keep a turn from ending.
func (e *Engine) notice(name, agent string, events []event.Event) string {
	texts := make([]string, len(events))
	for i, ev := range events {
		texts[i] = event.Notice(ev)
	}
	return e.worded(name, agent, texts)
}

// worded is one of the notices of package prompts, in the words of the
// configuration where these can be used.
func (e *Engine) worded(name, agent string, texts []string) string {
	text, err := e.Prompts.Notice(name, agent, texts)
	if err != nil {
		text, _ = prompts.Default().Notice(name, agent, texts)
	}
	return strings.TrimRight(text, "\n")
}

// why is the reason of a failed turn, without a full stop.
func why(t *session.Turn) string {
	return strings.TrimRight(cmp.Or(t.Error, strings.ReplaceAll(string(t.Status), "_", " ")), ". ")
}

// about is the source of a message about events: the one command, or how many.
func about(events []event.Event, t *session.Turn) delivery.Source {
	source := delivery.Source{Kind: "event", Name: t.SessionKey, SessionKey: t.SessionKey, TurnID: t.ID}
	if len(events) == 0 {
		return source
	}
	first := events[0]
	switch {
	case event.IsExec(first):
		source.Kind, source.Name = "exec", slugOf(first)
	case first.Kind == event.KindCron:
		source.Kind, source.Name = "cron", cmp.Or(first.Name, first.ContextKey)
	}
	if len(events) == 1 {
		source.EventID, source.TaskID = first.ID, first.TaskID
	} else if event.IsExec(first) {
		source.Name = strconv.Itoa(len(events)) + " commands"
	}
	return source
}

func slugOf(ev event.Event) string {
	if c, ok := event.Parse(ev.Text); ok && c.ID != "" {
		return c.ID
	}
	return strings.TrimPrefix(ev.ContextKey, "exec:")
}

// intend writes the intent to send text, once for a turn and a purpose. What
// has no route of its own goes where everything else goes that has none.
func (e *Engine) intend(tx *state.Tx, t *session.Turn, purpose, text string, source delivery.Source) error {
	route := t.Route
	if route.IsZero() {
		route = e.Post.Resolve("last", "", "", delivery.Route{}).Route
	}
	key := "turn:" + t.DispatchID
	if purpose != "" {
		key = "turn:" + t.ID + ":" + purpose
	}
	d, err := e.Post.Intend(tx, delivery.Delivery{
		ID: ulid.New(tx.Now()), IdempotencyKey: key, Route: route, Text: text, Title: t.Title, Source: source,
		State: delivery.Pending, CreatedAt: tx.Now(),
	})
	if err == nil && purpose == "" {
		t.DeliveryID = d.ID
	}
	return err
}
