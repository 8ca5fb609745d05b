package hook

import (
	"sync"
	"time"
)

// How many wrong tokens a client may send in how long a time, and of how many
// clients that is known.
const (
	mostWrong   = 20
	wrongWindow = time.Minute
	mostClients = 1024
)

// guard counts wrong tokens. The right one is let in all the same: behind a
// proxy, or on one machine, all clients are one, and whoever guesses must not
// shut out the others.
type guard struct {
	mu      sync.Mutex
	clients map[string][]time.Duration // when, on the monotonic clock
}

// failed notes a wrong token, and says how long its client has to wait; 0: it may
// try again.
func (g *guard) failed(client string, now time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clients == nil || len(g.clients) >= mostClients && g.clients[client] == nil {
		g.clients = map[string][]time.Duration{}
	}
	list := g.clients[client]
	for len(list) > 0 && now-list[0] >= wrongWindow {
		list = list[1:]
	}
	if len(list) >= mostWrong {
		g.clients[client] = list
		return list[0] + wrongWindow - now
	}
	g.clients[client] = append(list, now)
	return 0
}
