package runner

import (
	"context"
	"time"

	"claw/runner/hook"
	"claw/runner/subagents"
	"claw/state/boot"
)

// asked is work that others have asked for and that waits in a ledger of its
// own: what comes from outside, and what is given to agents.
type asked struct {
	// pass sees to what can be seen to at once, and says what may begin; begin
	// false holds that back.
	pass func(ctx context.Context, begin bool, atWork func(id string) bool) (askedWork, error)
	run  func(ctx context.Context, id string) (line string, err error)
}

// askedWork is what a pass over it has decided.
type askedWork struct {
	start []string  // each is for run
	said  []string  // lines about what was done
	next  time.Time // when there is something to do by the clock; zero: never
}

func fromHooks(h *hook.Dispatcher) asked {
	return asked{func(ctx context.Context, begin bool, atWork func(string) bool) (askedWork, error) {
		w, err := h.Pass(ctx, begin, atWork)
		return askedWork{w.Start, w.Ended, w.Next}, err
	}, h.Run}
}

func fromSubagents(s *subagents.Service) asked {
	return asked{func(ctx context.Context, begin bool, atWork func(string) bool) (askedWork, error) {
		w, err := s.Pass(ctx, begin, atWork)
		return askedWork{w.Start, w.Said, w.Next}, err
	}, s.Run}
}

// carryAsked begins what may begin of it, beside the passes.
func (s *shift) carryAsked(ctx context.Context, w *parts) {
	if ctx.Err() != nil || s.stuck != nil {
		return
	}
	s.askedNext = time.Time{}
	for _, a := range w.asked {
		work, err := a.pass(ctx, s.mode.Allows(boot.Turn), func(id string) bool { return s.runs[id] })
		s.fail(err)
		if err != nil {
			work.next = s.clock.Now().Add(firstRetry)
		}
		s.askedNext = earlier(s.askedNext, work.next)
		for _, line := range work.said {
			s.done("%s", line)
		}
		for _, id := range work.start {
			s.runs[id] = true
			s.launch(landing{slot: slotRun, keys: []string{id}}, func(l *landing) { l.line, l.err = a.run(s.turns, id) })
		}
	}
}
