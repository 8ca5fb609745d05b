package scheduler_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"claw/state"
	"claw/state/automation"
)

// edit changes an automation as a person does; with an oracle its schedule.
// False when the program died of it, whatever has been written.
func (y *year) edit(id string, change func(a *automation.Automation), o *oracle) bool {
	j := y.jobs[id]
	before := y.automation(id)
	from := y.decided(id)
	_, err := y.Edit(y.t.Context(), j.name, func(a *automation.Automation) error {
		change(a)
		return nil
	})
	alive := y.try("edit", err)
	after := y.automation(id)
	j.rules = append(j.rules, after)
	if o != nil && !automation.SameSchedule(before.Schedule, after.Schedule) {
		y.counts["rescheduled"]++
		j.oracle = *o
		if j.current != nil {
			y.close(id, from)
			j.current = &epoch{oracle: *o, from: from}
		}
	}
	return alive
}

// toggle switches an automation off or on.
func (y *year) toggle(id string) bool {
	j := y.jobs[id]
	before := y.automation(id)
	if before.Schedule.Kind == automation.KindAt {
		return true
	}
	from := y.decided(id)
	_, _, err := y.Enable(y.t.Context(), j.name, !before.Enabled)
	alive := y.try("enable", err)
	if after := y.automation(id); after.Enabled != before.Enabled {
		y.counts["toggled"]++
		if after.Enabled {
			j.current = &epoch{oracle: j.oracle, from: from}
		} else {
			y.close(id, from)
		}
	}
	return alive
}

// automation is the row of one; the zero value when it is gone.
func (y *year) automation(id string) automation.Automation {
	for _, a := range y.autos() {
		if a.ID == id {
			return a
		}
	}
	return automation.Automation{}
}

// decided is up to where the slots of an automation are decided at this
// moment: now, or, where the clock was set back, the last slot on record or the
// last change. What has been decided is not decided again.
func (y *year) decided(id string) time.Time {
	at := y.clock.Now().Truncate(time.Millisecond)
	j := y.jobs[id]
	if j.current != nil {
		at = latest(at, j.current.from)
	}
	for _, e := range j.epochs {
		at = latest(at, e.to)
	}
	return latest(at, y.lastRecord(id))
}

// remember notes the slots of rows.
func (y *year) remember(rows []automation.Run) {
	for _, r := range rows {
		y.last[r.AutomationID] = latest(y.last[r.AutomationID], r.Slot, r.Through)
	}
}

