package delivery

import "time"

// The idempotency keys of spec/tasks-recovery.md 2.3. The same message has the
// same key for every attempt, also by hand, so that a channel that remembers
// keys tells nobody twice.

// KeyTaskEnd is the key of the message about a task's end; outcome may be
// empty.
func KeyTaskEnd(taskID, status, outcome string) string {
	return "task-terminal:" + taskID + ":" + status + ":" + orDefault(outcome)
}

// KeyTaskChange is the key of the message about one change of a task; kind is
// a status or "progress".
func KeyTaskChange(taskID string, at time.Time, kind string) string {
	return "task-event:" + taskID + ":" + stamp(at) + ":" + kind
}

// KeyFlowEnd is KeyTaskEnd for a task that belongs to a flow.
func KeyFlowEnd(flowID, taskID, status, outcome string) string {
	return "flow-terminal:" + flowID + ":" + taskID + ":" + status + ":" + orDefault(outcome)
}

// KeyFlowChange is KeyTaskChange for a task that belongs to a flow.
func KeyFlowChange(flowID, taskID string, at time.Time, kind string) string {
	return "flow-event:" + flowID + ":" + taskID + ":" + stamp(at) + ":" + kind
}

func orDefault(outcome string) string {
	if outcome == "" {
		return "default"
	}
	return outcome
}
