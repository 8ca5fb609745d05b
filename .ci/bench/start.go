package main

import (
	"os"
	"path/filepath"
)

// start is what claw costs before it does anything.
func start(b *bench) []row {
	all := []contestant{
		{name: "claw", once: func() (float64, error) { return b.timed(nil, b.claw, "version") }},
		{name: "empty Go", once: func() (float64, error) { return b.timed(nil, b.empty) }},
		{name: "C", once: func() (float64, error) { return b.timed(nil, "true") }},
	}
	peers := b.peers("tsp", "at", "tmux")
	defer end(peers)
	for _, p := range peers {
		all = append(all, contestant{name: p.name, once: func() (float64, error) { return b.timed(nil, p.version...) }})
	}
	m := b.rounds(b.pick(40, 10), all)
	return []row{newRow("start", "ms", m, "claw", append([]string{"empty Go", "C"}, names(peers)...)...).atMost(1.6)}
}

// submit is how long a caller waits until its command is accepted for good.
func submit(b *bench) []row {
	c := b.instance()
	f, err := os.OpenFile(filepath.Join(b.sub("sync"), "file"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return []row{skipped("submit", err.Error())}
	}
	defer f.Close()
	all := []contestant{
		{name: "claw", once: func() (float64, error) { return c.background("true") }, after: c.settle},
		{name: "empty Go", once: func() (float64, error) { return b.timed(nil, b.empty) }},
		{name: "spawn", once: b.spawn},
		{name: "fdatasync", once: func() (float64, error) { return appendSync(f) }},
	}
	peers := b.peers("nq", "tsp", "at", "tmux")
	defer end(peers)
	for _, p := range peers {
		all = append(all, contestant{name: p.name, once: func() (float64, error) { return p.run(b, "true") }})
	}
	m := b.rounds(b.pick(40, 10), all)
	m["floor"] = 2*m["empty Go"] + m["spawn"] + m["fdatasync"]
	r := newRow("submit", "ms", m, "claw", append([]string{"floor", "empty Go", "spawn", "fdatasync"}, names(peers)...)...)
	bar := "≤ 1.5 ×"
	ok := r.Ratio <= 1.5
	if m["tmux"] > 0 {
		bar, ok = bar+", ≤ tmux", ok && r.Claw <= m["tmux"]
	}
	return []row{r.judge(bar, true, ok)}
}

// record has the length of a row of a ledger.
var record = append(make([]byte, 599), '\n')

// appendSync is how long a durable append takes, in ms.
func appendSync(f *os.File) (float64, error) {
	from := mono()
	if _, err := f.Write(record); err != nil {
		return 0, err
	}
	err := datasync(f)
	return ms(from), err
}
