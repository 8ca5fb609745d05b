package runner

import (
	"context"

	"claw/state/boot"
)

// subwork begins what may begin of what was given to agents, beside the passes, and
// tells of what has ended.
func (s *shift) subwork(ctx context.Context, w *parts) {
	if w.subagents == nil || ctx.Err() != nil || s.stuck != nil {
		return
	}
	work, err := w.subagents(ctx, s.mode.Allows(boot.Turn), func(id string) bool { return s.runs[id] })
	s.fail(err)
	if s.subNext = work.Next; err != nil {
		s.subNext = s.clock.Now().Add(firstRetry)
	}
	for _, line := range work.Said {
		s.done("%s", line)
	}
	for _, id := range work.Start {
		s.runs[id] = true
		s.launch(landing{slot: slotRun, keys: []string{id}}, func(l *landing) { l.line, l.err = w.runSubagent(s.turns, id) })
	}
}
