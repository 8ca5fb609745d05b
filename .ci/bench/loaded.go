package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"claw/state"
	"claw/state/automation"
)

// farAway is an expression that is not due while the bench runs.
const farAway = "0 0 0 29 2 *"

// loaded is what many automations cost of which none is due.
func loaded(b *bench) []row {
	const many, few = 10_000, 10
	big, small := b.instance(), b.instance()
	for c, n := range map[*instance]int{&big: many, &small: few} {
		if err := c.makeAutomations(n, farAway, []string{"true"}); err != nil {
			b.fault("%v", err)
			return []row{skipped("cron: 10,000 loaded", err.Error())}
		}
	}
	return append(loadedTicks(b, big, small, many), loadedRunners(b, big, small, many)...)
}

// loadedTicks are a tick that looks at all of them, because one has been
// changed, and one that does not.
func loadedTicks(b *bench, big, small instance, many int) []row {
	tick := func(c instance) func() (float64, error) {
		return func() (float64, error) { return c.run("heartbeat", "tick") }
	}
	all := []contestant{
		{name: "claw, changed", once: func() (float64, error) {
			if err := big.stale(); err != nil {
				return 0, err
			}
			return big.run("heartbeat", "tick")
		}},
		{name: "claw", once: tick(big)}, // after the one above, so that nothing is changed
		{name: "claw, ten", once: tick(small)},
	}
	if program, err := exec.LookPath("supercronic"); err == nil {
		if table, err := b.crontab(many, farAway+" *", []string{"true"}); err == nil {
			all = append(all, contestant{name: "supercronic", once: func() (float64, error) { return b.timed(nil, program, "-test", table) }})
		}
	}
	m := map[string]float64{}
	for _, c := range all { // not in turn: the second would meet what the first has marked
		for name, v := range b.rounds(b.pick(11, 3), []contestant{c}) {
			m[name] = v
		}
	}
	quiet := newRow("cron: 10,000 loaded, tick", "ms", m, "claw", "claw, ten", "supercronic")
	changed := newRow("cron: 10,000 loaded, one changed", "ms", m, "claw, changed", "supercronic")
	changed.Note = "beside supercronic -test"
	return []row{quiet.atMost(1.5), changed.atMost(1)}
}

// stale has the next tick look at all automations, as after a change.
func (c instance) stale() error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Update(context.Background(), func(tx *state.Tx) error {
		row, _, err := state.Agendas.Get(tx, automation.AgendaID)
		if err != nil {
			return err
		}
		row.Rec.Stale = true
		return state.Agendas.Put(tx, automation.AgendaID, row.Rev, row.Rec)
	})
}

// loadedRunners are a runner with many and one with ten, at rest.
func loadedRunners(b *bench, big, small instance, many int) []row {
	if _, ok := field("/proc/self/smaps_rollup", "Pss"); !ok {
		return []row{skipped("cron: 10,000 loaded, memory", "the system does not tell the memory of a process")}
	}
	pid := map[string]int{}
	big.stale()
	for name, c := range map[string]instance{"claw": big, "claw, ten": small} {
		r, err := c.runner()
		if err != nil {
			b.fault("%v", err)
			return []row{skipped("cron: 10,000 loaded, memory", err.Error())}
		}
		pid[name] = r.Process.Pid
	}
	if program, err := exec.LookPath("supercronic"); err == nil {
		if p, down, err := b.supercronic(program, many, farAway, []string{"true"}); err == nil {
			pid["supercronic"] = p
			defer down()
		}
	}
	time.Sleep(10 * time.Second) // they come to rest
	span := b.pick(130, 30)
	before := cpuOf(pid)
	time.Sleep(time.Duration(span) * time.Second)
	after := cpuOf(pid)
	cpu, pss, peak := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for name, p := range pid {
		kib, _ := field(proc(p, "smaps_rollup"), "Pss")
		most, _ := field(proc(p, "status"), "VmHWM")
		pss[name], peak[name] = kib/1024, most/1024
		cpu[name] = (after[name] - before[name]) / float64(span) * 3600
	}
	idle := newRow("cron: 10,000 loaded, idle CPU", "s/h", cpu, "claw", "claw, ten", "supercronic")
	idle.Note = fmt.Sprintf("%d s", span)
	rest := newRow("cron: 10,000 loaded, memory", "MiB", pss, "claw", "supercronic", "claw, ten")
	top := newRow("cron: 10,000 loaded, peak memory", "MiB", peak, "claw", "supercronic", "claw, ten")
	return []row{idle.judge("≤ 0.075 s/h", true, idle.Claw <= 0.075), rest.atMost(1), top.atMost(1)}
}
