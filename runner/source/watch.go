package source

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"claw/runner/clock"
	"claw/runner/wake"
	"claw/state/automation"
)

// patience is how long a pass waits for a scan: a directory on a server that
// does not answer must not hold up all the others.
const patience = 2 * time.Second

// watch is what is known of one directory.
type watch struct {
	set  *Set
	spec Spec
	tree *wake.Tree // nil: the kernel is not asked
	stop chan struct{}

	mu    sync.Mutex
	last  *Seen
	at    time.Duration // on the monotonic clock, of last
	stale bool          // something has changed since
	going chan struct{} // closed at the end of the scan that goes on; nil: none does
	base  *Seen         // what has been told
}

func newWatch(s *Set, spec Spec) *watch {
	w := &watch{set: s, spec: spec, stop: make(chan struct{})}
	if s.told {
		w.tree = wake.WatchTree(wake.TreeSpec{Dir: spec.Dir, Deep: spec.Recursive, Skip: spec.Skip}, s.clock)
		go w.run()
	}
	return w
}

// look gives the last scan, or makes a new one.
func (w *watch) look() (Seen, bool) {
	w.mu.Lock()
	if w.fresh() {
		defer w.mu.Unlock()
		return *w.last, true
	}
	going := w.begin()
	w.mu.Unlock()
	timer := w.set.clock.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-going:
	case <-timer.C():
		return Seen{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.last, true
}

// fresh tells that the last scan is as good as a new one.
func (w *watch) fresh() bool {
	switch {
	case w.last == nil || w.stale:
		return false
	case w.tree != nil:
		return true
	}
	return w.set.clock.Elapsed()-w.at < wake.Every
}

// begin starts a scan, unless one goes on; w.mu is held.
func (w *watch) begin() chan struct{} {
	if w.going != nil {
		return w.going
	}
	done := make(chan struct{})
	w.going, w.stale = done, false // what changes from here on may be missed
	began := w.set.clock.Elapsed()
	go func() {
		seen := w.scan()
		w.mu.Lock()
		w.last, w.at, w.going = &seen, began, nil
		w.mu.Unlock()
		close(done)
		if w.set.clock.Elapsed()-began >= patience {
			w.set.ring() // the pass that asked has not waited
		}
	}()
	return done
}

func (w *watch) scan() Seen {
	seen := Seen{At: w.set.clock.Now()}
	seen.Entries, seen.Err = Scan(context.Background(), w.spec)
	if seen.Err == nil {
		seen.Digest = automation.Scan(seen.Entries)
	}
	return seen
}

// run rings when what has changed has been quiet for a while.
func (w *watch) run() {
	defer w.tree.Close()
	timer := w.set.clock.NewTimer(clock.Longest)
	timer.Stop()
	defer timer.Stop()
	var quiet automation.Debounce
	for {
		select {
		case <-w.stop:
			return
		case <-w.tree.C():
			if w.tree.Polling() != nil && !w.differs() {
				continue
			}
			now := w.instant()
			quiet = quiet.Saw(now)
			at, _ := quiet.At()
			timer.Reset(at.Sub(now))
		case <-timer.C():
			quiet = automation.Debounce{}
			w.mu.Lock()
			w.stale = true
			w.mu.Unlock()
			w.set.ring()
		}
	}
}

// instant is the monotonic clock as a time: a clock that is set must not move
// the end of a pause.
func (w *watch) instant() time.Time { return time.Unix(0, 0).Add(w.set.clock.Elapsed()) }

// differs looks for itself whether anything has changed since the last scan.
func (w *watch) differs() bool {
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	if last == nil {
		return true
	}
	now := w.scan()
	return now.Digest != last.Digest || (now.Err == nil) != (last.Err == nil)
}

// follow waits for output of one process.
type follow struct {
	dir   string
	batch time.Duration
	stop  chan struct{}
	held  atomic.Bool // nothing of it can be told now
}

func (f *follow) run(s *Set) {
	tree := wake.WatchTree(wake.TreeSpec{Dir: f.dir}, s.clock)
	defer tree.Close()
	timer := s.clock.NewTimer(clock.Longest)
	timer.Stop()
	defer timer.Stop()
	for waits := false; ; {
		select {
		case <-f.stop:
			return
		case <-tree.C():
			if !waits && !f.held.Load() {
				waits = true
				timer.Reset(f.batch)
			}
		case <-timer.C():
			waits = false
			s.ring()
		}
	}
}
