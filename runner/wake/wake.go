package wake

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"claw/runner/clock"
)

// The times of a Watcher.
const (
	Coalesce = 50 * time.Millisecond // at most one wake in that time
	Every    = 2 * time.Second       // between two looks where nothing tells
	again    = time.Minute           // until telling is tried once more
)

// Source is what wakes: a Watcher, in tests a channel.
type Source interface {
	// C has a value when something may have changed since the last one.
	C() <-chan struct{}
	// Polling is why the directory is looked at every two seconds; nil where
	// the kernel tells.
	Polling() error
	Close()
}

// Watcher watches one state directory.
type Watcher struct {
	dir   string
	clock clock.Clock
	open  func() (notifier, error)
	c     chan struct{}
	stop  chan struct{}
	done  chan struct{}

	mu  sync.Mutex
	why error
}

// notifier is what a Watcher needs of fsnotify.
type notifier interface {
	Add(dir string) error
	Close() error
	changes() <-chan fsnotify.Event
	faults() <-chan error
}

type inotify struct{ *fsnotify.Watcher }

func (n inotify) changes() <-chan fsnotify.Event { return n.Events }
func (n inotify) faults() <-chan error           { return n.Errors }

func openNotifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return inotify{w}, nil
}

// Watch begins to watch a state directory, which need not exist. It never
// fails: where the kernel cannot tell, it looks by itself (see Polling). What
// changed before Watch returned may not be told.
func Watch(dir string, c clock.Clock) *Watcher { return watch(dir, c, openNotifier) }

func watch(dir string, c clock.Clock, open func() (notifier, error)) *Watcher {
	w := &Watcher{
		dir: filepath.Clean(dir), clock: c, open: open,
		c: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	n := w.attach()
	go w.run(n)
	return w
}

// C has a value when something may have changed since the last one.
func (w *Watcher) C() <-chan struct{} { return w.c }

// Polling is why the directory is looked at every two seconds: a *LimitError,
// or what the system said. nil where the kernel tells.
func (w *Watcher) Polling() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// Close ends the watch and waits until nothing of it is left.
func (w *Watcher) Close() {
	close(w.stop)
	<-w.done
}

// attach makes a notifier that watches the directory; nil, and the reason is
// noted, when that is not possible.
func (w *Watcher) attach() notifier {
	n, err := w.open()
	if err == nil {
		if err = n.Add(w.dir); err != nil {
			n.Close()
			n = nil
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = explain(err)
	return n
}

// run alternates between being told and looking.
func (w *Watcher) run(n notifier) {
	defer close(w.done)
	for {
		if n != nil {
			if w.listen(n) {
				return
			}
			n = nil
			w.wake() // the directory went away: that is a change
			continue
		}
		if n = w.poll(); n == nil {
			return
		}
		w.wake() // what changed just before it was attached
	}
}

// listen passes on what the kernel tells, until Close (true) or until the
// watch is lost.
func (w *Watcher) listen(n notifier) (closed bool) {
	defer n.Close()
	gate := w.clock.NewTimer(0)
	defer gate.Stop()
	open, waiting := false, false // open: no wake within the last 50 ms
	for {
		changed, poked := false, false
		select {
		case <-w.stop:
			return true
		case <-gate.C():
			open = true
		case e, ok := <-n.changes():
			if !ok || w.lost(e) {
				return false
			}
			changed = slices.Contains(watched[:], filepath.Base(e.Name))
			poked = filepath.Base(e.Name) == pokes
		case err, ok := <-n.faults():
			if !ok {
				return false
			}
			changed = errors.Is(err, fsnotify.ErrEventOverflow)
		}
		if waiting = waiting || changed; poked || waiting && open {
			w.wake()
			open, waiting = false, false
			gate.Reset(Coalesce)
		}
	}
}

// lost tells an event that takes the watch with it: the directory itself was
// removed or renamed.
func (w *Watcher) lost(e fsnotify.Event) bool {
	return filepath.Clean(e.Name) == w.dir && e.Op&(fsnotify.Remove|fsnotify.Rename) != 0
}

// poll looks every two seconds until Close (nil) or until the kernel tells
// again. A directory that is missing is tried at each look, anything else once
// a minute.
func (w *Watcher) poll() notifier {
	seen := Look(w.dir)
	timer := w.clock.NewTimer(Every)
	defer timer.Stop()
	tried := w.clock.Elapsed()
	for {
		select {
		case <-w.stop:
			return nil
		case <-timer.C():
		}
		if now := Look(w.dir); now != seen {
			seen = now
			w.wake()
		}
		if w.worth(w.clock.Elapsed() - tried) {
			tried = w.clock.Elapsed()
			if n := w.attach(); n != nil {
				return n
			}
		}
		timer.Reset(Every)
	}
}

// worth tells whether to try to attach, so long after the last try.
func (w *Watcher) worth(since time.Duration) bool {
	if _, err := os.Lstat(w.dir); err != nil {
		return false
	}
	why := w.Polling()
	return why == nil || errors.Is(why, os.ErrNotExist) || since >= again
}

func (w *Watcher) wake() {
	select {
	case w.c <- struct{}{}:
	default: // one is waiting already
	}
}
