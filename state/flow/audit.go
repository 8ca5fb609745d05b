package flow

import (
	"slices"
	"strings"
	"time"

	"claw/state/process"
	"claw/state/task"
)

// How long a flow may stand as it is before the audit wonders
// (spec/tasks-recovery.md 1.9); the bounds belong to the finding.
const (
	Stale       = 30 * time.Minute // running, waiting, blocked
	CancelStuck = 5 * time.Minute
)

// The codes of findings, in the order of the spec's table.
const (
	FindRestore     = "restore_failed"
	FindRunning     = "stale_running"
	FindWaiting     = "stale_waiting"
	FindBlocked     = "stale_blocked"
	FindCancel      = "cancel_stuck"
	FindNoTasks     = "missing_linked_tasks"
	FindBlockedTask = "blocked_task_missing"
	FindTimestamps  = "inconsistent_timestamps"
)

// FindCodes are all of them.
func FindCodes() []string {
	return []string{FindRestore, FindRunning, FindWaiting, FindBlocked, FindCancel, FindNoTasks, FindBlockedTask, FindTimestamps}
}

// KindFlow is the kind of a finding about a flow.
const KindFlow = "task_flow"

// Finding is one thing about a flow that somebody may have to look at;
// spec/tasks-recovery.md 1.7, 1.9.
type Finding struct {
	Severity task.Severity
	Code     string
	Detail   string
	Age      time.Duration // since its last change
	Hint     string        // the command that repairs it
	Flow     Flow
}

// RestoreFailed is the finding about a ledger that could not be read.
func RestoreFailed(err error) Finding {
	return Finding{Severity: task.SeverityError, Code: FindRestore, Detail: "the ledger of flows could not be read: " + err.Error(), Hint: "claw doctor says what is wrong with it"}
}

// Audit is what there is to find about one flow and the tasks linked to it, in
// the order of the table of spec/tasks-recovery.md 1.9.
func Audit(f Flow, linked []task.Task, now time.Time) []Finding {
	age := max(0, now.Sub(f.UpdatedAt))
	var found []Finding
	add := func(s task.Severity, code, detail, hint string) {
		found = append(found, Finding{Severity: s, Code: code, Detail: detail, Age: age, Hint: hint, Flow: f})
	}
	open, stale := !f.Terminal(), age >= Stale
	look := "claw tasks flow show " + f.ID + "; claw tasks flow cancel " + f.ID + " ends it"
	if open && stale {
		switch f.Status {
		case Running:
			add(task.SeverityError, FindRunning, "it has not changed for "+process.HumanDuration(age), look)
		case Waiting:
			add(task.SeverityWarn, FindWaiting, "it has waited for "+process.HumanDuration(age), look)
		case Blocked:
			add(task.SeverityWarn, FindBlocked, "it has been blocked for "+process.HumanDuration(age), look)
		}
	}
	if f.Cancelling() && now.Sub(f.CancelRequestedAt) >= CancelStuck && Active(linked) == 0 {
		add(task.SeverityWarn, FindCancel, "it was to be cancelled, and nothing of it goes on", applyHint)
	}
	if open && stale && f.SyncMode == Managed && len(linked) == 0 && f.WaitJSON == nil && f.BlockedTaskID == "" && f.BlockedSummary == "" {
		severity := task.SeverityWarn
		if f.Status == Running {
			severity = task.SeverityError
		}
		add(severity, FindNoTasks, "no task is linked to it, and it does not say what it waits for", look)
	}
	if f.EndedAt.IsZero() && f.BlockedTaskID != "" && !slices.ContainsFunc(linked, func(t task.Task) bool { return t.ID == f.BlockedTaskID }) {
		add(task.SeverityWarn, FindBlockedTask, "the task that blocks it is not one of its own: "+f.BlockedTaskID, "claw tasks flow cancel "+f.ID)
	}
	if why := inversion(f); why != "" {
		add(task.SeverityWarn, FindTimestamps, why, applyHint)
	}
	return found
}

const applyHint = "claw tasks maintenance --apply"

// inversion says which of the times cannot be.
func inversion(f Flow) string {
	var parts []string
	if f.UpdatedAt.Before(f.CreatedAt) {
		parts = append(parts, "it changed before it was created")
	}
	if !f.EndedAt.IsZero() && f.EndedAt.Before(f.CreatedAt) {
		parts = append(parts, "it ended before it was created")
	}
	if !f.EndedAt.IsZero() && f.EndedAt.Before(f.UpdatedAt) {
		parts = append(parts, "it changed after its end")
	}
	return strings.Join(parts, "; ")
}
