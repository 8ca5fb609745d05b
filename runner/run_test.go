package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/runner/wake"
	"claw/state"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bell is a wake.Source that a test rings.
type bell struct {
	c   chan struct{}
	why error
}

func (b *bell) C() <-chan struct{} { return b.c }
func (b *bell) Polling() error     { return b.why }
func (b *bell) Close()             {}

// counting counts the timers that a clock arms: the sleeps of a runner.
type counting struct {
	*clocktest.Fake
	mu    sync.Mutex
	armed int
}

func (c *counting) NewTimer(d time.Duration) clock.Timer {
	c.mu.Lock()
	c.armed++
	c.mu.Unlock()
	return c.Fake.NewTimer(d)
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.armed
}

// house is a runner in a test: a real store, a clock and a bell.
type house struct {
	t     *testing.T
	dir   string
	clock *counting
	bell  *bell
	hup   chan os.Signal
	o     runner.Options

	mu     sync.Mutex
	script runner.Script
	broken error // of loading
	loads  int
	passes int
	lines  []string

	stop  context.CancelFunc
	ended chan error
}

func newHouse(t *testing.T) *house {
	h := &house{
		t: t, dir: filepath.Join(t.TempDir(), "state"), clock: &counting{Fake: clocktest.New(noon)},
		bell: &bell{c: make(chan struct{}, 1)}, hup: make(chan os.Signal), ended: make(chan error, 1),
	}
	h.o = runner.Options{
		Dir: h.dir, Clock: h.clock, Load: h.load, Reload: h.hup, Log: h.log,
		Watch: func(string, clock.Clock) wake.Source { return h.bell },
	}
	t.Cleanup(func() { statetest.Check(t, h.dir) })
	return h
}

func (h *house) open() *state.Store {
	s, err := state.Open(h.dir, state.Options{FS: statetest.Fast(h.dir), Now: h.clock.Now})
	if err != nil {
		h.t.Error(err)
	}
	return s
}

func (h *house) load() (*runner.Runner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loads++
	r := &runner.Runner{Store: h.open(), Clock: h.clock}
	s := h.script
	inner := s.Plan
	s.Plan = func(now time.Time) (heartbeat.Plan, error) {
		h.mu.Lock()
		h.passes++
		h.mu.Unlock()
		if inner == nil {
			return heartbeat.Plan{}, nil
		}
		return inner(now)
	}
	r.Play(s)
	return r, h.broken
}

func (h *house) log(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

func (h *house) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	go func() { h.ended <- runner.Run(ctx, h.o) }()
	h.t.Cleanup(cancel)
}

func (h *house) get(n *int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *n
}

