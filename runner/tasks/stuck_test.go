package tasks_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/runner/clock/clocktest"
	"claw/state"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

// TestCronCap: the newest 2,000 of an automation stay.
func TestCronCap(t *testing.T) {
	w := newWorld(t)
	const n = task.CronKept + 30
	ids := make([]string, n)
	w.update(func(tx *state.Tx) error {
		for i := range n {
			row := cron(fmt.Sprintf("daily@%d", i), task.Succeeded, "")
			row.CreatedAt = noon.Add(time.Duration(i-n) * time.Second)
			row.EndedAt, row.CleanupAfter = row.CreatedAt, noon.Add(week)
			row.ID, row.NotifyPolicy, row.DeliveryStatus, row.ScopeKind = ulid.New(row.CreatedAt), task.Silent, task.DeliveryNotApplicable, task.ScopeSystem
			ids[i] = row.ID
			if err := state.Tasks.Add(tx, row.ID, row); err != nil {
				return err
			}
		}
		return nil
	})
	preview := w.maintain(false)
	r := w.maintain(true)
	if r.Maintenance.Tasks.Pruned != 30 || preview.Maintenance != r.Maintenance {
		t.Errorf("%+v, preview %+v", r.Maintenance, preview.Maintenance)
	}
	if _, ok := w.get(ids[29]); ok {
		t.Error("one too many")
	}
	if _, ok := w.get(ids[30]); !ok {
		t.Error("one too few")
	}
}

// TestManyStuckRows: pains B36 (75307): all of them, in one go, by several at
// once, with one effect.
func TestManyStuckRows(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 60 {
		row := w.add(time.Hour, task.Task{Runtime: "cli", Kind: "exec", RunID: ulid.New(noon.Add(time.Duration(i))), OwnerKey: "agent:main:main", ScopeKind: "session", Status: "running"})
		ids = append(ids, row.ID)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	changed := map[string]int{}
	for range 4 {
		wg.Go(func() {
			r, err := w.Maintain(t.Context(), true)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range r.Changes {
				changed[c.TaskID]++
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if changed[id] != 1 {
			t.Errorf("%s was settled %d times", id, changed[id])
		}
	}
	if n := len(w.events("agent:main:main")); n != 60 {
		t.Errorf("%d events", n)
	}
}

// TestMaintainCrash: wherever it stops, the next one gets to the same end, and
// tells once.
func TestMaintainCrash(t *testing.T) {
	rows := []task.Task{
		{ID: ulid.New(noon), Runtime: "cli", Kind: "exec", RunID: ulid.New(noon), OwnerKey: "agent:main:main", ScopeKind: "session", Status: "running", NotifyPolicy: "silent", DeliveryStatus: "pending", CreatedAt: noon, LastEventAt: noon},
		{ID: ulid.New(noon), Runtime: "cli", ScopeKind: "system", Status: "failed", NotifyPolicy: "silent", DeliveryStatus: "not_applicable", CreatedAt: noon.Add(-30 * day), EndedAt: noon.Add(-30 * day)},
		{ID: ulid.New(noon), Runtime: "cli", ScopeKind: "system", Status: "failed", NotifyPolicy: "silent", DeliveryStatus: "not_applicable", CreatedAt: noon, EndedAt: noon},
	}
	now := clocktest.New(noon.Add(time.Hour))
	flow := func(fs state.FS, dir string) error {
		store, err := state.Open(dir, state.Options{FS: fs, Now: now.Now, Boot: "b"})
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Update(t.Context(), func(tx *state.Tx) error {
			for _, row := range rows {
				if err := state.Tasks.Put(tx, row.ID, 0, row); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		_, err = keeper(store, now).Maintain(t.Context(), true)
		return err
	}
	verify := func(dir string) error {
		store, err := state.Open(dir, state.Options{FS: statetest.Fast(dir), Now: now.Now, Boot: "c"})
		if err != nil {
			return err
		}
		defer store.Close()
		k := keeper(store, now)
		if _, err := k.Maintain(t.Context(), true); err != nil {
			return err
		}
		return store.View(func(tx *state.Tx) error {
			left, err := state.Tasks.All(tx)
			events, err2 := state.Events.All(tx)
			if err := errors.Join(err, err2); err != nil || len(left) == 0 && len(events) == 0 {
				return err // it stopped before the rows were there
			}
			var got []string
			for _, r := range left {
				got = append(got, string(r.Rec.Status))
			}
			slices.Sort(got)
			if want := []string{"failed", "lost"}; !cmp.Equal(want, got) || len(events) != 1 {
				return fmt.Errorf("%v, %d events", got, len(events))
			}
			return nil
		})
	}
	statetest.Crash(t, flow, verify)
}
