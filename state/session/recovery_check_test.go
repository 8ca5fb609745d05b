package session_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/session"
)

// TestCycleInARow: the names of spec/tasks-recovery.md 4.4, and a row without
// recovery is as it was before there was any.
func TestCycleInARow(t *testing.T) {
	raw, err := json.Marshal(session.Session{Key: "agent:main:main"})
	if err != nil || json.Unmarshal(raw, &map[string]any{}) != nil {
		t.Fatal(string(raw), err)
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields); fields["recovery"] != nil || fields["subagentRecovery"] != nil {
		t.Errorf("%s", raw)
	}
	for name, c := range cycles(t) {
		raw, err := json.Marshal(session.Session{Recovery: c})
		if err != nil {
			t.Fatal(err)
		}
		var back session.Session
		if err := json.Unmarshal(raw, &back); err != nil || back.Recovery != c {
			t.Errorf("%s: %s: %+v, %v", name, raw, back.Recovery, err)
		}
	}
	raw, _ = json.Marshal(cycles(t)["reserved"])
	json.Unmarshal(raw, &fields)
	if diff := cmp.Diff([]any{"T1", 4.0, 2.0, map[string]any{"turnId": "R2", "attempt": 2.0}},
		[]any{fields["cycleId"], fields["revision"], fields["chargedAttempts"], fields["reservation"]}); diff != "" {
		t.Error(diff)
	}
}

// TestCheck: a record that cannot be is told, and nothing is decided by it.
func TestCheck(t *testing.T) {
	all := cycles(t)
	for name, c := range all {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := func(name string, change func(*session.Cycle)) session.Cycle {
		c := all[name]
		change(&c)
		return c
	}
	for name, c := range map[string]session.Cycle{
		"no phase":                      broken("interrupted", func(c *session.Cycle) { c.Phase = "" }),
		"an unknown phase":              broken("interrupted", func(c *session.Cycle) { c.Phase = "asleep" }),
		"no id":                         broken("interrupted", func(c *session.Cycle) { c.ID = "" }),
		"no transcript":                 broken("interrupted", func(c *session.Cycle) { c.SessionID = "" }),
		"no source":                     broken("interrupted", func(c *session.Cycle) { c.SourceTurnID = "" }),
		"no revision":                   broken("interrupted", func(c *session.Cycle) { c.Revision = 0 }),
		"a negative charge":             broken("interrupted", func(c *session.Cycle) { c.Charged = -1 }),
		"four charges":                  broken("exhausted", func(c *session.Cycle) { c.Charged = 4 }),
		"charged without a dispatch":    broken("interrupted", func(c *session.Cycle) { c.DispatchID = "" }),
		"reserved by nobody":            broken("reserved", func(c *session.Cycle) { c.Reservation = session.Reservation{} }),
		"reserved, not charged":         broken("reserved", func(c *session.Cycle) { c.Charged = 1 }),
		"a reservation left over":       broken("interrupted", func(c *session.Cycle) { c.Reservation.TurnID = "R9" }),
		"a claim of what is given up":   broken("tombstoned", func(c *session.Cycle) { c.Foreground = "F" }),
		"closed without an end":         broken("closed", func(c *session.Cycle) { c.Ending = "" }),
		"an end of what is still open":  broken("interrupted", func(c *session.Cycle) { c.Ending = session.EndFailed }),
		"a tombstone over an open turn": broken("tombstoned", func(c *session.Cycle) { c.Reservation.TurnID = "R9" }),
	} {
		t.Run(name, func(t *testing.T) {
			if c.Check() == nil {
				t.Fatal("it is taken for a good one")
			}
			if _, no := c.Reserve(c.Ticket(), "R9", c.Charged+1, at); no == nil {
				t.Error("an attempt is made on it")
			}
			if _, no := c.Claim("S1", "F", at); no == nil && c.Phase != session.CycleClosed && c.SessionID != "" {
				t.Error("somebody works on it")
			}
			if seen, _ := c.Observe(session.Sighting{SessionID: "S1", Owner: session.OwnerGone}, later(1)); seen != c {
				t.Errorf("looking at it has made it %+v", seen)
			}
			s := session.Session{Key: "agent:main:main", ID: "S1", Status: session.Interrupted, Recovery: c}
			if s.Contradiction() == "" {
				t.Error("doctor does not see it")
			}
			m := s.Mended(at)
			if m.Recovery.Phase != session.CycleTombstoned || m.Status != session.Failed || m.Contradiction() != "" {
				t.Errorf("mended: %+v", m)
			}
		})
	}
}

// TestMended: doctor --fix clears a contradictory flag and never makes a
// tombstoned cycle active again (spec/tasks-recovery.md 4.7, 4.12).
func TestMended(t *testing.T) {
	all := cycles(t)
	for _, tt := range []struct {
		name    string
		s       session.Session
		mended  bool
		status  session.Status
		contras bool
	}{
		{"tombstoned and interrupted", session.Session{ID: "S1", Status: session.Interrupted, Recovery: all["tombstoned"]}, true, session.Failed, true},
		{"tombstoned and running", session.Session{ID: "S1", Status: session.Running, Recovery: all["tombstoned"]}, true, session.Failed, true},
		{"tombstoned and failed", session.Session{ID: "S1", Status: session.Failed, Recovery: all["tombstoned"]}, false, session.Failed, false},
		{"a new conversation beyond a tombstone", session.Session{ID: "S2", Status: session.Running, Recovery: all["tombstoned"]}, false, session.Running, false},
		{"it waits", session.Session{ID: "S1", Status: session.Interrupted, Recovery: all["interrupted"]}, false, session.Interrupted, false},
		{"an end that nobody sees to by a cycle", session.Session{ID: "S1", Status: session.Interrupted, Recovery: all["closed"]}, false, session.Interrupted, false},
		{"nothing was ever cut off", session.Session{ID: "S1", Status: session.Interrupted}, false, session.Interrupted, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.s.Mended(later(1))
			if (tt.s.Contradiction() != "") != tt.contras || (got != tt.s) != tt.mended || got.Status != tt.status || got.Recovery != tt.s.Recovery {
				t.Errorf("%q: %+v", tt.s.Contradiction(), got)
			}
			if again := got.Mended(later(2)); again != got {
				t.Errorf("mended twice: %+v", again)
			}
		})
	}
}

