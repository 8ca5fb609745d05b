package runner_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/agent"
	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
)

// drained is a house with a turn that somebody runs, until it is let end.
type drained struct {
	*house
	store *state.Store
	mu    sync.Mutex
	going []session.Turn
	hurry chan os.Signal
}

func newDrained(t *testing.T) *drained {
	machine(t)
	d := &drained{house: newHouse(t), hurry: make(chan os.Signal, 1)}
	d.o.Hurry = d.hurry
	d.script.Turns = func() ([]agent.Result, []session.Turn, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return nil, d.going, nil
	}
	d.store = d.open()
	t.Cleanup(func() { d.store.Close() })
	return d
}

func (d *drained) let(turns ...session.Turn) {
	d.mu.Lock()
	d.going = turns
	d.mu.Unlock()
}

// ring has the runner look.
func (d *drained) ring() {
	select {
	case d.bell.c <- struct{}{}:
	default:
	}
}

// drain orders it, and rings.
func (d *drained) drain(budget time.Duration) runner.Asked {
	d.t.Helper()
	a, err := runner.Drain(d.t.Context(), d.store, d.clock, budget)
	if err != nil {
		d.t.Fatal(err)
	}
	d.ring()
	return a
}

func (d *drained) is(mode string) {
	d.t.Helper()
	d.until("its mode is "+mode, func() bool {
		s, err := runner.Look(d.dir)
		return err == nil && s.Mode == mode
	})
}

// pass has it look again, without a second going by.
func (d *drained) pass() {
	d.t.Helper()
	if err := poke.Bump(d.dir); err != nil {
		d.t.Fatal(err)
	}
	d.ring()
}

