package source

import (
	"sync"
	"time"

	"claw/runner/clock"
	"claw/state/automation"
)

// Set is what a program knows of its sources while it lives. It is never
// needed: what is not known any more is looked at again. Its methods may be
// called at once by several goroutines.
type Set struct {
	clock clock.Clock
	told  bool // the kernel is asked to tell; false: only looks, for a tick that is soon over
	c     chan struct{}

	mu      sync.Mutex
	watches map[string]*watch
	follows map[string]*follow
	scanned map[string]place // up to here there was nothing to tell
}

// NewSet makes an empty one. With told it watches what it is asked about, so
// that C says when to ask again.
func NewSet(c clock.Clock, told bool) *Set {
	return &Set{
		clock: c, told: told, c: make(chan struct{}, 1),
		watches: map[string]*watch{}, follows: map[string]*follow{}, scanned: map[string]place{},
	}
}

// Watches tells a Set that asks the kernel.
func (s *Set) Watches() bool { return s.told }

// C has a value when there is reason for a pass.
func (s *Set) C() <-chan struct{} { return s.c }

func (s *Set) ring() {
	select {
	case s.c <- struct{}{}:
	default: // one is waiting already
	}
}

// Close ends every watch. Nothing is waited for.
func (s *Set) Close() { s.Keep(nil) }

// Keep ends what is known of all sources but these, by their automations' ids.
func (s *Set) Keep(ids map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, w := range s.watches {
		if !ids[id] {
			close(w.stop)
			delete(s.watches, id)
		}
	}
	for id, f := range s.follows {
		if !ids[id] {
			close(f.stop)
			delete(s.follows, id)
		}
	}
	for id := range s.scanned {
		if !ids[id] {
			delete(s.scanned, id)
		}
	}
}

// Look is what is in the directory of a watch: a scan of before, if nothing
// has changed since as far as can be known, else a new one. ok is false while
// a scan goes on that takes longer than two seconds; then C rings at its end.
func (s *Set) Look(id string, spec Spec) (seen Seen, ok bool) {
	s.mu.Lock()
	w := s.watches[id]
	if w != nil && w.spec != spec {
		close(w.stop)
		w = nil
	}
	if w == nil {
		w = newWatch(s, spec)
		s.watches[id] = w
	}
	s.mu.Unlock()
	return w.look()
}

// Told notes that what Look gave has been told, so that the next change can be
// named.
func (s *Set) Told(id string, seen Seen) {
	s.mu.Lock()
	w := s.watches[id]
	s.mu.Unlock()
	if w != nil {
		w.mu.Lock()
		w.base = &seen
		w.mu.Unlock()
	}
}

// Base is what was there at a digest; false when this program does not know.
func (s *Set) Base(id, digest string) (Seen, bool) {
	s.mu.Lock()
	w := s.watches[id]
	s.mu.Unlock()
	if w == nil {
		return Seen{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.base == nil || w.base.Digest != digest {
		return Seen{}, false
	}
	return *w.base, true
}

// Follow has C ring batch after there is output in a process's directory.
func (s *Set) Follow(id, dir string, batch time.Duration) {
	if !s.told {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.follows[id]; f != nil {
		if f.dir == dir {
			return
		}
		close(f.stop)
	}
	f := &follow{dir: dir, batch: batch, stop: make(chan struct{})}
	s.follows[id] = f
	go f.run(s)
}

// Hold has C ring no more for the output of a stream, until it is told to
// again: while nothing of it can be told, the pass that can looks by itself.
func (s *Set) Hold(id string, hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.follows[id]; f != nil {
		f.held.Store(hold)
	}
}

// Scanned notes how far a stream has been read without anything to tell: to
// write that down each time would cost a transaction for each line that is not
// asked for.
func (s *Set) Scanned(id, process string, c Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scanned[id] = place{process, c}
}

// place is a cursor in the output of one process.
type place struct {
	process string
	cursor  Cursor
}

// From is where to read on: at the cursor on record, or further.
func (s *Set) From(id, process string, c Cursor) Cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.scanned[id]; known.process == process && known.cursor.Out >= c.Out && known.cursor.Err >= c.Err {
		return known.cursor
	}
	return c
}

// Polling is why the directory of a watch is looked at every two seconds; nil
// where the kernel tells, and where nobody watches.
func (s *Set) Polling(id string) error {
	s.mu.Lock()
	w := s.watches[id]
	s.mu.Unlock()
	if w == nil || w.tree == nil {
		return nil
	}
	return w.tree.Polling()
}

// Seen is the result of a scan.
type Seen struct {
	Digest  string
	Entries []automation.Entry
	At      time.Time // by the wall clock, when the scan began
	Err     error     // why there is no result
}
