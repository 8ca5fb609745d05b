package control

import (
	"cmp"
	"slices"

	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
)

// EventFilter narrows a list of events; empty fields do not.
type EventFilter struct {
	State    event.State
	Session  string
	Archived bool
}

// Events lists events, oldest first: the order in which they are shown.
func (c *Control) Events(f EventFilter) ([]event.Event, error) {
	events := []event.Event{}
	add := func(e event.Event) {
		if (f.State == "" || e.State == f.State) && (f.Session == "" || e.SessionKey == f.Session) {
			events = append(events, e)
		}
	}
	err := c.Store.View(func(tx *state.Tx) error {
		events = events[:0]
		rows, err := state.Events.All(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			add(r.Rec)
		}
		if !f.Archived {
			return nil
		}
		for r, err := range state.Events.Archived(tx) {
			if err != nil {
				return err
			}
			add(r.Rec)
		}
		return nil
	})
	slices.SortStableFunc(events, func(a, b event.Event) int { return cmp.Compare(a.ID, b.ID) })
	return events, err
}

// Output opens the output of a process that is listed or kept.
func (c *Control) Output(session string) (process.Process, *output.Reader, error) {
	p, err := c.FindKept(session, "No session found for "+session)
	if err != nil {
		return p, nil, err
	}
	out, err := output.Open(c.Store.ProcessDir(p.ID))
	if err != nil {
		return p, nil, &Refused{Kind: Missing, Err: err, Text: "The output of " + p.Slug + " is no longer kept."}
	}
	return p, out, nil
}

// Alive tells whether more output may come from process id.
func (c *Control) Alive(id string) bool {
	held, err := state.Held(settle.Lifeline(c.Store.ProcessDir(id)))
	return err == nil && held
}

// Session is the entry of p in a list.
func (c *Control) Session(p process.Process) Session { return c.session(p) }
