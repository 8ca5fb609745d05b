package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"claw/state"
)

// recent is how many finished processes there are in the short history, and at
// the end of the long one.
const recent = 10

// history is two state directories that show the same and differ in their past.
type history struct {
	short, long     instance
	nqShort, nqLong []peer // empty when not measured
	err             error
}

// histories makes them the first time they are asked for.
func (b *bench) histories() *history {
	if b.history == nil {
		b.history = &history{short: b.instance(), long: b.instance()}
		h := b.history
		if h.err = h.make(b.finished); h.err != nil {
			b.fault("making a history: %v", h.err)
		}
		if !b.quick {
			h.nqShort, h.nqLong = b.peers("nq"), b.nqHistory()
		}
	}
	return b.history
}

func (h *history) make(finished int) error {
	if err := h.short.makeRecent(recent); err != nil {
		return err
	}
	if err := h.long.makeRecent(1); err != nil { // the model of the old ones
		return err
	}
	if err := h.long.makeOld(finished); err != nil {
		return err
	}
	if err := h.long.makeRecent(recent - 1); err != nil {
		return err
	}
	return h.long.halfFull()
}

func (c instance) makeRecent(n int) error {
	for range n {
		if _, err := c.background("true"); err != nil {
			return err
		}
		c.settle()
	}
	return nil
}

// perTx is how many processes one transaction of makeOld writes.
const perTx = 500

// past is where in time the old processes lie: the k-th of n ended so long
// after six days ago, and the last an hour ago.
type past struct {
	n    int
	last time.Time
}

func (p past) ended(k int) time.Time {
	step := 6 * 24 * time.Hour / time.Duration(p.n)
	return p.last.Add(-step * time.Duration(p.n-1-k))
}

