package agent

import (
	"fmt"
	"strings"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/session"
)

// drain puts the ordinary queued events of the session in front of what
// somebody wrote, oldest first, as far as they fit (spec/exec-process.md 4.3).
// They are consumed when the turn succeeds.
func drain(tx *state.Tx, t *session.Turn) error {
	rows, err := state.Events.All(tx)
	if err != nil {
		return err
	}
	var queued []event.Event
	for _, row := range rows {
		if row.Rec.SessionKey == t.SessionKey {
			queued = append(queued, row.Rec)
		}
	}
	shown, waiting := event.Show(event.Ready(queued, tx.Now()), t.Kind, event.MaxShown)
	var before strings.Builder
	if err := noted(tx, t, &before); err != nil {
		return err
	}
	ids := t.EventIDs[:len(t.EventIDs):len(t.EventIDs)] // this may run again
	for i, e := range shown {
		line := event.Line(e, time.Local) + "\n"
		if before.Len()+len(line)+len(t.Message) > session.MaxMessage-200 {
			waiting += len(shown) - i
			break
		}
		before.WriteString(line)
		ids = append(ids, e.ID)
	}
	if waiting > 0 {
		fmt.Fprintf(&before, "System: %d more events wait for the next turn.\n", waiting)
	}
	if before.Len() > 0 {
		t.Message, t.EventIDs = before.String()+"\n"+t.Message, ids
	}
	return nil
}

// noted shows once what a heartbeat of this session has found worth knowing
// without telling anybody (spec/heartbeat-automations.md 1.11).
func noted(tx *state.Tx, t *session.Turn, before *strings.Builder) error {
	row, ok, err := state.Heartbeats.Get(tx, heartbeat.Key(t.Agent))
	if err != nil || !ok || row.Rec.Note == "" || row.Rec.Last == nil || t.SessionKey != session.Main(t.Agent) {
		return err
	}
	e := event.Event{Text: "The last heartbeat noted: " + row.Rec.Note, CreatedAt: row.Rec.Last.At}
	before.WriteString(event.Line(e, time.Local) + "\n")
	row.Rec.Note = ""
	return state.Heartbeats.Put(tx, row.ID, row.Rev, row.Rec)
}
