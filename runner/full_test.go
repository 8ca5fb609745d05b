package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/clock"
	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/state"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
)

// torn is a write that failed on a full disk: it wrote a part of a line and cut
// it off again, so that the journal is as long as before and has another time.
func torn(t *testing.T, dir string, kind error) error {
	path := filepath.Join(dir, "journal.jsonl")
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Error(err)
	}
	return &state.Error{Op: "write", Path: path, Why: kind.Error(), Err: kind}
}

// ends is what a tick returns, which it must.
func ends(t *testing.T, r *runner.Runner) (runner.Report, error) {
	t.Helper()
	type result struct {
		rep runner.Report
		err error
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result, 1)
	go func() {
		rep, err := r.Tick(ctx)
		done <- result{rep, err}
	}()
	select {
	case got := <-done:
		cancel()
		return got.rep, got.err
	case <-time.After(patience):
		cancel()
		<-done
		t.Fatal("the tick does not end")
	}
	panic("not reached")
}

// Where nothing can be written a tick says so and ends, at whatever it notices
// that: its own attempts are no news to look at again.
func TestTickWhereNothingCanBeWritten(t *testing.T) {
	for _, kind := range []error{state.ErrNoSpace, state.ErrReadOnly, state.ErrNewerFormat, syscall.EIO} {
		for _, linger := range []bool{false, true} {
			t.Run("settling: "+kind.Error(), func(t *testing.T) {
				d := newDesk(t)
				d.queue("main")
				passes, turns := 0, 0
				r := &runner.Runner{Store: d.store, Clock: clock.New(), Linger: linger}
				r.Play(runner.Script{
					Settle: func() ([]process.Process, error) { passes++; return nil, torn(t, d.store.Dir(), kind) },
					Plan:   d.plan,
					Do:     func(context.Context, heartbeat.Planned) (session.Turn, error) { turns++; return session.Turn{}, nil },
				})
				if _, err := ends(t, r); !errors.Is(err, kind) {
					t.Errorf("error %v, want %v", err, kind)
				}
				if passes != 1 || turns != 0 {
					t.Errorf("%d passes and %d turns, want one pass that begins nothing", passes, turns)
				}
			})
			t.Run("claiming: "+kind.Error(), func(t *testing.T) {
				d := newDesk(t)
				d.queue("main")
				var turns atomic.Int32
				r := &runner.Runner{Store: d.store, Clock: clock.New(), Linger: linger}
				r.Play(runner.Script{Plan: d.plan, Do: func(context.Context, heartbeat.Planned) (session.Turn, error) {
					turns.Add(1)
					return session.Turn{}, torn(t, d.store.Dir(), kind)
				}})
				if _, err := ends(t, r); !errors.Is(err, kind) {
					t.Errorf("error %v, want %v", err, kind)
				}
				if n := turns.Load(); n != 1 {
					t.Errorf("tried %d times, want once", n)
				}
			})
		}
	}
}

// A disk that is full while a turn goes on, and has room again when that ends:
// the tick waits for the turn, and then goes on.
func TestTickGoesOnWhenThereIsRoom(t *testing.T) {
	d := newDesk(t)
	d.gate["main"] = make(chan struct{})
	first := d.queue("main")
	var full atomic.Bool
	failed := make(chan struct{}, 100)
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	r.Play(runner.Script{Plan: d.plan, Do: d.do, Settle: func() ([]process.Process, error) {
		if full.Load() {
			failed <- struct{}{}
			return nil, torn(t, d.store.Dir(), state.ErrNoSpace)
		}
		return nil, nil
	}})
	ended := make(chan runner.Report, 1)
	go func() {
		rep, err := r.Tick(t.Context())
		if !errors.Is(err, state.ErrNoSpace) {
			t.Errorf("error %v: it does not say that the disk was full", err)
		}
		ended <- rep
	}()
	d.began("main")
	full.Store(true)
	second := d.queue("ops")
	<-failed
	full.Store(false)
	close(d.gate["main"])
	if rep := <-ended; rep.Turns != 2 {
		t.Errorf("report %+v, want both turns", rep)
	}
	d.eachOnce(first, second)
	if n := len(failed); n > 0 {
		t.Errorf("%d further passes while nothing could be written", n)
	}
}