// lastRecord is the last slot of an automation that has a record.
func (y *year) lastRecord(id string) time.Time {
	y.remember(all(y.world, state.Runs))
	return y.last[id]
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func (y *year) close(id string, at time.Time) {
	j := y.jobs[id]
	j.current.to = at
	j.epochs = append(j.epochs, *j.current)
	j.current = nil
}

// switchedOff looks for what the scheduler has switched off or removed by
// itself: from its last slot on nothing is owed. What failed ten times is
// switched on again, as a person would who has corrected the cause.
func (y *year) switchedOff() {
	if !y.stirred {
		return
	}
	y.stirred = false
	rows := map[string]automation.Automation{}
	for _, a := range y.autos() {
		rows[a.ID] = a
	}
	for _, id := range y.ids {
		j, a := y.jobs[id], rows[id]
		j.removed = j.removed || a.ID == ""
		if j.current == nil || a.Enabled {
			continue
		}
		switch {
		case a.Schedule.Kind == automation.KindAt || j.oracle.fields == nil && j.oracle.every == 0:
			y.close(id, latest(j.oracle.anchor, y.clock.Now()))
		case a.ID == "":
			y.close(id, latest(j.current.from, y.lastRecord(id)))
		case a.State.AutoDisabled == nil:
			y.t.Fatalf("%s is off, and nobody has switched it off: %+v", j.name, a.State)
		default:
			y.counts["auto-disabled"]++
			if n := a.State.AutoDisabled.Errors; n != automation.MaxErrors {
				y.t.Errorf("%s is off after %d failures", j.name, n)
			}
			y.close(id, latest(y.lastRecord(id), j.current.from))
			y.toggle(id)
		}
	}
}

// audit compares what is on record with the oracle.
func (y *year) audit() {
	y.t.Helper()
	for id, n := range y.begun {
		if n != 1 {
			y.t.Errorf("%s was begun %d times", id, n)
		}
	}
	byJob := map[string][]automation.Run{}
	for _, r := range y.runs() {
		y.counts[string(r.Status)]++
		y.auditRun(r)
		byJob[r.AutomationID] = append(byJob[r.AutomationID], r)
	}
	for _, id := range y.ids {
		if y.jobs[id].current != nil {
			y.close(id, y.decided(id))
		}
		y.auditSlots(y.jobs[id], byJob[id])
		y.auditPolicies(y.jobs[id], byJob[id])
	}
	for what, least := range map[string]int{
		"slots": 3000, "succeeded": 1000, "missed": 100, "skipped": 10, "replaced": 1, "failed": 10, "unknown": 1, "interrupted": 1, "rescheduled": 2, "toggled": 2,
		"auto-disabled": 1, "by hand": 2, "sleeps": 20, "steps back": 1, "steps forward": 1, "power cuts": 1, "died: pass": 1, "died: begin": 1, "died: end": 1,
	} {
		if y.counts[what] < least {
			y.t.Errorf("a year with %d of %q: %v", y.counts[what], what, y.counts)
		}
	}
}

// auditRun: a record is whole, and what ran was begun.
func (y *year) auditRun(r automation.Run) {
	ran := !r.StartedAt.IsZero()
	switch {
	case r.Status.Open():
		y.t.Errorf("still open: %+v", r)
	case !ran && r.Status != automation.Missed && r.Status != automation.Skipped && r.Status != automation.Replaced:
		y.t.Errorf("it has ended and never started: %+v", r)
	case (r.Status == automation.Missed || r.Status == automation.Skipped) && r.Why == "" && r.Error == "":
		y.t.Errorf("no reason: %+v", r)
	case r.Status == automation.Succeeded && y.begun[r.ID] == 0 && y.payload(r) != automation.PayloadEvent:
		y.t.Errorf("it succeeded and was not begun: %+v", r)
	}
}

func (y *year) payload(r automation.Run) automation.PayloadKind {
	return y.jobs[r.AutomationID].rules[0].Payload.Kind
}

// auditSlots: each slot has one record, and each record is for slots that there
// are.
func (y *year) auditSlots(j *job, runs []automation.Run) {
	var owed []time.Time
	for _, e := range j.epochs {
		owed = append(owed, e.slots(e.from, e.to)...)
	}
	records := map[time.Time]int{}
	for _, r := range runs {
		if r.Manual || r.Attempt > 1 {
			continue
		}
		n := 0
		for _, slot := range owed {
			if !slot.Before(r.Slot) && !slot.After(latest(r.Slot, r.Through)) {
				records[slot.UTC()]++
				n++
			}
		}
		if n != max(1, r.Count) && !(r.AtLeast && n > r.Count) {
			y.t.Errorf("%s (%+v): a record of %d slots, of which there are %d: %+v", j.name, j.oracle, max(1, r.Count), n, r)
		}
	}
	for _, slot := range owed {
		y.counts["slots"]++
		if n := records[slot.UTC()]; n != 1 {
			y.t.Errorf("%s (%+v): %d records of the slot %v", j.name, j.oracle, n, slot)
		}
	}
}

// codes are why slots of each policy may be recorded as missed.
var codes = map[automation.MissedPolicy][]automation.Code{
	automation.MissedSkip: {automation.CodeLate, automation.CodeStuck},
	automation.MissedOnce: {automation.CodeCoalesced, automation.CodeWindow},
	automation.MissedAll:  {automation.CodeLimit, automation.CodeWindow},
}

// auditPolicies: each policy did what it says, also where it was changed.
func (y *year) auditPolicies(j *job, runs []automation.Run) {
	attempts := map[time.Time]automation.Run{}
	together := map[time.Time]int{} // slots that were run by one decision
	for _, r := range runs {
		if r.Manual {
			continue
		}
		if r.Attempt > 1 {
			y.auditRetry(r, attempts[r.Slot.UTC()])
		}
		attempts[r.Slot.UTC()] = r
		if r.Status == automation.Missed && !j.may(r.Code) {
			y.t.Errorf("%s: missed for %s: %+v", j.name, r.Code, r)
		}
		if r.Status == automation.Skipped && r.Code == automation.CodeOverlap && !j.any(func(a automation.Automation) bool { return a.Overlap == automation.OverlapSkip }) {
			y.t.Errorf("%s: skipped with another overlap policy: %+v", j.name, r)
		}
		if r.Attempt == 1 && !r.QueuedAt.IsZero() {
			together[r.QueuedAt]++
			late := r.QueuedAt.Sub(r.Slot)
			if late > automation.Grace && !j.any(func(a automation.Automation) bool { return a.MissedPolicy() != automation.MissedSkip }) {
				y.t.Errorf("%s: %s late it was run with missed=skip: %+v", j.name, late, r)
			}
		}
	}
	most := 1
	for _, a := range j.rules {
		if a.MissedPolicy() == automation.MissedAll {
			most = max(most, cmp.Or(a.Missed.Limit, automation.DefaultMissedLimit)+1)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(together), time.Time.Compare) {
		if together[at] > most {
			y.t.Errorf("%s: %d slots were run by the decision of %v, at most %d may", j.name, together[at], at, most)
		}
	}
}

func (j *job) any(is func(a automation.Automation) bool) bool {
	return slices.ContainsFunc(j.rules, is)
}

// may tells that a slot may be missed for a reason.
func (j *job) may(c automation.Code) bool {
	return c == automation.CodeEdited || c == automation.CodeDisabled ||
		j.any(func(a automation.Automation) bool { return slices.Contains(codes[a.MissedPolicy()], c) })
}

// auditRetry: only what is known to have failed is tried again.
func (y *year) auditRetry(r, last automation.Run) {
	if last.Attempt != r.Attempt-1 || last.Status != automation.Failed && last.Status != automation.TimedOut {
		y.t.Errorf("attempt %d after attempt %d, which %s: %+v", r.Attempt, last.Attempt, last.Status, r)
	}
}
