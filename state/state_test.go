package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"

	"github.com/google/go-cmp/cmp"
)

func update(t *testing.T, s *state.Store, fn func(tx *state.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s *state.Store, fn func(tx *state.Tx) error) {
	t.Helper()
	if err := s.View(fn); err != nil {
		t.Fatal(err)
	}
}

// tree is every file below dir with its mode, time and bytes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		files[rel] = info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			files[rel] += " " + string(b)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func TestMissingDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	s := statetest.OpenAt(t, dir, state.Options{})
	view(t, s, func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		if len(rows) != 0 || tx.Position() != 0 {
			t.Errorf("%v at %d", rows, tx.Position())
		}
		return err
	})
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a View has made %s", filepath.Dir(dir))
	}
	update(t, s, func(tx *state.Tx) error { return nil })
	if err := start(s, "a"); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"": 0o700, "FORMAT": 0o600, "lock": 0o600, "journal.jsonl": 0o600, "ledgers": 0o700, "ledgers/tasks.jsonl": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v, %v, want mode %o", path, info, err, mode)
		}
	}
}

func TestCompareAndSet(t *testing.T) {
	s := statetest.Open(t)
	put := func(rev int64, label string) error {
		return s.Update(context.Background(), func(tx *state.Tx) error {
			return state.Processes.Put(tx, "p", rev, process.Process{ID: "p", Label: label})
		})
	}
	if err := errors.Join(put(0, "one"), put(1, "two")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, s.Dir())
	for _, rev := range []int64{0, 1, 3} {
		conflict, ok := errors.AsType[*state.ConflictError](put(rev, "late"))
		if !ok || conflict.Want != rev || conflict.Have != 2 || conflict.ID != "p" || conflict.Ledger != "processes" {
			t.Fatalf("revision %d: %+v", rev, conflict)
		}
		var current process.Process
		if err := json.Unmarshal(conflict.Current, &current); err != nil || current.Label != "two" {
			t.Errorf("current %s", conflict.Current)
		}
	}
	if diff := cmp.Diff(before, tree(t, s.Dir())); diff != "" {
		t.Error(diff)
	}
	err := s.Update(context.Background(), func(tx *state.Tx) error { return state.Processes.Put(tx, "none", 4, process.Process{}) })
	if c, ok := errors.AsType[*state.ConflictError](err); !ok || c.Have != 0 || c.Current != nil {
		t.Errorf("a record that does not exist: %v", err)
	}
}

func TestFailedUpdateWritesNothing(t *testing.T) {
	s := statetest.Open(t)
	if err := start(s, "a"); err != nil {
		t.Fatal(err)
	}
	before, stop := tree(t, s.Dir()), errors.New("stop")
	err := s.Update(context.Background(), func(tx *state.Tx) error {
		return errors.Join(state.Processes.Put(tx, "b", 0, process.Process{}), stop)
	})
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Update(context.Background(), func(tx *state.Tx) error {
			_ = state.Processes.Put(tx, "b", 0, process.Process{})
			panic("a bug of ours")
		})
	}()
	if diff := cmp.Diff(before, tree(t, s.Dir())); diff != "" {
		t.Error(diff)
	}
	if err := start(s, "b"); err != nil { // the lock is free again
		t.Error(err)
	}
}

func TestReadYourWrites(t *testing.T) {
	s := statetest.Open(t)
	update(t, s, func(tx *state.Tx) error {
		for rev, label := range []string{"x", "y", "z"} {
			if err := state.Processes.Put(tx, "p", int64(rev), process.Process{Label: label}); err != nil {
				return err
			}
			r, ok, err := state.Processes.Get(tx, "p")
			if !ok || err != nil || r.Rec.Label != label || r.Rev != int64(rev)+1 || !r.Time.Equal(tx.Now()) {
				t.Errorf("%+v %v %v", r, ok, err)
			}
		}
		return errors.Join(state.Processes.Put(tx, "b", 0, process.Process{}), state.Processes.Delete(tx, "p", 3))
	})
	view(t, s, func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		if len(rows) != 1 || rows[0].ID != "b" {
			t.Errorf("%+v", rows)
		}
		return err
	})
	// A removed id may begin again, also across checkpoints.
	for range 3 {
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		update(t, s, func(tx *state.Tx) error { return state.Processes.Put(tx, "p", 0, process.Process{Label: "again"}) })
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		update(t, s, func(tx *state.Tx) error {
			r, ok, err := state.Processes.Get(tx, "p")
			if !ok || err != nil {
				t.Fatalf("%v %v", ok, err)
			}
			return state.Processes.Delete(tx, "p", r.Rev)
		})
	}
}

