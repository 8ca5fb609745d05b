package subagent

import (
	"slices"
	"time"
)

// The ladder of spec/tasks-recovery.md 6.5.
const (
	ladderFirst   = time.Second
	ladderLast    = 30 * time.Second
	ladderTries   = 5
	Expiry        = 10 * time.Minute // from the end of the run
	KeepSuspended = 6 * time.Hour

	softCap, hardCap, pruneTo = 25, 50, 10
)

// Rung is how long to wait after the nth failed attempt, from 1; jitter is from 0
// to 1, and makes it between half of that and all of it.
func Rung(n int, jitter float64) time.Duration {
	d := ladderLast
	if n < 6 {
		d = min(ladderLast, ladderFirst<<(max(n, 1)-1))
	}
	return d/2 + time.Duration(min(max(jitter, 0), 1)*float64(d/2))
}

// Door is whether a requester's session may be told.
type Door string

// The doors.
const (
	Open   Door = "open"
	Closed Door = "closed" // not now: nothing begins in it
	Gone   Door = "gone"   // never again: it was removed, or begun anew
)

// Attempt is a after a look at the door that did not let it in; with Open it is
// returned as it is. A look at a suspended one costs nothing.
func (a Announce) Attempt(d Door, why string, ended, now time.Time, jitter float64) Announce {
	suspended := a.State == Suspended
	switch {
	case d == Open || !suspended && !a.Due():
		return a
	case d == Gone:
		a.State, a.Why, a.EndedAt, a.NextAt = Discarded, why, now, time.Time{}
	case suspended && now.Sub(a.EndedAt) >= KeepSuspended:
		a.State, a.EndedAt = Discarded, now
	case suspended:
	default:
		a.Attempts++
		a.Why = why
		switch since := now.Sub(ended); {
		case a.Attempts >= ladderTries:
			a.State, a.Why, a.EndedAt, a.NextAt = Suspended, "retry-limit: "+why, now, time.Time{}
		case since >= Expiry:
			a.State, a.Why, a.EndedAt, a.NextAt = Suspended, "expiry: "+why, now, time.Time{}
		default:
			a.State, a.NextAt = Failing, now.Add(Rung(a.Attempts, jitter))
		}
	}
	return a
}

// Told is a when the requester's session has it.
func (a Announce) Told(eventID string, now time.Time) Announce {
	a.State, a.EventID, a.EndedAt, a.NextAt, a.Why = Delivered, eventID, now, time.Time{}, ""
	return a
}

// Surplus are the ids of suspended ones that are discarded because there are too
// many: beyond the hard bound all but the newest few, else what is beyond the soft
// one.
func Surplus(all []Run) []string {
	var held []Run
	for _, r := range all {
		if r.Announce.State == Suspended {
			held = append(held, r)
		}
	}
	keep := softCap
	if len(held) > hardCap {
		keep = pruneTo
	}
	if len(held) <= keep {
		return nil
	}
	slices.SortFunc(held, func(a, b Run) int { return a.Announce.EndedAt.Compare(b.Announce.EndedAt) })
	var ids []string
	for _, r := range held[:len(held)-keep] {
		ids = append(ids, r.ID)
	}
	return ids
}
