package scheduler

import "claw/state/automation"

// Take is what is heard of pieces of output, one after the other.
func Take(sched automation.Schedule, pieces ...[]automation.Line) (text string, batches, dropped int64) {
	var h heard
	for _, lines := range pieces {
		h.take(lines, sched)
	}
	return h.text, h.batches, h.dropped
}
