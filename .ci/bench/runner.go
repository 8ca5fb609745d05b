package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// runnerIdle is what a runner costs that has nothing to do, beside the
// schedulers of this machine. All wait at the same time.
func runnerIdle(b *bench) []row {
	if _, ok := field("/proc/self/smaps_rollup", "Pss"); !ok {
		return []row{skipped("runner: idle", "the system does not tell the memory of a process")}
	}
	c := b.instance()
	if err := c.makeRecent(recent); err != nil {
		b.fault("%v", err)
		return []row{skipped("runner: idle", err.Error())}
	}
	r, err := c.runner()
	if err != nil {
		b.fault("%v", err)
		return []row{skipped("runner: idle", err.Error())}
	}
	pid := map[string]int{"claw": r.Process.Pid}
	b.schedulers(pid)
	time.Sleep(10 * time.Second) // they come to rest
	span := b.pick(300, 130)     // minutes, for what they do once a minute
	before := cpuOf(pid)
	time.Sleep(time.Duration(span) * time.Second)
	after := cpuOf(pid)
	cpu, pss := map[string]float64{}, map[string]float64{}
	for name, p := range pid {
		kib, _ := field(proc(p, "smaps_rollup"), "Pss")
		pss[name] = kib / 1024
		cpu[name] = (after[name] - before[name]) / float64(span) * 3600
	}
	others := []string{"supercronic", "cron", "sleeping Go"}
	used := newRow("runner: idle CPU", "s/h", cpu, "claw", others...)
	memory := newRow("runner: idle memory", "MiB", pss, "claw", others...)
	used.Note = strconv.Itoa(span) + " s"
	return []row{used.judge("≤ 0.075 s/h", true, used.Claw <= 0.075), memory.judge("≤ 12 MiB", true, memory.Claw <= 12)}
}

// schedulers starts the peers that this machine has, each with one job that is
// never due.
func (b *bench) schedulers(pid map[string]int) {
	table := filepath.Join(b.sub("cron"), "table")
	os.WriteFile(table, []byte("0 0 1 1 * true\n"), 0o600)
	for name, argv := range map[string][]string{"supercronic": {"supercronic", "-quiet", table}, "cron": {"cron", "-f"}, "sleeping Go": {b.sleeper}} {
		if name == "cron" && (os.Geteuid() != 0 || running("cron")) {
			continue
		}
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = b.env
		if c.Start() != nil {
			continue
		}
		b.onClose(func() {
			c.Process.Kill()
			c.Wait()
		})
		pid[name] = c.Process.Pid
	}
}

// cpuOf is the time processes have had the CPU, in seconds, to the nanosecond.
func cpuOf(pid map[string]int) map[string]float64 {
	all := map[string]float64{}
	for name, p := range pid {
		threads, _ := filepath.Glob(proc(p, "task/*/schedstat"))
		for _, t := range threads {
			text, _ := os.ReadFile(t)
			ns, _ := strconv.ParseFloat(strings.Fields(string(text) + " 0")[0], 64)
			all[name] += ns / 1e9
		}
	}
	return all
}
