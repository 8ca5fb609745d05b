package recovery

import (
	"path/filepath"
	"time"

	"claw/state"
	"claw/state/session"
	"claw/state/task"
)

// longTurn is how long a lane may be taken before it is mentioned
// (spec/tasks-recovery.md 4.12: 30 minutes).
const longTurn = 30 * time.Minute

// sessions looks at conversations: at flags that contradict each other, which
// are cleared, at what was given up, and at what waits. Nothing that was given
// up is taken up again.
func (x *exam) sessions() error {
	var odd []state.Row[session.Session]
	var found []Finding
	err := x.store.View(func(tx *state.Tx) error {
		odd, found = nil, nil
		rows, err := state.Sessions.All(tx)
		for _, row := range rows {
			if row.Rec.Contradiction() != "" {
				odd = append(odd, row)
				continue
			}
			found = append(found, x.session(row.Rec)...)
		}
		return err
	})
	x.findings = append(x.findings, found...)
	for _, row := range odd {
		x.contradiction(row)
	}
	return err
}

func (x *exam) session(s session.Session) (found []Finding) {
	c := s.Recovery
	switch {
	case c.SessionID != s.ID:
	case c.Phase == session.CycleTombstoned:
		found = append(found, Found("session_tombstoned", s.Key, "it was given up, and takes no new work: "+firstLine(c.Reason), "claw sessions new "+s.Key+" begins a new conversation"))
	case c.Phase == session.CycleInterrupted, c.Phase == session.CycleReserved:
		found = append(found, Found("recovery_waiting", s.Key, "a turn was cut off at "+c.InterruptedAt.Local().Format("2006-01-02 15:04")+" and is to be continued", "claw heartbeat tick continues it; claw recover list shows it"))
	}
	lane := filepath.Join(x.Dir, "sessions", session.FileName(s.Key)+".lock")
	if since := x.Clock.Now().Sub(s.StartedAt); s.Status == session.Running && since >= longTurn {
		if held, err := state.Held(lane); err == nil && held {
			found = append(found, Found("lane_long", s.Key, "its turn is at work for "+task.Age(since)+"; that may be as it should", "claw sessions show "+s.Key))
		}
	}
	return found
}

// contradiction clears a flag. It only ever stops something: see
// session.Mended. The row as it was is kept in quarantine/doctor.jsonl.
func (x *exam) contradiction(row state.Row[session.Session]) {
	why := row.Rec.Contradiction()
	if !x.fix {
		x.add("session_contradiction", row.Rec.Key, why, mends+" gives it up; claw sessions new "+row.Rec.Key+" begins anew")
		return
	}
	err := x.backup("sessions", row.ID, row.Rec)
	if err == nil {
		err = x.store.Update(x.ctx, func(tx *state.Tx) error {
			now, ok, err := state.Sessions.Get(tx, row.ID)
			if err != nil || !ok || now.Rec.Contradiction() == "" {
				return err
			}
			return state.Sessions.Put(tx, now.ID, now.Rev, now.Rec.Mended(tx.Now()))
		})
	}
	if err != nil {
		x.failed("fix_failed", err)
		return
	}
	x.mended("session_contradiction", row.Rec.Key, why, "it is given up; claw sessions new "+row.Rec.Key+" begins anew")
}
