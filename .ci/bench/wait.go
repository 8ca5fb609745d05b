package main

import (
	"errors"
	"path/filepath"
	"strconv"
)

// wait is how long a waiter sleeps beyond the last instruction of what it
// waits for.
func wait(b *bench) []row {
	c := b.instance()
	all := []contestant{
		{name: "claw", once: func() (float64, error) {
			return b.late(func(command ...string) ([]string, error) {
				id, err := c.submit(command...)
				return []string{b.claw, "process", "wait", id}, err
			}, c.env)
		}},
		{name: "parent", once: func() (float64, error) {
			return b.late(func(command ...string) ([]string, error) { return command, nil }, nil)
		}},
	}
	peers := b.peers("nq", "tsp")
	defer end(peers)
	for _, p := range peers {
		all = append(all, contestant{name: p.name, once: func() (float64, error) {
			return b.late(func(command ...string) ([]string, error) {
				_, err := p.run(b, command...)
				return p.wait, err
			}, p.env)
		}})
	}
	m := b.rounds(b.pick(25, 7), all)
	r := newRow("wait", "ms", m, "claw", append([]string{"parent"}, names(peers)...)...)
	return []row{r.judge("≤ 8 ms", true, r.Claw <= 8)}
}

// life is how long the command of wait runs, in ms: longer than a waiter needs
// to begin.
const life = 300

// late submits a command, runs the waiter that submit gives, and measures from
// the command's last instruction to the waiter's end, in ms.
func (b *bench) late(submit func(command ...string) (waiter []string, err error), env []string) (float64, error) {
	file := filepath.Join(b.sub("wait"), "ran")
	waiter, err := submit(b.with("stampexit", file, strconv.Itoa(life))...)
	if err != nil {
		return 0, err
	}
	if _, err := b.timed(env, waiter...); err != nil {
		return 0, err
	}
	now := mono()
	if countStamps(file) != 1 {
		return 0, errors.New("the waiter returned before the end")
	}
	at, err := stamps(file, 1)
	if err != nil {
		return 0, err
	}
	return float64(now-at[0]) / 1e6, nil
}
