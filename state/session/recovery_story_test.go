package session_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"claw/state/session"
)

// TestNobodyIsForgotten: every turn that is cut off is continued to its end, or
// somebody is told of it, or it still waits. The store is what a runner would
// keep: the cycle, and whom it has told.
func TestNobodyIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c session.Cycle
		id, serial := "S1", 0
		owed := map[string]bool{}
		over := func() { // whoever ends a cycle asks what it owes
			if c.Phase == session.CycleTombstoned || c.Phase == session.CycleClosed {
				if owed[c.SourceTurnID] && c.Ending != session.EndCompleted && c.Owes(true) == session.NoticeNone {
					t.Fatalf("%+v ends, and nobody is told", c)
				}
				delete(owed, c.SourceTurnID)
			}
		}
		finishes := []session.Finish{
			{Status: session.TurnSucceeded},
			{Status: session.TurnLost},
			{Status: session.TurnFailed},
			{Status: session.TurnFailed, Signalled: true},
			{Status: session.TurnFailed, Stopped: true},
			{Status: session.TurnTimedOut},
			{Status: session.TurnNotAccepted},
			{Status: session.TurnNotAccepted, Died: true},
		}
		for range rapid.IntRange(1, 40).Draw(t, "turns") {
			serial++
			turn := session.Turn{ID: "T" + strconv.Itoa(serial), SessionKey: "agent:main:main", SessionID: id, Kind: session.KindUser, EndedAt: at}
			v := c.View(session.Sighting{SessionID: id})
			var no *session.Rejection
			switch what := rapid.SampledFrom([]string{"write", "write", "attempt", "attempt", "give up", "close", "renew"}).Draw(t, "what"); {
			case what == "attempt" && v.Admits(session.KindRecovery):
				turn.Kind = session.KindRecovery
				c, no = c.Reserve(v.Ticket, turn.ID, v.NextAttempt, at)
			case what == "write" && v.Admits(session.KindUser):
				c, no = c.Claim(id, turn.ID, at)
				if rapid.IntRange(0, 9).Draw(t, "new transcript") == 0 {
					id = "S" + turn.ID
					turn.SessionID = id
				}
			case what == "give up" && v.State == session.ViewExhausted:
				if c, no = c.Tombstone(v.Ticket, at); no != nil {
					t.Fatal(no)
				}
				over()
				continue
			case what == "close" || what == "renew":
				if v.State == session.ViewRecoverable || v.State == session.ViewExhausted {
					if c, no = c.Close(v.Ticket, session.EndDismissed, "", at); no != nil {
						t.Fatal(no)
					}
					over()
				}
				if what == "renew" {
					s := session.Session{ID: id, Recovery: c}.Renewed("S"+turn.ID, at)
					id, c = s.ID, s.Recovery
				}
				continue
			default:
				continue
			}
			if no != nil {
				t.Fatalf("admitted, and then rejected: %s", no.Error())
			}
			f := rapid.SampledFrom(finishes).Draw(t, "end")
			if session.KeeperOf(turn, f) == session.KeptByCycle && turn.Kind != session.KindRecovery {
				owed[turn.ID] = true
			}
			var dropped string
			if c, dropped = c.AfterTurn(turn, f); dropped != "" {
				delete(owed, dropped)
			}
			over()
			waits := c.Phase == session.CycleInterrupted || c.Phase == session.CycleReserved
			for turn := range owed {
				if !waits || c.SourceTurnID != turn || c.SessionID != id {
					t.Fatalf("turn %s is forgotten: %+v in transcript %s", turn, c, id)
				}
			}
		}
	})
}
