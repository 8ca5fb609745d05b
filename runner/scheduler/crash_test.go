package scheduler_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/statetest"
)

// at opens a directory as another program would.
func at(t testing.TB, clock *clocktest.Fake, dir string, fs state.FS) (*world, error) {
	store, err := state.Open(dir, state.Options{FS: fs, Now: clock.Now})
	if err != nil {
		return nil, err
	}
	w := &world{t: t, clock: clock, dir: t.TempDir()}
	w.open(store)
	return w, nil
}

// everyMinute is a job as Add takes it.
func everyMinute(name string, payload automation.Payload) automation.Automation {
	return automation.Automation{
		Name: name, Enabled: true, Schedule: automation.Schedule{Kind: automation.KindEvery, EveryMs: 60000}, Payload: payload,
	}
}

// begin is what Launch does before a command runs, and conclude what its
// supervisor does at the end.
func begin(w *world, r automation.Run) error {
	return w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		p := process.Process{ID: r.Owner.ProcessID, Slug: "tide-orbit", Phase: process.Running, Background: true, RunID: r.ID, Argv: []string{"true"}, CreatedAt: tx.Now(), StartedAt: tx.Now()}
		if err := settle.AddTask(tx, &p); err != nil {
			return err
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
}

func conclude(w *world, id string) error {
	code := 0
	return w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		_, err := settle.Conclude(tx, id, settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: tx.Now()})
		return err
	})
}

// Wherever the machine stops between the claim of a slot and the end of its
// run, the slot has one record in the end, its command was begun once at most,
// and a reminder was queued once.
func TestCrash(t *testing.T) {
	var promised struct {
		begun bool // Launch's row is on disk, so the command may have run
		id    string
	}
	flow := func(fs state.FS, dir string) error {
		promised.begun, promised.id = false, ""
		clock := clocktest.New(noon)
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		for _, a := range []automation.Automation{
			everyMinute("job", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}}),
			everyMinute("oven", automation.Payload{Kind: automation.PayloadEvent, Text: "look at the oven"}),
		} {
			if _, _, err := w.Add(t.Context(), a); err != nil {
				return err
			}
		}
		clock.Advance(time.Minute)
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			return err
		}
		if len(work.Start) != 1 {
			return fmt.Errorf("%d claims", len(work.Start))
		}
		if err := begin(w, work.Start[0]); err != nil {
			return err
		}
		promised.begun, promised.id = true, work.Start[0].ID
		if err := conclude(w, work.Start[0].Owner.ProcessID); err != nil {
			return err
		}
		_, err = w.Pass(t.Context(), nobody)
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		clock := clocktest.New(noon.Add(time.Minute))
		w, err := at(t, clock, dir, state.OS())
		if err != nil {
			return err
		}
		defer w.Store.Close()
		return recovered(w, promised.begun)
	})
}

// recovered makes the passes of whoever comes next, without a command, and
// looks at what has become of the slot.
func recovered(w *world, begun bool) error {
	autos, starts := len(w.autos()), 0
	for range 3 {
		work, err := w.Pass(w.t.Context(), nobody)
		if err != nil {
			return err
		}
		for _, r := range work.Start {
			starts++
			if err := begin(w, r); err != nil {
				return err
			}
		}
		for _, p := range w.processes() {
			if err := conclude(w, p.ID); err != nil {
				return err
			}
		}
	}
	count := map[string]int{}
	for _, r := range w.runs() {
		if r.Status == automation.Succeeded {
			count[r.Name]++
		} else {
			return fmt.Errorf("a run %+v", r)
		}
	}
	switch {
	case begun && starts > 0:
		return fmt.Errorf("the command was begun again")
	case count["job"] > 1 || count["oven"] > 1 || len(w.events()) > 1 || len(w.processes()) > 1:
		return fmt.Errorf("runs %v, %d events, %d processes", count, len(w.events()), len(w.processes()))
	case autos == 2 && (count["job"] != 1 || count["oven"] != 1 || len(w.events()) != 1):
		return fmt.Errorf("runs %v of two automations, %d events", count, len(w.events()))
	}
	return nil
}

// Ten programs at once, each holding the lock in turn as ticks do, and ten that
// do not even that: a slot is claimed once.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir() + "/state"
	clock := clocktest.New(noon)
	first := statetest.OpenAt(t, dir, state.Options{Now: clock.Now})
	w := &world{t: t, clock: clock, dir: t.TempDir()}
	w.open(first)
	for i := range 5 {
		if _, _, err := w.Add(t.Context(), everyMinute(fmt.Sprint("job", i), automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(time.Minute)
	var mu sync.Mutex
	claimed := map[string]int{}
	var all sync.WaitGroup
	for range 10 {
		other, err := at(t, clock, dir, state.OS())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer other.Store.Close()
			// what another one has claimed counts as in its hands
			work, err := other.Pass(t.Context(), func(string) bool { return true })
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range work.Start {
				claimed[r.ID]++
			}
		})
	}
	all.Wait()
	if len(claimed) != 5 {
		t.Errorf("%d slots were claimed, want 5", len(claimed))
	}
	for id, n := range claimed {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}
