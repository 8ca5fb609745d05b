package recovery

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"claw/runner/resume"
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
	if err != nil || x.Cut == nil {
		return err
	}
	items, err := x.Cut()
	for _, it := range items {
		contradicts := func(row state.Row[session.Session]) bool { return row.ID == it.SessionKey }
		if !slices.ContainsFunc(odd, contradicts) {
			x.cut(it)
		}
	}
	return err
}

// cut is a session in which a turn was cut off, in the words of claw recover.
func (x *exam) cut(it resume.Item) {
	at := "a turn was cut off at " + it.Cycle.InterruptedAt.Local().Format("2006-01-02 15:04")
	switch it.State {
	case session.ViewTombstoned:
		x.add("session_tombstoned", it.SessionKey, "it was given up, and takes no new work: "+firstLine(it.Cycle.Reason), "claw sessions new "+it.SessionKey+" begins a new conversation")
	case session.ViewExhausted:
		x.add("recovery_waiting", it.SessionKey, at+"; all attempts were, too, and it is to be given up", "claw sessions new "+it.SessionKey+" begins a new conversation")
	case session.ViewBlocked:
		x.add("recovery_waiting", it.SessionKey, at+"; "+it.Why, cmp.Or(it.Remedy, "claw recover list shows it"))
	case session.ViewRecoverable:
		x.add("recovery_waiting", it.SessionKey, at+" and is to be seen to", "claw heartbeat tick does that; claw recover scan says how")
	}
}

func (x *exam) session(s session.Session) (found []Finding) {
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
