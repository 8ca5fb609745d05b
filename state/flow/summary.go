package flow

import "slices"

// Counts is what goes on among flows.
type Counts struct {
	Active    int `json:"active"`          // not ended, and not blocked
	Blocked   int `json:"blocked"`         // blocked, and can be gone on with
	Cancelled int `json:"cancelRequested"` // to be cancelled, and not ended
	Total     int `json:"total"`
}

// Count counts flows.
func Count(rows []Flow) Counts {
	var c Counts
	for _, f := range rows {
		c.Total++
		switch {
		case f.Terminal():
		case f.Status == Blocked:
			c.Blocked++
		default:
			c.Active++
		}
		if f.Cancelling() {
			c.Cancelled++
		}
	}
	return c
}

// Clone is f with values of its own.
func (f Flow) Clone() Flow {
	f.StateJSON, f.WaitJSON = slices.Clone(f.StateJSON), slices.Clone(f.WaitJSON)
	return f
}
