//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"claw/state/event"
)

// turnPoints are where a tick or a runner can be made to die on the way from
// an event to a message.
var turnPoints = []string{"turn-admitted", "turn-launched", "turn-ending", "turn-ended", "delivery-begun", "delivery-sent"}

// supervisorPoints are where whoever starts a command, and its supervisor, can
// be made to die.
var supervisorPoints = []string{
	"exec-claimed", "exec-sent", "child-forked", "child-started", "started", "captured", "child-exited", "settling", "concluded", "released",
}

// After these deaths nothing is unknown: the agent's supervisor has the reply,
// the row has the claim, or the agent was provably not started.
var certain = []string{"turn-admitted", "turn-launched", "turn-ending", "turn-ended"}

// A tick dies between an event and the message about it, or the supervisor of
// its agent does.
func TestWakeTickKilled(t *testing.T) {
	t.Parallel()
	for _, point := range append(append([]string{"captured:panic", "child-exited:panic"}, turnPoints...), supervisorPoints...) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWakes(t, "main")
			slug := w.must("exec", "-b", "echo job-1 out")
			w.must("process", "wait", slug)
			r := w.with("CLAW_FAILPOINT="+point).claw("heartbeat", "tick")
			if slices.Contains(turnPoints, point) && r.signal != unix.SIGKILL {
				t.Errorf("the tick did not die at %s: exit %d\n%s", point, r.code, r.err)
			}
			w.quiet()
			w.sound(point)
		})
	}
}

// The same with nobody there: the end of the command starts the tick, and the
// supervisor of the command may die as well.
func TestWakeByItselfKilled(t *testing.T) {
	t.Parallel()
	for _, point := range append(append([]string{""}, turnPoints...), supervisorPoints...) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWakes(t, "main")
			w.with("CLAW_WAKE_ON_EXIT=auto", "CLAW_FAILPOINT="+point).claw("exec", "-b", "echo job-1 out")
			if point == "" { // nobody else has a hand in it
				w.until("it is told", func() bool { return len(w.sent()) == 1 })
			}
			w.quiet()
			w.sound(point)
		})
	}
}

// A runner dies, and the next one goes on.
func TestWakeRunnerKilled(t *testing.T) {
	t.Parallel()
	for _, point := range turnPoints {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWakes(t, "main")
			w.world = w.with("CLAW_WAKE_ON_EXIT=runner")
			first := w.with("CLAW_FAILPOINT=" + point).runner()
			w.must("exec", "-b", "echo job-1 out")
			if _, sig := w.wait(first); sig != unix.SIGKILL {
				t.Errorf("the runner did not die at %s", point)
			}
			second := w.runner()
			w.until("the second runner has looked after it", func() bool {
				r := w.rows()
				putOff := len(r.events) == 1 && r.events[0].State == event.Queued && !r.events[0].NotBefore.IsZero()
				return r.open() == "" || putOff
			})
			w.kill(second.Process.Pid, unix.SIGTERM)
			w.wait(second)
			w.quiet()
			w.sound(point)
		})
	}
}

// flow is a way from something that happened to somebody who is told.
type flow struct {
	name   string
	before [][]string // done in peace; "later", "2m": by a clock that is ahead
	later  string     // by how much the clock of args is ahead
	fails  bool       // the agent does, each time
	check  bool       // a check of heartbeat.d has something to say
	args   []string   // of the claw that dies
	acts   int        // at least: a line of the journal and its sync for each thing that is written down
	events int        // there are in the end, if the command said that it had started
	sends  int        // messages there are then
}

var flows = []flow{
	{name: "exec", args: []string{"exec", "-b", "echo job-1 out"}, acts: 60, events: 1, sends: 1},
	{name: "failed", args: []string{"exec", "-b", "--timeout", "0.05", "echo job-1 out; sleep 0.3"}, acts: 60, events: 1, sends: 1},
	{name: "notify", args: []string{"exec", "-b", "--notify", "note", "echo job-1 out"}, acts: 40, events: 0, sends: 1},
	{name: "send", before: [][]string{{"event", "send", "--mode", "now", "fact-1"}}, args: []string{"agent", "send", "hello"}, acts: 20, events: 1},
	{name: "event", args: []string{"event", "send", "--mode", "now", "fact-1"}, acts: 40, events: 1, sends: 1},
	{name: "check", check: true, args: []string{"heartbeat", "run"}, acts: 60},
	{
		name: "relayed", fails: true, later: "10m", args: []string{"heartbeat", "tick"}, acts: 30,
		before: [][]string{{"exec", "-b", "echo job-1 out"}, {"process", "wait", "--last"}, {"heartbeat", "tick"}, {"later", "2m", "heartbeat", "tick"}},
	},
}

