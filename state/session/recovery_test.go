package session_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/session"
)

// later is an instant n milliseconds after at.
func later(n int) time.Time { return at.Add(time.Duration(n) * time.Millisecond) }

func loss(turnID string) session.Loss {
	return session.Loss{SessionID: "S1", TurnID: turnID, Begun: true, Why: "its supervisor died", At: at}
}

// must carry a command out.
func must(t testing.TB, c session.Cycle, no *session.Rejection) session.Cycle {
	t.Helper()
	if no != nil {
		t.Fatalf("rejected: %s (%s)", no.Error(), no.Code)
	}
	return c
}

// interrupted is a cycle of turn T1 that has been dispatched so many times, and
// of none of the attempts is known what it did.
func interrupted(t testing.TB, charged int) session.Cycle {
	t.Helper()
	c, no := session.Cycle{}.Interrupt(loss("T1"))
	c = must(t, c, no)
	for n := 1; n <= charged; n++ {
		id := "R" + string(rune('0'+n))
		c, no = c.Reserve(c.Ticket(), id, n, at)
		c = must(t, c, no)
		c, no = c.End(id, session.AttemptUncertain, "lost again", at)
		c = must(t, c, no)
	}
	return c
}

// cycles are one of each kind.
func cycles(t testing.TB) map[string]session.Cycle {
	t.Helper()
	all := map[string]session.Cycle{"none": {}, "interrupted": interrupted(t, 1), "exhausted": interrupted(t, 3)}
	var no *session.Rejection
	c := interrupted(t, 1)
	c, no = c.Reserve(c.Ticket(), "R2", 2, at)
	all["reserved"] = must(t, c, no)
	c, no = interrupted(t, 1).Claim("S1", "F", at)
	all["foreground"] = must(t, c, no)
	c = all["exhausted"]
	c, no = c.Tombstone(c.Ticket(), at)
	all["tombstoned"] = must(t, c, no)
	c = interrupted(t, 1)
	c, no = c.Close(c.Ticket(), session.EndFailed, "no way on", at)
	all["closed"] = must(t, c, no)
	return all
}