// While others write without end, what a tick has started is taken in: the
// next turn of the same agent begins.
func TestTickTakesInWhatLandsAmongWriters(t *testing.T) {
	d := newDesk(t)
	var calm atomic.Bool
	first := d.queue("main")
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	r.Play(runner.Script{Plan: d.plan, Do: d.do, Settle: func() ([]process.Process, error) {
		if !calm.Load() {
			torn(t, d.store.Dir(), state.ErrNoSpace) // somebody else's, in every pass
		}
		return nil, nil
	}})
	ended := make(chan error, 1)
	go func() {
		_, err := r.Tick(t.Context())
		ended <- err
	}()
	d.began("main")
	second := d.queue("main")
	d.began("main")
	calm.Store(true)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the tick does not end")
	}
	d.eachOnce(first, second)
}

// A runner stays where nothing can be written, tries again after one second,
// two, four and so on to a minute, and says so once and in its note.
func TestRunWhereNothingCanBeWritten(t *testing.T) {
	h := newHouse(t)
	var full atomic.Bool
	var tries atomic.Int32
	h.script.Settle = func() ([]process.Process, error) {
		if full.Load() {
			tries.Add(1)
			return nil, torn(t, h.dir, state.ErrNoSpace)
		}
		return nil, nil
	}
	h.start()
	h.settle()
	full.Store(true)
	if err := poke.Bump(h.dir); err != nil {
		t.Fatal(err)
	}
	h.bell.c <- struct{}{}
	h.until("it has tried", func() bool { return tries.Load() == 1 })
	h.until("its note says so", func() bool {
		s, err := runner.Look(h.dir)
		return err == nil && s.Error != ""
	})
	begun := h.clock.Now()
	for tries.Load() < 10 { // 1+2+4+8+16+32+60+60+60 seconds later
		before := tries.Load()
		h.bell.c <- struct{}{} // its own attempt was seen
		h.clock.WaitArmed(1)
		if n := tries.Load(); n != before {
			continue
		}
		h.clock.Advance(time.Second)
	}
	if took := h.clock.Now().Sub(begun); took < 230*time.Second || took > 300*time.Second {
		t.Errorf("ten tries in %s, want about 243s", took)
	}
	full.Store(false)
	passes := h.get(&h.passes)
	h.until("it goes on, within a minute", func() bool {
		h.clock.WaitArmed(1)
		h.clock.Advance(time.Second)
		return h.get(&h.passes) > passes
	})
	h.until("its note is clean", func() bool {
		s, err := runner.Look(h.dir)
		return err == nil && s.Error == ""
	})
	h.finish()
	if n := h.said("error: "); n != 1 {
		t.Errorf("said %d times, want once: %q", n, h.lines)
	}
}

// A newer claw has taken over the directory: a runner lets go of the lock,
// whatever it is woken by, and does not begin there either.
func TestRunWhenANewerClawHasTakenOver(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	if err := os.WriteFile(filepath.Join(h.dir, "FORMAT"), []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // for the check at the end
		if err := os.WriteFile(filepath.Join(h.dir, "FORMAT"), []byte("1\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	if err := poke.Bump(h.dir); err != nil {
		t.Fatal(err)
	}
	h.bell.c <- struct{}{}
	for _, when := range []string{"woken", "begun anew"} {
		select {
		case err := <-h.ended:
			if !errors.Is(err, state.ErrNewerFormat) {
				t.Errorf("%s: %v, want that the directory is newer", when, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: it stays", when)
		}
		if held, _ := state.Held(poke.Lock(h.dir)); held {
			t.Errorf("%s: it keeps the lock", when)
		}
		if when == "woken" {
			h.start()
		}
	}
}

// FORMAT that cannot be read is nothing to end for: doctor may mend it.
func TestRunWhereFormatIsDamaged(t *testing.T) {
	h := newHouse(t)
	h.start()
	h.settle()
	path := filepath.Join(h.dir, "FORMAT")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	passes := h.get(&h.passes)
	if err := poke.Bump(h.dir); err != nil {
		t.Fatal(err)
	}
	h.bell.c <- struct{}{}
	h.until("it says so", func() bool { return h.said("FORMAT") == 1 })
	if n := h.get(&h.passes); n != passes {
		t.Errorf("%d passes on a directory that cannot be written", n-passes)
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	h.until("it goes on with the mended one", func() bool {
		h.minute()
		return h.get(&h.passes) > passes
	})
	h.finish()
	statetest.Check(t, h.dir)
}
