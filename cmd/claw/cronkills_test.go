//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/state/automation"
	"claw/state/statetest"
)

// beats are automations that fire every few seconds, each of which appends a
// line to a file: its name, its slot and its run.
type beats struct {
	*world
	jobs []beat
	rng  *rand.Rand
	said lockedBuffer // by runners
}

// beat is one of them. due tells the seconds at which it is.
type beat struct {
	name, expr string
	flags      []string
	script     string
	due        func(second int) bool
}

// appends is one write, at the end of the file.
const appends = `echo "$CLAW_AUTOMATION $CLAW_SLOT $CLAW_RUN_ID" >> ran`

func everyBeat(n int) func(int) bool { return func(second int) bool { return second%n == 0 } }

// newBeats has every missed and every overlap policy in it.
func newBeats(t *testing.T, seed uint64) *beats {
	return newBeatsOf(t, seed, []beat{
		{"each", "* * * * * *", nil, appends, everyBeat(1)},
		{"second", "*/2 * * * * *", []string{"--missed", "all", "--overlap", "queue"}, appends, everyBeat(2)},
		{"third", "*/3 * * * * *", []string{"--missed", "skip", "--overlap", "allow"}, appends + "; sleep 4", everyBeat(3)},
		{"odd", "1-59/2 * * * * *", []string{"--missed", "skip"}, "sleep 0.3; " + appends, func(second int) bool { return second%2 == 1 }},
		{"slow", "*/2 * * * * *", []string{"--overlap", "replace"}, appends + "; sleep 3", everyBeat(2)},
		{"long", "*/5 * * * * *", []string{"--overlap", "queue", "--missed", "all"}, appends + "; sleep 1.5", everyBeat(5)},
	})
}

func newBeatsOf(t *testing.T, seed uint64, jobs []beat) *beats {
	b := &beats{world: newWorld(t).with("CLAW_WAKE_ON_EXIT=runner").with("CLAW_RUNNER_SAFE_MODE=off"), rng: rand.New(rand.NewPCG(seed, 4)), jobs: jobs}
	for _, j := range b.jobs {
		args := append([]string{"cron", "add", j.expr, "--tz", "UTC", "--name", j.name}, j.flags...)
		b.must(append(args, "--", "sh", "-c", j.script)...)
	}
	return b
}

// start is a runner that need not be at work yet.
func (b *beats) start() *exec.Cmd {
	b.t.Helper()
	cmd := b.command("runner", "run")
	cmd.Stderr = &b.said
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return cmd
}

// cronRun is a record of a run, as far as this looks at it.
type cronRun struct {
	ID            string
	Slot, Through time.Time
	Count         int
	AtLeast       bool
	Attempt       int
	Status        automation.Status
}

func (b *beats) runs(name string) []cronRun {
	b.t.Helper()
	var list struct{ Runs []cronRun }
	b.json(&list, "cron", "runs", name, "--limit", "0", "--json")
	return list.Runs
}

// lines is how many have been written by now.
func (b *beats) lines() int {
	raw, _ := os.ReadFile(filepath.Join(b.dir, "ran"))
	return strings.Count(string(raw), "\n")
}

// settle switches everything off and waits until all that was begun has ended.
func (b *beats) settle() {
	b.t.Helper()
	for _, j := range b.jobs {
		b.must("cron", "disable", j.name)
	}
	b.until("every run has ended", func() bool {
		b.claw("heartbeat", "tick")
		for _, j := range b.jobs {
			if slices.ContainsFunc(b.runs(j.name), func(r cronRun) bool { return r.Status.Open() }) {
				return false
			}
		}
		return true
	})
	b.until("every command has ended", func() bool { return len(b.commands()) == 0 })
}

// audit compares records with lines and with the seconds that there were.
func (b *beats) audit() (counts map[string]int) {
	b.t.Helper()
	counts = map[string]int{}
	lines := map[string]string{} // by run: job and slot
	raw, _ := os.ReadFile(filepath.Join(b.dir, "ran"))
	for line := range strings.Lines(string(raw)) {
		counts["lines"]++
		words := strings.Fields(line)
		if len(words) != 3 {
			b.t.Errorf("a line %q", line)
			continue
		}
		if lines[words[2]] != "" {
			b.t.Errorf("run %s was carried out twice", words[2])
		}
		lines[words[2]] = words[0] + " " + words[1]
	}
	for _, j := range b.jobs {
		runs := b.runs(j.name)
		b.match(j, runs, lines, counts)
		b.covered(j, runs, counts)
	}
	for id, line := range lines {
		b.t.Errorf("%s (%s) was carried out, and no run is on record", id, line)
	}
	return counts
}

