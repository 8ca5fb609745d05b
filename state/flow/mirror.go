package flow

import (
	"strings"
	"time"

	"claw/state/task"
)

// Mirrors tells a task that gets a flow of its own: work of an agent for a
// session that is told of its end, and part of no flow yet
// (spec/tasks-recovery.md 3.5).
func Mirrors(t task.Task) bool {
	agents := t.Runtime == task.ACP || t.Runtime == task.Subagent
	return agents && t.ScopeKind == task.ScopeSession && t.DeliveryStatus != task.DeliveryNotApplicable && t.ParentFlowID == "" && t.OwnerKey != ""
}

// FromTask is the mirrored flow of t, at revision 0. The task gets its id as
// ParentFlowID in the same transaction.
func FromTask(t task.Task, id string) Flow {
	f := Flow{
		ID: id, SyncMode: Mirrored, OwnerKey: t.OwnerKey, RequesterOrigin: t.RequesterOrigin, NotifyPolicy: t.NotifyPolicy,
		Goal: goalOf(t), CreatedAt: t.CreatedAt,
	}
	return f.follow(t)
}

// goalOf is the label of a task, else its text, as far as it may be kept.
func goalOf(t task.Task) string {
	goal := t.Label
	if goal == "" {
		goal = t.Task
	}
	if len(goal) > MaxText {
		goal = goal[:MaxText]
	}
	return strings.ToValidUTF8(goal, "")
}

// Sync is a mirrored flow after its task, and whether that is another one. t is
// the latest task that is linked to f, see Latest: an older one says nothing.
func Sync(f Flow, t task.Task) (Flow, bool) {
	next := f.follow(t)
	if next.same(f) {
		return f, false
	}
	next.Revision++
	return next, true
}

// follow is f with what t says of itself.
func (f Flow) follow(t task.Task) Flow {
	f.Status = statusOf(t)
	f.BlockedTaskID, f.BlockedSummary = "", ""
	if f.Status == Blocked {
		f.BlockedTaskID, f.BlockedSummary = t.ID, t.TerminalSummary
	}
	f.UpdatedAt, f.EndedAt = latest(f.CreatedAt, task.Reference(t)), time.Time{}
	if t.Status.Terminal() {
		f.EndedAt = latest(f.CreatedAt, t.EndedAt)
		if t.EndedAt.IsZero() {
			f.EndedAt = f.UpdatedAt
		}
		f.UpdatedAt = f.EndedAt
	}
	return f
}

// same tells flows that are equal but for their revision. What was heard of a
// task that goes on as before is no reason to write.
func (f Flow) same(g Flow) bool {
	return f.Status == g.Status && f.BlockedTaskID == g.BlockedTaskID && f.BlockedSummary == g.BlockedSummary && f.EndedAt.Equal(g.EndedAt) &&
		(f.EndedAt.IsZero() || f.UpdatedAt.Equal(g.UpdatedAt))
}

func statusOf(t task.Task) Status {
	switch t.Status {
	case task.Succeeded:
		if t.TerminalOutcome == task.OutcomeBlocked {
			return Blocked
		}
		return Succeeded
	case task.Failed, task.TimedOut:
		return Failed
	}
	return Status(t.Status) // queued, running, cancelled, lost
}

// LatestTask is the task among those linked to a flow that was linked last, by
// creation; false when there is none.
func LatestTask(linked []task.Task) (task.Task, bool) {
	var last task.Task
	for i, t := range linked {
		if i == 0 || task.Newest(t, last) < 0 {
			last = t
		}
	}
	return last, len(linked) > 0
}

// Active counts the tasks that have not ended.
func Active(linked []task.Task) int {
	n := 0
	for _, t := range linked {
		if t.Status.Active() {
			n++
		}
	}
	return n
}
