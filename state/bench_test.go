package state_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/task"
)

// sample is a row of ordinary size.
func sample(id string, phase process.Phase) process.Process {
	return process.Process{
		ID: id, Slug: "tide-orbit", Agent: "main", Session: "agent:main:main", Command: "make -j8 check", Argv: []string{"/bin/bash", "--noprofile", "--norc", "-c", "make -j8 check"},
		Shell: true, Cwd: "/home/somebody/src/project", TimeoutMs: 1800000, MaxOutput: 64 << 20, TTLMs: 1800000, NotifyOnExit: true, Background: true, Phase: phase,
		Supervisor: process.Identity{Boot: "b87265e5-bf73-4d16-947e-7777e67d88cb", PID: 4711, Start: 815},
		CreatedAt:  epoch, StartedAt: epoch, EndedAt: epoch,
	}
}

var serial atomic.Int64

func putOne(s *state.Store, opts ...state.UpdateOption) error {
	id := ulid(time.Now(), int(serial.Add(1))<<16|os.Getpid())
	return s.Update(context.Background(), func(tx *state.Tx) error {
		p := sample(id, process.Exited)
		p.Background = false
		return state.Processes.Put(tx, id, 0, p)
	}, opts...)
}

func open(tb testing.TB, dir string) *state.Store {
	tb.Helper()
	s, err := state.Open(dir, state.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func BenchmarkUpdate(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s"))
	for b.Loop() {
		if err := putOne(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdateRelaxed(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s"))
	for b.Loop() {
		if err := putOne(s, state.Relaxed()); err != nil {
			b.Fatal(err)
		}
	}
}

// A command opens, updates and is gone.
func BenchmarkOpenUpdate(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "s")
	for b.Loop() {
		s := open(b, dir)
		if err := putOne(s, state.Relaxed()); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkUpdate16Goroutines(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s"))
	var wg sync.WaitGroup
	var n atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	b.ResetTimer()
	for range 16 {
		wg.Go(func() {
			for n.Add(1) <= int64(b.N) {
				t := time.Now()
				if err := putOne(s); err != nil {
					b.Error(err)
				}
				mu.Lock()
				waits = append(waits, time.Since(t))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	report(b, waits)
}

func report(b *testing.B, waits []time.Duration) {
	slices.Sort(waits)
	b.ReportMetric(float64(len(waits))/b.Elapsed().Seconds(), "tx/s")
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "worst-ms")
}

// writer is the body of a process of its own, see TestMain.
func writer(dir string, n int) {
	s, err := state.Open(dir, state.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for range n {
		t := time.Now()
		if err := putOne(s); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(time.Since(t).Nanoseconds())
	}
}

func BenchmarkUpdate16Processes(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "s")
	b.ResetTimer()
	report(b, writers(b, dir, 16, max(1, b.N/16)))
}

// writers runs processes that make n transactions each, and gives how long
// each transaction took.
func writers(tb testing.TB, dir string, procs, n int) (waits []time.Duration) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range procs {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CLAW_TEST_WRITER="+dir, "CLAW_TEST_N="+strconv.Itoa(n))
			out, err := cmd.Output()
			if err != nil {
				tb.Errorf("%v: %s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, f := range strings.Fields(string(out)) {
				ns, _ := strconv.ParseInt(f, 10, 64)
				waits = append(waits, time.Duration(ns))
			}
		})
	}
	wg.Wait()
	return waits
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("CLAW_TEST_WRITER"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("CLAW_TEST_N"))
		writer(dir, n)
		return
	}
	if dir := os.Getenv("CLAW_TEST_KILLED"); dir != "" {
		killed(dir)
		return
	}
	os.Exit(m.Run())
}

// history fills a directory with finished processes, tasks and events through
// the front door, in large transactions.
func history(tb testing.TB, n int) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "s")
	s := open(tb, dir)
	defer s.Close()
	for from := 0; from < n; from += 500 {
		err := s.Update(context.Background(), func(tx *state.Tx) error {
			for i := from; i < min(from+500, n); i++ {
				id := ulid(epoch.Add(time.Duration(i)*time.Second), i)
				if err := state.Processes.Put(tx, id, 0, sample(id, process.Exited)); err != nil {
					return err
				}
				if err := state.Tasks.Put(tx, id, 0, task.Task{ID: id, Task: "make", Status: task.Succeeded, EndedAt: epoch}); err != nil {
					return err
				}
				if err := state.Events.Put(tx, id, 0, event.Event{ID: id, State: event.Consumed, Text: "Exec completed", EndedAt: epoch}); err != nil {
					return err
				}
			}
			return nil
		}, state.Relaxed())
		if err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func BenchmarkOpenView(b *testing.B) {
	for _, n := range []int{10, 1000, 100000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := history(b, n)
			rows := 0
			for b.Loop() {
				s := open(b, dir)
				err := s.View(func(tx *state.Tx) error {
					r, err := state.Processes.All(tx)
					rows = len(r)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

func BenchmarkOpenUpdateWithHistory(b *testing.B) {
	for _, n := range []int{10, 100000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := history(b, n)
			for b.Loop() {
				s := open(b, dir)
				if err := putOne(s); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}

// A queue of 100,000 events that nobody empties: what one more costs, with its
// share of the checkpoints, and the slowest of them.
func BenchmarkAddToLargeQueue(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "s")
	s := open(b, dir)
	add := func(n int) {
		err := s.Update(context.Background(), func(tx *state.Tx) error {
			for range n {
				id := ulid(epoch, int(serial.Add(1)))
				if err := state.Events.Add(tx, id, event.Event{ID: id, State: event.Queued, Text: strings.Repeat("x", 300)}); err != nil {
					return err
				}
			}
			return nil
		}, state.Relaxed())
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 200 {
		add(500)
	}
	var waits []time.Duration
	b.ResetTimer()
	for range b.N {
		t := time.Now()
		add(1)
		waits = append(waits, time.Since(t))
	}
	report(b, waits)
}
