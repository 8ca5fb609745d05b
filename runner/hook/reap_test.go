package hook_test

import (
	"testing"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

// TestReap: the session of a hook goes when nothing has happened in it for its
// time, and no sooner; one that is waited for stays.
func TestReap(t *testing.T) {
	w := newWorld(t, "echo done")
	w.Retention = time.Hour
	sessions := func() (n int) {
		err := w.Store.View(func(tx *state.Tx) error {
			rows, err := state.Sessions.All(tx)
			n = len(rows)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	w.accept(mail("1"))
	other := mail("2")
	other.SessionKey = "hook:other"
	w.accept(other)
	w.pass()
	ended := time.Now() // of the turns: agents are real
	waits := mail("3")
	waits.Patient = true
	w.accept(waits)
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{time.Minute, 2}, {2 * time.Hour, 1}, {20 * time.Hour, 1}} {
		if err := w.Reap(t.Context(), latest(ended, w.clock.Now()).Add(step.at)); err != nil {
			t.Fatal(err)
		}
		if got := sessions(); got != step.want {
			t.Errorf("after %v: %d sessions, want %d", step.at, got, step.want)
		}
	}
	if _, err := w.Turns.Run(t.Context(), agent.Request{Agent: "main", SessionKey: "hook:person", Kind: session.KindUser, Reason: "user", Message: "hello", ReplyMode: session.ReplyCaller}); err != nil {
		t.Fatal(err)
	}
	if err := w.Reap(t.Context(), latest(ended, w.clock.Now()).Add(1000*time.Hour)); err != nil || sessions() != 2 {
		t.Error(err, "a person has written in one")
	}
	w.Retention = 0
	w.pass()
	if err := w.Reap(t.Context(), latest(ended, w.clock.Now()).Add(1000*time.Hour)); err != nil || sessions() != 2 {
		t.Error(err, "0 is for ever")
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
