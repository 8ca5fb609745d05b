package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

// stopping is what signals do to a turn in the foreground. The first INT or
// TERM ends the agent, the second leaves it to its supervisor, as HUP does:
// the terminal is gone, not the wish. Before the turn is admitted there is
// nothing to end, and claw gives up.
type stopping struct {
	ctx      context.Context
	cancel   context.CancelFunc
	stop     chan struct{}
	signals  chan os.Signal
	over     chan struct{}
	admitted atomic.Bool
	code     int // of the first signal; 0 none
}

// stopOnSignal catches what would end claw. What it was started to ignore
// (nohup) it goes on ignoring.
func (a *app) stopOnSignal(req *agent.Request) *stopping {
	s := &stopping{stop: make(chan struct{}), signals: make(chan os.Signal, 4), over: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(a.ctx)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.signals, sig)
		}
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone does not end the turn
	req.Stop = s.stop
	req.Admit = func(*state.Tx, *session.Turn) error {
		s.admitted.Store(true)
		return nil
	}
	go s.heed()
	return s
}

func (s *stopping) heed() {
	defer close(s.over)
	for sig := range s.signals {
		first := s.code == 0
		if first {
			s.code = 128 + int(sig.(syscall.Signal))
		}
		if first && s.admitted.Load() && sig != syscall.SIGHUP {
			close(s.stop)
			continue
		}
		s.cancel()
	}
}

// done lets signals do what they always do, and returns the exit code of the
// first that came; 0 when none did.
func (s *stopping) done() int {
	signal.Stop(s.signals)
	close(s.signals)
	<-s.over
	s.cancel()
	return s.code
}
