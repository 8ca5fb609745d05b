package state

import "claw/state/session"

// ToolsIn is what may be used by what follows from something that is begun
// within a session now: the tools of the turn that runs there, and in the
// session of an automation always its own. Nil: nothing is said, which is all.
func ToolsIn(tx *Tx, sessionKey string) ([]string, error) {
	row, ok, err := Sessions.Get(tx, sessionKey)
	if err != nil || !ok {
		return nil, err
	}
	limit := row.Rec.Tools.List()
	if row.Rec.Status != session.Running {
		return limit, nil
	}
	turn, _, err := Turns.Find(tx, row.Rec.TurnID)
	if turn.Rec.Kind == session.KindUser {
		return turn.Rec.Tools, err // a person has asked
	}
	return session.Narrow(limit, turn.Rec.Tools), err
}
