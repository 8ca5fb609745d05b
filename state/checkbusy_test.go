package state_test

import (
	"testing"

	"claw/state"
	"claw/state/statetest"
)

// Whoever looks while another program writes must not cry wolf: a transaction
// that is half in the ledgers is no damage.
func TestCheckWhileOthersWrite(t *testing.T) {
	s := statetest.Open(t)
	other := statetest.OpenAt(t, s.Dir(), state.Options{})
	notes := state.Named[map[string]int]("notes")
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for n := 1; err == nil; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err = other.Update(t.Context(), func(tx *state.Tx) error {
				row, _, err := notes.Get(tx, "n")
				if err != nil {
					return err
				}
				return notes.Put(tx, "n", row.Rev, map[string]int{"n": n})
			})
		}
		done <- err
	}()
	for range 200 {
		problems, err := s.Check()
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %+v", err, problems)
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
