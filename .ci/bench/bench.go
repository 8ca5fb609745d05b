package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// bench is one run: where it works, with what, and what has gone wrong.
type bench struct {
	dir     string   // everything happens in here
	env     []string // of every program that is measured
	claw    string
	empty   string   // a Go program that does nothing
	sleeper string   // a Go program that sleeps
	tool    []string // see floor/tool.c

	complaints *os.File // stderr of every program
	machine    machine

	quick    bool
	finished int  // processes in the long history
	outputs  bool // with an output directory each
	history  *history

	mu     sync.Mutex
	dirs   int
	faults []string
	down   []func() // ends what runs in the background, last first

	ending sync.Once
	closed atomic.Bool // nothing is started any more
}

// pick is the full or the quick variant of a number.
func (b *bench) pick(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// fault notes something that claw must not do.
func (b *bench) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// sub makes a new directory. Its path is short, for there will be sockets.
func (b *bench) sub(name string) string {
	b.dirs++
	dir := filepath.Join(b.dir, fmt.Sprintf("%s%d", name, b.dirs))
	if err := os.Mkdir(dir, 0o700); err != nil {
		panic(err)
	}
	return dir
}

// onClose registers what ends a background program; the result ends it now.
func (b *bench) onClose(fn func()) func() {
	once := sync.OnceFunc(fn)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = append(b.down, once)
	return once
}

// close ends all background programs and removes the directory. A process of
// claw that is still there then is a fault.
func (b *bench) close() { b.ending.Do(b.end) }

func (b *bench) end() {
	b.mu.Lock()
	down := b.down
	b.mu.Unlock()
	for _, fn := range slices.Backward(down) {
		fn()
	}
	b.closed.Store(true)
	for _, p := range b.stragglers() {
		if strings.HasPrefix(p.command, b.claw) {
			b.fault("process %d is left behind: %s", p.pid, p.command)
		}
		unix.Kill(p.pid, unix.SIGKILL)
	}
	for range 10 { // after a signal the interrupted measure may still be writing
		if os.RemoveAll(b.dir) == nil {
			break
		}
	}
}

// mono is CLOCK_MONOTONIC in nanoseconds, the clock of the stamps.
func mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// ms is the time since a moment of mono.
func ms(since int64) float64 { return float64(mono()-since) / 1e6 }

// patience is when a program is given up.
const patience = 2 * time.Minute

// command is a program with the environment of the bench and no streams but
// one for complaints. A program that is given up is asked to say where it
// stands, as a Go program does.
func (b *bench) command(env []string, argv ...string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	if b.closed.Load() {
		cancel()
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = append(slices.Clip(b.env), env...)
	c.Dir = b.dir
	c.Stderr = b.complaints
	c.Cancel = func() error { return c.Process.Signal(unix.SIGQUIT) }
	c.WaitDelay = 5 * time.Second
	return c, cancel
}

// timed runs a program and returns how many milliseconds it took.
func (b *bench) timed(env []string, argv ...string) (float64, error) {
	c, cancel := b.command(env, argv...)
	defer cancel()
	from := mono()
	err := c.Run()
	took := ms(from)
	return took, b.explain(err, argv)
}

// output runs a program for what it prints.
func (b *bench) output(env []string, argv ...string) (string, error) {
	c, cancel := b.command(env, argv...)
	defer cancel()
	out, err := c.Output()
	return strings.TrimSpace(string(out)), b.explain(err, argv)
}

// explain adds to an error what was run, and the last complaints of anybody.
func (b *bench) explain(err error, argv []string) error {
	if err == nil {
		return nil
	}
	text, _ := os.ReadFile(b.complaints.Name())
	text = text[max(0, len(text)-maxComplaint):]
	return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, text)
}

// maxComplaint is how much is shown of what programs said on stderr.
const maxComplaint = 8 << 10

// contestant is one way to do what is measured.
type contestant struct {
	name  string
	once  func() (float64, error) // one sample, in the unit of the measure
	after func()                  // what has to come to rest before the next, not timed
}

// pause is how long everybody has, after a sample, for what goes on behind it.
const pause = 40 * time.Millisecond

// rounds measures every contestant n times, in turn, and gives the medians.
// The order rotates, so that nobody always follows the same one, and a first
// round does not count. When claw fails, that is a fault and it is out; a peer
// is after its third failure.
func (b *bench) rounds(n int, all []contestant) map[string]float64 {
	samples := map[string][]float64{}
	failures := map[string]int{}
	for r := range n + 1 {
		for i := range all {
			c := all[(i+r)%len(all)]
			if failures[c.name] >= 3 {
				continue
			}
			v, err := c.once()
			if err != nil {
				failures[c.name] += b.failed(c.name, err)
				continue
			}
			if r > 0 {
				samples[c.name] = append(samples[c.name], v)
			}
			if c.after != nil {
				c.after()
			}
			time.Sleep(pause)
		}
	}
	medians := map[string]float64{}
	for name, s := range samples {
		if failures[name] < 3 {
			medians[name] = median(s)
		}
	}
	return medians
}

// failed reports a failure and says for how many it counts.
func (b *bench) failed(name string, err error) int {
	switch {
	case b.closed.Load(): // interrupted
	case strings.HasPrefix(name, "claw"):
		b.fault("%v", err)
	default:
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", name, err)
		return 1
	}
	return 3
}

// median of at least one sample; the mean of the middle two of an even number.
func median(s []float64) float64 {
	s = slices.Sorted(slices.Values(s))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