// Whatever of claw is killed, and before whichever write (issue 3, "Done
// when"): exactly one turn that saw the event or a recorded unknown, and at
// most one send. CLAW_DEATHS=all kills at every act, instead of at each
// 45th; =N at the Nth.
func TestWakeKilledAtEveryAct(t *testing.T) {
	t.Parallel()
	for _, f := range flows {
		for _, who := range []string{"one", "all"} {
			t.Run(f.name+"/"+who, func(t *testing.T) {
				t.Parallel()
				everyAct(t, f, who)
			})
		}
	}
}

func everyAct(t *testing.T, f flow, who string) {
	only := number64("CLAW_DEATHS", 0)
	step := 45
	if os.Getenv("CLAW_DEATHS") == "all" {
		step = 1
	}
	from := 1 + rand.IntN(step)
	if only > 0 {
		from = int(only)
	}
	n := from
	for died := true; died && !t.Failed(); n += step {
		t.Run(fmt.Sprint(n), func(t *testing.T) { died = newWakes(t, "main").mortal(f, n, who) && only == 0 })
	}
	if n < f.acts && only == 0 && !t.Failed() {
		t.Errorf("the whole flow has less than %d acts", n)
	}
	t.Logf("from act %d in steps of %d to %d", from, step, n)
}

// mortal runs a flow, with a death at act n. It says whether there is such an
// act.
func (w *wakes) mortal(f flow, n int, who string) (died bool) {
	if f.fails {
		w.file("fail-main", "")
	}
	if f.check {
		w.config(strings.Replace(w.toml, "'0m'", "'24h'", 1))
		w.file("home/config/claw/heartbeat.d/disk", "#!/bin/sh\necho the disk is full\nexit 1\n")
	}
	for _, args := range f.before {
		if args[0] == "later" {
			w.later(args[1]).must(args[2:]...)
		} else {
			w.must(args...)
		}
	}
	cmd := w.later(f.later).with("CLAW_WAKE_ON_EXIT=auto").program("mortal", append([]string{fmt.Sprint(n), who, w.bin}, f.args...)...)
	r := w.finish(cmd, "")
	if r.code != 0 && r.code != 9 {
		w.t.Fatalf("mortal: exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.quiet()
	at := fmt.Sprintf("act %d %s", n, who)
	w.sound(at)
	got := w.rows()
	if strings.HasSuffix(r.out, "\n") && (len(got.events) != f.events || len(got.deliveries) != f.sends) && f.sends > 0 {
		w.t.Errorf("%s: claw printed %q, and there are %d events and %d deliveries", at, r.out, len(got.events), len(got.deliveries))
	}
	if n := len(w.sentLines()); f.check && (n > 1 || n == 0 && r.code == 0) {
		w.t.Errorf("%s: the check alerted %d times", at, n)
	}
	return r.code == 9
}

// The agent itself is killed, once it has read what it is told: nobody knows
// what it did. With a way to go on that changes nothing it goes on, and says
// what came of it; without one the person is told, once. The ordinary argv does
// not run a second time.
func TestWakeAgentKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		toml  func(string) string
		turns int
		state event.State
		says  string
	}{
		{"with a recover argv", func(s string) string { return s }, 2, event.Consumed, "seen by main"},
		{"without one", withoutRecover, 1, event.Unknown, "what it did about this is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWakes(t, "main")
			w.config(tt.toml(w.toml))
			w.file("die-main", "")
			w.must("exec", "-b", "echo job-1 out")
			w.must("process", "wait", "--last")
			w.must("heartbeat", "tick")
			w.quiet()
			r := w.rows()
			if len(r.turns) != tt.turns || r.events[0].State != tt.state || len(w.sent()) != 1 {
				t.Fatalf("turns %+v, events %+v, sent %v", r.turns, r.events, w.sentLines())
			}
			if n := len(w.told(r.turns[0].ID)); n != 1 {
				t.Errorf("the ordinary argv ran %d times", n)
			}
			if lines := w.sentLines(); !strings.Contains(lines[0], tt.says) {
				t.Errorf("%q", lines)
			}
			w.sound(tt.name)
		})
	}
}

// withoutRecover is the configuration of one agent without its recover argv.
func withoutRecover(toml string) string { return toml[:strings.LastIndex(toml, "recover =")] }
