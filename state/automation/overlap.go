package automation

import (
	"slices"
	"time"
)

// run has a slot run: now, later, or not at all if an earlier run of the
// automation has not ended. inTurn is for slots that are all made up: they
// wait for one another.
func (p *planner) run(e *entry, slot time.Time, catchUp, inTurn bool) {
	r := p.newRun(e, slot)
	if p.recorded(r.ID) {
		if e.Schedule.Kind == KindAt {
			e.Enabled, e.changed = false, true
		}
		return
	}
	r.CatchUp = catchUp
	overlap := e.OverlapPolicy()
	if inTurn && overlap == OverlapSkip {
		overlap = OverlapQueue
	}
	if overlap == OverlapSkip {
		p.supersede(e, r)
	}
	if len(e.open) > 0 && !p.overlap(e, r, overlap) {
		return
	}
	p.delay(e, r)
	p.add(r, true)
}

// supersede ends another attempt that waits: the new slot comes instead.
func (p *planner) supersede(e *entry, by *Run) {
	for _, r := range slices.Clone(e.open) {
		if r.Status == Queued && r.Attempt > 1 {
			p.giveWay(r, by)
		}
	}
}

// giveWay ends a run that waits, for a later slot.
func (p *planner) giveWay(r, by *Run) {
	r.Status, r.Code, r.EndedAt, r.ReplacedBy = Replaced, CodeReplaced, p.now, by.Slot
	r.Why = stamp(by.Slot) + " came before it began"
	p.close(r, Queued)
}

// overlap applies the policy for a slot that comes while runs are open; false
// if it does not run.
func (p *planner) overlap(e *entry, r *Run, overlap Overlap) bool {
	first := e.open[0]
	switch overlap {
	case OverlapAllow:
	case OverlapQueue:
		if len(e.open) > MaxQueued {
			p.skip(e, r, CodeQueueFull, plural(len(e.open), "run")+" had not ended")
			return false
		}
		r.Code, r.Why = CodeOverlap, first.what()+", it waits for it (overlap=queue)"
	case OverlapReplace:
		p.replace(e, r)
		if len(e.open) > 0 {
			r.Code, r.Why = CodeOverlap, e.open[0].what()+" and is being stopped for this one (overlap=replace)"
		}
	default:
		p.skip(e, r, CodeOverlap, e.holds(first)+" (overlap=skip)")
		return false
	}
	return true
}

// holds says why an open run keeps others from running: after failures it is
// the failure, not the run.
func (e *entry) holds(r *Run) string {
	if st := e.State; r.Status == Queued && !r.NotBefore.IsZero() && st.ConsecutiveErrors > 0 {
		return r.name() + " waits until " + stamp(r.NotBefore) + " after " + plural(st.ConsecutiveErrors, "failure") + ", the last: " + clip(st.LastError)
	}
	return r.what()
}

func (r *Run) name() string {
	if r.Slot.IsZero() {
		return "the run started by hand"
	}
	return "the run of " + stamp(r.Slot)
}

// what says what an open run does, in a reason.
func (r *Run) what() string {
	name := r.name()
	switch {
	case r.Status == Running:
		return name + " was still going"
	case r.Attempt > 1:
		return name + " waited for another attempt"
	}
	return name + " had not begun"
}

// skip records a slot that gave way to an earlier run.
func (p *planner) skip(e *entry, r *Run, code Code, why string) {
	r.Status, r.Code, r.Why, r.EndedAt, r.QueuedAt = Skipped, code, why, p.now, time.Time{}
	p.add(r, true)
	e.State.ConsecutiveSkips++
	e.changed = true
	if e.State.ConsecutiveSkips == SkipsToTell && p.mayTellSkips(e) {
		e.State.SkipsToldAt = p.now
		p.notices = append(p.notices, Notice{
			AutomationID: e.ID, Name: e.Name, Code: "skips",
			Text: e.Name + " was skipped " + itoa(SkipsToTell) + " times in a row: " + why,
			Hint: "look at its runs: claw cron runs " + e.Name,
		})
	}
	if e.Schedule.Kind == KindAt {
		e.Enabled = false
	}
}

// mayTellSkips bounds what a person is told of skips: one that now and then
// gets a run in between would be an incident of its own each time.
func (p *planner) mayTellSkips(e *entry) bool {
	since := p.now.Sub(e.State.SkipsToldAt)
	return e.State.SkipsToldAt.IsZero() || since < 0 || since >= SkipsCooldown
}

// replace makes room for a later slot: what waits ends, what runs is stopped.
func (p *planner) replace(e *entry, by *Run) {
	for _, r := range slices.Clone(e.open) {
		switch {
		case r.Status == Queued && !r.Manual:
			p.giveWay(r, by)
		case r.Status == Running && r.StoppedAt.IsZero():
			r.StoppedAt, r.ReplacedBy = p.now, by.Slot
			p.changed[r] = true
			p.stopped = append(p.stopped, r)
		}
	}
}

// delay finds the earliest time for a run that has been decided for.
func (p *planner) delay(e *entry, r *Run) {
	after := func(t time.Time, code Code, why string) {
		if t.After(p.now) && t.After(r.NotBefore) {
			r.NotBefore, r.Code, r.Why = t, code, why
		}
	}
	if st := e.State; !st.LastEndAt.After(p.now) { // else the clock was set back
		after(st.BackoffUntil, CodeBackoff, "after "+plural(st.ConsecutiveErrors, "failure")+" it waits until "+stamp(st.BackoffUntil))
		if e.Schedule.Kind == KindCron && !e.slots.cron.SubMinute() && !st.LastEndAt.IsZero() {
			after(st.LastEndAt.Add(RefireGap), CodeRefire, "the last run had only just ended")
		}
	}
	missed := r.CatchUp || r.Slot.Before(p.in.Boot)
	if since := p.now.Sub(p.in.Boot); missed && e.held() && !p.in.Boot.IsZero() && since >= 0 && since < BootHold {
		at := p.in.Boot.Add(BootHold + time.Duration(p.catchUps)*CatchUpStep)
		after(at, CodeBoot, "the machine has only just come up")
		r.CatchUp = true
		p.catchUps++
		return
	}
	if !r.CatchUp {
		return
	}
	if p.catchUps >= CatchUpAtOnce {
		at := p.now.Add(time.Duration(p.catchUps-CatchUpAtOnce+1) * CatchUpStep)
		after(at, CodeCatchUp, "it is made up, one every "+duration(CatchUpStep))
	}
	p.catchUps++
}