// over is the row of its life when it has ended.
func (d *drained) over() boot.Boot {
	d.t.Helper()
	select {
	case err := <-d.ended:
		if err != nil {
			d.t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		d.t.Fatal("it does not end")
	}
	rows := d.lives()
	return rows[len(rows)-1]
}

var long = session.Turn{ID: "T1", Agent: "main", SessionKey: "agent:main:main"}

func TestDrain(t *testing.T) {
	t.Run("with nothing going on it ends at once", func(t *testing.T) {
		d := newDrained(t)
		d.start()
		d.settle()
		d.drain(time.Hour)
		if b := d.over(); b.Outcome != boot.CleanStop || b.Reason != "" || b.Order.IsZero() {
			t.Errorf("%+v", b)
		}
	})
	t.Run("it waits for a turn, begins nothing, and says what it waits for", func(t *testing.T) {
		d := newDrained(t)
		d.let(long)
		begun, wanted := 0, false
		d.script.Plan = func(time.Time) (heartbeat.Plan, error) {
			if !wanted {
				return heartbeat.Plan{}, nil
			}
			return heartbeat.Plan{Wakes: []heartbeat.Planned{{Wake: heartbeat.Wake{Agent: "main"}, Run: true, Status: "run"}}}, nil
		}
		d.script.Do = func(context.Context, heartbeat.Planned) (session.Turn, error) { begun++; return session.Turn{}, nil }
		d.start()
		d.settle()
		if runner.Draining(d.dir) {
			t.Error("it is drained before it was told")
		}
		wanted = true
		d.drain(5 * time.Minute)
		d.is("draining")
		s, _ := runner.Look(d.dir)
		if len(s.WaitsFor) != 1 || s.WaitsFor[0] != "turn T1 of agent main in agent:main:main" || s.Until.Sub(d.clock.Now()) > 5*time.Minute || s.Why == "" {
			t.Errorf("state %+v", s)
		}
		if !runner.Draining(d.dir) {
			t.Error("others may begin something")
		}
		for range 100 {
			d.clock.WaitArmed(1)
			d.clock.Advance(time.Second)
		}
		d.let()
		d.pass()
		if b := d.over(); b.Outcome != boot.CleanStop || begun != 0 {
			t.Errorf("%+v; %d turns were begun", b, begun)
		}
		if runner.Draining(d.dir) {
			t.Error("nobody may begin anything afterwards")
		}
	})
	t.Run("a bounded drain always ends", func(t *testing.T) {
		d := newDrained(t)
		d.let(long)
		d.start()
		d.settle()
		at := d.clock.Elapsed()
		d.drain(time.Minute)
		d.is("draining")
		for range 59 {
			d.clock.WaitArmed(1)
			d.clock.Advance(time.Second)
		}
		d.clock.WaitArmed(1)
		if s, _ := runner.Look(d.dir); !s.Running {
			t.Errorf("it ended after %s", d.clock.Elapsed()-at)
		}
		d.clock.Advance(time.Second)
		if b := d.over(); b.Outcome != boot.ForcedStop || !strings.Contains(b.Reason, "turn T1") {
			t.Errorf("%+v", b)
		}
	})
	t.Run("whatever the wall clock does meanwhile", func(t *testing.T) {
		d := newDrained(t)
		d.let(long)
		d.start()
		d.settle()
		d.drain(time.Minute)
		d.is("draining")
		d.clock.Step(-24 * time.Hour)
		for range 60 {
			d.clock.WaitArmed(1)
			d.clock.Advance(time.Second)
		}
		if b := d.over(); b.Outcome != boot.ForcedStop {
			t.Errorf("%+v", b)
		}
	})
	t.Run("a second one is immediate", func(t *testing.T) {
		d := newDrained(t)
		d.let(long)
		d.start()
		d.settle()
		d.drain(time.Hour)
		d.is("draining")
		d.drain(time.Hour)
		if b := d.over(); b.Outcome != boot.ForcedStop {
			t.Errorf("%+v", b)
		}
	})
	t.Run("TERM does not wait for what others run", func(t *testing.T) {
		d := newDrained(t)
		d.let(long)
		d.start()
		d.settle()
		d.stop()
		if b := d.over(); b.Outcome != boot.CleanStop {
			t.Errorf("%+v", b)
		}
	})
	t.Run("nobody is there", func(t *testing.T) {
		d := newDrained(t)
		if _, err := runner.Drain(t.Context(), d.store, d.clock, time.Minute); !errors.Is(err, runner.ErrNotUp) {
			t.Errorf("error %v", err)
		}
	})
}

// A run of an automation is waited for, also one whose command nobody in the
// runner waits for. One that is queued is not (1.12).
func TestDrainWaitsForRuns(t *testing.T) {
	d := newDrained(t)
	put := func(id string, s automation.Status) {
		err := d.store.Update(t.Context(), func(tx *state.Tx) error {
			row, _, err := state.Runs.Get(tx, id)
			if err != nil {
				return err
			}
			return state.Runs.Put(tx, id, row.Rev, automation.Run{ID: id, Name: id, Status: s, EndedAt: noon})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("backup", automation.Running)
	put("later", automation.Queued)
	d.start()
	d.settle()
	d.drain(time.Hour)
	d.is("draining")
	if s, _ := runner.Look(d.dir); len(s.WaitsFor) != 1 || s.WaitsFor[0] != "a run of backup" {
		t.Errorf("it waits for %q", s.WaitsFor)
	}
	put("backup", automation.Succeeded)
	d.ring()
	if b := d.over(); b.Outcome != boot.CleanStop {
		t.Errorf("%+v", b)
	}
}

// A second signal ends the patience with what is at work.
func TestSecondSignal(t *testing.T) {
	d := newDrained(t)
	begun := make(chan struct{})
	var once sync.Once
	d.script.Plan = func(time.Time) (heartbeat.Plan, error) {
		return heartbeat.Plan{Wakes: []heartbeat.Planned{{Wake: heartbeat.Wake{Agent: "main"}, Run: true, Status: "run"}}}, nil
	}
	d.script.Do = func(ctx context.Context, _ heartbeat.Planned) (session.Turn, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		return session.Turn{}, ctx.Err()
	}
	d.start()
	<-begun
	d.stop()
	d.until("it waits", func() bool { return d.said("waiting up to 10s") == 1 })
	d.hurry <- syscall.SIGTERM
	if b := d.over(); b.Outcome != boot.ForcedStop || !strings.Contains(b.Reason, "agent main") {
		t.Errorf("%+v", b)
	}
}

// spec/tasks-recovery.md 4.9: what was accepted is told to its session when the
// next one begins, once; of two restarts one is made.
func TestRestart(t *testing.T) {
	d := newDrained(t)
	d.let(long)
	d.start()
	d.settle()
	var asked []runner.Asked
	for _, key := range []string{"agent:main:main", "session:two"} {
		a, err := runner.Restart(t.Context(), d.store, d.clock, time.Hour, &boot.Continuation{SessionKey: key, Agent: "main", Text: "look at " + key})
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, a)
	}
	d.ring()
	d.is("draining")
	if n := len(d.events()); n != 0 {
		t.Errorf("%d events before it has ended", n)
	}
	d.let()
	d.pass()
	select {
	case err := <-d.ended:
		if !runner.IsRestart(err) {
			t.Fatalf("Run: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	if b, err := asked[1].Wait(t.Context(), d.clock); err != nil || b.Outcome != boot.PlannedRestart {
		t.Errorf("%+v, %v", b, err)
	}
	if n := len(d.events()); n != 0 {
		t.Errorf("%d events before another one has begun", n)
	}
	for range 2 { // and a third time nothing is told again
		d.o.Restarted = true
		d.start()
		d.settle()
		d.finish()
	}
	got := d.events()
	if len(got) != 2 {
		t.Fatalf("events %+v", got)
	}
	slices.SortFunc(got, func(a, b event.Event) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	for i, key := range []string{"agent:main:main", "session:two"} {
		if e := got[i]; e.SessionKey != key || e.Kind != event.KindRestart || e.State != event.Queued || !strings.HasSuffix(e.Text, "Go on with this: look at "+key) {
			t.Errorf("event %+v", e)
		}
	}
	rows := d.lives()
	if len(rows) != 3 || rows[1].StartupReason != boot.Restarted {
		t.Errorf("lives %+v", rows)
	}
}

func (d *drained) events() []event.Event {
	d.t.Helper()
	var all []event.Event
	err := d.store.View(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Events.All(tx)
		for _, row := range rows {
			all = append(all, row.Rec)
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
	return all
}

// A restart that is refused leaves nothing to go on with, and in safe mode what
// was accepted waits.
func TestRestartRefused(t *testing.T) {
	d := newDrained(t)
	next := func() *boot.Continuation {
		return &boot.Continuation{SessionKey: "agent:main:main", Agent: "main", Text: "go on"}
	}
	if _, err := runner.Restart(t.Context(), d.store, d.clock, time.Hour, next()); !errors.Is(err, runner.ErrNotUp) {
		t.Errorf("with nobody there: %v", err)
	}
	d.let(long)
	d.start()
	d.settle()
	d.drain(time.Hour)
	d.is("draining")
	_, err := runner.Restart(t.Context(), d.store, d.clock, time.Hour, next())
	if refused, ok := errors.AsType[*boot.OrderError](err); !ok || refused.Reason != boot.ReasonDraining {
		t.Errorf("while it is drained: %v", err)
	}
	d.let()
	d.pass()
	d.over()
	d.start()
	d.settle()
	d.finish()
	if got := d.events(); len(got) != 0 {
		t.Errorf("events %+v", got)
	}
}

func TestContinuationsWaitForTheEndOfSafeMode(t *testing.T) {
	d := newDesk(t)
	err := d.store.Update(t.Context(), func(tx *state.Tx) error {
		return state.Continuations.Put(tx, "C", 0, boot.Continuation{ID: "C", BootID: "gone", SessionKey: "agent:main:main", Agent: "main", Text: "go on"})
	})
	if err != nil {
		t.Fatal(err)
	}
	c := newHouse(t).clock
	lived(t, d.store, process.Identity{}, 3*time.Minute, 2*time.Minute, time.Minute)
	r := &runner.Runner{Store: d.store, Clock: c}
	r.Play(runner.Script{Plan: d.plan, Do: d.do})
	for i, want := range []int{0, 1, 1} {
		if _, err := r.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(d.turns) != want {
			t.Errorf("tick %d: %d turns, want %d", i+1, len(d.turns), want)
		}
		c.Step(10 * time.Minute)
	}
}
