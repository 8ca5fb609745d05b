package automation

import "time"

// admit starts a queued run, drops it, or leaves it waiting.
func (p *planner) admit(r *Run) {
	e := p.autos[r.AutomationID]
	if code, why := p.notOwed(r, e); code != "" {
		p.drop(r, e, code, why)
		return
	}
	switch {
	case p.now.Before(r.NotBefore) && !p.now.Before(r.QueuedAt.Add(-time.Second)):
		p.wakeAt(r.NotBefore) // had the clock been set back, it would not wait longer
	case p.isBusy(r, e):
	case p.in.MaxConcurrent > 0 && p.running >= p.in.MaxConcurrent:
		if p.changed[r] && r.Code == "" {
			r.Code, r.Why = CodeConcurrency, plural(p.running, "run")+" of other automations went on (cron.maxConcurrentRuns)"
		}
	default:
		p.start(r, e)
	}
}

// isBusy tells that a run of the same automation must end first.
func (p *planner) isBusy(r *Run, e *entry) bool {
	if e == nil || e.overlap() == OverlapAllow && !r.Manual {
		return false
	}
	for _, o := range e.open {
		if o.Status == Running {
			return true
		}
	}
	return false
}

func (p *planner) start(r *Run, e *entry) {
	r.Status, r.StartedAt = Running, p.now
	if !r.Slot.IsZero() {
		r.LateMs = max(0, p.now.Sub(r.Slot).Milliseconds())
	}
	p.running++
	p.changed[r] = true
	p.started = append(p.started, r)
	if e != nil {
		e.State.LastRunAt, e.changed = p.now, true
	}
}

// notOwed tells why a queued run is not started any more.
func (p *planner) notOwed(r *Run, e *entry) (Code, string) {
	switch {
	case e == nil || e.deleted:
		return CodeRemoved, "the automation was removed before it began"
	case r.Manual || r.Slot.IsZero():
		return "", ""
	case !e.Enabled:
		return CodeDisabled, "the automation was switched off before it began"
	case r.ScheduleRev != e.State.ScheduleRev:
		return CodeEdited, "the schedule was changed before it began"
	case r.Attempt > 1:
		return "", ""
	}
	return p.tooOld(r, e)
}

// tooOld applies the missed policy to a run that waited past its time.
func (p *planner) tooOld(r *Run, e *entry) (Code, string) {
	since := r.QueuedAt
	if r.NotBefore.After(since) {
		since = r.NotBefore
	}
	if p.policy(e) == MissedSkip && p.now.Sub(since) > StuckAfter {
		return CodeStuck, "it waited two hours for its turn (missed=skip)"
	}
	if w := e.window(); w > 0 && p.now.Sub(r.Slot) > w && p.now.Sub(since) > Grace {
		return CodeWindow, "it waited for longer than " + duration(w) + " after its time"
	}
	return "", ""
}

// drop ends a queued run that will not start.
func (p *planner) drop(r *Run, e *entry, code Code, why string) {
	r.Status = Skipped
	if code == CodeStuck || code == CodeWindow {
		r.Status = Missed
	}
	r.Code, r.Why, r.EndedAt = code, why, p.now
	p.close(r, Queued)
	if e != nil && r.Status == Missed && e.Schedule.Kind == KindAt {
		e.Enabled, e.changed = false, true
	}
}

// policy is the missed policy, with the switch for all.
func (p *planner) policy(e *entry) MissedPolicy {
	if p.in.SkipMissed && e.Schedule.Kind != KindAt {
		return MissedSkip
	}
	return e.MissedPolicy()
}

func (a Automation) window() time.Duration {
	return time.Duration(a.Missed.WindowMs) * time.Millisecond
}