func (h *house) said(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, l := range h.lines {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}

func (h *house) until(what string, cond func() bool) {
	h.t.Helper()
	until(h.t, what, cond)
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// finish tells it to end.
func (h *house) finish() {
	h.t.Helper()
	h.stop()
	select {
	case err := <-h.ended:
		if err != nil {
			h.t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		h.t.Fatal("it does not end")
	}
}

// minute lets a minute pass for a runner that sleeps.
func (h *house) minute() {
	h.clock.WaitArmed(1)
	h.clock.Advance(time.Minute)
}

// settle waits until the runner has given back its memory, that is, sleeps.
func (h *house) settle() {
	h.t.Helper()
	h.until("it rests", func() bool {
		h.clock.WaitArmed(1)
		h.clock.Advance(time.Second)
		s, err := runner.Look(h.dir)
		return err == nil && s.Running && !s.Last.IsZero()
	})
}

// An idle minute is no pass: nothing is opened or read. After an hour there is
// one, for what is kept grows old.
func TestIdleMinutesDoNothing(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	passes, loads := h.get(&h.passes), h.get(&h.loads)
	for range 50 {
		h.minute()
	}
	h.clock.WaitArmed(1)
	if p, l := h.get(&h.passes), h.get(&h.loads); p != passes || l != loads {
		t.Errorf("%d passes and %d loads in 50 idle minutes", p-passes, l-loads)
	}
	h.until("the pass of the hour", func() bool {
		h.minute()
		return h.get(&h.passes) > passes
	})
	h.finish()
}

// Where something runs, its death is looked for each minute: nobody tells of
// it.
func TestLooksForDeathsEachMinute(t *testing.T) {
	h := newHouse(t)
	h.script.Live = func() bool { return true }
	h.start()
	h.until("the first pass", func() bool { return h.get(&h.passes) > 0 })
	before := h.get(&h.passes)
	h.until("ten more passes in about ten minutes", func() bool {
		h.minute()
		return h.get(&h.passes) >= before+10
	})
	if passed := h.clock.Now().Sub(noon); passed > 30*time.Minute {
		t.Errorf("ten passes took %s", passed)
	}
	h.finish()
}

// What is due is done at its time, and a clock that goes backwards repeats
// nothing; one that jumps ahead is noticed within a minute.
func TestRunWhenTheClockJumps(t *testing.T) {
	h := newHouse(t)
	due := noon.Add(time.Hour)
	var done []time.Time
	h.script.Plan = func(now time.Time) (heartbeat.Plan, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(done) > 0 {
			return heartbeat.Plan{}, nil
		}
		p := heartbeat.Plan{Next: due}
		if !now.Before(due) {
			p.Wakes = []heartbeat.Planned{{Wake: heartbeat.Wake{Agent: "main"}, Run: true, Status: "run"}}
		}
		return p, nil
	}
	h.script.Do = func(context.Context, heartbeat.Planned) (session.Turn, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		done = append(done, h.clock.Now())
		return session.Turn{}, nil
	}
	count := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(done)
	}
	h.start()
	h.settle()
	h.clock.Step(-24 * time.Hour)
	for range 5 {
		h.minute()
	}
	h.clock.WaitArmed(1)
	if count() != 0 {
		t.Error("done a day too early")
	}
	h.clock.Suspend(26 * time.Hour) // the machine slept
	h.minute()
	h.until("it is done, within a minute of waking up", func() bool { return count() == 1 })
	h.clock.Step(-3 * time.Hour)
	for range 5 {
		h.minute()
	}
	h.finish()
	if count() != 1 {
		t.Errorf("done %d times", count())
	}
}

func TestRunIsWoken(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	before := h.get(&h.passes)
	h.bell.c <- struct{}{}
	h.clock.WaitArmed(1)
	if h.get(&h.passes) != before {
		t.Error("a wake without a change made a pass")
	}
	if err := poke.Bump(h.dir); err != nil {
		t.Fatal(err)
	}
	h.bell.c <- struct{}{}
	h.until("a pass for the poke", func() bool { return h.get(&h.passes) > before })
	h.finish()
}

func TestRunSaysOnceThatItPolls(t *testing.T) {
	h := newHouse(t)
	h.bell.why = &wake.LimitError{Limit: "fs.inotify.max_user_watches", Err: syscall.ENOSPC}
	h.start()
	h.settle()
	for range 3 {
		if err := poke.Bump(h.dir); err != nil {
			t.Fatal(err)
		}
		h.minute()
	}
	h.settle()
	s, err := runner.Look(h.dir)
	if err != nil || !strings.Contains(s.Watch, "fs.inotify.max_user_watches") {
		t.Errorf("state %+v, %v: it does not say why it polls", s, err)
	}
	h.finish()
	if n := h.said("fs.inotify.max_user_watches"); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
}

// What a killed runner had just forked holds its lock for a moment more: the
// next runner waits for that, and does not say that one is at work.
func TestRunnerAfterOneThatWasKilled(t *testing.T) {
	h := newHouse(t)
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	release, ok, err := state.TryLock(filepath.Join(h.dir, "runner.up"))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	note := fmt.Sprintf(`{"running":true,"pid":%d,"identity":{"pid":%d,"start":1}}`, dead.Process.Pid, dead.Process.Pid)
	if err := os.WriteFile(filepath.Join(h.dir, "runner.json"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.until("it has found the lock held", func() bool { return h.clock.count() > 0 })
	release()
	h.clock.Advance(20 * time.Millisecond)
	h.settle()
	h.finish()
}

func TestSecondRunnerIsRefused(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	o := h.o
	o.Log = nil
	err := runner.Run(t.Context(), o)
	up, ok := errors.AsType[*runner.UpError](err)
	if !ok {
		t.Fatalf("Run: %v, want *UpError", err)
	}
	if up.State.PID != os.Getpid() || up.State.Since.IsZero() || up.Remedy() == "" {
		t.Errorf("it does not name the holder: %+v", up.State)
	}
	h.finish()
	s, err := runner.Look(h.dir)
	if err != nil || s.Running {
		t.Errorf("after the end: %+v, %v", s, err)
	}
	h.stop = nil
	h.start() // and now another one can begin
	h.settle()
	h.finish()
}

// A tick at work is waited for, and told so; it is not a second runner.
func TestRunWaitsForATick(t *testing.T) {
	h := newHouse(t)
	if err := h.open().Update(t.Context(), func(*state.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := state.TryLock(poke.Lock(h.dir))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	before := poke.Generation(h.dir)
	h.start()
	h.until("it says what it waits for", func() bool { return h.said("waiting for a tick") == 1 })
	s, err := runner.Look(h.dir)
	if err != nil || !s.Running || s.Mode != "waiting" {
		t.Errorf("state %+v, %v", s, err)
	}
	h.until("the tick has been poked", func() bool { return poke.Generation(h.dir) != before })
	if h.get(&h.passes) != 0 {
		t.Error("it works beside the tick")
	}
	unlock()
	h.settle()
	if s, _ := runner.Look(h.dir); s.Mode != "normal" {
		t.Errorf("state %+v", s)
	}
	h.finish()
}

func TestReload(t *testing.T) {
	h := newHouse(t)
	config := filepath.Join(t.TempDir(), "claw.toml")
	h.o.Config = []string{config}
	h.start()
	h.settle()
	loads, passes := h.get(&h.loads), h.get(&h.passes)
	h.hup <- syscall.SIGHUP
	h.until("loaded anew", func() bool { return h.get(&h.loads) == loads+1 && h.get(&h.passes) > passes })

	touch := func(at time.Time) {
		t.Helper()
		if err := os.WriteFile(config, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(config, at, at); err != nil {
			t.Fatal(err)
		}
	}
	h.settle()
	passes = h.get(&h.passes)
	touch(noon)
	h.minute()
	h.until("a file that was made is read", func() bool { return h.said("read anew") == 2 && h.get(&h.passes) > passes })

	h.settle()
	passes = h.get(&h.passes)
	h.mu.Lock()
	h.broken = errors.New("claw.toml:3: nonsense")
	h.mu.Unlock()
	touch(noon.Add(time.Second))
	h.minute()
	h.until("it says that the new one cannot be used", func() bool { return h.said("nonsense") == 1 })
	if h.said("configuration before") != 1 {
		t.Errorf("it does not say that it goes on: %q", h.lines)
	}
	for range 3 { // loads again for each, and says nothing more
		h.settle()
		if err := poke.Bump(h.dir); err != nil {
			t.Fatal(err)
		}
		h.bell.c <- struct{}{}
		passes++
		h.until("it goes on with the one before", func() bool { return h.get(&h.passes) >= passes })
	}
	if n := h.said("nonsense"); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
	h.hup <- syscall.SIGHUP
	h.until("asked by a signal it answers again", func() bool { return h.said("nonsense") == 2 })
	h.mu.Lock()
	h.broken = nil
	h.mu.Unlock()
	touch(noon.Add(2 * time.Second))
	h.minute()
	h.until("the repaired one is used", func() bool { return h.said("can be used again") == 1 })
	h.finish()
}

func TestRunWithABrokenConfiguration(t *testing.T) {
	h := newHouse(t)
	h.broken = errors.New("nonsense")
	if err := runner.Run(t.Context(), h.o); err == nil {
		t.Error("it begins with a configuration that cannot be used")
	}
	if s, _ := runner.Look(h.dir); s.Running {
		t.Error("it holds the lock")
	}
}

// Told to end it starts nothing more and waits for what runs: what ends in
// time is written down, the rest is left to its supervisor after ten seconds.
func TestRunEnds(t *testing.T) {
	for _, inTime := range []bool{true, false} {
		h := newHouse(t)
		begun, gate, left := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
		first := true
		h.script.Plan = func(time.Time) (heartbeat.Plan, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if !first {
				return heartbeat.Plan{}, nil
			}
			return heartbeat.Plan{Wakes: []heartbeat.Planned{{Wake: heartbeat.Wake{Agent: "main"}, Run: true, Status: "run"}}}, nil
		}
		h.script.Do = func(ctx context.Context, _ heartbeat.Planned) (session.Turn, error) {
			h.mu.Lock()
			first = false
			h.mu.Unlock()
			close(begun)
			select {
			case <-gate:
				return session.Turn{ID: ulid.New(noon), Agent: "main", Status: session.TurnSucceeded, Outcome: "sent"}, nil
			case <-ctx.Done():
				left <- true
				return session.Turn{}, ctx.Err()
			}
		}
		h.start()
		<-begun
		h.stop()
		h.until("it says that it waits", func() bool { return h.said("waiting up to 10s") == 1 })
		if inTime {
			close(gate)
		} else {
			// Not a moment before its ten seconds, and then at once.
			for range 9 {
				h.clock.WaitArmed(1)
				h.clock.Advance(time.Second)
			}
			select {
			case <-left:
				t.Error("left before its time")
			default:
			}
			h.until("it is left", func() bool {
				h.clock.Advance(time.Second)
				return len(left) == 1
			})
		}
		h.finish()
		if n := h.said("sent"); inTime != (n == 1) {
			t.Errorf("in time %v: %q", inTime, h.lines)
		}
	}
}

// A state directory that is moved away and made anew takes the locks with it.
func TestRunWhenTheDirectoryIsReplaced(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	passes := h.get(&h.passes)
	if err := os.Rename(h.dir, h.dir+".old"); err != nil {
		t.Fatal(err)
	}
	h.minute()
	h.until("it begins anew", func() bool { return h.get(&h.passes) > passes })
	held, err := state.Held(poke.Lock(h.dir))
	if err != nil || !held {
		t.Errorf("the new directory's lock: held %v, %v", held, err)
	}
	h.finish()
}

func TestStop(t *testing.T) {
	h := newHouse(t)
	if _, err := runner.Stop(t.Context(), h.dir); !errors.Is(err, runner.ErrNotUp) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestTasksAreLookedForEachMinute: one goes on by its row, and claw has started
// nothing for it, so that nobody is told when whoever carries it out has died
// (spec/tasks-recovery.md 1.10: every 60 s).
func TestTasksAreLookedForEachMinute(t *testing.T) {
	h := newHouse(t)
	looks := 0
	h.script.Tasks = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		looks++
	}
	s := h.open()
	x, err := task.New(task.Task{ID: "T", Runtime: task.CLI, OwnerKey: "agent:main:main", Task: "build", Status: task.Running}, noon)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *state.Tx) error { return state.Tasks.Add(tx, x.ID, x) })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.until("ten looks", func() bool {
		h.minute()
		return h.get(&looks) >= 10
	})
	if passed := h.clock.Now().Sub(noon); passed > 20*time.Minute {
		t.Errorf("ten looks took %s", passed)
	}
	h.finish()
}
