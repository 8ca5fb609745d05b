//go:build linux

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	conversation "claw/state/session"
	"claw/state/statetest"
)

// TestRecoverKilled has people write to agents, and commands end, while ticks,
// the runner, supervisors, agents, channels and whoever waits for an answer are
// killed, one by one, stopped first, or an agent together with its supervisor,
// and the wall clock jumps. Afterwards every message that was accepted has one
// answer, or a person was told of it once (issue 5, sections 2 and 3).
// CLAW_CRASH_KILLS is the number of kills, CLAW_CRASH_KILLS_SEED repeats them.
func TestRecoverKilled(t *testing.T) {
	t.Parallel()
	n := int(number64("CLAW_CRASH_KILLS", 24))
	seed := number64("CLAW_CRASH_KILLS_SEED", uint64(time.Now().UnixNano()))
	t.Logf("CLAW_CRASH_KILLS=%d CLAW_CRASH_KILLS_SEED=%d", n, seed)
	tally := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var next uint64
	for range 3 {
		wg.Go(func() {
			for {
				mu.Lock()
				i, enough := next, tally["killed"] >= n || t.Failed()
				next++
				mu.Unlock()
				if enough {
					return
				}
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					counts := newNight(t, seed, i).run()
					mu.Lock()
					defer mu.Unlock()
					for what, n := range counts {
						tally[what] += n
					}
				})
			}
		})
	}
	wg.Wait()
	t.Log(tally)
	statetest.Tally(t, "kills", tally["killed"])
	// Few kills hit a turn in its middle.
	if (tally["answered"] == 0 || n >= 200 && tally["continued"] == 0) && !t.Failed() {
		t.Errorf("hardly anything happened: %v", tally)
	}
}

// night is one state directory, what is asked there, and what befalls it.
type night struct {
	*gust
	mu      sync.Mutex
	errands []errand
}

// errand is a message of a person, and what he has got for it.
type errand struct {
	marker, session string
	result          result
}

func newNight(t *testing.T, seed, i uint64) *night {
	g := newGust(t, seed, i)
	g.name = "night: " + g.name
	return &night{gust: g}
}

func (n *night) run() map[string]int {
	var wg sync.WaitGroup
	n.file("slow", "")
	written := 0
	for range gustRounds {
		for range 1 + n.rng.IntN(2) {
			written++
			n.write(&wg, written)
		}
		if n.rng.IntN(2) == 0 {
			n.jobs++
			job := n.jobs
			wg.Go(func() { n.claw("exec", "-b", "--agent", "anna", fmt.Sprintf("echo job-%d out; exit %d", job, job%2)) })
		}
		n.goOn(&wg)
		for range 1 + n.rng.IntN(3) {
			time.Sleep(time.Duration(n.rng.IntN(60000)) * time.Microsecond)
			n.hit()
		}
	}
	wg.Wait()
	n.calm()
	n.quiet()
	n.sound(n.name)
	n.judge()
	return n.counts
}

// goOn has somebody make passes, by a clock that is early or late.
func (n *night) goOn(wg *sync.WaitGroup) {
	switch n.mode {
	case "runner":
		n.keepRunner()
	default:
		w := n.later((time.Duration(n.rng.IntN(4)-1) * time.Minute).String())
		wg.Go(func() { w.claw("heartbeat", "tick") })
	}
}

// write is a person's message, every other one in a session of its own.
func (n *night) write(wg *sync.WaitGroup, k int) {
	e := errand{marker: fmt.Sprintf("errand-%03d", k), session: "agent:bert:main"}
	if n.rng.IntN(2) == 0 {
		e.session = "agent:bert:" + e.marker
	}
	wg.Go(func() {
		e.result = n.claw("agent", "send", "--agent", "bert", "--session", e.session, "please do "+e.marker)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.errands = append(n.errands, e)
	})
}

var nightVictims = append([]string{"channel", "sender", "agent"}, stormVictims...)

// hit kills somebody within the next moment: by himself, stopped first, or with
// the one whose child he is. It waits a little for the one it wants, and then
// takes whom it finds.
func (n *night) hit() {
	wanted := nightVictims[n.rng.IntN(len(nightVictims))]
	for begun := time.Now(); time.Since(begun) < 150*time.Millisecond; {
		kinds := map[string][]int{}
		for _, pid := range n.running() {
			if kind := victimOf(pid); kind != "" {
				kinds[kind] = append(kinds[kind], pid)
			}
		}
		kind := wanted
		for _, i := range n.rng.Perm(len(nightVictims)) {
			if len(kinds[kind]) == 0 && time.Since(begun) > 100*time.Millisecond {
				kind = nightVictims[i]
			}
		}
		if pids := kinds[kind]; len(pids) > 0 {
			slices.Sort(pids)
			n.kill1(kind, pids[n.rng.IntN(len(pids))])
			return
		}
	}
}

