//go:build linux

package main_test

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"claw/state/event"
	conversation "claw/state/session"
)

// A turn was cut off, and whoever goes on with it dies as well, at each place
// on the way (issue 5 section 3, spec/tasks-recovery.md 9.6 and 9.7): it comes
// to one answer, the ordinary argv never runs again, and no more than three
// attempts are made.
func TestRecoverTickKilled(t *testing.T) {
	t.Parallel()
	for _, point := range append(append([]string{"recovery-begun", "captured:panic", "child-exited:panic"}, turnPoints...), supervisorPoints...) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWakes(t, "main")
			w.file("die-main", "")
			w.must("event", "send", "--mode", "now", "fact-1")
			if r := w.claw("agent", "send", "hello"); r.code != 1 {
				t.Fatalf("the agent was not cut off: exit %d\n%s", r.code, r.err)
			}
			source := w.rows().turns[0]
			r := w.with("CLAW_FAILPOINT="+point).claw("heartbeat", "tick")
			if (point == "recovery-begun" || slices.Contains(turnPoints, point)) && r.signal != unix.SIGKILL {
				t.Errorf("the tick did not die: exit %d\n%s", r.code, r.err)
			}
			w.quiet()
			w.sound(point)
			got := w.rows()
			if n := len(w.told(source.ID)); n != 1 {
				t.Errorf("the ordinary argv ran %d times", n)
			}
			answered := 0
			for _, x := range got.turns {
				if x.Kind == conversation.KindRecovery && x.Status == conversation.TurnSucceeded {
					answered++
				}
			}
			c := got.sessions[0].Recovery
			if answered != 1 || c.Ending != conversation.EndCompleted || got.events[0].State != event.Consumed || len(got.deliveries) != 1 {
				t.Errorf("%d answers, cycle %+v, event %s, %d messages", answered, c, got.events[0].State, len(got.deliveries))
			}
		})
	}
}

// The end of a cycle without a turn is one transaction with the notice: a tick
// that dies after it has told nobody twice, and one that dies before it nobody
// at all.
func TestRecoverMoveKilled(t *testing.T) {
	t.Parallel()
	w := newWakes(t, "main")
	w.config(withoutRecover(w.toml))
	w.file("die-main", "")
	if r := w.claw("agent", "send", "hello"); r.code != 1 {
		t.Fatalf("the agent was not cut off: exit %d", r.code)
	}
	if r := w.with("CLAW_FAILPOINT=recovery-moved").claw("heartbeat", "tick"); r.signal != unix.SIGKILL {
		t.Errorf("the tick did not die: exit %d\n%s", r.code, r.err)
	}
	w.quiet()
	w.sound("recovery-moved")
	if got := w.rows(); len(got.turns) != 1 || len(w.sent()) != 1 || got.sessions[0].Recovery.Ending != conversation.EndFailed {
		t.Errorf("turns %+v, sent %v, cycle %+v", got.turns, w.sentLines(), got.sessions[0].Recovery)
	}
}
