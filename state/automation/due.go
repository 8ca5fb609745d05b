package automation

import (
	"time"
)

// countLimit is how many slots are counted at most, so that a schedule of
// seconds and a clock set forward by years cost nothing.
const countLimit = 10000

// span is a number of slots in a row.
type span struct {
	first, last time.Time
	count       int
	atLeast     bool
}

// spanOf finds the slots after one instant and not after another.
func spanOf(s Slots, after, until time.Time) (span, bool) {
	first, ok := s.Next(after)
	if !ok || first.After(until) {
		return span{}, false
	}
	out := span{first: first, last: first, count: 1}
	last, ok := s.Previous(until.Add(time.Nanosecond))
	if !ok || !last.After(first) {
		return out, true
	}
	out.last = last
	if s.kind == KindEvery {
		out.count = int(last.Sub(first)/s.every) + 1
		return out, true
	}
	for at := first; at.Before(last); {
		if at, ok = s.Next(at); !ok {
			break
		}
		if out.count++; out.count >= countLimit {
			out.atLeast = at.Before(last)
			break
		}
	}
	return out, true
}

// correct takes back what was decided by a clock that was set back by more
// than three hours since: the new time counts, see the package comment. Should
// the clock come back to where it was, or jump to hardly less, what was decided
// then stays decided: nothing of it is owed again.
func (p *planner) correct(e *entry) {
	if e.Schedule.Kind != KindAt && e.State.Settled.Sub(p.now) > Correction {
		if e.State.Settled.After(e.State.Decided) {
			e.State.Decided = e.State.Settled
		}
		p.reanchor(e)
		e.State.Settled, e.changed = p.now, true
	}
	if until, back := e.State.settledAt(p.now); back {
		e.State.Settled, e.State.Decided, e.changed = until, time.Time{}, true
	}
	if e.State.PacedAt.Sub(p.now) > Correction && e.State.LastEndAt.Sub(p.now) > Correction {
		e.State.PacedAt, e.changed = time.Time{}, true
	}
}

// reanchor has the grid of an interval begin before a clock that was set back
// reads: counted from a time that is ahead it would not be due until then. The
// slots are those of before. An anchor that was to come by the old clock, too,
// is meant so.
func (p *planner) reanchor(e *entry) {
	if e.slots.kind != KindEvery || !e.slots.at.After(p.now) || e.slots.at.After(e.State.Settled) {
		return
	}
	back := e.slots.at.Sub(p.now)/e.slots.every + 1
	e.slots.at = e.slots.at.Add(-back * e.slots.every)
	e.Schedule.AnchorMs = e.slots.at.UnixMilli()
}

// settledAt is how far slots are decided for a clock that reads now; back: it has
// come back to where it was before a correction.
func (st State) settledAt(now time.Time) (until time.Time, back bool) {
	jumped := now.Sub(st.Settled) > Correction && st.Decided.Sub(now) <= Correction
	if st.Decided.IsZero() || !jumped && now.Before(st.Decided) {
		return st.Settled, false
	}
	if st.Settled.After(st.Decided) {
		return st.Settled, true
	}
	return st.Decided, true
}

// decide looks at the slots of one automation that have come due.
func (p *planner) decide(e *entry) {
	if !e.Enabled || e.deleted || e.broken || !e.Schedule.Kind.Timed() {
		return
	}
	p.correct(e)
	from := e.State.Settled
	p.takePaced(e, &from)
	if !e.State.PacedAt.IsZero() {
		p.wakeAt(e.State.PacedAt)
		return
	}
	if due, ok := spanOf(e.slots, from, p.now); ok {
		p.decideSpan(e, due)
		from = due.last
	}
	p.lookAhead(e, from)
}

// lookAhead finds when there will be something to decide.
func (p *planner) lookAhead(e *entry, from time.Time) {
	if from.Before(p.now) {
		from = p.now
	}
	if next, ok := e.slots.Next(from); ok && e.Enabled {
		p.wakeAt(next)
	}
}

// takePaced decides the slots that the last run's wish puts out of force. When
// the time it asked for has come, that is a slot like others.
func (p *planner) takePaced(e *entry, from *time.Time) {
	paced := e.State.PacedAt
	if paced.IsZero() {
		return
	}
	due := !paced.After(p.now)
	until := p.now
	if due {
		until = paced.Add(-time.Nanosecond)
	}
	if idle, ok := spanOf(e.slots, *from, until); ok {
		p.record(e, idle, Skipped, CodePaced, "the last run asked for its next check at "+stamp(paced))
		*from = idle.last
	}
	if !due {
		return
	}
	e.State.PacedAt, e.changed = time.Time{}, true
	one := span{first: paced, last: paced, count: 1}
	if later, ok := spanOf(e.slots, paced, p.now); ok {
		p.record(e, one, Missed, CodeCoalesced, "it was not run at its time; "+stamp(later.last)+" stands for it")
	} else {
		p.decideSpan(e, one)
	}
	*from = paced
}

