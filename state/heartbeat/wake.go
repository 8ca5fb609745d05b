package heartbeat

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"claw/state/delivery"
)

// The intents of a wake (spec/heartbeat-automations.md 1.4). Completions of
// commands are immediate: they wait neither for the cadence nor for a spacing
// (design.md 7).
const (
	IntentScheduled = "scheduled"
	IntentEvent     = "event"
	IntentImmediate = "immediate"
	IntentManual    = "manual"
	IntentTask      = "task"
)

// The sources of a wake that decisions ask for by name. There are others
// (hook, background-task, notifications-event, …): all that is none of the
// first three brings something to say with it.
const (
	SourceInterval = "interval"
	SourceManual   = "manual"
	SourceRetry    = "retry"
	SourceExec     = "exec-event"
	SourceCron     = "cron"
	SourceRestart  = "restart" // a continuation: it passes "heartbeat disable", too
)

// ReasonRequested stands for a reason that nobody gave.
const ReasonRequested = "requested"

// The retry floors after a skip that is tried again: a busy session is not
// asked every second (spec/heartbeat-automations.md 1.4).
const (
	ShortRetry = time.Second
	LongRetry  = time.Minute
)

// coalesceWindow is how long a wake waits for others.
const coalesceWindow = 250 * time.Millisecond

// Wake is one session that wants attention.
type Wake struct {
	Agent      string
	SessionKey string // empty: the agent's main session
	Source     string
	Reason     string
	Intent     string
	Route      delivery.Route // overrides where the reply goes; zero: as configured
	At         time.Time      // when it was asked for
}

// Carries tells a wake that has something to say by itself: an ended command,
// a reminder, content of a hook. A check that is due has not, neither has one
// by hand.
func Carries(source string) bool {
	switch source {
	case "", SourceInterval, SourceManual, SourceRetry:
		return false
	}
	return true
}

// Priority orders wakes for one session: 0 retry, 1 interval, 2 others, 3
// manual and immediate ones.
func (w Wake) Priority() int {
	reason := strings.TrimSpace(w.Reason)
	switch {
	case w.Intent == IntentManual || w.Intent == IntentImmediate:
		return 3
	case w.Source == SourceRetry || reason == SourceRetry:
		return 0
	case w.Source == SourceInterval || reason == SourceInterval:
		return 1
	}
	return 2
}

// Coalesce leaves one wake for each session of each agent: the one of highest
// priority, of equals the newest. One that replaces an earlier one takes over
// the route that it asked for, unless it has its own. The order is that of the first wake of each.
func Coalesce(pending []Wake) []Wake {
	pending = slices.Clone(pending)
	slices.SortStableFunc(pending, func(a, b Wake) int { return a.At.Compare(b.At) })
	var out []Wake
	for _, w := range pending {
		if strings.TrimSpace(w.Reason) == "" {
			w.Reason = ReasonRequested
		}
		i := slices.IndexFunc(out, func(o Wake) bool { return o.Agent == w.Agent && o.SessionKey == w.SessionKey })
		if i < 0 {
			out = append(out, w)
			continue
		}
		out[i] = merge(out[i], w)
	}
	return out
}

func merge(old, next Wake) Wake {
	if old.Priority() > next.Priority() {
		return old
	}
	next.Route = cmp.Or(next.Route, old.Route)
	return next
}

// Timer is when pending wakes are looked at. The zero value is not set.
type Timer struct {
	At    time.Time
	Retry bool // a hard floor: nothing makes it earlier
}

// Arm is the timer after one more wake at now, or with retry after a skip that
// is tried again in delay. A wake waits for others for 250 ms, an exec
// completion (delay 0) for none.
func (t Timer) Arm(now time.Time, delay time.Duration, retry bool) Timer {
	at := now.Add(delay)
	if !t.At.IsZero() && (t.Retry || !at.Before(t.At)) {
		return t
	}
	return Timer{At: at, Retry: retry}
}

// CoalesceDelay is how long a wake of this source waits for others.
func CoalesceDelay(source string) time.Duration {
	if source == SourceExec {
		return 0
	}
	return coalesceWindow
}

// RetryAfter is the floor before a wake that was skipped for this reason is
// tried again; ok is false for the reasons that are final.
func RetryAfter(reason string) (floor time.Duration, ok bool) {
	switch reason {
	case ReasonInFlight:
		return LongRetry, true
	case ReasonCronBusy, ReasonLanesBusy:
		return ShortRetry, true
	}
	return 0, false
}
