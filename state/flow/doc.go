// Package flow holds the record that ties several tasks into one piece of work
// which survives a restart, and the rules over it. It has no clock and does no
// I/O.
//
// A flow is managed, or mirrors one task. A managed one is created by a
// controller (a script, an agent) and changed by it alone: New, then Apply with
// the revision that the controller has seen. Whoever is too late gets a
// Rejection with the record as it is, and has changed nothing. A mirrored one
// follows its task (Sync) and takes no orders.
//
// Nothing here starts work, waits for it or wakes anybody. Link says whether a
// task that exists may be part of a flow. Waiting is a word in the record: who
// waits looks for himself.
//
//	queued ─┬─▶ running ─┬─▶ succeeded | failed       (Apply)
//	        ├─▶ waiting ─┤─▶ cancelled                (Close, once the wish is written
//	        └─▶ blocked ─┘                             and no child is active)
//
// Any status without an end may follow any other. What has an end is final, and
// the wish to cancel is never taken back: after it only cancelled is to come.
//
// Each applied write makes the revision greater by exactly one; every function
// here that returns a changed Flow has counted it already (spec/tasks-recovery.md
// section 3).
package flow
