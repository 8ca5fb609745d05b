package session

// The markers that begin the message of a wake, exactly as in
// spec/exec-process.md 5.1. The details follow after a blank line.
const (
	MarkerHeartbeat = "[OpenClaw heartbeat poll]"
	MarkerExec      = "[OpenClaw exec completion]"
	MarkerCron      = "[OpenClaw cron wake]"
	MarkerEvent     = "[OpenClaw session event]"
)
