package task

import "time"

// SetPolicy is t with another notify policy (spec/tasks-recovery.md 1.7). One
// that has ended keeps its times: it only stops, or goes on, to count as
// something that somebody should have been told.
func SetPolicy(t Task, p NotifyPolicy, now time.Time) Task {
	t.NotifyPolicy = p
	if t.Status.Active() && now.After(t.LastEventAt) {
		t.LastEventAt = now
	}
	return t
}

// Untold is why nobody will be told about t whatever its policy; empty:
// somebody will be.
func Untold(t Task) string {
	switch {
	case t.Status.Terminal():
		return "it has ended: nobody is told of it any more"
	case t.Runtime == Cron:
		return "its automation tells of its runs, not its task"
	case t.OwnerKey == "" && t.RequesterOrigin.IsZero():
		return "it belongs to nobody who could be told"
	}
	return ""
}