// TestWithCycle: the status of a session follows from its cycle where no turn
// says it.
func TestWithCycle(t *testing.T) {
	all := cycles(t)
	ended := func(e session.Ending) session.Cycle {
		c, no := interrupted(t, 1).Close(interrupted(t, 1).Ticket(), e, "", at)
		return must(t, c, no)
	}
	for _, tt := range []struct {
		name     string
		c        session.Cycle
		was, now session.Status
	}{
		{"interrupted", all["interrupted"], session.Running, session.Interrupted},
		{"somebody works in it", all["foreground"], session.Running, session.Running},
		{"an attempt is at work", all["reserved"], session.Running, session.Running},
		{"tombstoned", all["tombstoned"], session.Interrupted, session.Failed},
		{"complete without an attempt", ended(session.EndCompleted), session.Interrupted, session.Done},
		{"complete by an attempt that has said so", ended(session.EndCompleted), session.Done, session.Done},
		{"failed", ended(session.EndFailed), session.Interrupted, session.Failed},
		{"dismissed", ended(session.EndDismissed), session.Interrupted, session.Failed},
		{"somebody went on", ended(session.EndSuperseded), session.Done, session.Done},
	} {
		s := session.Session{ID: "S1", Status: tt.was}.WithCycle(tt.c, later(1))
		if s.Status != tt.now || s.Recovery != tt.c || s.EndedAt.IsZero() == (tt.was != tt.now && tt.now != session.Interrupted) {
			t.Errorf("%s: %s, ended %v; want %s", tt.name, s.Status, s.EndedAt, tt.now)
		}
	}
}

// FuzzCycle reads a row from anywhere: no command makes of a record that
// cannot be one that goes on, and mending it ends in a tombstone or changes
// nothing.
func FuzzCycle(f *testing.F) {
	for _, c := range cycles(f) {
		raw, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, "S1")
	}
	f.Add([]byte(`{"cycleId":"x","revision":-9223372036854775808,"chargedAttempts":-7,"phase":"reserved"}`), "")
	f.Fuzz(func(t *testing.T, raw []byte, sessionID string) {
		var c session.Cycle
		if json.Unmarshal(raw, &c) != nil {
			return
		}
		bad := c.Check() != nil
		v := c.View(session.Sighting{SessionID: sessionID})
		if bad && v.State != session.ViewInactive && v.State != session.ViewBlocked && v.State != session.ViewTombstoned {
			t.Errorf("%+v is taken for %s", c, v.State)
		}
		if v.NextAttempt > session.Budget {
			t.Errorf("attempt %d", v.NextAttempt)
		}
		if after, no := c.Reserve(c.Ticket(), "R", c.Charged+1, at); no == nil && (bad || after.Check() != nil) {
			t.Errorf("%+v was reserved: %+v", c, after)
		}
		s := session.Session{ID: sessionID, Status: session.Interrupted, Recovery: c}
		m := s.Mended(at)
		switch {
		case m.Contradiction() != "":
			t.Errorf("%+v is still contradictory: %s", m, m.Contradiction())
		case m.Mended(later(1)) != m:
			t.Errorf("%+v is mended twice", m)
		case m.Recovery != c && m.Recovery.Phase != session.CycleTombstoned:
			t.Errorf("%+v was mended to go on: %+v", c, m.Recovery)
		case c.Phase == session.CycleTombstoned && m.Recovery.Phase != session.CycleTombstoned:
			t.Errorf("a tombstone is gone: %+v", m.Recovery)
		}
	})
}

// Only a new conversation crosses a tombstone.
func TestRenewed(t *testing.T) {
	s := session.Session{Key: "agent:main:main", ID: "S1", Agent: "main", Status: session.Failed, TurnID: "R3", Turns: 4, StartedAt: at, EndedAt: at, CreatedAt: at, UpdatedAt: at}
	s.Recovery, s.Resumes = cycles(t)["tombstoned"], session.Resumes{}.Accepted("R", at)
	want := session.Session{Key: "agent:main:main", ID: "S2", Agent: "main", Status: session.New, CreatedAt: at, UpdatedAt: later(1)}
	got := s.Renewed("S2", later(1))
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if v := got.Recovery.View(session.Sighting{SessionID: got.ID}); !v.Admits(session.KindUser) || !v.Admits(session.KindHeartbeat) {
		t.Errorf("%+v", v)
	}
}
