// Package subagent is what claw knows of work that one agent gives to another:
// runs, which have a session of their own, and completions, which have nothing but
// an answer (seed 004; spec/tasks-recovery.md section 6).
//
//	queued ─▶ running ─▶ ended (ok, error, timeout, unknown)
//	   ▲         │
//	   └─────────┘  the agent did nothing, or was cut off and is resumed
//
// A run that is to be told of has an Announce, which lives on when the run has
// ended, whatever becomes of it: pending until the requester's session has it,
// suspended when that cannot be for too long, discarded when there is nobody to
// tell any more.
package subagent
