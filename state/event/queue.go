package event

import (
	"strings"
	"time"
)

// Normal is e as it stands in the queue: its text trimmed, its context key
// trimmed and in lower case (spec/heartbeat-automations.md 3.1).
func Normal(e Event) Event {
	e.Text = strings.TrimSpace(e.Text)
	e.ContextKey = strings.ToLower(strings.TrimSpace(e.ContextKey))
	return e
}

// Enqueue says whether e is to be added to the queue of its session, and when
// it is not, why; queue are the events of at least that session, oldest first.
// e is made Normal.
//
// Blank text is refused. A completion is always added. Of the others, one
// without a context key must differ from the newest that is queued, one with a
// key from all that are queued, in text, key or route
// (spec/exec-process.md 4.3). Whether the text may be trusted is a difference
// too, and so is that this one wakes where the queued one does not.
func Enqueue(queue []Event, e *Event) (queued bool, why string) {
	*e = Normal(*e)
	if e.Text == "" {
		return false, "it is blank"
	}
	if IsExec(*e) {
		return true, ""
	}
	newest := true
	for i := len(queue) - 1; i >= 0; i-- {
		q := Normal(queue[i])
		if q.State != Queued || q.SessionKey != e.SessionKey {
			continue
		}
		if (newest || e.ContextKey != "") && says(q, *e) {
			return false, "the same is queued already"
		}
		newest = false
	}
	return true, ""
}

// says tells that q, which is queued, makes e pointless.
func says(q, e Event) bool {
	same := q.Text == e.Text && q.ContextKey == e.ContextKey && q.Route == e.Route && q.Untrusted == e.Untrusted
	return same && (!q.NextTurn || e.NextTurn)
}

// Ready are the events that a turn may show now: queued, and not put off by a
// failure.
func Ready(events []Event, now time.Time) []Event {
	var ready []Event
	for _, e := range events {
		if e.State == Queued && !e.NotBefore.After(now) {
			ready = append(ready, e)
		}
	}
	return ready
}
