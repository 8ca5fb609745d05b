package main

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// peer is another program that keeps commands, at work in a directory of its
// own. A field that is nil is something it cannot do.
type peer struct {
	name    string
	env     []string
	submit  []string // what comes before the command
	version []string
	list    []string
	wait    []string // returns when what was submitted last has ended
	down    func()   // ends whatever it keeps running
}

// peers starts those of the named ones that this machine has.
func (b *bench) peers(names ...string) []peer {
	makers := []struct {
		name, program string
		up            func(b *bench, program string) (peer, bool)
	}{{"nq", "nq", nq}, {"tsp", "tsp", tsp}, {"at", "at", at}, {"tmux", "tmux", tmux}}
	var all []peer
	for _, m := range makers {
		program, err := exec.LookPath(m.program)
		if err != nil || !slices.Contains(names, m.name) {
			continue
		}
		if p, ok := m.up(b, program); ok {
			p.name = m.name
			p.down = b.onClose(p.down)
			all = append(all, p)
		}
	}
	return all
}

// end ends what the peers keep running.
func end(peers []peer) {
	for _, p := range peers {
		p.down()
	}
}

// names of the peers, for newRow.
func names(peers []peer) []string {
	var all []string
	for _, p := range peers {
		all = append(all, p.name)
	}
	return all
}

// run is the time it takes to submit a command, in ms.
func (p peer) run(b *bench, command ...string) (float64, error) {
	return b.timed(p.env, slices.Concat(p.submit, command)...)
}

func nq(b *bench, program string) (peer, bool) {
	env := []string{"NQDIR=" + b.sub("nq")}
	return peer{env: env, submit: []string{program, "-q"}, list: []string{program, "-t"}, wait: []string{program, "-w"}, down: func() {}}, true
}

// tsp runs two commands at a time, one per core of the machine the bars are for.
func tsp(b *bench, program string) (peer, bool) {
	dir := b.sub("tsp")
	env := []string{"TS_SOCKET=" + dir + "/s", "TMPDIR=" + dir, "TS_MAXFINISHED=200000", "TS_MAXCONN=900"}
	down := func() { b.timed(env, program, "-K") }
	if _, err := b.timed(env, program, "-S", "2"); err != nil { // starts the server
		down()
		return peer{}, false
	}
	return peer{env: env, submit: []string{program}, list: []string{program}, version: []string{program, "-V"}, wait: []string{program, "-w"}, down: down}, true
}

func tmux(b *bench, program string) (peer, bool) {
	env := []string{"TMUX_TMPDIR=" + b.sub("tmux")}
	down := func() { b.timed(env, program, "-L", "x", "kill-server") }
	if _, err := b.timed(env, program, "-L", "x", "-f", "/dev/null", "new", "-d", "-s", "keep", "sleep 100000"); err != nil {
		down()
		return peer{}, false
	}
	return peer{env: env, submit: []string{program, "-L", "x", "new", "-d"}, version: []string{program, "-V"}, list: []string{program, "-L", "x", "ls"}, down: down}, true
}

// at works in a spool that belongs to the machine, so it is measured only where
// nobody uses it.
func at(b *bench, program string) (peer, bool) {
	atd, err := exec.LookPath("atd")
	queue, err2 := b.output(nil, "atq")
	if err != nil || err2 != nil || queue != "" || os.Geteuid() != 0 || running("atd") {
		return peer{}, false
	}
	c := exec.Command(atd, "-f", "-b", "0")
	c.Env = b.env
	if c.Start() != nil {
		return peer{}, false
	}
	down := func() {
		for id := range b.queued() { // an interrupted bench leaves some
			b.timed(nil, "atrm", id)
		}
		c.Process.Kill()
		c.Wait()
	}
	script := filepath.Join(b.sub("at"), "now")
	if os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" | exec "+program+" -M now 2>/dev/null\n"), 0o700) != nil {
		down()
		return peer{}, false
	}
	time.Sleep(300 * time.Millisecond) // it says nothing when it is ready
	return peer{submit: []string{script}, version: []string{program, "-V"}, list: []string{"atq"}, down: down}, true
}

// queued yields the ids of the jobs in the spool of at.
func (b *bench) queued() iter.Seq[string] {
	return func(yield func(string) bool) {
		list, _ := b.output(nil, "atq")
		for line := range strings.Lines(list) {
			if id, _, ok := strings.Cut(line, "\t"); ok && !yield(id) {
				return
			}
		}
	}
}