func (n *night) kill1(kind string, pid int) {
	how, pids := "killed ", []int{pid}
	switch n.rng.IntN(4) {
	case 0:
		how = "stopped and killed "
		unix.Kill(pid, unix.SIGSTOP)
		time.Sleep(time.Duration(n.rng.IntN(20)) * time.Millisecond)
	case 1:
		if parent := parentOf(pid); kind == "agent" && victimOf(parent) == "supervise" {
			how, pids = "killed with its supervisor ", []int{parent, pid}
		}
	}
	for _, pid := range pids {
		if unix.Kill(pid, unix.SIGKILL) == nil {
			n.counts["killed"]++
		}
	}
	n.counts[how+kind]++
}

func parentOf(pid int) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// victimOf is kindOf with the channel and whoever waits for an answer.
func victimOf(pid int) string {
	argv := argvOf(pid)
	switch {
	case len(argv) > 2 && argv[1] == "agent" && argv[2] == "send":
		return "sender"
	case len(argv) > 1 && filepath.Base(argv[1]) == "channel.sh":
		return "channel"
	}
	return kindOf(pid)
}

// judge: every message that was accepted has one answer, or its person was told
// once that there is none.
func (n *night) judge() {
	n.t.Helper()
	r := n.rows()
	for _, e := range n.errands {
		admitted, ordinary, good, told, held := 0, 0, 0, 0, false
		shown := strings.Contains(e.result.out, "seen by bert")
		for _, t := range r.turns {
			if !strings.Contains(t.Message, e.marker) {
				continue
			}
			admitted++
			if t.Kind == conversation.KindUser {
				ordinary += len(n.told(t.ID))
			} else {
				n.counts["continued"]++
			}
			// Who was killed after he had got the end of a turn that failed found that
			// in his hands.
			held = held || t.ReplyMode == conversation.ReplyCaller && t.Status == conversation.TurnFailed
			if t.Status == conversation.TurnSucceeded {
				good++
				shown = shown || t.DeliveryID != ""
			}
		}
		for _, d := range r.deliveries {
			if strings.Contains(d.Text+d.Body, e.marker) {
				told++
			}
		}
		n.counts["answered"] += good
		switch {
		case ordinary > 1:
			n.t.Errorf("%s: %s: the ordinary argv was told %d times", n.name, e.marker, ordinary)
		case good+told > 1:
			n.t.Errorf("%s: %s: %d answers and %d notices", n.name, e.marker, good, told)
		case e.result.code == 0 && good != 1:
			n.t.Errorf("%s: %s: exit 0, %d answers", n.name, e.marker, good)
		case good == 1 && !shown && e.result.code >= 0: // who was killed with it in his hands finds it in the session
			n.t.Errorf("%s: %s: there is an answer, and nobody has got it (exit %d, %q)", n.name, e.marker, e.result.code, e.result.err)
		case admitted > 0 && good+told == 0 && e.result.code < 0 && !held && !n.superseded(r, e):
			n.t.Errorf("%s: %s: it was accepted, nobody has an answer, and nobody was told", n.name, e.marker)
		}
	}
	for _, t := range r.turns {
		n.inOrder("turn "+t.ID, t.CreatedAt, t.StartedAt, t.EndedAt)
	}
	for _, t := range r.tasks {
		n.inOrder("task "+t.ID, t.CreatedAt, t.StartedAt, t.EndedAt)
	}
	if n.t.Failed() {
		n.t.Logf("errands %+v\nturns %+v\nsessions %+v\ndeliveries %+v", n.errands, r.turns, r.sessions, r.deliveries)
	}
}

// inOrder: whatever the clocks of those who wrote a row said
// (spec/tasks-recovery.md 9.2).
func (n *night) inOrder(what string, at ...time.Time) {
	n.t.Helper()
	at = slices.DeleteFunc(at, time.Time.IsZero)
	if !slices.IsSortedFunc(at, time.Time.Compare) {
		n.t.Errorf("%s: %s: created, started, ended: %v", n.name, what, at)
	}
}

// superseded: the person has got an answer to something newer in that session.
func (n *night) superseded(r rows, e errand) bool {
	for _, s := range r.sessions {
		if s.Key == e.session {
			return s.Recovery.Ending == conversation.EndSuperseded || s.Turns > 1 && s.Key == "agent:bert:main"
		}
	}
	return false
}
