package scheduler

import (
	"context"
	"strings"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/ulid"
)

// Refused is a wish about an automation that is not granted; nothing has
// changed.
type Refused struct {
	Text string
	Hint string
	// Missing: there is no such automation; Ambiguous: there are several.
	Missing, Ambiguous bool
}

func (e *Refused) Error() string { return e.Text }

// Remedy says what can be done instead.
func (e *Refused) Remedy() string { return e.Hint }

// Add makes an automation of what a person wrote. Its ID is made here; its
// name must be free. The error is an *automation.Error or a *Refused.
func (s *Scheduler) Add(ctx context.Context, a automation.Automation) (automation.Automation, error) {
	now := s.Clock.Now()
	if err := automation.Validate(a, now, s.Zone); err != nil {
		return a, err
	}
	a.ID = ulid.New(now)
	a = automation.New(a, now)
	err := s.Store.Update(ctx, func(tx *state.Tx) error {
		rows, err := state.Automations.All(tx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if strings.EqualFold(row.Rec.Name, a.Name) {
				return &Refused{Text: "there is an automation called " + row.Rec.Name + " already", Hint: "give another --name, or remove it first: claw cron rm " + row.Rec.Name}
			}
		}
		if err := state.Automations.Add(tx, a.ID, a); err != nil {
			return err
		}
		return stale(tx)
	})
	return a, err
}

// Enable switches an automation on, which also forgets its failures, or off.
// False when it stood so already.
func (s *Scheduler) Enable(ctx context.Context, query string, on bool) (a automation.Automation, changed bool, err error) {
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err != nil {
			return err
		}
		if a = row.Rec; a.Enabled == on {
			changed = false
			return nil
		}
		next := a
		next.Enabled, changed = on, true
		var runs []automation.Run
		a, runs = automation.Edit(row.Rec, next, tx.Now(), s.Zone)
		for _, r := range runs {
			old, _, err := state.Runs.Get(tx, r.ID)
			if err != nil {
				return err
			}
			if err := state.Runs.Put(tx, r.ID, old.Rev, r); err != nil {
				return err
			}
		}
		if err := state.Automations.Put(tx, row.ID, row.Rev, a); err != nil {
			return err
		}
		return stale(tx)
	})
	return a, changed, err
}

// Remove takes an automation away, and its reminders that have not been told.
// A run that goes on ends as it would; what waits does not begin. The records
// of its runs stay.
func (s *Scheduler) Remove(ctx context.Context, query string) (a automation.Automation, err error) {
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err != nil {
			return err
		}
		a = row.Rec
		if err := state.Automations.Delete(tx, row.ID, row.Rev); err != nil {
			return err
		}
		if err := retire(tx, ContextKey(a.ID)); err != nil {
			return err
		}
		return stale(tx)
	})
	return a, err
}

// retire takes back what is queued under a key.
func retire(tx *state.Tx, key string) error {
	rows, err := state.Events.All(tx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		ev := row.Rec
		if ev.ContextKey != key || ev.State != event.Queued {
			continue
		}
		ev.State, ev.EndedAt = event.Retired, tx.Now()
		if err := state.Events.Put(tx, row.ID, row.Rev, ev); err != nil {
			return err
		}
	}
	return nil
}

// Run queues a run by hand. It takes no slot and shifts no cadence; whoever
// makes the next pass starts it. A *Refused says that one goes on already.
func (s *Scheduler) Run(ctx context.Context, query string) (r automation.Run, err error) {
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err != nil {
			return err
		}
		open, err := openRuns(tx)
		if err != nil {
			return err
		}
		var code automation.Code
		r, code = automation.Manual(row.Rec, row.ID+"@"+ulid.New(tx.Now()), open, tx.Now())
		if code != "" {
			return &Refused{Text: row.Rec.Name + " has a run that has not ended", Hint: "look at it: claw cron runs " + row.Rec.Name}
		}
		if err := state.Runs.Add(tx, r.ID, r); err != nil {
			return err
		}
		return stale(tx)
	})
	return r, err
}

func openRuns(tx *state.Tx) ([]automation.Run, error) {
	rows, err := state.Runs.All(tx)
	var open []automation.Run
	for _, row := range rows {
		if row.Rec.Status.Open() {
			open = append(open, row.Rec)
		}
	}
	return open, err
}

// minPrefix is how much of an id or a name is enough, if it fits only one.
const minPrefix = 4

// resolve finds the automation that a person means: by its name, its id, or a
// beginning of either that fits only one.
func resolve(tx *state.Tx, query string) (state.Row[automation.Automation], error) {
	rows, err := state.Automations.All(tx)
	if err != nil {
		return state.Row[automation.Automation]{}, err
	}
	var found []state.Row[automation.Automation]
	for _, row := range rows {
		if row.ID == query || row.Rec.Name == query {
			return row, nil
		}
		if len(query) >= minPrefix && (begins(row.ID, query) || begins(row.Rec.Name, query)) {
			found = append(found, row)
		}
	}
	switch len(found) {
	case 0:
		return state.Row[automation.Automation]{}, &Refused{Missing: true, Text: "there is no automation " + quote(query), Hint: "claw cron list shows those there are"}
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, row := range found {
		names[i] = row.Rec.Name
	}
	return state.Row[automation.Automation]{}, &Refused{Ambiguous: true, Text: quote(query) + " fits several automations: " + strings.Join(names, ", "), Hint: "write more of the name"}
}

func begins(s, with string) bool {
	return len(s) >= len(with) && strings.EqualFold(s[:len(with)], with)
}

func quote(s string) string { return "\"" + s + "\"" }

// Entry is an automation as a list shows it.
type Entry struct {
	automation.Automation
	Words string           `json:"scheduleWords"`      // "every weekday at 09:00 Europe/Berlin"
	Next  time.Time        `json:"nextRunAt,omitzero"` // zero: nothing will come
	Open  []automation.Run `json:"openRuns,omitempty"` // queued or running
}

// List are the automations in order of their names. Nothing is written.
func (s *Scheduler) List() ([]Entry, error) {
	list := []Entry{}
	err := s.Store.View(func(tx *state.Tx) error {
		list = list[:0]
		rows, err := state.Automations.All(tx)
		if err != nil {
			return err
		}
		open, err := openRuns(tx)
		if err != nil {
			return err
		}
		by := map[string][]automation.Run{}
		for _, r := range open {
			by[r.AutomationID] = append(by[r.AutomationID], r)
		}
		for _, row := range rows {
			list = append(list, s.entry(row.Rec, by[row.ID], tx.Now()))
		}
		return nil
	})
	return list, err
}

func (s *Scheduler) entry(a automation.Automation, open []automation.Run, now time.Time) Entry {
	e := Entry{Automation: a, Open: open, Words: "its schedule cannot be computed"}
	if slots, err := a.Slots(s.Zone); err == nil {
		e.Words = slots.Words(time.Local)
	}
	e.Next, _ = automation.Upcoming(a, open, now, s.Zone)
	return e
}

// Find is the automation that a person means. The error is a *Refused.
func (s *Scheduler) Find(query string) (e Entry, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err != nil {
			return err
		}
		open, err := openRuns(tx)
		var mine []automation.Run
		for _, r := range open {
			if r.AutomationID == row.ID {
				mine = append(mine, r)
			}
		}
		e = s.entry(row.Rec, mine, tx.Now())
		return err
	})
	return e, err
}
