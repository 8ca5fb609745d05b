package wake

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"claw/runner/clock"
)

// MostDirs is how many directories one Tree watches at most: each costs one of
// the user's inotify watches, which other programs need too.
const MostDirs = 8192

// TreeSpec is what a Tree watches.
type TreeSpec struct {
	Dir  string // absolute
	Deep bool   // and all that is below it; symbolic links are not followed
	Skip string // a directory whose changes are nobody's business: claw's own state; empty: none
}

// Tree watches a directory of a person's. It only hints that something may
// have changed: what has is for a scan to find out.
type Tree struct {
	spec  TreeSpec
	root  string // spec.Dir, or what it is a link to
	clock clock.Clock
	open  func() (notifier, error)
	c     chan struct{}
	stop  chan struct{}
	done  chan struct{}

	mu  sync.Mutex
	why error
}

// WatchTree begins to watch. It never fails: where the kernel cannot tell, it
// hints every two seconds (see Polling).
func WatchTree(spec TreeSpec, c clock.Clock) *Tree { return watchTree(spec, c, openNotifier) }

func watchTree(spec TreeSpec, c clock.Clock, open func() (notifier, error)) *Tree {
	spec.Dir = filepath.Clean(spec.Dir)
	if spec.Skip != "" {
		spec.Skip = Resolved(spec.Skip)
	}
	t := &Tree{spec: spec, clock: c, open: open, c: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

// C has a value when something may have changed since the last one.
func (t *Tree) C() <-chan struct{} { return t.c }

// Polling is why there is a hint every two seconds: a *LimitError, a
// *RemoteError, or what the system said. nil where the kernel tells, and
// before the watch has begun.
func (t *Tree) Polling() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// Close ends the watch without waiting: a directory that hangs must not hold
// up a runner that is told to end.
func (t *Tree) Close() { close(t.stop) }

// run alternates between being told and hinting by the clock.
func (t *Tree) run() {
	defer close(t.done)
	for {
		n := t.attach()
		t.hint() // what changed before the watch was there
		if n != nil && t.listen(n) || n == nil && t.poll() {
			return
		}
	}
}

// attach makes a notifier that watches all of the tree; nil, and the reason is
// noted, when that is not possible.
func (t *Tree) attach() notifier {
	n, err := t.begin()
	t.note(err)
	return n
}

func (t *Tree) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = explain(err)
}

func (t *Tree) begin() (notifier, error) {
	t.root = Resolved(t.spec.Dir)
	if err := Remote(t.root); err != nil {
		return nil, err
	}
	n, err := t.open()
	if err != nil {
		return nil, err
	}
	if err := t.add(n, t.root); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// add watches a directory, and what is below it if the tree is deep. What
// vanishes meanwhile, or cannot be read, is left out, but not the root.
func (t *Tree) add(n notifier, dir string) error {
	if !t.spec.Deep {
		return n.Add(dir)
	}
	return t.walk(dir, func(path string) error {
		err := n.Add(path)
		if path != t.root && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		return err
	})
}

// walk calls fn for dir and each directory below it.
func (t *Tree) walk(dir string, fn func(path string) error) error {
	dirs := 0
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == t.root:
			return err
		case err != nil && (d == nil || !d.IsDir()), err == nil && !d.IsDir():
			return nil
		case err != nil || t.skips(path):
			return fs.SkipDir
		}
		if dirs++; dirs > MostDirs {
			return &LimitError{Limit: ownLimit, Err: errTooMany}
		}
		return fn(path)
	})
}

var errTooMany = errors.New("too many directories")

// Resolved is what dir is a link to, else dir itself.
func Resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (t *Tree) skips(path string) bool {
	skip := t.spec.Skip
	return skip != "" && (path == skip || strings.HasPrefix(path, skip+"/"))
}

// listen passes on what the kernel tells, until Close (true) or until the
// watch is lost.
func (t *Tree) listen(n notifier) (closed bool) {
	defer n.Close()
	for {
		select {
		case <-t.stop:
			return true
		case e, ok := <-n.changes():
			if !ok || t.lost(e) {
				return false
			}
			if !t.matters(e) {
				continue
			}
			t.hint()
			if t.spec.Deep && e.Has(fsnotify.Create) && isDir(e.Name) {
				if err := t.add(n, e.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.note(err)
					return t.poll()
				}
				t.hint() // what was made in it before it was watched
			}
		case _, ok := <-n.faults():
			if !ok {
				return false
			}
			t.hint() // the kernel has lost count, or says what it could not do
		}
	}
}

// lost tells an event that takes the watch with it.
func (t *Tree) lost(e fsnotify.Event) bool {
	return filepath.Clean(e.Name) == t.root && e.Op&(fsnotify.Remove|fsnotify.Rename) != 0
}

// matters tells a change of something but a mode or an owner, outside of what
// is skipped.
func (t *Tree) matters(e fsnotify.Event) bool {
	return e.Op&^fsnotify.Chmod != 0 && !t.skips(filepath.Clean(e.Name))
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// poll hints every two seconds until Close (true), or until it is worth trying
// to attach: a directory that was missing is there, or a minute has passed.
func (t *Tree) poll() (closed bool) {
	timer := t.clock.NewTimer(Every)
	defer timer.Stop()
	began := t.clock.Elapsed()
	for {
		select {
		case <-t.stop:
			return true
		case <-timer.C():
		}
		t.hint()
		if t.worth(t.clock.Elapsed() - began) {
			return false
		}
		timer.Reset(Every)
	}
}

func (t *Tree) worth(since time.Duration) bool {
	if !isDir(Resolved(t.spec.Dir)) {
		return false
	}
	why := t.Polling()
	return why == nil || errors.Is(why, fs.ErrNotExist) || since >= again
}

func (t *Tree) hint() {
	select {
	case t.c <- struct{}{}:
	default: // one is waiting already
	}
}

// Try tells why a tree cannot be watched now: what Polling would say.
func Try(spec TreeSpec) error {
	t := &Tree{spec: spec, open: openNotifier}
	n, err := t.begin()
	if err == nil {
		err = n.Close()
	}
	return explain(err)
}
