package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// job is a command that writes much.
type job struct {
	name   string
	bytes  int64
	script string // writes them
}

func outputZero(b *bench) []row {
	n := int64(b.pick(2<<30, 512<<20))
	return b.capture(job{"output-zero", n, fmt.Sprintf("head -c %d /dev/zero", n)}, b.pick(5, 2))
}

func outputLines(b *bench) []row {
	const n = 100_000_000
	return b.capture(job{"output-lines", n, fmt.Sprintf("yes line-of-output-0123456789 | head -c %d", n)}, b.pick(9, 3))
}

// capture measures how fast a job's output is taken from it: MB/s between its
// first and its last instruction. Starting it is another measure.
func (b *bench) capture(j job, rounds int) []row {
	dir := b.sub("out")
	if free, ok := freeBytes(dir); ok && free < 4*j.bytes {
		return []row{skipped(j.name, fmt.Sprintf("%d MiB free are too few", free>>20))}
	}
	script := filepath.Join(dir, "job")
	if err := b.writeJob(script, j); err != nil {
		return []row{skipped(j.name, err.Error())}
	}
	peak := 0.0
	all := []contestant{
		{name: "claw", once: func() (float64, error) { return b.captureClaw(script, j, &peak, "") }},
		{name: "| cat > file", once: func() (float64, error) { return b.captureCat(script, j) }},
		{name: "claw keeping all", once: func() (float64, error) {
			return b.captureClaw(script, j, nil, keepAll)
		}},
	}
	for _, name := range []string{"nq", "tsp"} {
		if peers := b.peers(name); len(peers) > 0 {
			end(peers)
			all = append(all, contestant{name: name, once: func() (float64, error) { return b.capturePeer(name, script, j) }})
		}
	}
	for i := range all {
		all[i].after = func() { syscall.Sync() } // nobody pays for the bytes of another
	}
	m := b.rounds(rounds, all)
	r := newRow(j.name, "MB/s", m, "claw", "| cat > file", "claw keeping all", "nq", "tsp")
	r.Note = fmt.Sprintf("%d bytes", j.bytes)
	memory := row{Measure: j.name + ": memory", Unit: "MiB", Claw: peak, measured: peak > 0, Verdict: "-"}
	return []row{r.judge("≥ 0.8 ×", r.Ratio > 0, r.Ratio >= 0.8), memory.judge("< 24 MiB", true, peak < 24)}
}

// writeJob makes the script: it stamps before and after, and then stays for a
// moment, so that its supervisor can be looked at. It may be gone before.
func (b *bench) writeJob(path string, j job) error {
	stamp := strings.Join(b.with("stamp"), " ") + ` "$1"`
	text := strings.Join([]string{"#!/bin/sh", stamp, j.script, stamp, "exec sleep 0.3", ""}, "\n")
	return os.WriteFile(path, []byte(text), 0o700)
}

// rate waits for both stamps.
func (j job) rate(file string) (float64, error) {
	at, err := stamps(file, 2)
	if err != nil {
		return 0, err
	}
	return float64(j.bytes) / 1e6 / (float64(at[1]-at[0]) / 1e9), nil
}

func (b *bench) captureCat(script string, j job) (float64, error) {
	dir := b.sub("cat")
	defer os.RemoveAll(dir)
	if _, err := b.timed(nil, "sh", "-c", `"$0" "$1" | cat > "$2"`, script, dir+"/ran", dir+"/out"); err != nil {
		return 0, err
	}
	return j.rate(dir + "/ran")
}

func (b *bench) capturePeer(name, script string, j job) (float64, error) {
	peers := b.peers(name)
	defer end(peers)
	dir := b.sub("peer")
	defer os.RemoveAll(dir)
	if len(peers) == 0 {
		return 0, fmt.Errorf("%s does not start", name)
	}
	p := peers[0]
	if _, err := p.run(b, script, dir+"/ran"); err != nil {
		return 0, err
	}
	v, err := j.rate(dir + "/ran")
	b.timed(p.env, p.wait...)
	removeOutput(p)
	return v, err
}

// removeOutput makes room for the next.
func removeOutput(p peer) {
	for _, e := range p.env {
		if _, dir, _ := strings.Cut(e, "="); strings.HasPrefix(e, "NQDIR=") || strings.HasPrefix(e, "TMPDIR=") {
			os.RemoveAll(dir)
		}
	}
}

// keepAll is a cap that nothing reaches, of a process and of all together.
const keepAll = "64GiB"

// captureClaw is one job through claw, with a cap on what is kept unless it is
// empty; peak is raised to the most memory its supervisor has had, in MiB. Not
// a byte may be unaccounted for.
func (b *bench) captureClaw(script string, j job, peak *float64, most string) (float64, error) {
	c := b.instance()
	defer os.RemoveAll(filepath.Dir(c.dir))
	file := c.dir + ".ran"
	args := []string{"exec", "-b", "--", script, file}
	if most != "" {
		config := c.dir + ".toml"
		if err := os.WriteFile(config, []byte("[state]\noutputBudget = \""+most+"\"\n"), 0o600); err != nil {
			return 0, err
		}
		c.env = append(c.env, "CLAW_CONFIG="+config)
		args = slices.Insert(args, 2, "--max-output", most)
	}
	if _, err := c.run(args...); err != nil {
		return 0, err
	}
	p, err := c.newest()
	if err != nil {
		return 0, err
	}
	v, err := j.rate(file)
	if err != nil {
		return 0, err
	}
	if kib, ok := field(proc(p.Supervisor.PID, "status"), "VmHWM"); ok && peak != nil {
		*peak = max(*peak, kib/1024)
	}
	return v, c.account(j.bytes, most != "")
}

// account checks what the last process is said to have written against what it
// wrote and what is on the disk.
func (c instance) account(wrote int64, all bool) error {
	c.settle()
	p, err := c.newest()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "processes", p.ID, "output*"))
	if err != nil {
		return err
	}
	kept := int64(0)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		if filepath.Ext(f) != ".index" {
			kept += info.Size()
		}
	}
	dropped := p.Output.DroppedBytes
	if p.Output.Bytes != wrote || kept+dropped != wrote || all && dropped > 0 {
		return fmt.Errorf("of %d bytes claw counts %d, keeps %d and has dropped %d", wrote, p.Output.Bytes, kept, dropped)
	}
	return nil
}

func freeBytes(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// moment is how often something is looked for that will be there soon.
const moment = 5 * time.Millisecond
