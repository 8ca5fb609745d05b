package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claw/state"
	"claw/state/process"
)

// How a writer makes its records durable.
const (
	byClaw  = "claw"
	outside = "sync outside the lock" // append in a flock, fdatasync after it
	inside  = "sync inside the lock"  // append and fdatasync in a flock
)

// writerCount is how many processes write.
const writerCount = 16

// writers is how many durable transactions a second many processes together
// make of one directory, and how long the unluckiest has waited for one.
func writers(b *bench) []row {
	worst := map[string][]float64{}
	var all []contestant
	for _, mode := range []string{byClaw, outside, inside} {
		all = append(all, contestant{name: mode, once: func() (float64, error) {
			rate, wait, err := b.contend(mode)
			worst[mode] = append(worst[mode], wait)
			return rate, err
		}})
	}
	m := b.rounds(b.pick(3, 1), all)
	w := map[string]float64{}
	for mode := range m {
		w[mode] = median(worst[mode][1:]) // the first round does not count
	}
	r := newRow("writers", "tx/s", m, byClaw, outside, inside)
	slow := newRow("writers: worst wait", "ms", w, byClaw, outside, inside)
	return []row{r.judge("≥ 1000 /s", true, r.Claw >= 1000), slow.judge("< 200 ms", true, slow.Claw < 200)}
}

// contend lets the writers of one mode loose on a new directory.
func (b *bench) contend(mode string) (perSecond, worst float64, err error) {
	dir := b.sub("writers")
	span := 3 * time.Second
	start := mono() + int64(300*time.Millisecond) // when all of them have started
	outs := make([]strings.Builder, writerCount)
	cs := make([]*exec.Cmd, writerCount)
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	for i := range cs {
		c, cancel := b.command(nil, self, writerFlag, mode, filepath.Join(dir, "state"), strconv.Itoa(i), fmt.Sprint(start), fmt.Sprint(int64(span)))
		defer cancel()
		c.Stdout, c.Stderr = &outs[i], os.Stderr
		if err := c.Start(); err != nil {
			return 0, 0, err
		}
		cs[i] = c
	}
	counts := make([]int64, writerCount)
	total := int64(0)
	for i, c := range cs {
		if e := c.Wait(); e != nil {
			err = fmt.Errorf("a writer: %w", e)
			continue
		}
		var w int64
		fmt.Sscan(outs[i].String(), &counts[i], &w)
		total += counts[i]
		worst = max(worst, float64(w)/1e6)
	}
	if err == nil && mode == byClaw {
		err = checkWriters(filepath.Join(dir, "state"), counts)
	}
	return float64(total) / span.Seconds(), worst, err
}

// checkWriters counts every transaction that was reported as done.
func checkWriters(dir string, counts []int64) error {
	s, err := state.Open(dir, state.Options{Now: time.Now})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.View(func(tx *state.Tx) error {
		for i, n := range counts {
			r, _, err := state.Processes.Get(tx, writerID(i))
			if err != nil {
				return err
			}
			if r.Rev != n {
				return fmt.Errorf("writer %d made %d transactions, the state has %d", i, n, r.Rev)
			}
		}
		return nil
	})
}

func writerID(i int) string { return oldID(time.UnixMilli(0), i) }

// writer is one of the processes: MODE DIR NUMBER START SPAN. It prints how
// many transactions it made and how many ns the slowest took.
func writer(args []string) int {
	number, _ := strconv.Atoi(args[2])
	start, _ := strconv.ParseInt(args[3], 10, 64)
	span, _ := strconv.ParseInt(args[4], 10, 64)
	once, err := writeBy(args[0], args[1], number)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	time.Sleep(time.Duration(start - mono()))
	var count, worst int64
	for from := mono(); from < start+span; from = mono() {
		if err := once(count); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		count++
		worst = max(worst, mono()-from)
	}
	fmt.Println(count, worst)
	return 0
}

// writeBy gives the function that makes the n-th record durable.
func writeBy(mode, dir string, number int) (func(n int64) error, error) {
	if mode != byClaw {
		return func(int64) error { return appendLocked(dir+".jsonl", mode == inside) }, nil
	}
	s, err := state.Open(dir, state.Options{Now: time.Now})
	if err != nil {
		return nil, err
	}
	p := process.Process{
		ID: writerID(number), Slug: "brave-jetty", Agent: "main", Session: "agent:main:main",
		Command: "bash -lc 'cd /home/user/src/project && go test ./... -count=1'",
		Argv:    []string{"bash", "-lc", "cd /home/user/src/project && go test ./... -count=1"},
		Cwd:     "/home/user/src/project", MaxOutput: 64 << 20, TTLMs: 1_800_000, Phase: process.Running, Background: true,
		CreatedAt: time.Now(), StartedAt: time.Now(), BackgroundedAt: time.Now(),
	}
	return func(n int64) error {
		return s.Update(context.Background(), func(tx *state.Tx) error { return state.Processes.Put(tx, p.ID, n, p) })
	}, nil
}

// appendLocked opens, locks, appends and closes, as a program that does it
// once would.
func appendLocked(path string, syncInside bool) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	_, err = f.Write(record)
	if syncInside {
		err = errors.Join(err, datasync(f))
	}
	err = errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
	if !syncInside {
		err = errors.Join(err, datasync(f))
	}
	return err
}
