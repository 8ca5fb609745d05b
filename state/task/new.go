package task

import (
	"errors"
	"time"

	"claw/state/process"
)

// ErrOwnerRequired: a task that belongs to a session must say whose it is.
//
//lint:ignore ST1005 the text is the seeds'
var ErrOwnerRequired = errors.New("Task ownerKey is required.")

// New completes what a producer knows of a task with the defaults of
// spec/tasks-recovery.md 1.1 and 1.2: owner and requester stand in for each
// other, scope, delivery and notify policy follow from them, a status that is
// no status is queued, and the times are put in order. now is the wall clock.
// The error is ErrOwnerRequired.
func New(t Task, now time.Time) (Task, error) {
	if t.RequesterSessionKey == "" {
		t.RequesterSessionKey = t.OwnerKey
	}
	if t.OwnerKey == "" {
		t.OwnerKey = t.RequesterSessionKey
	}
	if t.ScopeKind == "" {
		t.ScopeKind = ScopeSystem
		if t.RequesterSessionKey != "" {
			t.ScopeKind = ScopeSession
		}
	}
	if t.OwnerKey == "" && t.ScopeKind != ScopeSystem {
		return Task{}, ErrOwnerRequired
	}
	if !t.Status.Active() && !t.Status.Terminal() {
		t.Status = Queued
	}
	defaultTelling(&t)
	defaultTimes(&t, now)
	return tidy(Normalise(t)), nil
}

func defaultTelling(t *Task) {
	if t.DeliveryStatus == "" {
		switch {
		case t.ScopeKind == ScopeSystem:
			t.DeliveryStatus = DeliveryNotApplicable
		case t.OwnerKey != "":
			t.DeliveryStatus = DeliveryPending
		default:
			t.DeliveryStatus = DeliveryParentMissing
		}
	}
	if t.NotifyPolicy != "" {
		return
	}
	t.NotifyPolicy = DoneOnly
	if t.DeliveryStatus == DeliveryNotApplicable || t.Runtime == CLI || t.Runtime == Cron {
		t.NotifyPolicy = Silent
	}
}

func defaultTimes(t *Task, now time.Time) {
	if t.CreatedAt.IsZero() {
		t.CreatedAt = now
	}
	if t.LastEventAt.IsZero() {
		t.LastEventAt = t.StartedAt
	}
	if t.LastEventAt.IsZero() {
		t.LastEventAt = now
	}
}

// tidy gives the texts and the outcome their stored form.
func tidy(t Task) Task {
	t.ProgressSummary = process.Collapse(t.ProgressSummary)
	t.TerminalSummary = process.Collapse(t.TerminalSummary)
	if t.TerminalOutcome == "" && t.Status == Succeeded {
		t.TerminalOutcome = OutcomeSucceeded
	}
	return t
}

// Normalise puts the times of a row in order (spec/tasks-recovery.md 1.2): it
// was created no later than anything else happened to it, because producers
// take the start before the row is there; and nothing happened before its
// start. A time that is not set stays so.
func Normalise(t Task) Task {
	t.CreatedAt = earliest(t.CreatedAt, t.StartedAt, t.LastEventAt, t.EndedAt)
	floor := t.CreatedAt
	if !t.StartedAt.IsZero() {
		floor = t.StartedAt // never before CreatedAt now
	}
	t.LastEventAt = notBefore(t.LastEventAt, floor)
	t.EndedAt = notBefore(t.EndedAt, floor)
	return t
}

// earliest is the first of the times that are set.
func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func notBefore(t, floor time.Time) time.Time {
	if !t.IsZero() && t.Before(floor) {
		return floor
	}
	return t
}
