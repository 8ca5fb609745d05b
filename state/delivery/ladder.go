package delivery

import "time"

// The limits of spec/tasks-recovery.md 2.6.
const (
	// MaxAttempts is how often one message is tried by itself.
	MaxAttempts = 5
	// MaxAge is how old a message may be and still be sent by itself: what is
	// older waits for a person.
	MaxAge = 72 * time.Hour
	// MaxText is how many bytes of text a message has at most.
	MaxText = 64 << 10
	// MaxReceipt is how many bytes of a channel's answer are kept.
	MaxReceipt = 4 << 10
)

// The first and the longest wait for a channel that is not ready.
const (
	firstDefer   = time.Minute
	longestDefer = 10 * time.Minute
)

// Ladder is the wait after so many charged attempts: 5 s, 25 s, 2 min, and
// 10 min from then on. Before the first there is none.
func Ladder(attempts int) time.Duration {
	switch {
	case attempts <= 0:
		return 0
	case attempts == 1:
		return 5 * time.Second
	case attempts == 2:
		return 25 * time.Second
	case attempts == 3:
		return 2 * time.Minute
	}
	return 10 * time.Minute
}

// deferral is the wait for a channel that cannot be tried at all: as long
// again as the message has waited already, within bounds.
func deferral(d Delivery, now time.Time) time.Duration {
	return max(firstDefer, min(now.Sub(d.since()), longestDefer))
}

// since is when the message was written, or a person last asked for it.
func (d Delivery) since() time.Time {
	if d.RetriedAt.After(d.CreatedAt) {
		return d.RetriedAt
	}
	return d.CreatedAt
}

// TooOld tells a message that is not sent by itself any more. One without a
// time is.
func TooOld(d Delivery, now time.Time) bool {
	return d.State == Pending && now.Sub(d.since()) >= MaxAge
}

// Due tells whether an attempt, or for an unknown outcome a question to the
// channel, may be made now.
func Due(d Delivery, now time.Time) bool {
	at, waits := Next(d)
	return waits && !at.After(now)
}

// Next is when there is something to do for d by itself: zero is at once. False
// when there is nothing: it has ended, or an attempt is going on.
func Next(d Delivery) (at time.Time, waits bool) {
	switch {
	case d.State == Pending:
		return d.NextAt, true
	case d.State == Unknown && d.Asked < MaxAttempts:
		return d.NextAt, true
	}
	return time.Time{}, false
}
