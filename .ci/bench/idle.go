package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// use is what a process has used so far.
type use struct{ ticks, switches float64 }

// idle is what it costs to keep one command that does nothing. All wait at the
// same time.
func idle(b *bench) []row {
	if _, ok := field("/proc/self/smaps_rollup", "Pss"); !ok {
		return []row{skipped("idle", "the system does not tell the memory of a process")}
	}
	pid, err := b.idlers()
	if err != nil {
		return []row{skipped("idle", err.Error())}
	}
	time.Sleep(time.Duration(b.pick(10, 3)) * time.Second) // they come to rest
	span := b.pick(20, 10)
	before := useOf(pid)
	time.Sleep(time.Duration(span) * time.Second)
	after := useOf(pid)
	pss, ticks, wakes := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for name, p := range pid {
		kib, _ := field(proc(p, "smaps_rollup"), "Pss")
		pss[name] = kib / 1024
		ticks[name] = after[name].ticks - before[name].ticks
		wakes[name] = (after[name].switches - before[name].switches) / float64(span)
	}
	others := []string{"sleeping Go", "nq", "tsp", "tmux"}
	memory := newRow("idle: memory", "MiB", pss, "claw", others...)
	cpu := newRow("idle: CPU", "ticks", ticks, "claw", others...)
	cpu.Note = fmt.Sprintf("of 10 ms in %d s", span)
	switches := newRow("idle: wake-ups", "/s", wakes, "claw", others...)
	return []row{
		memory.judge("≤ 4 MiB", true, memory.Claw <= 4),
		cpu.judge("none", true, cpu.Claw == 0),
		switches.judge("< 0.2 /s", true, switches.Claw < 0.2),
	}
}

// idlers starts the ones that wait and gives their pids. For those that keep a
// command it is the pid of the command's parent.
func (b *bench) idlers() (map[string]int, error) {
	pid := map[string]int{}
	s := exec.Command(b.sleeper)
	s.Env = b.env
	if err := s.Start(); err != nil {
		return nil, err
	}
	b.onClose(func() {
		s.Process.Kill()
		s.Wait()
	})
	pid["sleeping Go"] = s.Process.Pid
	c := b.instance()
	parent, err := b.park(func(command ...string) error {
		_, err := c.background(command...)
		return err
	})
	if err != nil {
		b.fault("%v", err)
		return nil, err
	}
	b.onClose(func() { c.run("process", "kill", "--last") })
	pid["claw"] = parent
	for _, p := range b.peers("nq", "tsp", "tmux") {
		parent, err := b.park(func(command ...string) error {
			_, err := p.run(b, command...)
			return err
		})
		if err == nil {
			pid[p.name] = parent
		}
	}
	return pid, nil
}

// park submits a command that waits for ever, and gives the pid of its parent.
func (b *bench) park(submit func(command ...string) error) (int, error) {
	file := filepath.Join(b.sub("park"), "pids")
	if err := submit(b.with("park", file)...); err != nil {
		return 0, err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(moment) {
		text, err := os.ReadFile(file)
		if words := strings.Fields(string(text)); err == nil && len(words) == 2 {
			return strconv.Atoi(words[1])
		}
	}
	return 0, fmt.Errorf("a command has not started after %v", patience)
}

func useOf(pid map[string]int) map[string]use {
	all := map[string]use{}
	for name, p := range pid {
		var u use
		threads, _ := filepath.Glob(proc(p, "task/*/status"))
		for _, t := range threads {
			n, _ := field(t, "ctxt_switches")
			u.switches += n
		}
		u.ticks = ticksOf(p)
		all[name] = u
	}
	return all
}

// ticksOf is the time a process has had the CPU, in clock ticks.
func ticksOf(pid int) float64 {
	text, err := os.ReadFile(proc(pid, "stat"))
	_, rest, ok := strings.Cut(string(text), ") ")
	words := strings.Fields(rest)
	if err != nil || !ok || len(words) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(words[11], 64)
	system, _ := strconv.ParseFloat(words[12], 64)
	return user + system
}
