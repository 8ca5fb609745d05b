package crash_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"claw/state"
	"claw/state/delivery"
	"claw/state/session"
)

// TestLeftAndFailed: whoever asked was killed, and then the agent failed by itself,
// which is nothing to go on with. He is told, once.
func TestLeftAndFailed(t *testing.T) {
	s := newScene(t)
	s.ok(s.cutOff(func() error { return s.ask("errand-one") }), s.launch("half an answer"))
	open, err := s.open()
	s.ok(err, s.update(func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, open[0].Rec.ProcessID)
		code := 1
		row.Rec.Exit.Code = &code
		return errors.Join(err, state.Processes.Put(tx, row.ID, row.Rev, row.Rec))
	}))
	for range 3 {
		s.after(11 * time.Minute)
	}
	if got := s.now().turns; len(got) != 1 || got[0].Status != session.TurnFailed {
		t.Errorf("%+v", got)
	}
	if got := s.sent("errand-one"); len(got) != 1 || got[0].State != delivery.Delivered || !strings.Contains(got[0].Text, "has not answered (the agent failed with exit code 1") {
		t.Errorf("%+v", got)
	}
}
