package automation

import (
	"slices"
	"strings"
	"time"

	"claw/state/cron"
)

// New completes what a person wrote, at the time of creation: defaults of
// spec/heartbeat-automations.md 2.2, the anchor of the grid. Slots before that
// time are not owed. Validate it first.
func New(a Automation, now time.Time) Automation {
	now = now.Truncate(time.Millisecond)
	a.CreatedAt, a.UpdatedAt, a.State = now, now, State{Settled: now}
	return begun(completed(a), now)
}

// completed fills in what a person left out.
func completed(a Automation) Automation {
	if a.SessionTarget == "" {
		a.SessionTarget = "isolated"
		if a.Payload.Kind == PayloadEvent {
			a.SessionTarget = "main"
		}
	}
	if a.WakeMode == "" {
		a.WakeMode = "now"
	}
	switch {
	case a.Delivery == nil && a.Payload.Kind == PayloadEvent:
		a.Delivery = &Delivery{Mode: "none"}
	case a.Delivery == nil:
		a.Delivery = &Delivery{Mode: "announce"}
	case a.Delivery.Mode == "":
		d := *a.Delivery
		d.Mode = "announce"
		a.Delivery = &d
	}
	return a
}

// begun starts the schedule at a time.
func begun(a Automation, now time.Time) Automation {
	switch a.Schedule.Kind {
	case KindAt:
		a.State.Settled = a.Schedule.At.Add(-time.Millisecond) // its only slot is owed, also when just past
	case KindEvery:
		if a.Schedule.AnchorMs == 0 {
			a.Schedule.AnchorMs = now.UnixMilli()
		}
	}
	return a
}

// Edit is an automation after a person's change: what a.ID was, with the
// definition of a. Only a changed schedule moves its slots; a changed schedule
// and switching off end what is owed. The rows say what became of slots that
// had come due and were not decided. Validate a first.
func Edit(old, a Automation, now time.Time, zone Zones) (Automation, []Run) {
	now = now.Truncate(time.Millisecond)
	a.ID, a.CreatedAt, a.UpdatedAt, a.State = old.ID, old.CreatedAt, now, old.State
	var runs []Run
	moved := !SameSchedule(old.Schedule, a.Schedule)
	if old.Schedule.Kind == KindEvery && a.Schedule.Kind == KindEvery && !moved {
		a.Schedule.AnchorMs = old.Schedule.AnchorMs
	}
	if old.Enabled && (moved || !a.Enabled) {
		runs = unowed(old, now, zone, moved)
	}
	if moved || old.Enabled != a.Enabled {
		a.State = restarted(a.State, now)
	}
	if moved {
		a.State.ScheduleRev++
		a.State.Decided = time.Time{} // those were slots of another schedule
		a = begun(a, now)
	}
	if a.Enabled && !old.Enabled {
		a.State.ConsecutiveErrors, a.State.ConsecutiveSkips, a.State.AutoDisabled = 0, 0, nil
		a.State.Incident, a.State.AlertedAt = "", time.Time{}
	}
	if !sameTrigger(old.Trigger, a.Trigger) {
		a.State.TriggerState, a.State.Quiet, a.State.CheckedAt = "", 0, time.Time{}
		a.State.TriggerRev++
	}
	return a, runs
}

// restarted forgets what belongs to a schedule, and begins after now. Slots
// that were decided already, by a clock that was ahead, stay so.
func restarted(st State, now time.Time) State {
	if now.After(st.Settled) {
		st.Settled = now
	}
	st.PacedAt, st.BackoffUntil = time.Time{}, time.Time{}
	st.ScheduleErrors, st.ScheduleError, st.ScheduleErrorAt = 0, "", time.Time{}
	return st
}

// unowed records the slots that came due and were not decided before an edit.
func unowed(a Automation, now time.Time, zone Zones, moved bool) []Run {
	p := newPlanner(Input{Now: now, Automations: []Automation{a}, Zone: zone})
	e := p.autos[a.ID]
	code, why := CodeDisabled, "the automation was switched off at "+stamp(now)
	if moved {
		code, why = CodeEdited, "the schedule was changed at "+stamp(now)
	}
	from, _ := e.State.settledAt(now)
	if due, ok := spanOf(e.slots, from, now); ok && !e.broken {
		p.record(e, due, Missed, code, why)
	}
	return p.plan().Runs
}

