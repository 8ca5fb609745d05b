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
	case p.full(r):
	default:
		p.start(r, e)
	}
}

// class is what a run is to the limits of what goes on at once.
type class int

const (
	telling   class = iota // a reminder, which is over at once
	asking                 // a turn of an agent
	executing              // a command, or a trigger script
)

// class of a run: that of its payload, or while its trigger script decides,
// that of a command.
func (p *planner) class(r *Run) class {
	if o := r.Owner; o != nil {
		switch {
		case o.CheckID != "" || o.ProcessID != "":
			return executing
		case o.TurnID != "":
			return asking
		}
	}
	e := p.autos[r.AutomationID]
	switch {
	case e == nil:
		return telling
	case e.Payload.Kind == PayloadCommand || e.Checks(*r):
		return executing
	case e.Payload.Kind == PayloadTurn:
		return asking
	}
	return telling
}

// full tells that as many runs of its class go on as may, and notes it in a new
// one.
func (p *planner) full(r *Run) bool {
	what, limit, key := "turn", p.in.MaxTurns, "cron.maxConcurrentRuns"
	c := p.class(r)
	running := p.running[c]
	switch c {
	case telling:
		return false
	case asking:
		running += p.in.Taken
	case executing:
		what, limit, key = "command", p.in.MaxCommands, "cron.maxConcurrentCommands"
	}
	if limit <= 0 || running < limit {
		return false
	}
	if p.changed[r] && r.Code == "" {
		r.Code, r.Why = CodeConcurrency, plural(running, what)+" of other automations"+andHooks(p.in.Taken, c)+" went on ("+key+")"
	}
	return true
}

func andHooks(taken int, c class) string {
	if taken > 0 && c == asking {
		return " or hooks"
	}
	return ""
}

// isBusy tells that a run of the same automation must end first.
func (p *planner) isBusy(r *Run, e *entry) bool {
	if e == nil || e.OverlapPolicy() == OverlapAllow && !r.Manual {
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
	p.running[p.class(r)]++
	p.changed[r] = true
	p.started = append(p.started, r)
	switch {
	case e == nil:
	case e.Checks(*r): // while it is quiet, it is no run
		r.TriggerRev = e.State.TriggerRev
	default:
		e.State.LastRunAt, e.changed = p.now, true
	}
}

// notOwed tells why a queued run is not started any more.
func (p *planner) notOwed(r *Run, e *entry) (Code, string) {
	switch {
	case e == nil || e.deleted:
		return CodeRemoved, "the automation was removed before it began"
	case r.Manual || r.Slot.IsZero() && e.lastWord():
		return "", ""
	case !e.Enabled:
		return CodeDisabled, "the automation was switched off before it began"
	case r.ScheduleRev != e.State.ScheduleRev:
		return CodeEdited, "the schedule was changed before it began"
	case r.Attempt > 1 || r.Slot.IsZero():
		return "", ""
	}
	return p.tooOld(r, e)
}

// lastWord tells a source whose runs are owed although it is off: an on-exit is
// switched off before it fires, a stream that is given up has said something
// before.
func (a Automation) lastWord() bool {
	gone := a.State.AutoDisabled
	return a.Schedule.Kind == KindOnExit || !a.Enabled && gone != nil && gone.Reason == ReasonExhausted
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
