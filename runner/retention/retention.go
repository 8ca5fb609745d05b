// Package retention removes what is no longer kept: the output of finished
// processes, and the days of the archive.
//
// Two limits hold at once. Output lives as long as its task (retention days),
// and all output together stays within a budget: the oldest finished goes
// first. What still runs is never touched, whatever its size, and neither is
// what somebody will still read: the output of an agent whose turn has not
// ended has the reply in it.
package retention

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claw/runner/settle"
	"claw/state"
	"claw/state/ulid"
)

// Policy is what is kept.
type Policy struct {
	Budget int64         // bytes of output of finished processes; 0 no limit
	Keep   time.Duration // age of a process; 0 for ever
}

// every is how long after a sweep another one would find little.
const every = 10 * time.Minute

// lockName is the file that keeps two from sweeping at once; its time is that
// of the last sweep.
const lockName = "sweep.lock"

// Due tells whether it is time to sweep; with a clock that went back, once
// more than needed. A directory in which nobody has swept is new: it is only
// marked.
func Due(store *state.Store, now time.Time) bool {
	path := filepath.Join(store.Dir(), lockName)
	info, err := os.Stat(path)
	if err != nil {
		claim(path, now, func() {})
		return false
	}
	age := now.Sub(info.ModTime())
	return age < 0 || age >= every
}

// Once sweeps unless somebody else does at this moment. Errors are not worth
// more than the next try.
func Once(ctx context.Context, store *state.Store, p Policy, now time.Time) {
	claim(filepath.Join(store.Dir(), lockName), now, func() { Sweep(ctx, store, p, now) })
}

// claim runs fn as the only one, and notes when.
func claim(path string, now time.Time, fn func()) {
	unlock, ok, err := state.TryLock(path)
	if err != nil || !ok {
		return
	}
	defer unlock()
	os.Chtimes(path, now, now)
	fn()
}

// kept is the output of one finished process.
type kept struct {
	dir   string
	ended time.Time // when something was last written: a long job is not old because it began early
	size  int64
}

// young is what is left alone whatever the budget says: the folder of a process
// is there before its life-line is held.
const young = time.Minute

// Sweep applies the policy and returns how many bytes it removed.
func Sweep(ctx context.Context, store *state.Store, p Policy, now time.Time) (int64, error) {
	all, err := finished(store)
	if err != nil {
		return 0, err
	}
	awaited, oldest, err := pending(store) // after the life-lines: a turn is there before its process, and ends after it
	if err != nil {
		return 0, err
	}
	all = slices.DeleteFunc(all, func(k kept) bool { return awaited[filepath.Base(k.dir)] })
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.dir, b.dir)) })
	total := int64(0)
	for _, k := range all {
		total += k.size
	}
	removed := int64(0)
	for i, k := range all {
		old := p.Keep > 0 && now.Sub(k.ended) > p.Keep
		newest := i == len(all)-1 // kept whole even if alone over budget (spec/exec-process.md 2.9)
		if now.Sub(k.ended).Abs() < young {
			continue // it may be in the making
		}
		if !old && (newest || p.Budget <= 0 || total-removed <= p.Budget) {
			continue
		}
		if err := os.RemoveAll(k.dir); err != nil {
			return removed, err
		}
		removed += k.size
	}
	if p.Keep > 0 {
		before := now.Add(-p.Keep)
		if !oldest.IsZero() && oldest.Before(before) {
			before = oldest // the row of its process says how the agent ended
		}
		err = store.Prune(ctx, before)
	}
	return removed, err
}

// pending are the ids of the processes whose end has not been taken in yet,
// however long ago it was: their rows are live, the source of an automation
// waits for them, or their turns have not ended.
// oldest is when the first of these turns began; zero without one.
func pending(store *state.Store) (awaited map[string]bool, oldest time.Time, err error) {
	err = store.View(func(tx *state.Tx) error {
		awaited, oldest = map[string]bool{}, time.Time{}
		processes, err := state.Processes.All(tx)
		if err != nil {
			return err
		}
		for _, row := range processes {
			if row.Rec.Live() {
				awaited[row.ID] = true
			}
		}
		sources, err := state.Sources.All(tx)
		if err != nil {
			return err
		}
		for _, row := range sources {
			if o := row.Rec.Owner; o != nil { // what a stream wrote last may have to be told yet
				awaited[o.ProcessID] = true
			}
		}
		turns, err := state.Turns.All(tx)
		for _, row := range turns {
			t := row.Rec
			if t.Status.Ended() {
				continue
			}
			awaited[t.ProcessID] = true
			if oldest.IsZero() || t.CreatedAt.Before(oldest) {
				oldest = t.CreatedAt
			}
		}
		return err
	})
	return awaited, oldest, err
}

// finished lists the folders of processes that are certainly over: nobody
// holds the life-line. A folder that is being made has its life-line taken
// before its row is written, so that young ones are left alone.
func finished(store *state.Store) ([]kept, error) {
	root := filepath.Dir(store.ProcessDir("x"))
	entries, err := os.ReadDir(root)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []kept
	for _, e := range entries {
		if _, ok := ulid.Time(e.Name()); !ok || !e.IsDir() {
			continue
		}
		dir := filepath.Join(root, e.Name())
		if held, err := state.Held(settle.Lifeline(dir)); held || err != nil {
			continue
		}
		all = append(all, measure(dir))
	}
	return all, nil
}

// measure adds up what a folder holds; what vanishes meanwhile does not count.
// One that is empty as yet is as old as itself.
func measure(dir string) kept {
	k := kept{dir: dir}
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			k.size += info.Size()
			if info.ModTime().After(k.ended) {
				k.ended = info.ModTime()
			}
		}
		return nil
	})
	if info, err := os.Stat(dir); err == nil && k.ended.IsZero() {
		k.ended = info.ModTime()
	}
	return k
}
