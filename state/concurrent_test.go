package state_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claw/state"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"
)

// 32 processes write at once: nothing is lost, and while they do, readers see
// whole states. How long the slowest waited is logged; the bar is a second.
func TestManyWriters(t *testing.T) {
	const procs, each = 32, 8
	dir := filepath.Join(t.TempDir(), "s")
	t.Cleanup(func() { statetest.Check(t, dir) })
	waits := writers(t, dir, procs, each)
	var worst time.Duration
	for _, w := range waits {
		worst = max(worst, w)
	}
	t.Logf("%d transactions, the slowest took %v", len(waits), worst)
	s := open(t, dir)
	defer s.Close()
	view(t, s, func(tx *state.Tx) error {
		if n := count(t, tx, state.Processes) + archivedCount(t, tx, state.Processes); n != procs*each || tx.Position() != procs*each {
			t.Errorf("%d records at position %d, want %d", n, tx.Position(), procs*each)
		}
		return nil
	})
}

// killed is the body of a process that is killed: it puts records and says
// which it has been promised.
func killed(dir string) {
	s, err := state.Open(dir, state.Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for i := 1; ; i++ {
		id := ulid(time.Now(), os.Getpid()<<20|i)
		err := s.Update(context.Background(), func(tx *state.Tx) error {
			return errors.Join(
				state.Processes.Put(tx, id, 0, process.Process{ID: id, Phase: process.Running, Label: strings.Repeat("x", 4000)}),
				state.Tasks.Put(tx, id, 0, task.Task{ID: id, Status: task.Running}))
		})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

// Writers are killed with kill -9 at any moment: what they were promised is
// there, whole, and those that come after are not held up.
func TestKilledWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var mu sync.Mutex
	var told []string
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 8 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "CLAW_TEST_KILLED="+dir)
				out, err := cmd.StdoutPipe()
				if err := errors.Join(err, cmd.Start()); err != nil {
					t.Error(err)
					return
				}
				after := 1 + rand.IntN(30)
				for sc := bufio.NewScanner(out); sc.Scan(); {
					line := sc.Text()
					if strings.HasPrefix(line, "error") {
						t.Error(line)
					}
					if len(line) == 26 {
						mu.Lock()
						told = append(told, line)
						mu.Unlock()
					}
					if after--; after == 0 {
						_ = cmd.Process.Kill()
					}
				}
				_ = cmd.Wait()
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	defer s.Close()
	view(t, s, func(tx *state.Tx) error {
		for _, id := range told {
			_, hasP, err1 := state.Processes.Get(tx, id)
			_, hasT, err2 := state.Tasks.Get(tx, id)
			if !hasP || !hasT || err1 != nil || err2 != nil {
				t.Errorf("%s was promised: %v %v %v %v", id, hasP, hasT, err1, err2)
			}
		}
		if p, k := count(t, tx, state.Processes), count(t, tx, state.Tasks); p != k {
			t.Errorf("%d processes and %d tasks", p, k)
		}
		return nil
	})
	if err := errors.Join(start(s, "z"), s.Checkpoint(context.Background())); err != nil {
		t.Error(err)
	}
	statetest.Check(t, dir)
	t.Logf("%d transactions promised", len(told))
}

// While one writer checkpoints at every step, readers of every kind see both
// ledgers at the same step, and never go back.
func TestReadersDuringCheckpoints(t *testing.T) {
	const steps = 150
	dir := filepath.Join(t.TempDir(), "s")
	w, err := state.Open(dir, state.Options{FS: statetest.Fast(dir)})
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var reads atomic.Int64
	var wg sync.WaitGroup
	step := func(n int) error {
		return w.Update(context.Background(), func(tx *state.Tx) error {
			label := strconv.Itoa(n)
			return errors.Join(
				state.Processes.Put(tx, "p", int64(n), process.Process{Label: label, Command: strings.Repeat("x", 3000), Phase: process.Running}),
				state.Tasks.Put(tx, "k", int64(n), task.Task{Label: label, Status: task.Running}))
		})
	}
	if err := step(0); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		wg.Go(func() {
			s := open(t, dir)
			defer func() { s.Close() }()
			last := 0
			for n := 0; !done.Load() && !t.Failed(); n++ {
				if i == 0 { // a fresh program each time
					s.Close()
					s = open(t, dir)
				}
				last = readBoth(t, s, last)
				reads.Add(1)
			}
		})
	}
	for n := 1; n <= steps && !t.Failed(); n++ {
		if err := errors.Join(step(n), w.Checkpoint(context.Background())); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	wg.Wait()
	statetest.Check(t, dir)
	t.Logf("%d checkpoints, %d reads", steps, reads.Load())
}

// between is a file system that lets something happen just before a ledger is
// opened for the first time.
type between struct {
	state.FS
	once sync.Once
	do   func()
}

func (b *between) OpenFile(name string, flag int, perm os.FileMode) (state.File, error) {
	if filepath.Base(filepath.Dir(name)) == "ledgers" {
		b.once.Do(b.do)
	}
	return b.FS.OpenFile(name, flag, perm)
}

// A checkpoint that rewrites the ledgers, after a reader has loaded the
// journal and before it has opened them.
func TestCheckpointInTheMiddleOfAView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	w := statetest.OpenAt(t, dir, state.Options{})
	step := func(n int) {
		t.Helper()
		update(t, w, func(tx *state.Tx) error {
			label := strconv.Itoa(n)
			return errors.Join(
				state.Processes.Put(tx, "p", int64(n), process.Process{Label: label, Phase: process.Running, Command: strings.Repeat("x", 40<<10)}),
				state.Tasks.Put(tx, "k", int64(n), task.Task{Label: label, Status: task.Running}))
		})
		if err := w.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	step(0)
	fs := &between{FS: state.OS(), do: func() {
		for n := 1; n < 6; n++ {
			step(n)
		}
	}}
	r, err := state.Open(dir, state.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if now := readBoth(t, r, 0); now != 5 {
		t.Errorf("at %d: it did not look again", now)
	}
}

// The first writer of another boot begins with a checkpoint.
func TestReboot(t *testing.T) {
	dir := lived(t)
	s := statetest.OpenAt(t, dir, state.Options{Boot: "another"})
	if err := start(s, "x"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if head, _, _ := strings.Cut(string(b), "\n"); err != nil || !strings.Contains(head, `"boot":"another"`) || strings.Count(string(b), "\n") != 2 {
		t.Errorf("%s %v", b, err)
	}
}

func readBoth(t *testing.T, s *state.Store, last int) (now int) {
	err := s.View(func(tx *state.Tx) error {
		p, ok1, err1 := state.Processes.Get(tx, "p")
		k, ok2, err2 := state.Tasks.Get(tx, "k")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		now, _ = strconv.Atoi(p.Rec.Label)
		if !ok1 || !ok2 || p.Rec.Label != k.Rec.Label || now < last || len(tx.Problems()) > 0 {
			return fmt.Errorf("process at %q, task at %q, after %d; %+v", p.Rec.Label, k.Rec.Label, last, tx.Problems())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return now
}

// A Store is shared by many goroutines that read and write.
func TestGoroutines(t *testing.T) {
	s := statetest.Open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if err := putOne(s); err != nil {
					t.Error(err)
				}
				if err := s.View(func(tx *state.Tx) error { _, err := state.Processes.All(tx); return err }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	view(t, s, func(tx *state.Tx) error {
		if tx.Position() != 80 {
			t.Errorf("position %d", tx.Position())
		}
		return nil
	})
}

// Waiting for the lock ends with the context, and the lock is not lost.
func TestUpdateGivesUpWithItsContext(t *testing.T) {
	s := statetest.Open(t)
	if err := start(s, "a"); err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := state.TryLock(filepath.Join(s.Dir(), "lock"))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() {
		got <- s.Update(ctx, func(tx *state.Tx) error { t.Error("it ran"); return nil })
	}()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	unlock()
	if err := start(s, "b"); err != nil {
		t.Error(err)
	}
}
