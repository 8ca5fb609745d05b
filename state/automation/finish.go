package automation

import (
	"slices"
	"time"
)

// Retry is what is configured for runs that failed; the zero value is the
// default of spec/heartbeat-automations.md 2.8.
type Retry struct {
	MaxAttempts int // after the first; 0: 3, negative: none
	Backoff     []time.Duration
	On          []Category
}

func (r Retry) max() int {
	if r.MaxAttempts == 0 {
		return 3
	}
	return max(0, r.MaxAttempts)
}

// wait is the delay after so many errors in a row; the last step repeats.
func (r Retry) wait(errors int) time.Duration {
	steps := [...]time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	ladder := steps[:]
	if len(r.Backoff) > 0 {
		ladder = r.Backoff
	}
	return ladder[min(max(errors, 1), len(ladder))-1]
}

func (r Retry) transient(c Category) bool {
	if len(r.On) > 0 {
		return slices.Contains(r.On, c)
	}
	switch c {
	case RateLimit, Overloaded, Network, Timeout, ServerError:
		return true
	}
	return false
}

// MaxErrors in a row switch a recurring automation off.
const MaxErrors = 10

// The reasons of AutoDisabled.
const (
	ReasonFailures  = "consecutive-failures"
	ReasonSchedule  = "schedule-errors"
	ReasonLoop      = "feedback-loop"    // a watch that its own runs set off
	ReasonExhausted = "stream-exhausted" // a stream whose command ends again and again
	ReasonUnknown   = "on-exit-unknown"  // an on-exit whose command ended nobody knows how
)

// End is how a run ended. Status must be an end. A Failed or TimedOut one is
// confirmed dead: only then may it be tried again.
type End struct {
	Status   Status
	At       time.Time
	Error    string
	Category Category
	Code     Code
	// Undelivered: the message about the run is intended, and not delivered yet.
	// A one-shot is kept until it is, see Receipt.
	Undelivered bool
	// NextCheck is what the run asked for; 0: nothing.
	NextCheck time.Duration
	// Again: a Skipped one-shot may be tried again, as a reminder for a
	// heartbeat that is switched off (openclaw 18917).
	Again bool
}

// Finished is what follows from the end of a run. The caller writes all of it
// in the transaction of the end.
type Finished struct {
	Automation Automation
	Run        Run
	Retry      *Run // another attempt, queued
	Delete     bool // the automation is done with
	Notices    []Notice
}

// Finish says what follows from the end of a run, for the automation as it is
// now: one that was edited while it ran keeps the edit.
func Finish(a Automation, r Run, end End, retry Retry, zone Zones) Finished {
	if !r.StoppedAt.IsZero() && end.Status != Succeeded {
		end.Status, end.Code, end.Category = Replaced, CodeReplaced, ""
	}
	f := Finished{Automation: a, Run: ended(r, end)}
	f.Run.BestEffort = a.bestEffort()
	end.Undelivered = end.Undelivered && !f.Run.BestEffort
	st := &f.Automation.State
	st.LastDelivery, st.LastDeliveryError = "", "" // not known yet, see Receipt
	st.LastRunAt, st.LastEndAt, st.LastStatus = r.StartedAt, end.At, end.Status
	st.LastError, st.LastCategory = end.Error, end.Category
	st.LastDurationMs = max(0, end.At.Sub(r.StartedAt).Milliseconds())
	switch {
	case r.ScheduleRev != st.ScheduleRev:
		return f
	case end.Status == Succeeded:
		f.succeeded(end)
	case end.Status == Skipped:
		f.skipped(end, retry)
	case end.Status.failed():
		f.failed(end, retry, zone)
	default:
		f.oneShotDone(false)
	}
	return f
}

// ended is the row of a run that ended.
func ended(r Run, end End) Run {
	r.Status, r.EndedAt, r.Error, r.Category = end.Status, end.At, end.Error, end.Category
	if end.Code != "" {
		r.Code, r.Why = end.Code, end.Error
	}
	if end.Status == Replaced && !r.ReplacedBy.IsZero() {
		r.Why = "stopped for " + stamp(r.ReplacedBy) + " (overlap=replace)"
	}
	return r
}

func (f *Finished) oneShot() bool { return f.Automation.Schedule.Kind == KindAt && !f.Run.Manual }

// oneShotDone ends a one-shot: it goes, or stays and is switched off.
func (f *Finished) oneShotDone(remove bool) {
	if !f.oneShot() {
		return
	}
	f.Automation.Enabled = false
	f.Delete = remove && f.Automation.DeleteAfterRun
}

