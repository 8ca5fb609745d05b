package runner

import (
	"context"

	"claw/state/boot"
)

// hooks begins what may begin of what was asked for from outside, beside the
// passes, and refuses what is too late.
func (s *shift) hooks(ctx context.Context, w *parts) {
	if w.hooks == nil || ctx.Err() != nil || s.stuck != nil {
		return
	}
	work, err := w.hooks(ctx, s.mode.Allows(boot.Turn), func(id string) bool { return s.runs[id] })
	s.fail(err)
	if s.hookNext = work.Next; err != nil {
		s.hookNext = s.clock.Now().Add(firstRetry)
	}
	for _, line := range work.Ended {
		s.done("%s", line)
	}
	for _, id := range work.Start {
		s.runs[id] = true
		s.launch(landing{slot: slotRun, keys: []string{id}}, func(l *landing) { l.line, l.err = w.runHook(s.turns, id) })
	}
}
