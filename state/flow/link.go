package flow

import (
	"cmp"
	"slices"

	"claw/state/task"
)

// LinkCode is why a task is not linked to a flow.
type LinkCode string

// The codes: those of spec/tasks-recovery.md 3.4, and claw's own.
const (
	LinkScope     LinkCode = "scope_kind_not_session"
	LinkNoFlow    LinkCode = "parent_flow_not_found"
	LinkOwner     LinkCode = "owner_key_mismatch"
	LinkCancel    LinkCode = "cancel_requested"
	LinkTerminal  LinkCode = "terminal"
	LinkMirrored  LinkCode = "not_managed"
	LinkConflict  LinkCode = "revision_conflict"
	LinkNoBacking LinkCode = "backing_not_found"
	LinkEnded     LinkCode = "backing_ended"
	LinkElsewhere LinkCode = "linked_elsewhere"
	LinkPersist   LinkCode = "persist_failed"
)

// Why a task is not linked, word for word where the spec has words.
const (
	ReasonNoFlow       = "Flow not found."
	ReasonMirrored     = "Flow does not accept managed child tasks."
	ReasonCancel       = "Flow cancellation has already been requested."
	ReasonPersist      = "Task persistence failed."
	ReasonConflict     = "Flow changed meanwhile."
	ReasonNoBacking    = "No task of this owner is that work."
	ReasonStillActive  = "One or more child tasks are still active."
	ReasonMeanwhile    = "Flow changed while cancellation was in progress."
	reasonScope        = "Task does not belong to a session."
	reasonOwner        = "Task belongs to another owner."
	reasonElsewhere    = "Task is part of another flow."
	reasonBackingEnded = "Task is already "
)

// AlreadyReason is why nothing becomes of a flow that has ended.
func AlreadyReason(f Flow) string { return "Flow is already " + string(f.Status) + "." }

// Linked is the answer to a wish to link a task; nothing was written unless it
// is Created.
type Linked struct {
	Created bool       `json:"created"`
	Found   bool       `json:"found"` // whether there is such a flow
	Code    LinkCode   `json:"code,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Flow    *Flow      `json:"flow,omitempty"`
	Task    *task.Task `json:"task,omitempty"`
}

// Claim is what a controller says of work that exists. Empty fields do not
// narrow; what is said must be true: a copied key or an invented run gives no
// authority over anything.
type Claim struct {
	TaskID          string
	RunID           string
	ChildSessionKey string
	Runtime         task.Runtime
}

func (c Claim) fits(t task.Task) bool {
	return (c.TaskID == "" || c.TaskID == t.ID) && (c.RunID == "" || c.RunID == t.RunID) &&
		(c.ChildSessionKey == "" || c.ChildSessionKey == t.ChildSessionKey) && (c.Runtime == "" || c.Runtime == t.Runtime)
}

// Backing is the index of the task that a claim is about; -1: there is none. Of
// several the oldest counts, then the least id: a task that is there already is
// used again before one that has come later (spec/tasks-recovery.md 3.4).
func Backing(rows []task.Task, c Claim) int {
	best := -1
	if c.TaskID == "" && c.RunID == "" {
		return best
	}
	for i, t := range rows {
		if c.fits(t) && (best < 0 || cmp.Or(t.CreatedAt.Compare(rows[best].CreatedAt), cmp.Compare(t.ID, rows[best].ID)) < 0) {
			best = i
		}
	}
	return best
}

// Accepts is why f takes no tasks, or no more; empty: it does. expect is the
// revision that the controller has seen; nil: any.
func Accepts(f Flow, expect *int64) (LinkCode, string) {
	switch {
	case f.SyncMode != Managed:
		return LinkMirrored, ReasonMirrored
	case expect != nil && *expect != f.Revision:
		return LinkConflict, ReasonConflict
	case f.Terminal():
		return LinkTerminal, AlreadyReason(f)
	case f.Cancelling():
		return LinkCancel, ReasonCancel
	}
	return "", ""
}

// CanLink is why t, as it really is, cannot become part of f, which takes tasks;
// empty: it can. One that is part of it already may be told again, also when it
// has ended: nothing starts anew.
func CanLink(f Flow, t task.Task) (LinkCode, string) {
	switch {
	case t.ScopeKind != task.ScopeSession:
		return LinkScope, reasonScope
	case t.OwnerKey != f.OwnerKey:
		return LinkOwner, reasonOwner
	case t.ParentFlowID == f.ID:
		return "", ""
	case t.ParentFlowID != "":
		return LinkElsewhere, reasonElsewhere
	case t.Status.Terminal():
		return LinkEnded, reasonBackingEnded + string(t.Status) + "."
	}
	return "", ""
}

// Of gives the tasks among rows that are linked to a flow, newest first.
func Of(rows []task.Task, flowID string) []task.Task {
	var all []task.Task
	for _, t := range rows {
		if t.ParentFlowID == flowID {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, task.Newest)
	return all
}
