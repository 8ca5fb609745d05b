package boot

import "time"

// Trips unclean boots within Window trip the breaker.
const (
	Trips  = 3
	Window = 300_000 * time.Millisecond
)

// Breaker is what the rows say about starting now.
type Breaker struct {
	Mode    Mode     // Normal or Safe
	Unclean []string // ids of the boots that count, as given
	// Trip: it was not in safe mode before, so that this is the moment to say
	// so to a person.
	Trip bool
	// Until is when safe mode ends if nothing more happens; zero in Normal.
	Until time.Time
	// Recovered are the ids of boots whose safe mode is over and that do not say
	// so yet: Recover each of them.
	Recovered []string
}

// Assess judges the rows at now. self is the boot that asks, or the one that
// is alive: it is open because it lives. "" when there is none.
//
// Three unclean boots within the last 300,000 ms (a boot at exactly that age
// counts) mean safe mode. It is latched: a boot that began in it keeps it
// alive, also after its own end, until one millisecond more than that has
// passed since the last unclean boot. An unclean boot that is still to come
// counts from the other side, within the same span: that is a clock that was
// set back.
func Assess(boots []Boot, self string, now time.Time) Breaker {
	var b Breaker
	var latest time.Time
	for _, one := range boots {
		at, bad := unclean(one)
		if !bad || one.ID == self || !within(at, now) {
			continue
		}
		b.Unclean = append(b.Unclean, one.ID)
		if at.After(latest) {
			latest = at
		}
	}
	latched := latches(boots)
	switch {
	case len(b.Unclean) >= Trips:
		b.Mode, b.Trip = Safe, len(latched) == 0
	case len(b.Unclean) > 0 && len(latched) > 0:
		b.Mode = Safe
	default:
		b.Mode = Normal
		b.Recovered = latched
		return b
	}
	b.Until = latest.Add(Window + time.Millisecond)
	return b
}

// latches are the boots that began in safe mode and have not seen its end.
func latches(boots []Boot) []string {
	var ids []string
	for _, b := range boots {
		if b.StartupReason == CrashLoop && b.RecoveredAt.IsZero() {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func within(at, now time.Time) bool {
	age := now.Sub(at)
	return age <= Window && age >= -Window
}

// unclean tells a boot that counts against the next ones, and since when. A
// forced stop is one that somebody wanted; a refusal is no failure.
func unclean(b Boot) (at time.Time, yes bool) {
	switch b.Outcome {
	case Open:
		return b.StartedAt, true
	case StartupFailed:
		return b.CompletedAt, !refusal(b.Reason)
	}
	return time.Time{}, false
}

func refusal(reason string) bool {
	switch reason {
	case ReasonAlreadyRunning, ReasonNewerFormat, ReasonDraining:
		return true
	}
	return false
}

// Recover notes that the safe mode is over which b began with. It says so once.
func (b Boot) Recover(now time.Time) Boot {
	if b.StartupReason == CrashLoop && b.RecoveredAt.IsZero() {
		b.RecoveredAt = now
	}
	return b
}
