package wake

import (
	"github.com/fsnotify/fsnotify"

	"claw/runner/clock"
)

// Scripted is a notifier that tells what a test sends.
type Scripted struct {
	Refuse  error // of Add
	Changes chan fsnotify.Event
	Faults  chan error
	Closed  chan struct{}
}

// NewScripted makes one whose channels have no buffer: what was sent was taken.
func NewScripted() *Scripted {
	return &Scripted{Changes: make(chan fsnotify.Event), Faults: make(chan error), Closed: make(chan struct{})}
}

func (s *Scripted) Add(string) error { return s.Refuse }
func (s *Scripted) Close() error {
	close(s.Closed)
	return nil
}
func (s *Scripted) changes() <-chan fsnotify.Event { return s.Changes }
func (s *Scripted) faults() <-chan error           { return s.Faults }

// WatchWith is Watch with another notifier each time one is opened.
func WatchWith(dir string, c clock.Clock, open func() (*Scripted, error)) *Watcher {
	return watch(dir, c, func() (notifier, error) {
		s, err := open()
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// WatchTreeWith is WatchTree with another notifier each time one is opened.
func WatchTreeWith(spec TreeSpec, c clock.Clock, open func() (*Scripted, error)) *Tree {
	return watchTree(spec, c, func() (notifier, error) {
		s, err := open()
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}