func (f *Finished) succeeded(end End) {
	st := &f.Automation.State
	st.ConsecutiveErrors, st.ConsecutiveSkips, st.BackoffUntil = 0, 0, time.Time{}
	if f.oneShot() {
		f.oneShotDone(!end.Undelivered)
	} else if f.Automation.Schedule.Kind == KindOnExit && !f.Run.Manual {
		// One that was switched on again during its run waits for the next end.
		f.Delete = f.Automation.DeleteAfterRun && !f.Automation.Enabled && !end.Undelivered
	}
	f.Automation = triggered(f.Automation, f.Run)
	pace := f.Automation.Pacing
	if pace == nil || f.Run.Manual {
		return
	}
	st.PacedAt = time.Time{}
	if end.NextCheck > 0 {
		st.PacedAt = end.At.Add(pace.clamp(end.NextCheck)).Truncate(time.Millisecond)
	}
}

// clamp brings a wish within bounds, silently.
func (p Pacing) clamp(d time.Duration) time.Duration {
	if p.MaxMs > 0 {
		d = min(d, time.Duration(p.MaxMs)*time.Millisecond)
	}
	return max(d, time.Duration(p.MinMs)*time.Millisecond)
}

func (f *Finished) skipped(end End, retry Retry) {
	if f.Run.Manual {
		return
	}
	st := &f.Automation.State
	st.ConsecutiveErrors, st.BackoffUntil, st.PacedAt = 0, time.Time{}, time.Time{}
	st.ConsecutiveSkips++
	if f.oneShot() && end.Again && f.Run.Attempt <= retry.max() {
		f.again(end, retry.wait(f.Run.Attempt))
		return
	}
	f.oneShotDone(false)
}

func (f *Finished) failed(end End, retry Retry, zone Zones) {
	if f.Run.Manual {
		return // neither the cadence nor a one-shot is touched (2.12)
	}
	st := &f.Automation.State
	st.ConsecutiveErrors++
	st.PacedAt = time.Time{}
	// What nobody knows the end of is not repeated by itself.
	transient := retry.transient(end.Category) && (end.Status == Failed || end.Status == TimedOut)
	if f.oneShot() {
		if transient && f.Run.Attempt <= retry.max() {
			f.again(end, retry.wait(f.Run.Attempt))
			return
		}
		f.oneShotDone(false)
		return
	}
	if !f.Automation.Schedule.Kind.Timed() {
		f.autoDisable(end)
		return
	}
	wait := retry.wait(st.ConsecutiveErrors)
	if transient && st.ConsecutiveErrors <= retry.max() && f.earlierThanNext(end.At.Add(wait), zone) {
		f.again(end, wait)
	} else {
		st.BackoffUntil = end.At.Add(wait)
	}
	f.autoDisable(end)
}

// earlierThanNext tells that an instant is before the next slot (openclaw
// 85888).
func (f *Finished) earlierThanNext(at time.Time, zone Zones) bool {
	slots, err := f.Automation.Slots(zone)
	if err != nil {
		return false
	}
	from := f.Run.EndedAt
	if f.Automation.State.Settled.After(from) {
		from = f.Automation.State.Settled
	}
	next, ok := slots.Next(from)
	return !ok || at.Before(next)
}

// again queues another attempt at the same slot.
func (f *Finished) again(end End, wait time.Duration) {
	r := f.Run
	if !f.Automation.Enabled {
		return // it was switched off while it ran
	}
	next := Run{
		AutomationID: r.AutomationID, Name: r.Name, ScheduleRev: r.ScheduleRev, Slot: r.Slot, Attempt: max(r.Attempt, 1) + 1, CatchUp: r.CatchUp,
		Status: Queued, QueuedAt: end.At, NotBefore: end.At.Add(wait), Code: CodeRetry,
		Why: "attempt " + itoa(max(r.Attempt, 1)+1) + ", " + duration(wait) + " after the last one ended",
	}
	next.ID = RunID(r.AutomationID, r.Slot, next.Attempt)
	f.Retry = &next
}

// autoDisable switches off what has failed ten times in a row, but not for a
// login that has run out, and never what claw itself keeps. What is off already,
// while several runs went on or by a person, is not told again.
func (f *Finished) autoDisable(end End) {
	a := &f.Automation
	if a.State.ConsecutiveErrors < MaxErrors || !a.Enabled || end.Category == Auth || a.System {
		return
	}
	a.Enabled = false
	a.State.AutoDisabled = &AutoDisabled{Reason: ReasonFailures, At: end.At, Errors: a.State.ConsecutiveErrors}
	f.Retry = nil
	f.Notices = append(f.Notices, disabledNotice(*a, end.Error))
}

func disabledNotice(a Automation, last string) Notice {
	text := a.Name + " is switched off after " + plural(a.State.ConsecutiveErrors, "failure") + " in a row"
	if a.State.AutoDisabled.Reason == ReasonSchedule {
		text = a.Name + " is switched off: its next time could not be computed " + plural(a.State.ScheduleErrors, "time") + " in a row"
	}
	if last != "" {
		text += "; the last: " + last
	}
	return Notice{
		AutomationID: a.ID, Name: a.Name, Code: a.State.AutoDisabled.Reason, Text: text,
		Hint: "correct the cause, then: claw cron enable " + a.Name,
	}
}