// match takes the lines of a job's runs away. What succeeded has one, what was
// never begun has none; who wrote one and was ended, or lost its supervisor, is
// recorded as such.
func (b *beats) match(j beat, runs []cronRun, lines map[string]string, counts map[string]int) {
	b.t.Helper()
	for _, r := range runs {
		counts[string(r.Status)]++
		line, wrote := lines[r.ID]
		delete(lines, r.ID)
		if want := j.name + " " + r.Slot.UTC().Format(time.RFC3339); wrote && line != want {
			b.t.Errorf("%s wrote %q, want %q", r.ID, line, want)
		}
		switch r.Status {
		case automation.Succeeded:
			if !wrote {
				b.t.Errorf("%s succeeded and wrote nothing", r.ID)
			}
		case automation.Unknown, automation.Replaced:
		default:
			if wrote || r.Status != automation.Skipped && r.Status != automation.Missed {
				b.t.Errorf("%s: %s, wrote a line: %t", r.ID, r.Status, wrote)
			}
		}
	}
}

// covered: every second at which the job was due, from the first one on record
// to the last, has one record, and no other has any.
func (b *beats) covered(j beat, runs []cronRun, counts map[string]int) {
	b.t.Helper()
	records := map[int64]int{}
	first, last := int64(0), int64(0)
	for _, r := range runs {
		if r.Attempt > 1 {
			continue
		}
		from, to, n := r.Slot.Unix(), max(r.Slot.Unix(), r.Through.Unix()), 0
		for at := from; at <= to; at++ {
			if j.due(int(at % 60)) {
				records[at]++
				n++
			}
		}
		if n != max(1, r.Count) || !j.due(int(from%60)) || !j.due(int(to%60)) {
			b.t.Errorf("%s is for %d slots, and there are %d: %+v", r.ID, max(1, r.Count), n, r)
		}
		if first == 0 || from < first {
			first = from
		}
		last = max(last, to)
	}
	for at := first; at <= last; at++ {
		if !j.due(int(at % 60)) {
			continue
		}
		counts["slots"]++
		if records[at] != 1 {
			b.t.Errorf("%s: %d records for %v", j.name, records[at], time.Unix(at, 0).UTC())
		}
	}
	if first == 0 {
		b.t.Errorf("%s has never been due", j.name)
	}
}

// TestCronKilled kills the runner at random moments, and now and then a
// supervisor, while automations fire each second (issue 4, "Done when"): in the
// end records and lines match one to one, or the run is recorded as unknown; no
// slot is without a record, and none has two. CLAW_CRON_KILLS is the number of
// deaths of the runner, CLAW_CRON_KILLS_SEED repeats them.
func TestCronKilled(t *testing.T) {
	t.Parallel()
	n := number64("CLAW_CRON_KILLS", 20)
	seed := number64("CLAW_CRON_KILLS_SEED", uint64(time.Now().UnixNano()))
	t.Logf("CLAW_CRON_KILLS=%d CLAW_CRON_KILLS_SEED=%d", n, seed)
	b := newBeats(t, seed)
	killed := map[string]int{}
	for killed["runners"] < int(n) && !t.Failed() {
		runner := b.start()
		time.Sleep(time.Duration(b.rng.IntN(1200)) * time.Millisecond) // that long it lives
		if b.rng.IntN(3) == 0 {
			if pids := b.supervisors(); len(pids) > 0 && unix.Kill(pids[b.rng.IntN(len(pids))], unix.SIGKILL) == nil {
				killed["supervisors"]++
			}
		}
		b.kill(runner.Process.Pid, unix.SIGKILL)
		switch code, sig := b.wait(runner); {
		case sig == unix.SIGKILL:
			killed["runners"]++
		default:
			t.Errorf("a runner ended with %d before it was killed\n%s", code, b.said.String())
		}
		if b.rng.IntN(8) == 0 { // nobody is there for a while
			time.Sleep(time.Duration(b.rng.IntN(3000)) * time.Millisecond)
		}
	}
	b.settle()
	counts := b.audit()
	t.Log(killed, counts)
	statetest.Tally(t, "kills", killed["runners"]+killed["supervisors"])
	if killed["supervisors"] == 0 && n >= 20 || counts["lines"] < int(n)/4 || counts["slots"] < int(n) {
		t.Errorf("hardly anything happened: %v, %v", killed, counts)
	}
}

// TestCronTicksAndRunner has ten ticks at once again and again beside a runner:
// each slot is started once.
func TestCronTicksAndRunner(t *testing.T) {
	t.Parallel()
	b := newBeats(t, 1)
	runner := b.runner()
	for round := 0; round < 8 || b.lines() < 25; round++ {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if r := b.claw("heartbeat", "tick"); r.code != 0 {
					t.Errorf("tick: exit %d\n%s%s", r.code, r.out, r.err)
				}
			})
		}
		if round == 7 { // the ticks may now hold the lock
			b.kill(runner.Process.Pid, unix.SIGTERM)
			b.wait(runner)
			runner = b.start()
		}
		wg.Wait()
	}
	b.until("every job has run", func() bool {
		raw, _ := os.ReadFile(filepath.Join(b.dir, "ran"))
		return !slices.ContainsFunc(b.jobs, func(j beat) bool { return !strings.Contains("\n"+string(raw), "\n"+j.name+" ") })
	})
	b.kill(runner.Process.Pid, unix.SIGTERM)
	b.wait(runner)
	b.settle()
	counts := b.audit()
	t.Log(fmt.Sprint(counts))
	if counts["unknown"] > 0 || counts["succeeded"] < len(b.jobs) {
		t.Errorf("nobody was killed: %v", counts)
	}
}
