package runner_test

import (
	"fmt"
	"testing"
)

// The protocol of poke and tick as a model: any number of pokers (bump, then
// try the lock) against each other, every interleaving enumerated. What a
// program does between two steps cannot be divided.
//
//	poker:  work++ ; bump ; try the lock ─ held ─▶ end
//	holder: look (remember the generation) ; pass (takes all work) ; unlock ; look: moved? ─▶ try the lock
type protocol struct {
	lock       int // 0 free, else the actor
	generation int
	work       int // what has been queued and not been done
	actors     []actor
}

type actor struct {
	step string
	seen int
}

func (p protocol) clone() protocol {
	p.actors = append([]actor(nil), p.actors...)
	return p
}

// next carries out one step of actor i; false when it has ended.
func (p *protocol) next(i int, broken string) bool {
	a := &p.actors[i]
	switch a.step {
	case "queue":
		p.work++
		a.step = "bump"
		if broken == "bump after the lock" {
			a.step = "try"
		}
	case "bump":
		p.generation++
		a.step = "try"
		if broken == "bump after the lock" {
			a.step = "end"
		}
	case "try":
		switch {
		case p.lock == 0:
			p.lock, a.step = i+1, "look"
		case broken == "bump after the lock":
			a.step = "bump"
		default:
			a.step = "end"
		}
	case "look":
		a.seen, a.step = p.generation, "pass"
	case "pass":
		p.work, a.step = 0, "unlock"
	case "unlock":
		p.lock, a.step = 0, "compare"
		if broken == "no look after the lock" {
			a.step = "end"
		}
	case "compare":
		a.step = "end"
		if p.generation != a.seen {
			a.step = "try"
		}
	default:
		return false
	}
	return true
}

// lost enumerates every interleaving and tells how many states ended with work
// that nobody did.
func lost(start protocol, broken string) (states, lost int) {
	seen := map[string]bool{}
	var visit func(p protocol)
	visit = func(p protocol) {
		key := fmt.Sprint(p)
		if seen[key] {
			return
		}
		seen[key] = true
		moved := false
		for i := range p.actors {
			q := p.clone()
			if q.next(i, broken) {
				moved = true
				visit(q)
			}
		}
		if !moved && p.work > 0 {
			lost++
		}
	}
	visit(start)
	return len(seen), lost
}

func TestNoPokeIsLost(t *testing.T) {
	start := func(n int) protocol {
		p := protocol{}
		for range n {
			p.actors = append(p.actors, actor{step: "queue"})
		}
		return p
	}
	for n := 1; n <= 3; n++ {
		states, bad := lost(start(n), "")
		if bad != 0 {
			t.Errorf("%d pokers: %d of %d states end with work undone", n, bad, states)
		}
		t.Logf("%d pokers: %d states", n, states)
	}
	// The model can tell: without either half of the protocol work is lost.
	for _, broken := range []string{"bump after the lock", "no look after the lock"} {
		if _, bad := lost(start(3), broken); bad == 0 {
			t.Errorf("with %q nothing is lost: the model proves nothing", broken)
		}
	}
}
