package automation

import "time"

// AgendaID is the id of the only row of ledgers/agenda.jsonl.
const AgendaID = "agenda"

// AgendaAge is how long an agenda is believed: the host's zone may change, and
// nobody writes that down here.
const AgendaAge = time.Hour

// Agenda is the only row of ledgers/agenda.jsonl: what is known about all
// automations together, so that a tick with nothing to do need not read them.
// Whoever writes an automation or a run writes it in the same transaction.
type Agenda struct {
	At   time.Time `json:"at"`             // when this was known
	Next time.Time `json:"next,omitzero"`  // when there is something to do by the clock; zero: never
	Open int       `json:"open,omitempty"` // runs that are queued or running
	// Furthest is the latest time at which anything was decided. Only before it
	// can a slot have been decided already, by a clock that was set back since.
	Furthest time.Time `json:"furthest,omitzero"`
	Stale    bool      `json:"stale,omitempty"` // somebody has changed an automation
	// Sources is how many automations are run by something else than the clock.
	// While there are any, a pass looks at ledgers/sources.jsonl too.
	Sources int `json:"sources,omitempty"`
	// Declared is the digest of all [[automation]] tables that were converged.
	Declared string `json:"declared,omitempty"`
}

// Quiet tells that there is nothing to do at now, as far as the agenda knows.
func (a Agenda) Quiet(now time.Time) bool {
	age := now.Sub(a.At)
	return !a.Stale && a.Open == 0 && age >= 0 && age < AgendaAge && (a.Next.IsZero() || now.Before(a.Next))
}
