package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// woken is claw with one agent for every sample: more than five starts of one
// agent within a minute are a flood, which claw holds back.
type woken struct {
	instance
	folder string
	next   int
}

// woken makes an instance with n agents, each of which stamps a file of its
// own as soon as it runs.
func (b *bench) woken(n int, wake string) (*woken, error) {
	w := &woken{instance: b.instance(), folder: b.sub("agents")}
	var config strings.Builder
	fmt.Fprintf(&config, "[wake]\nonExit = %q\n[agents.defaults.heartbeat]\nevery = \"0m\"\ntarget = \"none\"\n", wake)
	for i := range n {
		var argv []string
		for _, word := range b.with("stamp", w.stamped(i)) {
			argv = append(argv, fmt.Sprintf("%q", word))
		}
		fmt.Fprintf(&config, "[agents.a%d]\ncommand = [%s]\n", i, strings.Join(argv, ", "))
	}
	file := filepath.Join(w.folder, "claw.toml")
	w.env = append(w.env, "CLAW_CONFIG="+file)
	return w, os.WriteFile(file, []byte(config.String()), 0o600)
}

func (w *woken) stamped(agent int) string {
	return filepath.Join(w.folder, fmt.Sprintf("ran%d", agent))
}

// ended submits a command of the next agent that lives for so many ms and
// fails, which is always told, and gives the file with the stamp of its last
// instruction.
func (w *woken) ended(life string) (agent int, file string, err error) {
	agent, w.next = w.next, w.next+1
	file = filepath.Join(w.folder, fmt.Sprintf("ended%d", agent))
	_, err = w.run(append([]string{"exec", "-b", "--agent", fmt.Sprintf("a%d", agent), "--"}, w.b.with("stampexit", file, life, "3")...)...)
	return agent, file, err
}

// late is the time from the last instruction of a command to the first of the
// agent that is told, in ms.
func (w *woken) late() (float64, error) {
	agent, file, err := w.ended("300")
	if err != nil {
		return 0, err
	}
	at, err := stamps(file, 1)
	if err != nil {
		return 0, err
	}
	told, err := stamps(w.stamped(agent), 1)
	if err != nil {
		return 0, err
	}
	return float64(told[0]-at[0]) / 1e6, nil
}

// tick is the time from starting a tick to the first instruction of the agent
// that it wakes, in ms.
func (w *woken) tick() (float64, error) {
	agent, _, err := w.ended("0")
	if err != nil {
		return 0, err
	}
	if code, err := w.code("--last"); code != 3 {
		return 0, fmt.Errorf("a command that exits 3 exited %d: %w", code, err)
	}
	from := mono()
	if _, err := w.run("heartbeat", "tick"); err != nil {
		return 0, err
	}
	told, err := stamps(w.stamped(agent), 1)
	if err != nil {
		return 0, err
	}
	return float64(told[0]-from) / 1e6, nil
}

// runner starts a runner and waits until it works.
func (c instance) runner() (*exec.Cmd, error) {
	r := exec.Command(c.b.claw, "runner", "run")
	r.Env = append(append([]string{}, c.b.env...), c.env...)
	r.Stderr = c.b.complaints
	if err := r.Start(); err != nil {
		return nil, err
	}
	c.b.onClose(func() {
		r.Process.Signal(syscall.SIGTERM)
		r.Wait()
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(moment) {
		if _, err := c.run("runner", "status"); err == nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the runner was not ready after %v", patience)
}

// wake is how long it takes from the end of a command until the agent that
// started it is running again, with a runner and with nothing at all.
func wake(b *bench) []row {
	n := b.pick(25, 7)
	up, err := b.woken(n+1, "auto")
	if err == nil {
		_, err = up.runner()
	}
	alone, err2 := b.woken(n+1, "auto")
	cold, err3 := b.woken(n+1, "off")
	for _, err := range []error{err, err2, err3} {
		if err != nil {
			b.fault("%v", err)
			return []row{skipped("wake", err.Error())}
		}
	}
	all := []contestant{
		{name: "claw runner", once: up.late},
		{name: "claw alone", once: alone.late},
		{name: "claw tick", once: cold.tick},
	}
	peers := b.peers("tsp")
	defer end(peers)
	for _, p := range peers {
		all = append(all, contestant{name: "tsp -d", once: func() (float64, error) { return b.dependent(p) }})
	}
	if program, err := exec.LookPath("inotifywait"); err == nil {
		all = append(all, contestant{name: "inotifywait", once: func() (float64, error) { return b.watched(program) }})
	}
	m := b.rounds(n, all)
	runner := newRow("wake: runner", "ms", m, "claw runner", "tsp -d", "inotifywait")
	nobody := newRow("wake: no runner", "ms", m, "claw alone", "claw tick")
	return []row{runner.judge("≤ 25 ms", true, runner.Claw <= 25), nobody.atMost(2)}
}

// dependent is the time from the last instruction of a command to the first of
// one that depends on it.
func (b *bench) dependent(p peer) (float64, error) {
	first, second := filepath.Join(b.sub("dep"), "a"), filepath.Join(b.sub("dep"), "b")
	if _, err := p.run(b, b.with("stampexit", first, "100")...); err != nil {
		return 0, err
	}
	if _, err := b.timed(p.env, append(append(append([]string{}, p.submit...), "-d"), b.with("stamp", second)...)...); err != nil {
		return 0, err
	}
	return between(first, second)
}

// watched is the time from the last instruction of a command until a program
// that watches the file it stamps has returned.
func (b *bench) watched(program string) (float64, error) {
	dir := b.sub("watch")
	file := filepath.Join(dir, "ran")
	c, cancel := b.command(nil, program, "-qq", "-e", "close_write", dir)
	defer cancel()
	if err := c.Start(); err != nil {
		return 0, err
	}
	time.Sleep(100 * time.Millisecond) // it says nothing when it watches
	if _, err := b.timed(nil, b.with("stamp", file)...); err != nil {
		return 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, err
	}
	now := mono()
	at, err := stamps(file, 1)
	if err != nil {
		return 0, err
	}
	return float64(now-at[0]) / 1e6, nil
}

func between(first, second string) (float64, error) {
	a, err := stamps(first, 1)
	if err != nil {
		return 0, err
	}
	b, err := stamps(second, 1)
	if err != nil {
		return 0, err
	}
	return float64(b[0]-a[0]) / 1e6, nil
}
