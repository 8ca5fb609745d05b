package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// submitters is how many callers submit at once.
const submitters = 16

// throughput is how many commands a second go through: from the first submit
// until all have run. They leave a stamp each, so that none can be lost
// unnoticed.
func throughput(b *bench) []row {
	const n = 1000 // quick or not: nq becomes slower with every command in its queue
	all := []contestant{
		{name: "claw", once: func() (float64, error) { return clawThroughput(b, n) }},
		{name: "bare", once: func() (float64, error) { // nobody keeps anything
			return b.flood(n, func(file string) (float64, error) { return b.timed(nil, b.with("stamp", file)...) })
		}},
	}
	peers := b.peers("nq", "tsp", "at", "tmux")
	end(peers)
	for _, p := range peers {
		jobs := n
		if p.name == "at" || p.name == "tmux" {
			jobs = n / 4 // slow enough to tell
		}
		all = append(all, contestant{name: p.name, once: func() (float64, error) { return peerThroughput(b, p.name, jobs) }})
	}
	m := b.rounds(b.pick(3, 1), all)
	r := newRow("throughput", "jobs/s", m, "claw", "nq", "tsp", "at", "tmux", "bare")
	r.Note = fmt.Sprintf("%d jobs", n)
	checkCodes(b)
	return []row{r.judge("≥ nq, none lost", m["nq"] > 0, r.Claw >= m["nq"])}
}

// flood submits n commands from 16 callers and waits until all have run.
func (b *bench) flood(n int, submit func(stampFile string) (float64, error)) (perSecond float64, err error) {
	file := filepath.Join(b.sub("flood"), "ran")
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	from := mono()
	for range submitters {
		callers.Go(func() {
			for next.Add(1) <= int64(n) {
				if _, err := submit(file); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	callers.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	if _, err := stamps(file, n); err != nil {
		return 0, err
	}
	return float64(n) / (ms(from) / 1e3), nil
}

func peerThroughput(b *bench, name string, n int) (float64, error) {
	peers := b.peers(name)
	defer end(peers)
	if len(peers) == 0 {
		return 0, fmt.Errorf("%s does not start", name)
	}
	return b.flood(n, func(file string) (float64, error) { return peers[0].run(b, b.with("stamp", file)...) })
}

func clawThroughput(b *bench, n int) (float64, error) {
	c := b.instance()
	rate, err := b.flood(n, func(file string) (float64, error) { return c.background(b.with("stamp", file)...) })
	if err != nil {
		return 0, err
	}
	return rate, c.allSucceeded(n)
}

// allSucceeded waits until claw says so of n tasks, and of no others.
func (c instance) allSucceeded(n int) error {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		count, err := c.statuses()
		if err != nil {
			return err
		}
		if len(count) == 1 && count["succeeded"] == n {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("of %d tasks that ran and succeeded claw says: %v", n, count)
		}
	}
}

// checkCodes compares exit codes with what claw tells of them.
func checkCodes(b *bench) {
	c := b.instance()
	file := filepath.Join(b.sub("codes"), "ran")
	for want := range 12 {
		want *= 11 // also above 100, where no other meaning may get in the way
		id, err := c.submit(b.with("stamp", file, fmt.Sprint(want))...)
		if err == nil {
			var got int
			if got, err = c.code(id); err == nil && got != want {
				err = fmt.Errorf("exit code %d instead of %d", got, want)
			}
		}
		if err != nil {
			b.fault("%v", err)
		}
	}
}
