package automation

import "time"

// DeliveryStatus is what became of the message about a run. It never changes
// how the run itself ended (spec/heartbeat-automations.md 2.13).
type DeliveryStatus string

// The states of the message.
const (
	Delivered    DeliveryStatus = "delivered"
	NotDelivered DeliveryStatus = "not-delivered"
	DeliveryLost DeliveryStatus = "unknown"
	NotRequested DeliveryStatus = "not-requested" // there was nothing to tell, or nobody to tell it to
)

// StaleAfter is how long after its slot the result of a run is news.
const StaleAfter = 3 * time.Hour

// Stale tells that the result of a run comes too late to be announced at an
// instant (2.13). A run by hand is awaited by whoever started it, and one that
// was made up is as new as its start.
func Stale(r Run, at time.Time) bool {
	since := r.Slot
	if r.CatchUp && r.StartedAt.After(since) {
		since = r.StartedAt
	}
	return !r.Manual && !since.IsZero() && at.Sub(since) > StaleAfter
}

// Receipt notes what became of the message about a run that has ended, why in
// words where it is not delivered. done: the automation was to run once, and is
// done with now; the caller removes it. One whose message was not delivered
// stays, switched off, so that a person sees it (2.8).
func Receipt(a Automation, r Run, status DeliveryStatus, why string) (_ Automation, _ Run, done bool) {
	r.Delivery, r.DeliveryError = status, why
	if !r.EndedAt.Before(a.State.LastEndAt) { // else a later run has ended since
		a.State.LastDelivery, a.State.LastDeliveryError = status, why
	}
	fine := status == Delivered || status == NotRequested || a.bestEffort()
	once := a.Schedule.Kind == KindAt || a.Schedule.Kind == KindOnExit
	done = fine && once && a.DeleteAfterRun && !a.Enabled && !r.Manual &&
		r.Status == Succeeded && r.ScheduleRev == a.State.ScheduleRev
	return a, r, done
}

// The completions of a run: its execution and its message together.
const (
	CompletionSucceeded = "succeeded"
	CompletionFailed    = "failed"
	CompletionUnknown   = "unknown"
)

// Completion is how a run ended with its message counted in (2.8, 2.13):
// succeeded, failed, unknown, or empty while that is not known yet.
func (r Run) Completion() string {
	switch {
	case r.Status.Open():
		return ""
	case r.Status == Unknown:
		return CompletionUnknown
	case r.Status != Succeeded:
		return CompletionFailed
	case r.BestEffort || r.Delivery == Delivered || r.Delivery == NotRequested:
		return CompletionSucceeded
	case r.Delivery == NotDelivered:
		return CompletionFailed
	case r.Delivery == DeliveryLost:
		return CompletionUnknown
	case r.DeliveryID == "":
		return CompletionSucceeded // no message was intended
	}
	return ""
}
