// Package clocktest has a clock that moves only when a test says so, and that
// can do what testing/synctest cannot: step backwards, and sleep through time.
package clocktest

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"claw/runner/clock"
)

// Fake is a clock.Clock moved by hand. Its zero value is not usable; see New.
type Fake struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
	armed   []*timer // in no order
	changed chan struct{}
}

var _ clock.Clock = (*Fake)(nil)

// New returns a fake whose wall clock reads at.
func New(at time.Time) *Fake {
	return &Fake{wall: at.Round(0), changed: make(chan struct{})}
}

// Now returns the fake's wall clock.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wall
}

// Elapsed returns the fake's monotonic time.
func (f *Fake) Elapsed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.elapsed
}

// Advance lets d pass on both clocks and fires every timer due by then, in
// the order of their times.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wall = f.wall.Add(d)
	f.elapsed += d
	slices.SortStableFunc(f.armed, func(a, b *timer) int { return cmp.Compare(a.at, b.at) })
	for len(f.armed) > 0 && f.armed[0].at <= f.elapsed {
		f.armed[0].c <- f.wall
		f.armed = f.armed[1:]
	}
	f.note()
}

// Step moves the wall clock alone by d, which may be negative: somebody set
// the clock. No timer fires.
func (f *Fake) Step(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wall = f.wall.Add(d)
}

// Suspend lets the machine sleep for d: the wall clock goes on, the monotonic
// one and the timers stand still. It is Step under the name of its cause.
func (f *Fake) Suspend(d time.Duration) { f.Step(d) }

// WaitArmed blocks until at least n timers are armed, so that a test can
// Advance without racing the code that is about to wait.
func (f *Fake) WaitArmed(n int) {
	for {
		f.mu.Lock()
		have, changed := len(f.armed), f.changed
		f.mu.Unlock()
		if have >= n {
			return
		}
		<-changed
	}
}

// NewTimer arms a timer; like every clock of claw for at most clock.Longest.
func (f *Fake) NewTimer(d time.Duration) clock.Timer {
	t := &timer{fake: f, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// note wakes WaitArmed; f.mu is held.
func (f *Fake) note() {
	close(f.changed)
	f.changed = make(chan struct{})
}

type timer struct {
	fake *Fake
	at   time.Duration
	c    chan time.Time
}

func (t *timer) C() <-chan time.Time { return t.c }

func (t *timer) Stop() bool {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	return t.disarm()
}

func (t *timer) Reset(d time.Duration) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.disarm()
	t.at = t.fake.elapsed + clock.Clip(d)
	if t.at <= t.fake.elapsed {
		t.c <- t.fake.wall
		return
	}
	t.fake.armed = append(t.fake.armed, t)
	t.fake.note()
}

// disarm takes the timer out and throws away a tick nobody received.
func (t *timer) disarm() bool {
	select {
	case <-t.c:
	default:
	}
	i := slices.Index(t.fake.armed, t)
	if i < 0 {
		return false
	}
	t.fake.armed = slices.Delete(t.fake.armed, i, i+1)
	return true
}