func TestAllIsInOrderOfID(t *testing.T) {
	s := statetest.Open(t)
	update(t, s, func(tx *state.Tx) error {
		for _, id := range []string{"c", "a", "b"} {
			if err := state.Tasks.Put(tx, id, 0, task.Task{}); err != nil {
				return err
			}
		}
		return nil
	})
	view(t, s, func(tx *state.Tx) error {
		var ids []string
		rows, err := state.Tasks.All(tx)
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, ids); diff != "" {
			t.Error(diff)
		}
		return err
	})
}

// replace edits a file as a person would, or a newer claw.
func replace(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), from) {
		t.Fatalf("%s has no %q:\n%s", path, from, b)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A person edits a ledger: takes the sum out, adds fields this program does
// not know. They are read, kept, and the next checkpoint makes the line whole.
func TestUnknownFieldsSurvive(t *testing.T) {
	s := statetest.Open(t)
	if err := errors.Join(start(s, "p"), s.Checkpoint(context.Background())); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), "ledgers/processes.jsonl")
	b, _ := os.ReadFile(path)
	sum := string(b[strings.LastIndex(string(b), `,"sum":`):])
	replace(t, path, sum, ` , "by":"hand"}`+"\n")
	replace(t, path, `"record":{`, `"record": {"future":{"x":[1,2]},"supervisor":{"boot":"b","pid":1,"start":2,"cgroup":"/c"},`)
	replace(t, path, `"agent":"main"`, `"agent":"edited"`)
	for i, phase := range []process.Phase{process.Starting, process.Running} {
		update(t, s, func(tx *state.Tx) error {
			r, ok, err := state.Processes.Get(tx, "p")
			if !ok || err != nil || r.Rec.Agent != "edited" {
				t.Fatalf("%d: %+v %v %v", i, r, ok, err)
			}
			r.Rec.Phase = phase
			r.Rec.Supervisor.PID = 10 + i
			return state.Processes.Put(tx, "p", r.Rev, r.Rec)
		})
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	b, _ = os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, want := range []string{`"by":"hand"`, `"future":{"x":[1,2]}`, `"cgroup":"/c"`, `"pid":11`, `"phase":"running"`, `"rev":3`} {
		if last := lines[len(lines)-1]; !strings.Contains(last, want) {
			t.Errorf("no %s in %s", want, last)
		}
	}
}

// Ledgers and header fields of a newer program live on in what this one
// rewrites.
func TestUnknownLedgerSurvives(t *testing.T) {
	s := statetest.Open(t)
	update(t, s, func(tx *state.Tx) error {
		return state.Named[json.RawMessage]("moods").Put(tx, "m", 0, json.RawMessage(`{"mood":"good"}`))
	})
	for range 2 {
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(s.Dir(), "ledgers/moods.jsonl"))
	if err != nil || !strings.Contains(string(b), `"record":{"mood":"good"}`) {
		t.Errorf("%s %v", b, err)
	}
}

// A line of the journal that was never repeated in the ledger, because its
// writer was killed in between, gets there by the next write.
func TestLedgerIsMadeGoodFromTheJournal(t *testing.T) {
	s := statetest.Open(t)
	for _, id := range []string{"a", "b"} {
		if err := start(s, id); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(s.Dir(), "ledgers/tasks.jsonl")
	whole, _ := os.ReadFile(path)
	for i, n := range []int64{0, 10, int64(len(whole)) - 1} {
		if err := os.Truncate(path, n); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(tx *state.Tx) error {
			if rows, err := state.Tasks.All(tx); len(rows) != 2+i || err != nil || len(tx.Problems()) > 0 {
				t.Errorf("%d rows, %v, %v", len(rows), err, tx.Problems())
			}
			return nil
		})
		update(t, s, func(tx *state.Tx) error {
			return state.Tasks.Put(tx, ulid(epoch, int(n)), 0, task.Task{})
		})
		b, _ := os.ReadFile(path)
		if !strings.HasPrefix(string(b), string(whole)) {
			t.Errorf("cut at %d: %s", n, b)
		}
	}
}

