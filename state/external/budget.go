package external

import (
	"slices"
	"strings"
	"time"
)

// Budget is what may run at once; spec/tasks-recovery.md 5.3.
type Budget struct {
	Max      int  // turns of automations and hooks together; 0: no limit
	Reserved bool // one of them is kept for webhooks, for they are listened to
	Others   int  // turns of automations that run now
}

// Work is who runs now, and what a pass has to do.
type Work struct {
	Start  []string  // ids, first accepted first
	Refuse []string  // ids of those that are too late
	Next   time.Time // when there is something to do by the clock; zero: never
}

// Plan says what may begin: of each session the first that was accepted and has
// not ended, if nothing of the session runs; first in, first out among those, as
// far as there is a place. One that waits for a place does not keep one of
// another lane from it. inHand tells those whose turn is about to be admitted.
// all are in the order of their acceptance.
func Plan(all []Dispatch, b Budget, inHand func(id string) bool, now time.Time) Work {
	var w Work
	u := Use(all, inHand)
	taken := map[string]bool{} // sessions, by their canonical key
	for _, d := range all {
		if d.Status == Running || d.Status == Queued && inHand(d.ID) {
			taken[canonical(d.SessionKey)] = true
		}
	}
	for _, d := range all {
		switch {
		case d.Status != Queued || inHand(d.ID):
			continue
		case d.Late(now):
			w.Refuse = append(w.Refuse, d.ID)
			continue
		}
		w.wakeAt(d.Deadline)
		key := canonical(d.SessionKey)
		switch {
		case taken[key]:
		case d.NotBefore.After(now):
			w.wakeAt(d.NotBefore)
		case b.place(u, d.Lane):
			u.add(d.Lane)
			w.Start = append(w.Start, d.ID)
		}
		taken[key] = true // those behind it wait for it
	}
	return w
}

// canonical: two spellings of a key are one session's.
func canonical(key string) string { return strings.ToLower(key) }

func (w *Work) wakeAt(at time.Time) {
	if !at.IsZero() && (w.Next.IsZero() || at.Before(w.Next)) {
		w.Next = at
	}
}

// Used is how many turns of hooks run now.
type Used struct{ CLI, HTTP int }

// Use counts them.
func Use(all []Dispatch, inHand func(id string) bool) Used {
	var u Used
	for _, d := range all {
		if d.Status == Running || d.Status == Queued && inHand(d.ID) {
			u.add(d.Lane)
		}
	}
	return u
}

func (u *Used) add(l Lane) {
	if l == LaneHTTP {
		u.HTTP++
	} else {
		u.CLI++
	}
}

// Taken is how many places are taken from those that a lane other than that of
// webhooks may have: the reserved one counts even if it is free. With one place
// alone nothing can be reserved.
func (b Budget) Taken(u Used) int {
	http := u.HTTP
	if b.Reserved && b.Max != 1 {
		http = max(1, http)
	}
	return u.CLI + http
}

// place tells that one more may run.
func (b Budget) place(u Used, l Lane) bool {
	switch {
	case b.Max <= 0:
		return true
	case l == LaneHTTP:
		return b.Others+u.CLI+u.HTTP < b.Max
	}
	return b.Others+b.Taken(u) < b.Max
}

// Ordered puts dispatches in the order of their acceptance.
func Ordered(all []Dispatch) []Dispatch {
	slices.SortStableFunc(all, func(a, b Dispatch) int { return strings.Compare(a.ID, b.ID) })
	return all
}