// decideSpan applies the missed policy: which of the slots run, and what the
// others are recorded as.
func (p *planner) decideSpan(e *entry, due span) {
	policy, window := p.policy(e), e.window()
	late := p.now.Sub(due.last) > Grace
	runs := []time.Time{due.last}
	code, why := CodeCoalesced, "it was not run at its time; "+stamp(due.last)+" stands for it"
	switch {
	case late && policy == MissedSkip:
		runs, code, why = nil, CodeLate, "it was not looked at before "+stamp(p.now)+" (missed=skip)"
	case late && window > 0 && p.now.Sub(due.last) > window:
		runs, code, why = nil, CodeWindow, "it was not looked at before "+stamp(p.now)+", more than "+duration(window)+" late"
	case policy == MissedAll && due.count > 1:
		runs, code, why = p.madeUp(e, due)
	case policy == MissedSkip:
		code, why = CodeLate, "it was not looked at before "+stamp(due.last)+" came (missed=skip)"
	}
	if rest, ok := before(e.slots, due, runs); ok {
		p.record(e, rest, Missed, code, why)
	}
	p.settle(e, due.last)
	for _, slot := range runs {
		p.run(e, slot, p.now.Sub(slot) > Grace || slot.Before(due.last), policy == MissedAll && due.count > 1)
	}
	if len(runs) == 0 && e.Schedule.Kind == KindAt {
		e.Enabled, e.changed = false, true // kept, so that a person sees it
	}
}

// madeUp is which slots the policy all makes up: the latest ones, within limit
// and window, oldest first; and why not the others.
func (p *planner) madeUp(e *entry, due span) ([]time.Time, Code, string) {
	limit := e.Missed.Limit
	if limit <= 0 {
		limit = DefaultMissedLimit
	}
	window := e.window()
	if p.now.Sub(due.last) <= Grace {
		limit++ // the last one is not missed
	}
	slots := []time.Time{due.last}
	code, why := CodeLimit, "more were missed than are made up (limit "+itoa(limit)+")"
	for len(slots) < limit {
		at, ok := e.slots.Previous(slots[0])
		if !ok || at.Before(due.first) {
			break
		}
		if window > 0 && p.now.Sub(at) > window {
			code, why = CodeWindow, "it was more than "+duration(window)+" late"
			break
		}
		slots = append([]time.Time{at}, slots...)
	}
	return slots, code, why
}

// before is what of a span is not run: its beginning.
func before(s Slots, due span, runs []time.Time) (span, bool) {
	if len(runs) == 0 {
		return due, true
	}
	if !runs[0].After(due.first) {
		return span{}, false
	}
	if len(runs) >= due.count {
		return span{}, false
	}
	last, _ := s.Previous(runs[0])
	return span{due.first, last, due.count - len(runs), due.atLeast}, true
}

// settle notes how far slots are decided.
func (p *planner) settle(e *entry, to time.Time) {
	if to.After(e.State.Settled) {
		e.State.Settled, e.changed = to, true
	}
}

// record writes the run of slots that do not run. After a correction some may
// have a row already; the others are recorded around them.
func (p *planner) record(e *entry, s span, status Status, code Code, why string) {
	p.settle(e, s.last)
	for _, part := range p.unrecorded(e, s) {
		r := p.newRun(e, part.first)
		r.Status, r.Code, r.Why, r.EndedAt, r.QueuedAt = status, code, why, p.now, time.Time{}
		if part.last.After(part.first) {
			r.Through, r.Count, r.AtLeast = part.last, part.count, part.atLeast
		}
		p.add(r, true)
	}
}

// lookLimit is of how many slots it is looked up at most whether each has a row.
const lookLimit = 500

// unrecorded is a span without the slots that have a row of their own. Without a
// correction there are none, and only the first is looked up.
func (p *planner) unrecorded(e *entry, s span) []span {
	var parts []span
	var open span
	at, left, more := s.first, s.count, true
	for range lookLimit {
		known := p.recorded(RunID(e.ID, at, 1))
		if !known && at.After(e.State.Decided) {
			break // and so are all later ones
		}
		switch {
		case !known && open.count == 0:
			open = span{first: at, last: at, count: 1}
		case !known:
			open.last, open.count = at, open.count+1
		case open.count > 0:
			parts, open = append(parts, open), span{}
		}
		left--
		if at, more = e.slots.Next(at); !more || at.After(s.last) {
			more = false
			break
		}
	}
	if more {
		if open.count == 0 {
			open.first = at
		}
		open.last, open.count, open.atLeast = s.last, open.count+max(1, left), s.atLeast
	}
	if open.count > 0 {
		parts = append(parts, open)
	}
	return parts
}

func (p *planner) recorded(id string) bool { return p.in.Recorded != nil && p.in.Recorded(id) }

func (p *planner) newRun(e *entry, slot time.Time) *Run {
	return &Run{
		ID: RunID(e.ID, slot, 1), AutomationID: e.ID, Name: e.Name, ScheduleRev: e.State.ScheduleRev,
		Slot: slot, Attempt: 1, Status: Queued, QueuedAt: p.now,
	}
}
