package runner

import (
	"context"
	"strings"
	"time"

	"claw/state/automation"
)

// schedule claims what is due of automations, and starts it beside the passes.
func (s *shift) schedule(ctx context.Context, w *parts) {
	if ctx.Err() != nil || s.stuck != nil {
		return
	}
	s.see()
	if w.noSlots != nil && s.slotsEnd > 0 && s.clock.Elapsed() >= s.slotsEnd {
		w.noSlots()
	}
	work, err := w.schedule(ctx, func(id string) bool { return s.runs[id] })
	s.fail(err)
	if s.cronNext = work.Next; err != nil {
		s.cronNext = s.clock.Now().Add(firstRetry)
	}
	for _, r := range work.Ended {
		s.report.Runs++
		s.done("%s", runWords(r))
	}
	for _, r := range work.Stop {
		s.fail(w.stop(r))
	}
	for _, group := range work.Groups() {
		s.start(w, group)
	}
	s.tendSources(w, work)
}

// start carries runs out beside the passes, which know that they are at work.
func (s *shift) start(w *parts, runs []automation.Run) {
	s.carry(runs, func() error { return w.start(s.turns, runs) })
}

func (s *shift) carry(runs []automation.Run, do func() error) {
	keys := make([]string, len(runs))
	for i, r := range runs {
		keys[i] = r.ID
		s.runs[r.ID] = true
	}
	s.launch(landing{slot: slotRun, keys: keys}, func(l *landing) { l.err = do() })
}

// landRun lets go of a run: what becomes of it is in its row.
func (s *shift) landRun(l landing) {
	s.again = true
	for _, key := range l.keys {
		delete(s.runs, key)
	}
	s.fail(l.err)
	if l.line != "" {
		s.done("%s", l.line)
	}
}

// runWords says in a line what became of a run.
func runWords(r automation.Run) string {
	words := r.Name + ": " + strings.ReplaceAll(string(r.Status), "_", " ")
	if !r.Slot.IsZero() {
		words = r.Name + ": run of " + r.Slot.UTC().Format(time.RFC3339) + " " + strings.ReplaceAll(string(r.Status), "_", " ")
	}
	switch {
	case r.Error != "":
		words += ": " + r.Error
	case r.Why != "" && r.Status != automation.Succeeded:
		words += ": " + r.Why
	}
	return words
}
