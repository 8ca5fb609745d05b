//go:build linux

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/state/statetest"
)

// gustRounds is how many rounds one state directory goes through.
const gustRounds = 5

// TestWakeStorm has several commands end for three agents while ticks, the
// runner, supervisors and agents are killed at random moments. Afterwards the
// same holds as without any of it: each end was told in one turn that
// succeeded, or a person was told what is not known; nothing was sent twice.
// CLAW_WAKE_STORM is the number of rounds, CLAW_WAKE_STORM_SEED repeats them.
func TestWakeStorm(t *testing.T) {
	t.Parallel()
	n := number64("CLAW_WAKE_STORM", 30)
	seed := number64("CLAW_WAKE_STORM_SEED", uint64(time.Now().UnixNano()))
	t.Logf("CLAW_WAKE_STORM=%d CLAW_WAKE_STORM_SEED=%d", n, seed)
	gusts := make(chan uint64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	tally := map[string]int{}
	for range 3 {
		wg.Go(func() {
			for i := range gusts {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					counts := newGust(t, seed, i).run()
					mu.Lock()
					defer mu.Unlock()
					for what, n := range counts {
						tally[what] += n
					}
				})
			}
		})
	}
	for i := range (n + gustRounds - 1) / gustRounds {
		if t.Failed() {
			break
		}
		gusts <- i
	}
	close(gusts)
	wg.Wait()
	t.Log(tally)
	statetest.Tally(t, "kills", tally["killed"])
	if n >= 30 && (tally["consumed"] == 0 || tally["killed"] == 0) {
		t.Errorf("a storm in which nothing happens: %v", tally)
	}
}

// gust is one state directory and what befalls it.
type gust struct {
	*wakes
	rng    *rand.Rand
	mode   string
	name   string
	runner *exec.Cmd
	jobs   int
	counts map[string]int
}

func newGust(t *testing.T, seed, i uint64) *gust {
	rng := rand.New(rand.NewPCG(seed, i))
	mode := []string{"auto", "tick", "runner"}[rng.IntN(3)]
	g := &gust{wakes: newWakes(t, "anna", "bert", "cleo"), rng: rng, mode: mode, counts: map[string]int{}}
	g.name = fmt.Sprintf("seed %d, gust %d, %s", seed, i, mode)
	g.world = g.with("CLAW_RUNNER_SAFE_MODE=off") // it strikes three times within seconds
	if mode != "tick" {
		g.world = g.with("CLAW_WAKE_ON_EXIT=" + mode)
	}
	return g
}

func (g *gust) run() map[string]int {
	var wg sync.WaitGroup
	g.file("slow", "")
	for range gustRounds {
		for range 1 + g.rng.IntN(4) {
			g.jobs++
			agent, job := g.agents[g.rng.IntN(3)], g.jobs
			wg.Go(func() { g.claw("exec", "-b", "--agent", agent, fmt.Sprintf("echo job-%d out; exit %d", job, job%2)) })
		}
		switch g.mode {
		case "tick":
			wg.Go(func() { g.claw("heartbeat", "tick") })
		case "runner":
			g.keepRunner()
		}
		for range 1 + g.rng.IntN(4) {
			time.Sleep(time.Duration(g.rng.IntN(40000)) * time.Microsecond)
			g.strike()
		}
	}
	wg.Wait()
	g.calm()
	g.quiet()
	g.sound(g.name)
	r := g.rows()
	for _, e := range r.events {
		g.counts[string(e.State)]++
	}
	for _, t := range r.turns {
		g.counts["turn "+string(t.Status)]++
	}
	for _, d := range r.deliveries {
		g.counts[string(d.State)]++
	}
	return g.counts
}

// keepRunner starts a runner where none is.
func (g *gust) keepRunner() {
	if g.runner != nil && alive(g.runner.Process.Pid) {
		return
	}
	g.reap()
	g.runner = g.command("runner", "run")
	if err := g.runner.Start(); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gust) reap() {
	if g.runner != nil {
		g.runner.Wait()
	}
}

// calm ends the runner, as systemd does.
func (g *gust) calm() {
	if g.runner != nil {
		unix.Kill(g.runner.Process.Pid, unix.SIGTERM)
		g.reap()
	}
}

// strike kills somebody within the next moment, of a kind that runs then.
func (g *gust) strike() {
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
		kinds := map[string][]int{}
		for _, pid := range g.running() {
			if kind := kindOf(pid); kind != "" {
				kinds[kind] = append(kinds[kind], pid)
			}
		}
		for _, i := range g.rng.Perm(len(stormVictims)) {
			pids := kinds[stormVictims[i]]
			slices.Sort(pids)
			if len(pids) > 0 && unix.Kill(pids[g.rng.IntN(len(pids))], unix.SIGKILL) == nil {
				g.counts["killed"]++
				g.counts["killed "+stormVictims[i]]++
				return
			}
		}
	}
}

var stormVictims = []string{"heartbeat", "runner", "supervise", "agent"}

// kindOf is which of the victims a process is; empty: none.
func kindOf(pid int) string {
	argv := argvOf(pid)
	switch {
	case len(argv) < 2:
		return ""
	case strings.HasSuffix(argv[1], "/agent.sh"):
		return "agent"
	case slices.Contains(stormVictims, argv[1]):
		return argv[1]
	}
	return ""
}
