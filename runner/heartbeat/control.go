package heartbeat

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"claw/state"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
	"claw/state/ulid"
)

// Refused says what could not be done by hand, and what to do instead. Nothing
// has been changed.
type Refused struct {
	Text    string
	Hint    string
	Missing bool // what was named does not exist
}

func (r *Refused) Error() string { return r.Text }

// Remedy is what a person can do about it.
func (r *Refused) Remedy() string { return r.Hint }

// Enable turns the heartbeats of all agents on or off, events included. It
// says whether that was a change.
func Enable(ctx context.Context, store *state.Store, on bool) (changed bool, err error) {
	off := false
	err = store.View(func(tx *state.Tx) (err error) {
		off, err = switchedOff(tx)
		return err
	})
	if err != nil || off == !on {
		return false, err
	}
	return true, store.Update(ctx, func(tx *state.Tx) error {
		row, _, err := state.Switches.Get(tx, switchID)
		if err != nil {
			return err
		}
		return state.Switches.Put(tx, switchID, row.Rev, heartbeat.Switch{Disabled: !on, At: tx.Now()})
	})
}

// Respond keeps the structured answer of the turn that is running; of several
// the last one counts (spec/heartbeat-automations.md 1.11). The error is a
// *Refused when there is no such turn, when it has ended, and when it is a
// person's: that one gets the reply, and nobody would read the answer.
func Respond(ctx context.Context, store *state.Store, turnID string, r session.Response) error {
	return store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Turns.Find(tx, turnID)
		switch {
		case err != nil:
			return err
		case !ok:
			return &Refused{Text: "there is no turn " + strconv.Quote(turnID), Hint: "answer from within the turn, with the environment that claw gave the agent", Missing: true}
		case row.Rec.Status.Ended():
			return &Refused{Text: "turn " + turnID + " has ended (" + string(row.Rec.Status) + "): its answer counts as it was", Hint: "claw sessions show " + row.Rec.SessionKey}
		}
		if row.Rec.Kind == session.KindUser {
			return &Refused{Text: "in this turn a person has written: what the agent prints is what they get", Hint: "print it; heartbeat respond answers a wake"}
		}
		row.Rec.Response = &r
		return state.Turns.Put(tx, turnID, row.Rev, row.Rec)
	})
}

// ScratchOf is the scratch of an agent; of one that has none the zero revision.
func ScratchOf(store *state.Store, agent string) (heartbeat.Scratch, error) {
	s := heartbeat.Scratch{Agent: agent}
	err := store.View(func(tx *state.Tx) error {
		row, ok, err := state.Scratches.Get(tx, agent)
		if ok {
			s = row.Rec
		}
		return err
	})
	return s, err
}

// SetScratch replaces the scratch of an agent and returns it as it is then. A
// text of nil takes it away; its revision goes on all the same. expected, if
// it is not nil, is the revision that is to be replaced, 0 for none: with
// another one there the error is a *Refused that names it.
func SetScratch(ctx context.Context, store *state.Store, agent string, text *string, expected *int64) (heartbeat.Scratch, error) {
	var s heartbeat.Scratch
	if text != nil {
		if err := fitScratch(*text); err != nil {
			return s, err
		}
	}
	err := store.Update(ctx, func(tx *state.Tx) error {
		row, _, err := state.Scratches.Get(tx, agent)
		if err != nil {
			return err
		}
		if have := row.Rec.Revision; expected != nil && *expected != have {
			return &Refused{
				Text: "the scratch of agent " + agent + " is at revision " + strconv.FormatInt(have, 10) + ", not " + strconv.FormatInt(*expected, 10),
				Hint: "read it again: claw heartbeat scratch --agent " + agent + " --json",
			}
		}
		s, err = putScratch(tx, agent, text)
		return err
	})
	return s, err
}

func fitScratch(text string) error {
	switch {
	case len(text) > heartbeat.MaxScratch:
		return &Refused{Text: "the scratch would have " + strconv.Itoa(len(text)) + " bytes, at most " + strconv.Itoa(heartbeat.MaxScratch) + " are allowed", Hint: "keep long texts in a file and name it in the scratch"}
	case !utf8.ValidString(text):
		return &Refused{Text: "the scratch is not UTF-8 text", Hint: "convert it first: iconv -t utf-8"}
	}
	return nil
}

func putScratch(tx *state.Tx, agent string, text *string) (heartbeat.Scratch, error) {
	row, _, err := state.Scratches.Get(tx, agent)
	if err != nil {
		return row.Rec, err
	}
	s := heartbeat.Scratch{Agent: agent, Revision: row.Rec.Revision + 1, UpdatedAt: tx.Now()}
	if text != nil {
		s.Text = *text
	}
	return s, state.Scratches.Put(tx, agent, row.Rev, s)
}

// maxEvent is the longest text of an event that is sent by hand, in bytes.
const maxEvent = 64 << 10

// Send queues an event for a session, unless the same is queued already, which
// is no error: why then says so. A *Refused tells that it cannot be queued at
// all. spec/heartbeat-automations.md 3.1, 4.
func Send(ctx context.Context, store *state.Store, ev event.Event) (sent event.Event, why string, err error) {
	if strings.TrimSpace(ev.Text) == "" {
		return ev, "", &Refused{Text: "the text of an event must not be blank", Hint: "say what the session is to be told"}
	}
	if len(ev.Text) > maxEvent {
		return ev, "", &Refused{Text: "the text has " + strconv.Itoa(len(ev.Text)) + " bytes, an event at most " + strconv.Itoa(maxEvent), Hint: "keep it in a file and say where"}
	}
	err = store.Update(ctx, func(tx *state.Tx) error {
		rows, err := state.Events.All(tx)
		if err != nil {
			return err
		}
		var queue []event.Event
		newest := ""
		for _, r := range rows {
			newest = r.ID
			if r.Rec.State == event.Queued && r.Rec.SessionKey == ev.SessionKey {
				queue = append(queue, r.Rec)
			}
		}
		sent = ev
		sent.ID, sent.State, sent.CreatedAt = idAfter(newest, tx.Now()), event.Queued, tx.Now()
		queued := false
		if queued, why = event.Enqueue(queue, &sent); !queued {
			return nil
		}
		return state.Events.Add(tx, sent.ID, sent)
	})
	return sent, why, err
}

// idAfter is a new id that sorts behind another one, so that what is sent
// within one millisecond, or after the clock was put back, stays in order.
func idAfter(newest string, now time.Time) string {
	id := ulid.New(now)
	if at, ok := ulid.Time(newest); ok && id <= newest {
		id = ulid.New(at.Add(time.Millisecond))
	}
	return id
}

// LastOf is what became of an agent's last heartbeat; nil when it has had none.
func LastOf(store *state.Store, agent string) (*heartbeat.Event, error) {
	var last *heartbeat.Event
	err := store.View(func(tx *state.Tx) error {
		row, err := monitorOf(tx, agent)
		last = row.Rec.Last
		return err
	})
	return last, err
}
