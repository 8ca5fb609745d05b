package http1

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"claw/runner/clock"
)

// Server serves one listener.
type Server struct {
	Clock clock.Clock
	// Accept looks at a request before its body is read; nil: go on.
	Accept func(r *Request) *Response
	// Handle answers a request that is whole. ctx ends with the server. A panic
	// of it is a 500.
	Handle func(ctx context.Context, r *Request) Response

	MaxConns int           // 0: 256
	MaxBody  int           // bytes; 0: none are allowed
	Limit    time.Duration // of a request, from the connection to its last byte; 0: 30 s
	// Failed is told what went wrong that no client is to know; nil: nobody.
	Failed func(err error)
}

// maxHead is how many bytes the request line and the headers may have, and
// maxFields how many headers.
const (
	maxHead   = 16 << 10
	maxFields = 100
)

// Times of the answer.
const (
	answerTime = 10 * time.Second // for writing it
	lingerTime = time.Second      // for the client to have read it
	acceptRest = 50 * time.Millisecond
	// leastTime is what every connection has for its request, and fullRest how
	// long it takes until a full house is looked at again.
	leastTime = 100 * time.Millisecond
	fullRest  = 5 * time.Millisecond
)

func (s *Server) limit() time.Duration {
	if s.Limit > 0 {
		return s.Limit
	}
	return 30 * time.Second
}

// Serve answers until ctx ends, or until the listener fails for good; then all
// connections are closed and their handlers waited for. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	pool := &pool{most: s.MaxConns, conns: map[*conn]bool{}}
	if pool.most <= 0 {
		pool.most = 256
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	var all sync.WaitGroup
	defer func() {
		cancel()
		stop()
		l.Close()
		pool.closeAll()
		all.Wait()
	}()
	for {
		nc, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				nc.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // too many files are open, or the client has gone
			s.fail(err)
			if clock.Sleep(ctx, s.Clock, acceptRest) != nil {
				return nil
			}
			continue
		}
		c := &conn{Conn: nc, s: s, reading: true}
		if !pool.add(ctx, c) {
			nc.Close()
			return nil
		}
		all.Go(func() {
			defer pool.remove(c)
			c.serve(ctx, pool)
		})
	}
}

func (s *Server) fail(err error) {
	if s.Failed != nil {
		s.Failed(err)
	}
}

// pool are the connections there are.
type pool struct {
	mu    sync.Mutex
	most  int
	conns map[*conn]bool
}

// add takes one in. In a full house the one goes that has been sending its
// request, or reading its answer, for the longest time, if that is leastTime;
// until there is one, new connections wait with the kernel. False: ctx has ended.
func (p *pool) add(ctx context.Context, c *conn) bool {
	for !p.tryAdd(c) {
		if clock.Sleep(ctx, c.s.Clock, fullRest) != nil {
			return false
		}
	}
	return true
}

func (p *pool) tryAdd(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.begun = c.s.Clock.Elapsed()
	if len(p.conns) >= p.most {
		var slowest *conn
		for o := range p.conns {
			if o.reading && (slowest == nil || o.begun < slowest.begun) {
				slowest = o
			}
		}
		if slowest == nil || c.begun-slowest.begun < leastTime {
			return false
		}
		delete(p.conns, slowest)
		slowest.Close()
	}
	p.conns[c] = true
	return true
}

func (p *pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	c.Close()
}

// answering keeps a connection whose request is whole. False: it had to go.
func (p *pool) answering(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.reading = false
	return p.conns[c]
}

// answered lets a connection go when its place is wanted: its client has had
// leastTime to read the answer.
func (p *pool) answered(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.reading, c.begun = true, c.s.Clock.Elapsed()
}

func (p *pool) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if c.reading {
			c.Close()
		}
	}
}
