package scheduler

import (
	"sync"
	"time"

	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
)

// MaxSpares bounds how many supervisors wait for what is due next. Each takes 1.5
// MiB of its own; where more is due at once the others are started when it is.
const MaxSpares = 128

// Spares are supervisors that were started before anything is due: a command
// whose time has come need not wait for its supervisor to boot. The ULID of a
// spare becomes that of the process when a claim takes it. The zero value is
// empty; it may be used by many goroutines.
type Spares struct {
	mu     sync.Mutex
	free   []*supervisor.Spare
	held   map[string]*supervisor.Spare // by ULID: those that stand in a claim
	ending bool
}

// hold gives the ULID of a spare to a claim; false when there is none.
func (p *Spares) hold() (id string, ok bool) {
	if p == nil {
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 {
		s := p.free[0]
		p.free = p.free[1:]
		if !s.Waits() {
			s.Discard()
			continue
		}
		if p.held == nil {
			p.held = map[string]*supervisor.Spare{}
		}
		p.held[s.ID()] = s
		return s.ID(), true
	}
	return "", false
}

// back takes spares back whose claim has not been written.
func (p *Spares) back(ids []string) {
	for _, id := range ids {
		if s := p.take(id); s != nil {
			p.mu.Lock()
			p.free = append(p.free, s)
			p.mu.Unlock()
		}
	}
}

// take gives a spare away to whoever starts the command of its claim; nil when
// the claim has none.
func (p *Spares) take(id string) *supervisor.Spare {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[id]
	delete(p.held, id)
	return s
}

// fill has n spares wait, and no more.
func (p *Spares) fill(n int, stateDir string) {
	for {
		p.mu.Lock()
		missing := n - len(p.free)
		if missing < 0 {
			p.free[0].Discard()
			p.free = p.free[1:]
		}
		ending := p.ending
		p.mu.Unlock()
		if missing == 0 || ending {
			return
		}
		if missing > 0 && !p.add(stateDir) {
			return
		}
	}
}

// add starts one more; false when that cannot be done.
func (p *Spares) add(stateDir string) bool {
	s, err := supervisor.Prepare(stateDir)
	if err != nil {
		return false // whoever needs it says so
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		s.Discard()
		return false
	}
	p.free = append(p.free, s)
	return true
}

// Discard lets all spares go that no claim has.
func (p *Spares) Discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.free {
		s.Discard()
	}
	p.free = nil
}

// Close is Discard for good.
func (p *Spares) Close() {
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	p.Discard()
}

// Prepare gets ready for what will be due at an instant that is near, n commands:
// it has spares for them, and what a pass then reads has been read. It returns at
// once where there is no place for spares.
func (s *Scheduler) Prepare(at time.Time) (n int, err error) {
	if s.Spares == nil || !s.Enabled {
		return 0, nil
	}
	err = s.Store.View(func(tx *state.Tx) error {
		sh, err := s.read(tx, at, nobody)
		if err != nil {
			return err
		}
		n = 0
		for _, r := range automation.Decide(sh.in).Start {
			if a := sh.auto(r.AutomationID).Rec; a.Checks(r) || a.Payload.Kind == automation.PayloadCommand {
				n++
			}
		}
		return nil
	})
	if err == nil {
		s.Spares.fill(min(n, MaxSpares), s.Store.Dir())
	}
	return n, err
}

// spare is the supervisor of a claim: one that waits, or a new one.
func (s *Scheduler) spare(processID string) (*supervisor.Spare, error) {
	if w := s.Spares.take(processID); w != nil {
		return w, nil
	}
	return supervisor.PrepareAs(processID, s.Store.Dir())
}