// makeOld writes n processes and their tasks that are past their time in the
// ledgers, and sees them archived. Apart from ids and times they are copies of
// the newest ones.
func (c instance) makeOld(n int) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	old := past{n, time.Now().Add(-time.Hour)}
	for from := 0; from < n; from += perTx {
		err := s.Update(context.Background(), func(tx *state.Tx) error {
			return putOld(tx, old, from, min(n, from+perTx))
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(s.Checkpoint(context.Background()), c.makeOutputs(old))
}

// putOld writes some of the old processes.
func putOld(tx *state.Tx, old past, from, to int) error {
	processes, err := state.Processes.All(tx)
	if err != nil {
		return err
	}
	tasks, err := state.Tasks.All(tx)
	if err != nil {
		return err
	}
	p, t := processes[len(processes)-1].Rec, tasks[len(tasks)-1].Rec
	for k := from; k < to; k++ {
		at := old.ended(k)
		p.ID, p.TaskID, p.Slug = oldID(at, 2*k), oldID(at, 2*k+1), fmt.Sprintf("old-%d", k)
		p.CreatedAt, p.BackgroundedAt, p.StartedAt, p.EndedAt = at, at, at, at
		t.ID, t.RunID, t.Slug = p.TaskID, p.ID, p.Slug
		t.CreatedAt, t.StartedAt, t.LastEventAt, t.EndedAt = at, at, at, at
		t.CleanupAfter = at.Add(7 * 24 * time.Hour)
		if err := errors.Join(state.Processes.Put(tx, p.ID, 0, p), state.Tasks.Put(tx, t.ID, 0, t)); err != nil {
			return err
		}
	}
	return nil
}

// oldID is a ULID of that time, with a number for its random part.
func oldID(at time.Time, n int) string {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var id [26]byte
	for part, width, v := 0, 10, uint64(at.UnixMilli()); part < 2; part, width, v = part+1, 16, uint64(n) {
		for i := range width {
			id[part*10+width-1-i] = alphabet[v&31]
			v >>= 5
		}
	}
	return string(id[:])
}

// makeOutputs gives the old processes what a process leaves in the directory.
func (c instance) makeOutputs(old past) error {
	if !c.b.outputs {
		return nil
	}
	for k := range old.n {
		dir := filepath.Join(c.dir, "processes", oldID(old.ended(k), 2*k))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for _, name := range []string{"lock", "output"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// halfFull fills the journal to half of where it is checkpointed, for that is
// how one finds it on average; the short history's is short as well.
func (c instance) halfFull() error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	most, err := c.fill(s, math.MaxInt64)
	if err == nil {
		_, err = c.fill(s, most/2)
	}
	return err
}

// fill lets the journal grow until it has so many bytes, or is checkpointed;
// it returns how many it had last.
func (c instance) fill(s *state.Store, enough int64) (int64, error) {
	for size := int64(0); ; {
		info, err := os.Stat(filepath.Join(c.dir, "journal.jsonl"))
		if err != nil || info.Size() < size || info.Size() >= enough {
			return size, err
		}
		size = info.Size()
		if err := s.Update(context.Background(), touch); err != nil {
			return size, err
		}
	}
}

// touch writes the newest process again as it is.
func touch(tx *state.Tx) error {
	rows, err := state.Processes.All(tx)
	if err != nil {
		return err
	}
	r := rows[len(rows)-1]
	return state.Processes.Put(tx, r.ID, r.Rev, r.Rec)
}

// nqHistory is a queue of nq with as many finished commands: one file each.
func (b *bench) nqHistory() []peer {
	peers := b.peers("nq")
	for _, p := range peers {
		dir := p.env[0][len("NQDIR="):]
		for i := range b.finished {
			name := filepath.Join(dir, fmt.Sprintf(",%x.%d", 0x19a00000000+i, 1000+i%30000))
			if os.WriteFile(name, []byte("exec true\n\n[exited with status 0.]\n"), 0o600) != nil {
				return nil
			}
		}
	}
	return peers
}

// historyStart is the time from submitting to the command's first instruction.
func historyStart(b *bench) []row {
	h := b.histories()
	if h.err != nil {
		return []row{skipped("history-start", h.err.Error())}
	}
	file := filepath.Join(b.sub("first"), "ran")
	first := func(submit func(command ...string) (float64, error)) func() (float64, error) {
		return func() (float64, error) {
			os.Remove(file)
			from := mono()
			if _, err := submit(b.with("stamp", file)...); err != nil {
				return 0, err
			}
			at, err := stamps(file, 1)
			if err != nil {
				return 0, err
			}
			return float64(at[0]-from) / 1e6, nil
		}
	}
	all := []contestant{
		{name: "claw", once: first(h.long.background), after: h.long.settle},
		{name: "claw, 10 finished", once: first(h.short.background), after: h.short.settle},
	}
	for _, p := range h.nqLong {
		all = append(all, contestant{name: "nq", once: first(func(command ...string) (float64, error) { return p.run(b, command...) })})
	}
	for _, p := range h.nqShort {
		all = append(all, contestant{name: "nq, 10 finished", once: first(func(command ...string) (float64, error) { return p.run(b, command...) })})
	}
	m := b.rounds(b.pick(21, 9), all)
	r := newRow("history-start", "ms", m, "claw", "claw, 10 finished", "nq", "nq, 10 finished")
	r.Note = fmt.Sprintf("%d finished", b.finished)
	return []row{r.atMost(1.2)}
}

// historyList is how long it takes to see what there is.
func historyList(b *bench) []row {
	h := b.histories()
	if h.err != nil {
		return []row{skipped("history-list", h.err.Error())}
	}
	var all []contestant
	for _, what := range []string{"process", "tasks"} {
		all = append(
			all,
			contestant{name: "claw " + what, once: func() (float64, error) { return h.long.run(what, "list") }},
			contestant{name: "claw " + what + ", 10 finished", once: func() (float64, error) { return h.short.run(what, "list") }},
		)
	}
	for _, p := range h.nqLong {
		all = append(all, contestant{name: "nq", once: func() (float64, error) { return b.timed(p.env, p.list...) }})
	}
	m := b.rounds(b.pick(21, 9), all)
	var rows []row
	for _, what := range []string{"process", "tasks"} {
		r := newRow("history-list: "+what, "ms", m, "claw "+what, "claw "+what+", 10 finished", "nq")
		r.Note = fmt.Sprintf("%d finished", b.finished)
		rows = append(rows, r.atMost(1.5))
	}
	return rows
}
