package retention_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/retention"
	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/ulid"
)

// made puts the folder of a process born at at, with size bytes of output.
func made(t *testing.T, s *state.Store, at time.Time, size int) string {
	t.Helper()
	id := ulid.New(at)
	dir := s.ProcessDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "output")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened is a state directory that has been written to.
func opened(t *testing.T) *state.Store {
	t.Helper()
	s := statetest.Open(t)
	err := s.Update(t.Context(), func(tx *state.Tx) error {
		return state.Events.Put(tx, "01J00000000000000000000000", 0, event.Event{ID: "01J00000000000000000000000"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSweep: the oldest finished output goes until the rest fits the budget;
// what is older than the retention goes in any case; what runs stays.
func TestSweep(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	s := opened(t)
	ancient := made(t, s, now.Add(-8*day), 10)
	old := made(t, s, now.Add(-3*day), 1000)
	young := made(t, s, now.Add(-2*day), 600)
	newest := made(t, s, now.Add(-day), 300)
	running := made(t, s, now.Add(-9*day), 5000)
	lock, err := state.LockFile(settle.Lifeline(running))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()

	removed, err := retention.Sweep(context.Background(), s, retention.Policy{Budget: 1000, Keep: 7 * day}, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(10 + 1000); removed != want {
		t.Errorf("removed %d bytes, want %d", removed, want)
	}
	for dir, want := range map[string]bool{ancient: false, old: false, young: true, newest: true, running: true} {
		if exists(dir) != want {
			t.Errorf("%s exists: %v, want %v", dir, !want, want)
		}
	}
	os.RemoveAll(running)
}

// TestDueOnlyNowAndThen: a new directory is only marked; a sweep is due after
// ten minutes, and after the next ten.
func TestDueOnlyNowAndThen(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := opened(t)
	dir := made(t, s, now, 100)
	made(t, s, now.Add(time.Minute), 100) // the newest stays
	for _, tt := range []struct {
		after time.Duration
		due   bool
	}{
		{0, false}, {9 * time.Minute, false}, {10 * time.Minute, true}, {-time.Second, true},
	} {
		if got := retention.Due(s, now.Add(tt.after)); got != tt.due {
			t.Errorf("after %v: due %v, want %v", tt.after, got, tt.due)
		}
	}
	later := now.Add(11 * time.Minute)
	retention.Once(context.Background(), s, retention.Policy{Budget: 1}, later)
	if exists(dir) {
		t.Error("not swept")
	}
	if retention.Due(s, later.Add(9*time.Minute)) || !retention.Due(s, later.Add(10*time.Minute)) {
		t.Error("a sweep does not count from when it was made")
	}
}

// TestJustEndedStays: the output of a job that began long ago and has only
// now ended is the newest, and stays, though it alone is over the budget.
func TestJustEndedStays(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := opened(t)
	long := made(t, s, now.Add(-10*24*time.Hour), 5000)
	if err := os.Chtimes(filepath.Join(long, "output"), now, now); err != nil {
		t.Fatal(err)
	}
	short := made(t, s, now.Add(-time.Hour), 10)
	if _, err := retention.Sweep(context.Background(), s, retention.Policy{Budget: 1000, Keep: 7 * 24 * time.Hour}, now); err != nil {
		t.Fatal(err)
	}
	if !exists(long) {
		t.Error("the job that has just ended lost its output")
	}
	if exists(short) {
		t.Error("the older one was kept beyond the budget")
	}
}

// TestWhatIsStillToBeReadStays: however old it is and however small the
// budget, the output of a process whose turn, or whose own end, nobody has
// written yet is kept, and so is the archived row that says how it ended; both
// go as soon as it was.
func TestWhatIsStillToBeReadStays(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	long := now.Add(-30 * 24 * time.Hour)
	s := opened(t)
	reply, unsettled, over := made(t, s, long, 100), made(t, s, long, 100), made(t, s, long, 100)
	turn := session.Turn{ID: ulid.New(long), SessionKey: "agent:main:main", Agent: "main", ProcessID: filepath.Base(reply), Status: session.TurnRunning, CreatedAt: long}
	update := func(fn func(tx *state.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *state.Tx) error {
		if err := state.Turns.Add(tx, turn.ID, turn); err != nil {
			return err
		}
		id := filepath.Base(unsettled)
		return state.Processes.Add(tx, id, process.Process{ID: id, Slug: "tide-orbit", Phase: process.Running, CreatedAt: long})
	})
	day := filepath.Join(s.Dir(), "archive", "processes", long.Format("2006-01-02")+".jsonl")
	if err := os.MkdirAll(filepath.Dir(day), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(day, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := func() {
		t.Helper()
		if _, err := retention.Sweep(t.Context(), s, retention.Policy{Budget: 1, Keep: 7 * 24 * time.Hour}, now); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for path, want := range map[string]bool{reply: true, unsettled: true, over: false, day: true} {
		if exists(path) != want {
			t.Errorf("%s exists: %v, want %v", path, !want, want)
		}
	}
	update(func(tx *state.Tx) error {
		for _, row := range must(state.Turns.All(tx)) {
			row.Rec.Status, row.Rec.EndedAt = session.TurnSucceeded, now
			if err := state.Turns.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		for _, row := range must(state.Processes.All(tx)) {
			code := 0
			row.Rec.Phase, row.Rec.EndedAt, row.Rec.Exit = process.Exited, now, &process.Exit{Code: &code}
			if err := state.Processes.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return nil
	})
	sweep()
	for _, path := range []string{reply, unsettled, day} {
		if exists(path) {
			t.Errorf("%s is kept though nobody waits for it any more", path)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
