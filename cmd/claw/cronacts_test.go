//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/state/automation"
	conversation "claw/state/session"
)

// slotFlow is the way of one slot from its time to its record.
type slotFlow struct {
	name string
	add  []string // what is to be done
	acts int      // at least
}

var slotFlows = []slotFlow{
	{name: "command", add: []string{"--", "sh", "-c", appends}, acts: 60},
	{name: "turn", add: []string{"--message", "what is new"}, acts: 60},
}

// Whatever of claw is killed while a slot is carried out, and before whichever
// write: the slot has one record, and its command or its agent was started once
// at most; what nobody knows the end of is recorded as such, and what failed had provably not been started (issue 4;
// design.md 3.5). CLAW_DEATHS=all kills at every act, instead of at each 45th;
// =N at the Nth.
func TestCronKilledAtEveryAct(t *testing.T) {
	t.Parallel()
	for _, f := range slotFlows {
		for _, who := range []string{"one", "all"} {
			t.Run(f.name+"/"+who, func(t *testing.T) {
				t.Parallel()
				f.everyAct(t, who)
			})
		}
	}
}

func (f slotFlow) everyAct(t *testing.T, who string) {
	only, step := number64("CLAW_DEATHS", 0), 45
	if os.Getenv("CLAW_DEATHS") == "all" {
		step = 1
	}
	from := 1 + rand.IntN(step)
	if only > 0 {
		from = int(only)
	}
	n, tally := from, map[automation.Status]int{}
	for died := true; died && !t.Failed(); n += step {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var status automation.Status
			status, died = newWakes(t, "main").slot(f, n, who)
			tally[status]++
			died = died && only == 0
		})
	}
	if n < f.acts && only == 0 && !t.Failed() {
		t.Errorf("the whole flow has less than %d acts", n)
	}
	t.Logf("from act %d in steps of %d to %d: %v", from, step, n, tally)
}

// slot carries a slot out, with a death at act n. It says what became of it,
// and whether there is such an act.
func (w *wakes) slot(f slotFlow, n int, who string) (automation.Status, bool) {
	w.t.Helper()
	w.must(append([]string{"cron", "add", "--at", "1h", "--keep-after-run", "--name", "job"}, f.add...)...)
	cmd := w.later("60m5s").with("CLAW_WAKE_ON_EXIT=auto").program("mortal", fmt.Sprint(n), who, w.bin, "heartbeat", "tick")
	r := w.finish(cmd, "")
	if r.code != 0 && r.code != 9 {
		w.t.Fatalf("mortal: exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.slotQuiet()
	at := fmt.Sprintf("%s, act %d %s", f.name, n, who)
	var list struct{ Runs []cronRun }
	w.json(&list, "cron", "runs", "job", "--limit", "0", "--json")
	if len(list.Runs) == 0 {
		w.t.Fatalf("%s: no record", at)
	}
	run, began := list.Runs[0], w.began() // the last attempt
	for _, r := range list.Runs[1:] {
		if r.Status != automation.Failed {
			w.t.Errorf("%s: an attempt after %+v", at, r)
		}
	}
	switch {
	case began > 1:
		w.t.Errorf("%s: it was carried out %d times", at, began)
	case run.Status == automation.Succeeded && began != 1, run.Status == automation.Failed && began != 0:
		w.t.Errorf("%s: it is %s, and was carried out %d times", at, run.Status, began)
	case run.Status != automation.Succeeded && run.Status != automation.Failed && run.Status != automation.Unknown && run.Status != automation.Interrupted:
		w.t.Errorf("%s: it is %s", at, run.Status)
	case r.code == 0 && (run.Status != automation.Succeeded || len(list.Runs) != 1):
		w.t.Errorf("%s: nobody was killed, and it is %s", at, run.Status)
	}
	w.slotTold(at, run.Status)
	return run.Status, r.code == 9
}

// began is how often the command or the agent was started, as it says itself.
func (w *wakes) began() int {
	raw, _ := os.ReadFile(filepath.Join(w.dir, "ran"))
	told, _ := filepath.Glob(filepath.Join(w.dir, "told", "*"))
	return strings.Count(string(raw), "\n") + len(told)
}

// slotTold: a person reads the reply of a turn that succeeded once, and is
// alerted once of a run of which nobody knows what became of it.
func (w *wakes) slotTold(at string, status automation.Status) {
	w.t.Helper()
	r := w.rows()
	replies, unknown := 0, 0
	for _, d := range r.deliveries {
		n := w.sent()[d.IdempotencyKey]
		if n > 1 || n == 0 && d.State == "delivered" {
			w.t.Errorf("%s: %s is %s and was sent %d times", at, d.IdempotencyKey, d.State, n)
		}
		if !strings.HasPrefix(d.IdempotencyKey, "alert:") {
			replies++
		} else {
			unknown++
		}
	}
	good := 0
	for _, turn := range r.turns {
		if turn.Status == conversation.TurnSucceeded {
			good++
		}
	}
	if replies != good || replies > 1 || unknown > 1 || status == automation.Unknown && unknown != 1 && good == 0 {
		w.t.Errorf("%s: the run is %s; %d turns of %d succeeded, %d replies and %d other messages: %+v", at, status, good, len(r.turns), replies, unknown, r.deliveries)
	}
	for _, k := range r.tasks {
		if !k.Status.Terminal() {
			w.t.Errorf("%s: task %+v", at, k)
		}
	}
}

// slotQuiet has ticks run until the slot has its end and nothing is open.
func (w *wakes) slotQuiet() {
	w.t.Helper()
	for i := range 20 {
		w.until("all that runs has ended", w.ended)
		w.later((time.Hour + time.Duration(11*i+1)*time.Minute).String()).must("heartbeat", "tick")
		var list struct{ Runs []cronRun }
		w.json(&list, "cron", "runs", "job", "--limit", "0", "--json")
		if len(w.running()) == 0 && w.rows().open() == "" && len(list.Runs) > 0 && !list.Runs[0].Status.Open() {
			return
		}
	}
	w.t.Errorf("it does not become quiet: %s", w.rows().open())
}
