package scheduler

import (
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/source"
	"claw/runner/wake"
	"claw/state/automation"
)

// polled begins what a source says when its directory is looked at at
// intervals.
const polled = "looked at every two seconds: "

// scan looks whether something has changed in the directory of a watch. While
// one of its runs goes on nothing fires: what it changes, and what changes
// meanwhile, is seen after its end.
func (s *Scheduler) scan(m move, now time.Time, w *Work) move {
	id, eyes := m.id(), s.eyes()
	spec := source.SpecOf(m.auto.Rec.Schedule, s.Store.Dir())
	seen, ok := eyes.Look(id, spec)
	src := &m.fired.Source
	switch {
	case !ok:
		src.Error = "it takes longer than two seconds to look at " + spec.Dir
		return m
	case seen.Err != nil:
		src.Error = seen.Err.Error()
		return m
	}
	src.Error = s.slowly(id, spec, src.Error)
	if seen.Digest == src.Seen {
		if _, known := eyes.Base(id, seen.Digest); !known {
			eyes.Told(id, seen)
		}
		return m
	}
	if len(m.open) > 0 || !s.Enabled {
		return m
	}
	changed := src.Changed(seen.Entries)
	if base, known := eyes.Base(id, src.Seen); known {
		changed = automation.Changes(base.Entries, seen.Entries)
	}
	m.fired = automation.Watched(m.auto.Rec, *src, seen.Digest, changed, m.last, m.runID(now), now)
	if at, waits := m.fired.Source.Alone(m.last, now); waits {
		w.wakeAt(at)
		return m
	}
	m.fired.Source.SeenAt = seen.At
	m.fired.Source = m.fired.Source.Keeping(seen.Entries)
	m.after = func() { eyes.Told(id, seen) }
	return m
}

// slowly is why changes are not seen at once; empty when they are. A tick does
// not watch and asks for no watch: of a limit only a runner knows.
func (s *Scheduler) slowly(id string, spec source.Spec, before string) string {
	why := wake.Remote(spec.Dir)
	if why == nil {
		why = s.eyes().Polling(id)
	}
	switch {
	case why != nil:
		return polled + why.Error()
	case strings.HasPrefix(before, polled) && !s.eyes().Watches():
		return before
	}
	return ""
}

// bootID tells this boot of the machine from others.
func (s *Scheduler) bootID() string { return proc.Boot() }
