package heartbeat

import "time"

// The reasons of a skip (spec/heartbeat-automations.md 1.6, 1.7).
const (
	ReasonDisabled   = "disabled"
	ReasonQuietHours = "quiet-hours"
	ReasonInFlight   = "requests-in-flight"
	ReasonCronBusy   = "cron-in-progress"
	ReasonLanesBusy  = "lanes-busy"
	ReasonEmptyFile  = "empty-heartbeat-file"
	ReasonNoTasksDue = "no-tasks-due"
	ReasonAlertsOff  = "alerts-disabled"
	ReasonNoRoute    = "no-route"
	ReasonDuplicate  = "duplicate"
	ReasonNoTarget   = "no-target"
	ReasonRecovery   = "recovery-first"   // a turn of the session was cut off, and is seen to first
	ReasonGivenUp    = "session-given-up" // the session has a tombstone
)

// File is the state of HEARTBEAT.md and scratch together.
type File int

// A file that is missing, or cannot be read, does not stop a heartbeat; one
// that asks for nothing does.
const (
	FileMissing File = iota
	FileEmpty        // EffectivelyEmpty
	FileContent
)

// Busy is who is at work. Other agents are not in it: they never count.
type Busy struct {
	Main         bool // the agent's main session has running or queued turns
	Automation   bool // an automation runs, or waits in its lane
	Lanes        bool // other sessions of the agent; asked for by SkipWhenBusy only
	Agent        bool // a turn of this agent runs in any session
	PendingReply bool // a final reply waits to be delivered and the session changed less than 30 s ago
	Target       bool // the session that is to be woken has a running turn
	TargetQueued bool // or a turn that waits
	Isolated     bool // or the isolated session of it has
}

// Situation is everything that decides whether a wake becomes a turn.
type Situation struct {
	Intent   string
	Source   string
	Targeted bool // it names a session: somebody's event, not the cadence

	Disabled   bool          // heartbeat disable
	Enrolled   bool          // the agent runs heartbeats
	Every      time.Duration // as configured; 0 is off
	MonitorOff bool          // the row is disabled (cron.enabled = false): nothing scheduled
	Outside    bool          // outside active hours

	Busy         Busy
	SkipWhenBusy bool

	File     File
	Events   bool // there are events to show
	HasTasks bool // a tasks: block
	TasksDue bool // and one of them is due
	Checks   bool // heartbeat.d has checks, which may have something to say

	Hidden  bool // showOk, showAlerts and useIndicator are all off
	NoRoute bool // the target leads nowhere, and that is not what was asked for
}

// Decision is whether a wake becomes a turn now, and if not, why.
type Decision struct {
	Run        bool
	Reason     string        // of a skip
	Retryable  bool          // the wake stays, the schedule does not move
	RetryAfter time.Duration // of a retryable skip: not earlier, unless what was busy has ended
}

// Decide goes through the checks of spec/heartbeat-automations.md 1.6 in their
// order; the first that matches wins.
//
// An immediate wake for a named session that carries something (an ended
// command, a reminder, a hook's content) passes 2 to 4: it needs no cadence and
// no active hours. It also passes 15: with delivery off the agent is shown the
// result to handle it internally (design.md 7). Queued events of any kind, and
// checks, count as something to say in 10 and 13, where the seeds count cron's
// only and let the others wait for ever.
func Decide(s Situation) Decision {
	reason := s.off()
	if reason == "" {
		reason = s.busyBroadly()
	}
	if reason == "" {
		reason = s.nothing()
	}
	if reason == "" {
		return Decision{Run: true}
	}
	floor, retryable := RetryAfter(reason)
	return Decision{Reason: reason, Retryable: retryable, RetryAfter: floor}
}

// urgent tells the wakes that pass 2 to 4 and 15.
func (s Situation) urgent() bool {
	return s.Targeted && s.Intent == IntentImmediate && Carries(s.Source)
}

// off is 1 to 4.
func (s Situation) off() string {
	switch {
	case s.Disabled:
		return ReasonDisabled
	case s.urgent():
		return ""
	case !s.Enrolled:
		return ReasonDisabled
	case s.Every <= 0 && !s.targetedEvent():
		return ReasonDisabled
	case s.MonitorOff && s.Intent == IntentScheduled:
		return ReasonDisabled
	case s.Outside:
		return ReasonQuietHours
	}
	return ""
}

// targetedEvent: "every 0" still runs a turn for an event that names its
// session (spec/heartbeat-automations.md 1.1).
func (s Situation) targetedEvent() bool {
	return s.Targeted && s.Intent == IntentEvent && Carries(s.Source)
}

// busyBroadly is 5 to 9.
func (s Situation) busyBroadly() string {
	byHand := s.Intent == IntentManual || s.Intent == IntentImmediate
	switch {
	case s.Busy.Main:
		return ReasonInFlight
	case s.Busy.Automation:
		return ReasonCronBusy
	case s.SkipWhenBusy && s.Busy.Lanes:
		return ReasonLanesBusy
	case s.Busy.Agent && !byHand, s.Busy.PendingReply:
		return ReasonInFlight
	}
	return ""
}

// nothing is 10 to 15: nothing to say, nobody to say it to, or the target is
// at work.
func (s Situation) nothing() string {
	speaks := s.Events || s.Checks || Carries(s.Source)
	switch {
	case s.File == FileEmpty && !speaks:
		return ReasonEmptyFile
	case s.Busy.Target, s.Busy.TargetQueued:
		return ReasonInFlight
	case s.HasTasks && !s.TasksDue && !speaks:
		return ReasonNoTasksDue
	case s.Busy.Isolated:
		return ReasonInFlight
	case s.Hidden && !s.urgent():
		return ReasonAlertsOff
	case s.NoRoute && !s.urgent():
		return ReasonNoRoute
	}
	return ""
}