// Off is what an automation that has just switched itself off leaves: its slots
// that came due meanwhile and were not decided are recorded, and decided with
// that. Others are returned as they are.
func Off(a Automation, now time.Time, zone Zones) (Automation, []Run) {
	if a.Enabled || a.State.AutoDisabled == nil || !now.After(a.State.Settled) {
		return a, nil
	}
	runs := unowed(a, now, zone, false)
	a.State.Settled = now.Truncate(time.Millisecond)
	return a, runs
}

func sameTrigger(a, b *Trigger) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Script == b.Script
}

// SameSchedule tells schedules that mean the same: how an expression is
// written, the zone in which a time was, an anchor that is left out, and what of
// a stream is told, make no difference.
func SameSchedule(a, b Schedule) bool {
	if a.Kind != b.Kind || a.TZ != b.TZ && a.Kind != KindAt || a.Stagger() != b.Stagger() || !a.At.Equal(b.At) || a.EveryMs != b.EveryMs {
		return false
	}
	if a.AnchorMs != b.AnchorMs && a.AnchorMs != 0 && b.AnchorMs != 0 {
		return false
	}
	return sameExpr(a.Expr, b.Expr) && a.Command == b.Command && a.Cwd == b.Cwd && slices.Equal(a.Argv, b.Argv) &&
		a.Dir == b.Dir && a.Recursive == b.Recursive && a.Glob == b.Glob
}

// Keep is the schedule after an edit: the old one where it means the same, so
// that nothing moves for another spelling, but with what is to be told of a
// stream as it is now.
func Keep(old, now Schedule) Schedule {
	if !SameSchedule(old, now) {
		return now
	}
	if old.Kind == KindAt {
		old.TZ = now.TZ
	}
	old.Mode, old.Match, old.BatchMs, old.MaxBatchBytes = now.Mode, now.Match, now.BatchMs, now.MaxBatchBytes
	return old
}

func sameExpr(a, b string) bool {
	if strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ") {
		return true
	}
	x, errX := cron.Parse(a)
	y, errY := cron.Parse(b)
	return errX == nil && errY == nil && x.SameAs(y)
}

// Manual is a start by a person (2.12): it takes no slot, shifts no cadence and
// uses up no one-shot, and runs although the automation is off. open are the
// automation's runs that have not ended; with one the answer is
// CodeRunning and there is no run. With the policy allow there always is.
func Manual(a Automation, id string, open []Run, now time.Time) (Run, Code) {
	for _, r := range open {
		if r.AutomationID == a.ID && r.Status.Open() && a.OverlapPolicy() != OverlapAllow {
			return Run{}, CodeRunning
		}
	}
	r := Fire(a, id, now)
	r.Manual, r.Code, r.Why = true, CodeManual, "started by hand"
	return r, ""
}

// Fire is a run that is due to no slot: of a trigger (on-exit, stream, watch).
// What becomes of it is Decide's as with others.
func Fire(a Automation, id string, now time.Time) Run {
	return Run{ID: id, AutomationID: a.ID, Name: a.Name, ScheduleRev: a.State.ScheduleRev, Attempt: 1, Status: Queued, QueuedAt: now}
}

// Due tells whether a slot has come that is not decided yet: what "run --due"
// asks before it looks.
func Due(a Automation, now time.Time, zone Zones) bool {
	if !a.Enabled {
		return false
	}
	if paced := a.State.PacedAt; !paced.IsZero() {
		return !paced.After(now)
	}
	slots, err := a.Slots(zone)
	if err != nil {
		return false
	}
	from, _ := a.State.settledAt(now)
	next, ok := slots.Next(from)
	return ok && !next.After(now)
}

// Upcoming is when an automation runs next, as far as can be told: a run that
// waits, the time the last run asked for, or the next slot, not before a
// back-off ends. False when nothing will come.
func Upcoming(a Automation, open []Run, now time.Time, zone Zones) (time.Time, bool) {
	var at time.Time
	for _, r := range open {
		if r.AutomationID == a.ID && r.Status == Queued && (at.IsZero() || r.readyAt().Before(at)) {
			at = r.readyAt()
		}
	}
	if !at.IsZero() || !a.Enabled {
		return at, !at.IsZero()
	}
	if !a.State.PacedAt.IsZero() {
		return a.State.PacedAt, true
	}
	slots, err := a.Slots(zone)
	if err != nil {
		return at, false
	}
	from, _ := a.State.settledAt(now)
	next, ok := slots.Next(from)
	if ok && next.Before(a.State.BackoffUntil) {
		next = a.State.BackoffUntil
	}
	return next, ok
}
