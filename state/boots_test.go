package state_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"claw/state"
	"claw/state/boot"
	"claw/state/statetest"
)

// A runner that has been alive for a year is the newest boot, and stays; of
// those before it twenty rows are kept in all, ended or not.
func TestBootsKept(t *testing.T) {
	now := epoch
	s := statetest.OpenAt(t, t.TempDir()+"/s", state.Options{Now: func() time.Time { return now }})
	for n := range 30 {
		id := ulid(epoch, n)
		b := boot.Boot{ID: id, StartedAt: epoch.Add(time.Duration(n) * time.Minute)}
		if n%2 == 0 {
			b.Outcome, b.CompletedAt = boot.CleanStop, b.StartedAt
		}
		update(t, s, func(tx *state.Tx) error { return state.Boots.Put(tx, id, 0, b) })
	}
	now = epoch.AddDate(1, 0, 0)
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *state.Tx) error {
		if live, old := count(t, tx, state.Boots), archivedCount(t, tx, state.Boots); live != 20 || old != 10 {
			t.Errorf("%d are live and %d archived", live, old)
		}
		_, alive, err1 := state.Boots.Get(tx, ulid(epoch, 29))
		_, oldest, err2 := state.Boots.Get(tx, ulid(epoch, 0))
		if !alive || oldest {
			t.Errorf("the newest is live: %v; the oldest: %v", alive, oldest)
		}
		return errors.Join(err1, err2)
	})
}
