package session

// The markers that begin the message of a wake, exactly as in
// spec/exec-process.md 5.1. The details follow after a blank line.
const (
	MarkerHeartbeat = "[OpenClaw heartbeat poll]"
	MarkerExec      = "[OpenClaw exec completion]"
	MarkerCron      = "[OpenClaw cron wake]"
	MarkerEvent     = "[OpenClaw session event]"
)

// Marker is what the message of a turn of a kind begins with; "" for what a
// person wrote.
func Marker(kind Kind) string {
	switch kind {
	case KindUser:
		return ""
	case KindHeartbeat:
		return MarkerHeartbeat
	case KindExec:
		return MarkerExec
	case KindCron:
		return MarkerCron
	}
	return MarkerEvent
}

// Compose is the whole message of a turn: the marker of its kind, a blank line
// and the text. What a person wrote is told as it is.
func Compose(kind Kind, text string) string {
	if marker := Marker(kind); marker != "" {
		return marker + "\n\n" + text
	}
	return text
}
