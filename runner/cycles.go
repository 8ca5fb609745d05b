package runner

import (
	"time"

	"claw/runner/resume"
)

// Recoverer is what sees to turns that were cut off, by this configuration.
func (r *Runner) Recoverer() *resume.Recoverer {
	return &resume.Recoverer{Store: r.Store, Clock: r.Clock, Turns: r.Turns, Heartbeat: r.Heartbeat}
}

// resume goes on with turns that were cut off, one for each agent at a time and
// in the place of its wakes. When an attempt has to wait, the time is foreseen
// like that of everything else; nobody sleeps for it.
func (s *shift) resume(w *parts, now time.Time) {
	if w.cycles == nil {
		return
	}
	plan, err := w.cycles(now)
	s.fail(err)
	s.cycleNext = plan.Next
	waiting := map[string]memo{}
	for _, it := range plan.Items {
		m := s.cycles[it.SessionKey]
		waiting[it.SessionKey] = m
		switch {
		case !it.Due || s.busy[it.Agent] > 0: // its landing makes another pass
		case m.tries > 0 && m.until > s.clock.Elapsed():
			s.cycleNext = earlier(s.cycleNext, now.Add(m.until-s.clock.Elapsed()))
		default:
			s.launch(landing{slot: it.Agent, cycle: it.SessionKey}, func(l *landing) { l.resumed, l.err = w.goOn(s.turns, it) })
		}
	}
	s.cycles = waiting
}

// landCycle frees the agent. What could not be done is tried again, later each
// time; so is what somebody else has begun, for it may come to nothing.
func (s *shift) landCycle(l landing) {
	s.again = true
	m := s.cycles[l.cycle]
	switch {
	case l.err == nil && (l.resumed.Turn.ID != "" || l.resumed.What != ""):
		m = memo{}
	default:
		m.until = s.clock.Elapsed() + min(firstRetry<<min(m.tries, 6), lastRetry)
		m.tries++
		if l.err != nil && !busyLane(l.err) && s.turns.Err() == nil {
			s.fail(l.err)
		}
	}
	if s.cycles == nil {
		s.cycles = map[string]memo{}
	}
	s.cycles[l.cycle] = m
	switch t := l.resumed.Turn; {
	case t.ID != "" && t.Status.Ended():
		s.turnEnded(t, "it went on with what was cut off, "+l.resumed.What)
	case l.err == nil && t.ID == "" && l.resumed.What != "":
		s.done("%s: a turn that was cut off: %s", l.cycle, l.resumed.What)
	}
}

// cutOff are the cycles that a preview shows.
func (r *Runner) cutOff(now time.Time) (resume.Plan, error) {
	switch w := r.parts; {
	case w == nil:
		return r.Recoverer().Foresee(now)
	case w.cycles == nil:
		return resume.Plan{}, nil
	default:
		return w.cycles(now)
	}
}