// What keeps records in their ledgers; the numbers are those of the brief.
func TestRetention(t *testing.T) {
	const ttl = 30 * time.Minute
	now := epoch
	s := statetest.OpenAt(t, filepath.Join(t.TempDir(), "s"), state.Options{Now: func() time.Time { return now }})
	id := 0
	at := func(ended time.Time) (string, time.Time) { id++; return ulid(epoch, id), ended }
	put := func(tx *state.Tx, n int, ended time.Time, change func(*process.Process)) {
		for range n {
			id, ended := at(ended)
			p := process.Process{ID: id, Phase: process.Exited, Background: true, EndedAt: ended, TTLMs: ttl.Milliseconds()}
			change(&p)
			if err := state.Processes.Put(tx, id, 0, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	label := func(s string, change func(*process.Process)) func(*process.Process) {
		return func(p *process.Process) {
			p.Label = s
			if change != nil {
				change(p)
			}
		}
	}
	update(t, s, func(tx *state.Tx) error {
		put(tx, 3, time.Time{}, label("running", func(p *process.Process) { p.Phase = process.Running; p.Background = false }))
		put(tx, 2, epoch, label("foreground", func(p *process.Process) { p.Background = false }))
		put(tx, 2, epoch, label("removed", func(p *process.Process) { p.Removed = true }))
		put(tx, 2, epoch, label("cleared", func(p *process.Process) { p.Cleared = true }))
		put(tx, 2, epoch.Add(-ttl), label("expired", nil))
		put(tx, 10, epoch.Add(-ttl+time.Minute), label("old", nil))
		put(tx, 50, epoch.Add(-time.Minute), label("newest", nil))
		for n, st := range map[int]task.Status{120: task.Failed, 3: task.Running, 2: task.Queued} {
			for range n {
				id, ended := at(epoch)
				if err := state.Tasks.Put(tx, id, 0, task.Task{Status: st, EndedAt: ended}); err != nil {
					return err
				}
			}
		}
		for n, st := range map[int]event.State{120: event.Consumed, 130: event.Queued} {
			for range n {
				id, ended := at(epoch)
				if err := state.Events.Put(tx, id, 0, event.Event{State: st, EndedAt: ended}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	check := func(live, archived map[string]int, tasks, oldTasks, events, oldEvents int) {
		t.Helper()
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(tx *state.Tx) error {
			gotLive, gotArchived := map[string]int{}, map[string]int{}
			rows, err := state.Processes.All(tx)
			for _, r := range rows {
				gotLive[r.Rec.Label]++
			}
			for r, err := range state.Processes.Archived(tx) {
				if err != nil {
					t.Fatal(err)
				}
				gotArchived[r.Rec.Label]++
			}
			if diff := cmp.Diff([]map[string]int{live, archived}, []map[string]int{gotLive, gotArchived}); diff != "" {
				t.Error(diff)
			}
			got := []int{count(t, tx, state.Tasks), archivedCount(t, tx, state.Tasks), count(t, tx, state.Events), archivedCount(t, tx, state.Events)}
			if diff := cmp.Diff([]int{tasks, oldTasks, events, oldEvents}, got); diff != "" {
				t.Error(diff)
			}
			return err
		})
	}
	check(map[string]int{"running": 3, "newest": 50}, map[string]int{"foreground": 2, "removed": 2, "cleared": 2, "expired": 2, "old": 10}, 105, 20, 230, 20)
	now = epoch.Add(time.Hour)
	check(map[string]int{"running": 3}, map[string]int{"foreground": 2, "removed": 2, "cleared": 2, "expired": 2, "old": 10, "newest": 50}, 5, 120, 130, 120)
}

func count[T any](t *testing.T, tx *state.Tx, l state.Ledger[T]) int {
	t.Helper()
	rows, err := l.All(tx)
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

func archivedCount[T any](t *testing.T, tx *state.Tx, l state.Ledger[T]) (n int) {
	t.Helper()
	for _, err := range l.Archived(tx) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// An archived record is found, comes back by being put, goes again, and is not
// seen twice.
func TestArchive(t *testing.T) {
	s := statetest.OpenAt(t, filepath.Join(t.TempDir(), "s"), state.Options{Now: func() time.Time { return epoch.Add(24 * time.Hour) }})
	var told int
	if err := errors.Join(life(s, 1, 2, &told), s.Checkpoint(context.Background())); err != nil {
		t.Fatal(err)
	}
	id := ulid(epoch, 1)
	if _, err := os.Stat(filepath.Join(s.Dir(), "archive/processes/2026-12-01.jsonl")); err != nil {
		t.Fatal(err)
	}
	find := func(tx *state.Tx) state.Row[process.Process] {
		t.Helper()
		r, ok, err := state.Processes.Find(tx, id)
		if !ok || err != nil {
			t.Fatalf("%v %v", ok, err)
		}
		return r
	}
	for rev := int64(2); rev < 5; rev++ {
		view(t, s, func(tx *state.Tx) error {
			if _, ok, _ := state.Processes.Get(tx, id); ok {
				t.Error("it is live")
			}
			if r := find(tx); r.Rev != rev || r.Rec.Phase != process.Exited {
				t.Errorf("%+v", r)
			}
			if n := archivedCount(t, tx, state.Processes); n != 2 {
				t.Errorf("%d in the archive", n)
			}
			return nil
		})
		update(t, s, func(tx *state.Tx) error {
			r := find(tx)
			r.Rec.Polled = true
			return state.Processes.Put(tx, id, r.Rev, r.Rec)
		})
		view(t, s, func(tx *state.Tx) error {
			if r, ok, _ := state.Processes.Get(tx, id); !ok || !r.Rec.Polled {
				t.Error("it has not come back")
			}
			if n := archivedCount(t, tx, state.Processes); n != 1 {
				t.Errorf("%d besides it in the archive", n)
			}
			return nil
		})
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, func(tx *state.Tx) error { return state.Processes.Delete(tx, id, find(tx).Rev) })
	for range 2 {
		view(t, s, func(tx *state.Tx) error {
			if _, ok, err := state.Processes.Find(tx, id); ok || err != nil {
				t.Errorf("removed, and found: %v %v", ok, err)
			}
			return nil
		})
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrune(t *testing.T) {
	s := statetest.OpenAt(t, filepath.Join(t.TempDir(), "s"), state.Options{Now: func() time.Time { return epoch.Add(240 * time.Hour) }})
	for day := range 4 {
		id := ulid(epoch.Add(time.Duration(day)*24*time.Hour), 1)
		if err := errors.Join(start(s, id), end(s, id), s.Checkpoint(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Prune(context.Background(), epoch.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *state.Tx) error {
		var days []string
		for r, err := range state.Processes.Archived(tx) {
			if err != nil {
				return err
			}
			days = append(days, r.ID[:10])
		}
		want := []string{ulid(epoch.Add(72*time.Hour), 0)[:10], ulid(epoch.Add(48*time.Hour), 0)[:10]}
		if diff := cmp.Diff(want, days); diff != "" {
			t.Error(diff)
		}
		return nil
	})
}

// The journal is checkpointed by itself, so that neither it nor the ledgers
// grow with history.
func TestHistoryDoesNotGrowWhatIsRead(t *testing.T) {
	dir := history(t, 5000)
	t.Cleanup(func() { statetest.Check(t, dir) })
	for path, limit := range map[string]int64{"journal.jsonl": 1 << 20, "ledgers/processes.jsonl": 512 << 10, "ledgers/tasks.jsonl": 512 << 10, "ledgers/events.jsonl": 512 << 10} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Size() > limit {
			t.Errorf("%s has %d bytes, more than %d (%v)", path, info.Size(), limit, err)
		}
	}
	s := open(t, dir)
	defer s.Close()
	view(t, s, func(tx *state.Tx) error {
		if n := count(t, tx, state.Processes) + archivedCount(t, tx, state.Processes); n != 5000 {
			t.Errorf("%d processes", n)
		}
		return nil
	})
}

// A queue that nobody empties: most checkpoints do not look at all of it, and
// nothing of it is lost; damage that is found meanwhile is set right.
func TestLargeQueue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir)})
	const rounds, each = 40, 20
	n := 0
	for range rounds {
		update(t, s, func(tx *state.Tx) error {
			for range each {
				n++
				id := ulid(epoch, n)
				if err := state.Events.Put(tx, id, 0, event.Event{ID: id, State: event.Queued, Text: strings.Repeat("x", 5000)}); err != nil {
					return err
				}
			}
			old := ulid(epoch, n-each+1) // consumed at once: it may leave, whatever is looked at
			r, _, err := state.Events.Get(tx, old)
			r.Rec.State = event.Consumed
			return errors.Join(err, state.Events.Put(tx, old, r.Rev, r.Rec))
		})
		if err := s.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	view(t, s, func(tx *state.Tx) error {
		if live, gone := count(t, tx, state.Events), archivedCount(t, tx, state.Events); live+gone != rounds*each || gone < rounds/2 {
			t.Errorf("%d live and %d archived, %d in all", live, gone, rounds*each)
		}
		return nil
	})
	path := filepath.Join(dir, "ledgers/events.jsonl")
	replace(t, path, "xxxx", "yyyyyyy") // longer by hand, with the sum left in
	if err := errors.Join(start(s, "a"), s.Checkpoint(context.Background())); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, dir)
	defer fresh.Close()
	update(t, fresh, func(tx *state.Tx) error {
		if n := count(t, tx, state.Events) + archivedCount(t, tx, state.Events); n != rounds*each || len(tx.Problems()) > 0 { // it was superseded
			t.Errorf("%d events, %d problems", n, len(tx.Problems()))
		}
		return state.Tasks.Put(tx, "z", 0, task.Task{})
	})
	if !strings.Contains(quarantined(t, dir), "yyyyyyy") {
		t.Error("the damaged line is not in quarantine")
	}
}