// TestEveryCommandInEveryPhase is the state machine: what each command makes of
// a cycle in each phase. A word with a blank is a phase and the charges;
// "same" is accepted without a change; any other word is the conflict.
func TestEveryCommandInEveryPhase(t *testing.T) {
	type row map[string]string
	commands := map[string]struct {
		do   func(c session.Cycle) (session.Cycle, *session.Rejection)
		want row
	}{
		"mark_interrupted, another turn": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Interrupt(loss("T2")) },
			row{
				"none": "interrupted 0", "interrupted": "interrupted 1", "exhausted": "interrupted 3", "foreground": "interrupted 1",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "interrupted 0",
			},
		},
		"mark_interrupted, the same turn": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Interrupt(loss("T1")) },
			row{
				"none": "interrupted 0", "interrupted": "stale_cycle", "exhausted": "stale_cycle", "foreground": "stale_cycle",
				"reserved": "stale_cycle", "tombstoned": "stale_cycle", "closed": "stale_cycle",
			},
		},
		"mark_interrupted, a new transcript": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.Interrupt(session.Loss{SessionID: "S2", TurnID: "T9", At: at})
			},
			row{
				"none": "interrupted 0", "interrupted": "interrupted 0", "exhausted": "interrupted 0", "foreground": "interrupted 0",
				"reserved": "interrupted 0", "tombstoned": "interrupted 0", "closed": "interrupted 0",
			},
		},
		"prepare_attempt": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.Reserve(c.Ticket(), "R9", c.Charged+1, at)
			},
			row{
				"none": "not_interrupted", "interrupted": "reserved 2", "exhausted": "recovery_exhausted", "foreground": "foreground_active",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "not_interrupted",
			},
		},
		"cancel_reservation": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.End("R2", session.AttemptRefused, "75", at)
			},
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "stale_reservation",
				"reserved": "interrupted 1", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"abandon_reservation": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.End("R2", session.AttemptUncertain, "lost", at)
			},
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "stale_reservation",
				"reserved": "interrupted 2", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"the end of an attempt of before": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.End("R1", session.AttemptAnswered, "", at)
			},
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "stale_reservation",
				"reserved": "stale_reservation", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"claim_foreground": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Claim("S1", "G", at) },
			row{
				"none": "same", "interrupted": "interrupted 1", "exhausted": "recovery_exhausted", "foreground": "foreground_active",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "same",
			},
		},
		"claim_foreground in a new transcript": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Claim("S2", "G", at) },
			row{
				"none": "same", "interrupted": "same", "exhausted": "same", "foreground": "same",
				"reserved": "same", "tombstoned": "same", "closed": "same",
			},
		},
		"release_foreground, done": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Release("F", true, at) },
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "closed 1",
				"reserved": "stale_reservation", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"release_foreground, not done": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Release("F", false, at) },
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "interrupted 1",
				"reserved": "stale_reservation", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"release_foreground by another": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Release("", true, at) },
			row{
				"none": "stale_reservation", "interrupted": "stale_reservation", "exhausted": "stale_reservation", "foreground": "stale_reservation",
				"reserved": "stale_reservation", "tombstoned": "stale_reservation", "closed": "stale_reservation",
			},
		},
		"tombstone": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Tombstone(c.Ticket(), at) },
			row{
				"none": "not_interrupted", "interrupted": "attempts_left", "exhausted": "tombstoned 3", "foreground": "foreground_active",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "not_interrupted",
			},
		},
		"fail_recovery": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) {
				return c.Close(c.Ticket(), session.EndFailed, "unsafe", at)
			},
			row{
				"none": "not_interrupted", "interrupted": "closed 1", "exhausted": "closed 3", "foreground": "foreground_active",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "not_interrupted",
			},
		},
		"retry": {
			func(c session.Cycle) (session.Cycle, *session.Rejection) { return c.Retry(at) },
			row{
				"none": "not_interrupted", "interrupted": "interrupted 1", "exhausted": "recovery_exhausted", "foreground": "foreground_active",
				"reserved": "reservation_active", "tombstoned": "already_tombstoned", "closed": "not_interrupted",
			},
		},
	}
	all := cycles(t)
	for name, command := range commands {
		for phase, c := range all {
			t.Run(name+"/"+phase, func(t *testing.T) {
				after, no := command.do(c)
				got := string(after.Phase) + " " + string(rune('0'+after.Charged))
				switch {
				case no != nil:
					got = string(no.Code)
					if after != c {
						t.Errorf("a rejection has changed %+v to %+v", c, after)
					}
				case after == c:
					got = "same"
				case after.ID == c.ID && after.Revision != c.Revision+1, after.ID != c.ID && after.Revision != 1:
					t.Errorf("revision %d after %d", after.Revision, c.Revision)
				}
				if want := command.want[phase]; got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if err := after.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestTicket: what was decided about an older state is not carried out, and the
// reason is the first that fits (spec/tasks-recovery.md 4.4).
func TestTicket(t *testing.T) {
	c := interrupted(t, 1)
	for _, tt := range []struct {
		name string
		seen session.Ticket
		want session.Conflict
	}{
		{"as it is", c.Ticket(), ""},
		{"another transcript", session.Ticket{SessionID: "S2", CycleID: "X", Revision: 9}, session.ConflictSessionReplaced},
		{"another cycle", session.Ticket{SessionID: "S1", CycleID: "X", Revision: 9}, session.ConflictStaleCycle},
		{"an older revision", session.Ticket{SessionID: "S1", CycleID: "T1", Revision: c.Revision - 1}, session.ConflictStaleRevision},
		{"a newer revision", session.Ticket{SessionID: "S1", CycleID: "T1", Revision: c.Revision + 1}, session.ConflictStaleRevision},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exhausted := interrupted(t, 3)
			seen := tt.seen
			if tt.want == "" || tt.want == session.ConflictStaleRevision {
				seen.Revision += exhausted.Revision - c.Revision
			}
			_, no1 := c.Reserve(tt.seen, "R2", 2, at)
			_, no2 := c.Close(tt.seen, session.EndDismissed, "", at)
			_, no3 := exhausted.Tombstone(seen, at)
			for _, no := range []*session.Rejection{no1, no2, no3} {
				if code := codeOf(no); code != tt.want {
					t.Errorf("%q, want %q", code, tt.want)
				}
			}
		})
	}
	for _, attempt := range []int{0, 1, 3, -1} {
		if _, no := c.Reserve(c.Ticket(), "R2", attempt, at); codeOf(no) != session.ConflictStaleRevision {
			t.Errorf("attempt %d after one charge: %q", attempt, codeOf(no))
		}
	}
}

func codeOf(no *session.Rejection) session.Conflict {
	if no == nil {
		return ""
	}
	return no.Code
}

// TestBudget: spec/tasks-recovery.md 4.5 and 9.7. Three dispatches whose
// outcome nobody knows; the fourth observation tombstones.
func TestBudget(t *testing.T) {
	c, no := session.Cycle{}.Interrupt(loss("T1"))
	c = must(t, c, no)
	here := session.Sighting{SessionID: "S1"}
	now := at
	for n, wait := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		var v session.View
		c, v = c.Observe(here, now)
		if v.State != session.ViewRecoverable || v.NextAttempt != n+1 || !v.Due(now) {
			t.Fatalf("observation %d: %+v", n+1, v)
		}
		c, no = c.Reserve(v.Ticket, "R"+string(rune('1'+n)), v.NextAttempt, now)
		c = must(t, c, no)
		if c.DispatchID != "R1" || c.Charged != n+1 {
			t.Errorf("attempt %d: dispatch %s, %d charged", n+1, c.DispatchID, c.Charged)
		}
		c, no = c.End("R"+string(rune('1'+n)), session.AttemptUncertain, "lost", now)
		c = must(t, c, no)
		if n < 2 {
			if v := c.View(here); v.Due(now) || v.Due(now.Add(wait-1)) || !v.Due(now.Add(wait)) {
				t.Errorf("after attempt %d: %+v, want a wait of %v", n+1, v, wait)
			}
		}
		now = now.Add(wait)
	}
	c, v := c.Observe(here, now)
	if v.State != session.ViewExhausted || v.Due(now) || !strings.Contains(v.Reason, "3 attempts") || !strings.Contains(v.Reason, "claw sessions new") {
		t.Fatalf("the fourth observation: %+v", v)
	}
	c, no = c.Tombstone(v.Ticket, now)
	c = must(t, c, no)
	if v := c.View(here); v.State != session.ViewTombstoned || !strings.Contains(v.Reason, "3 attempts") || !strings.Contains(v.Reason, "claw sessions new") {
		t.Errorf("%+v", v)
	}
	if v := c.View(session.Sighting{SessionID: "S2"}); v.State != session.ViewInactive {
		t.Errorf("beyond the tombstone: %+v", v)
	}
}

// TestAttemptEnds: an agent that says no costs nothing, one that claw never came to
// start does (spec/tasks-recovery.md 4.5, 9.7).
func TestAttemptEnds(t *testing.T) {
	for how, want := range map[session.AttemptEnd]struct {
		phase  session.Phase
		ending session.Ending
		charge int
		begun  bool
		wait   time.Duration
	}{
		session.AttemptAnswered:  {session.CycleClosed, session.EndCompleted, 1, false, 0},
		session.AttemptRefused:   {session.CycleInterrupted, "", 0, false, time.Minute},
		session.AttemptUncertain: {session.CycleInterrupted, "", 1, true, 5 * time.Second},
		session.AttemptUnstarted: {session.CycleInterrupted, "", 1, false, 5 * time.Second},
		session.AttemptBroke:     {session.CycleClosed, session.EndFailed, 1, true, 0},
		session.AttemptStopped:   {session.CycleClosed, session.EndCancelled, 1, true, 0},
	} {
		t.Run(string(how), func(t *testing.T) {
			l := loss("T1")
			l.Begun = false
			c, no := session.Cycle{}.Interrupt(l)
			c = must(t, c, no)
			c, no = c.Reserve(c.Ticket(), "R1", 1, at)
			c = must(t, c, no)
			c, no = c.End("R1", how, "why", later(1000))
			c = must(t, c, no)
			if c.Phase != want.phase || c.Ending != want.ending || c.Charged != want.charge || c.Reason != "why" {
				t.Errorf("%+v", c)
			}
			if c.Phase == session.CycleInterrupted && (c.Begun != want.begun || !c.NotBefore.Equal(later(1000).Add(want.wait))) {
				t.Errorf("begun %v, not before %v", c.Begun, c.NotBefore)
			}
			if (c.Phase == session.CycleClosed) == c.EndedAt.IsZero() {
				t.Errorf("ended at %v", c.EndedAt)
			}
			if _, no := c.End("R1", how, "again", later(2000)); codeOf(no) != session.ConflictStaleReservation {
				t.Errorf("a second end: %q", codeOf(no))
			}
		})
	}
}

// An agent that refuses for an hour is not asked for ever; one that has done
// something in between begins anew.
func TestRefusalsAreBounded(t *testing.T) {
	c, no := session.Cycle{}.Interrupt(loss("T1"))
	c = must(t, c, no)
	ready := session.Evidence{Tail: session.TailUser, ReadOnly: true}
	now := at
	refuse := func(how session.AttemptEnd) {
		c, no = c.Reserve(c.Ticket(), "R"+now.String(), c.Charged+1, now)
		c = must(t, c, no)
		c, no = c.End("R"+now.String(), how, "no", now)
		c = must(t, c, no)
	}
	for range 50 { // within the budget for ever, were they charged it would be over
		refuse(session.AttemptRefused)
		now = c.NotBefore
	}
	if c.Charged != 0 || session.Judge(c, ready, now).Step != session.StepContinue {
		t.Fatalf("after 50 minutes: %+v, %+v", c, session.Judge(c, ready, now))
	}
	if v := session.Judge(c, ready, at.Add(time.Hour-1)); v.Step != session.StepContinue {
		t.Errorf("just before an hour: %+v", v)
	}
	if v := session.Judge(c, ready, at.Add(time.Hour)); v.Step != session.StepResend {
		t.Errorf("after an hour: %+v", v)
	}
	refuse(session.AttemptUncertain)
	if v := session.Judge(c, ready, at.Add(time.Hour)); v.Step != session.StepContinue {
		t.Errorf("it has accepted something meanwhile: %+v", v)
	}
}

// A person need not wait for the next attempt, and gets none beyond the budget.
func TestRetryNow(t *testing.T) {
	c := interrupted(t, 1)
	c, no := c.Reserve(c.Ticket(), "R2", 2, at)
	c = must(t, c, no)
	c, no = c.End("R2", session.AttemptRefused, "75", at)
	c = must(t, c, no)
	retried, no := c.Retry(later(1))
	retried = must(t, retried, no)
	if v := retried.View(session.Sighting{SessionID: "S1"}); !v.Due(later(1)) || v.NextAttempt != 2 || !retried.RefusedSince.IsZero() {
		t.Errorf("%+v, %+v", v, retried)
	}
}

// A person's turn in a session with something to continue: recovery waits, and
// what the cycle was about is not taken up again once the talk has gone on.
func TestForeground(t *testing.T) {
	here := session.Sighting{SessionID: "S1"}
	c, no := interrupted(t, 1).Claim("S1", "F", at)
	c = must(t, c, no)
	again, no := c.Claim("S1", "F", later(1))
	if must(t, again, no) != c {
		t.Errorf("claimed again: %+v", again)
	}
	if v := c.View(here); v.State != session.ViewBlocked || v.Leftover {
		t.Errorf("%+v", v)
	}
	if c, v := c.Observe(session.Sighting{SessionID: "S1", Owner: session.OwnerAlive}, later(1)); v.State != session.ViewBlocked || c.Foreground != "F" {
		t.Errorf("alive: %+v, %+v", c, v)
	}
	gone, v := c.Observe(session.Sighting{SessionID: "S1", Owner: session.OwnerGone}, later(1))
	if v.State != session.ViewRecoverable || gone.Foreground != "" || !v.NotBefore.Equal(later(5001)) || gone.Charged != 1 {
		t.Errorf("gone: %+v, %+v", gone, v)
	}
	lost, no := c.Interrupt(session.Loss{SessionID: "S1", TurnID: "F", Why: "lost", At: later(2)})
	if lost = must(t, lost, no); lost.SourceTurnID != "F" || lost.ID != "T1" || lost.Charged != 1 || lost.Foreground != "" || lost.DispatchID != "R1" || !lost.Begun {
		t.Errorf("cut off itself: %+v", lost)
	}
}

// TestObserveReleases: an attempt whose turn is gone keeps its charge, and what
// is not known is not gone.
func TestObserveReleases(t *testing.T) {
	reserved := cycles(t)["reserved"]
	for owner, want := range map[session.Owner]session.ViewState{
		session.OwnerUnknown: session.ViewBlocked, session.OwnerAlive: session.ViewBlocked, session.OwnerGone: session.ViewRecoverable,
	} {
		c, v := reserved.Observe(session.Sighting{SessionID: "S1", Owner: owner}, later(1))
		if v.State != want || c.Charged != 2 || (c == reserved) != (owner != session.OwnerGone) {
			t.Errorf("%q: %+v, %+v", owner, v, c)
		}
		if again, v2 := c.Observe(session.Sighting{SessionID: "S1", Owner: owner}, later(2)); again != c || v2 != v {
			t.Errorf("%q, seen again: %+v, %+v", owner, again, v2)
		}
	}
	if c, v := reserved.Observe(session.Sighting{SessionID: "S2", Owner: session.OwnerGone}, later(1)); c != reserved || v.State != session.ViewInactive {
		t.Errorf("another transcript: %+v, %+v", c, v)
	}
}

// TestAdmits: who may begin a turn. With a leftover the cycle waits, and a
// person need not.
func TestAdmits(t *testing.T) {
	all := cycles(t)
	wakes := []session.Kind{session.KindHeartbeat, session.KindExec, session.KindCron, session.KindEvent, session.KindHook}
	for name, want := range map[string]struct {
		state                    session.ViewState
		user, recovery, byItself bool
	}{
		"none":        {session.ViewInactive, true, false, true},
		"closed":      {session.ViewInactive, true, false, true},
		"interrupted": {session.ViewRecoverable, true, true, false},
		"reserved":    {session.ViewBlocked, false, false, false},
		"foreground":  {session.ViewBlocked, false, false, false},
		"exhausted":   {session.ViewExhausted, false, false, false},
		"tombstoned":  {session.ViewTombstoned, false, false, false},
	} {
		v := all[name].View(session.Sighting{SessionID: all[name].SessionID})
		if v.State != want.state || v.Admits(session.KindUser) != want.user || v.Admits(session.KindRecovery) != want.recovery {
			t.Errorf("%s: %+v: user %v, recovery %v", name, v, v.Admits(session.KindUser), v.Admits(session.KindRecovery))
		}
		for _, k := range wakes {
			if v.Admits(k) != want.byItself {
				t.Errorf("%s: %s %v", name, k, v.Admits(k))
			}
		}
		if _, no := all[name].Claim("S1", "G", at); (no == nil) != want.user {
			t.Errorf("%s: a claim is %v, the view says %v", name, no == nil, want.user)
		}
	}
	v := all["interrupted"].View(session.Sighting{SessionID: "S1", Leftover: true})
	if v.State != session.ViewBlocked || !v.Admits(session.KindUser) || v.Admits(session.KindRecovery) || v.Admits(session.KindExec) {
		t.Errorf("leftover: %+v", v)
	}
	if v := all["exhausted"].View(session.Sighting{SessionID: "S1", Leftover: true}); v.State != session.ViewExhausted {
		t.Errorf("exhausted with a leftover: %+v", v)
	}
}

// A clock that was set back does not make an attempt wait for hours.
func TestAWaitIsNeverLongerThanAMinute(t *testing.T) {
	c := interrupted(t, 2)
	v := c.View(session.Sighting{SessionID: "S1"})
	if !v.Due(c.NotBefore.Add(-3*time.Hour)) || v.Due(c.NotBefore.Add(-time.Minute)) {
		t.Errorf("%+v", v)
	}
}

// TestRejectionsSayWhatToDo: every conflict has a sentence; what only a new
// conversation gets over names it.
func TestRejectionsSayWhatToDo(t *testing.T) {
	for _, code := range []session.Conflict{
		session.ConflictSessionReplaced, session.ConflictStaleCycle, session.ConflictStaleRevision, session.ConflictNotInterrupted,
		session.ConflictTombstoned, session.ConflictReservationActive, session.ConflictStaleReservation, session.ConflictForegroundActive,
		session.ConflictExhausted, session.ConflictAttemptsLeft,
	} {
		no := &session.Rejection{Command: "observe", Code: code}
		if strings.Contains(no.Error(), string(code)) || !strings.HasPrefix(no.Error(), "observe: ") {
			t.Errorf("%s: %q", code, no.Error())
		}
		beyond := code == session.ConflictTombstoned || code == session.ConflictExhausted
		if strings.Contains(no.Remedy(), "claw sessions new") != beyond {
			t.Errorf("%s: %q", code, no.Remedy())
		}
	}
}
