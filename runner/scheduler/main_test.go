package scheduler_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/control"
	"claw/runner/deliver"
	"claw/runner/scheduler"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
)

// The test binary is also the supervisor of commands and agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	os.Exit(m.Run())
}

// noon is when every world begins: a Wednesday.
var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// world is a state directory, a clock that is moved by hand, and an agent made
// of a shell script.
type world struct {
	*scheduler.Scheduler
	t     testing.TB
	clock *clocktest.Fake
	dir   string
	agent agent.Agent
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.New(noon), dir: t.TempDir()}
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { statetest.Remove(t, dir) })
	w.open(statetest.OpenAt(t, dir, state.Options{FS: statetest.Fast(dir), Now: w.clock.Now}))
	return w
}

// open makes another program over the same directory: nothing is remembered.
func (w *world) open(store *state.Store) {
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	post := &deliver.Post{Store: store, Clock: w.clock, Default: "inbox", Environ: environ, OnEnd: scheduler.Delivered}
	turns := &agent.Turns{
		Store: store, Clock: clock.New(), Agent: func(string) agent.Agent { return w.agent }, Environ: environ, Cwd: w.dir, MaxOutput: 1 << 20,
	}
	w.Scheduler = &scheduler.Scheduler{
		Store: store, Clock: w.clock, Turns: turns, Post: post, Enabled: true, MaxTurns: 8, Agents: []string{"main"},
		Zone: scheduler.Zones(), Boot: noon.Add(-24 * time.Hour), Environ: environ, Cwd: w.dir, MaxOutput: 1 << 20,
	}
	turns.OnEnd = w.TurnEnded
}

// add makes an automation of an interval, changed as a test needs it.
func (w *world) add(name, every string, change func(a *automation.Automation)) automation.Automation {
	w.t.Helper()
	s, err := automation.ParseEvery(every)
	if err != nil {
		w.t.Fatal(err)
	}
	a := automation.Automation{
		Name: name, Enabled: true, Schedule: s, Payload: automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}},
		Delivery: &automation.Delivery{Mode: "none"},
	}
	if change != nil {
		change(&a)
	}
	a, _, err = w.Add(w.t.Context(), a)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// sh makes the payload a line for the shell.
func sh(script string) func(a *automation.Automation) {
	return func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"sh", "-c", script}}
	}
}

func nobody(string) bool { return false }

// pass decides, and starts and stops what that gives.
func (w *world) pass() scheduler.Work {
	w.t.Helper()
	work, err := w.Pass(w.t.Context(), nobody)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range work.Stop {
		if err := w.Stop(r); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, r := range work.Start {
		if err := w.Start(w.t.Context(), r); err != nil {
			w.t.Fatal(err)
		}
	}
	return work
}

// settle waits for the end of every command, and has it written down.
func (w *world) settle() scheduler.Work {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := control.Settle(w.t.Context(), w.Store, clock.New(), ""); err != nil {
			w.t.Fatal(err)
		}
		live := false
		for _, p := range w.processes() {
			live = live || p.Live()
		}
		if !live {
			return w.pass()
		}
		if time.Now().After(deadline) {
			w.t.Fatal("a command did not end")
		}
	}
}

func all[T any](w *world, l state.Ledger[T]) (list []T) {
	w.t.Helper()
	err := w.Store.View(func(tx *state.Tx) error {
		list = nil
		rows, err := l.All(tx)
		for _, row := range rows {
			list = append(list, row.Rec)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) processes() []process.Process   { return all(w, state.Processes) }
func (w *world) tasks() []task.Task             { return all(w, state.Tasks) }
func (w *world) events() []event.Event          { return all(w, state.Events) }
func (w *world) sent() []delivery.Delivery      { return all(w, state.Deliveries) }
func (w *world) turns() []session.Turn          { return all(w, state.Turns) }
func (w *world) autos() []automation.Automation { return all(w, state.Automations) }

// runs are all records, oldest first.
func (w *world) runs() []automation.Run {
	w.t.Helper()
	list, err := w.Runs(scheduler.RunFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// story is the runs in short: "12:01 succeeded, 12:02 failed".
func (w *world) story() string {
	w.t.Helper()
	var words []string
	for _, r := range w.runs() {
		at := "by hand"
		if !r.Slot.IsZero() {
			at = r.Slot.UTC().Format("15:04")
		}
		if !r.Through.IsZero() {
			at += "-" + r.Through.UTC().Format("15:04")
		}
		words = append(words, at+" "+string(r.Status))
	}
	return strings.Join(words, ", ")
}

func (w *world) tells(want string) {
	w.t.Helper()
	if got := w.story(); got != want {
		w.t.Errorf("runs: %s\nwant: %s", got, want)
	}
}

func (w *world) lines(name string) []string {
	raw, _ := os.ReadFile(filepath.Join(w.dir, name))
	return strings.Fields(string(raw))
}
