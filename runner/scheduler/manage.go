package scheduler

import (
	"context"
	"encoding/json"
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
	// Forbidden: whoever asks may not, see Scheduler.Actor.
	Forbidden bool
}

func (e *Refused) Error() string { return e.Text }

// Remedy says what can be done instead.
func (e *Refused) Remedy() string { return e.Hint }

// Add makes an automation of what somebody wrote. Its ID is made here; its name
// must be free. One with a DeclarationKey that exists already is changed to
// what was written, and keeps its history: only another schedule moves its
// slots. Nothing is written when that is what it is already. The error is an
// *automation.Error or a *Refused.
func (s *Scheduler) Add(ctx context.Context, a automation.Automation) (automation.Automation, automation.Change, error) {
	wanted := s.placed(a)
	var made automation.Automation
	var change automation.Change
	err := s.manage(ctx, func(tx *state.Tx) error {
		old, err := byKey(tx, wanted.DeclarationKey)
		if err != nil {
			return err
		}
		if old.Rev == 0 {
			change = automation.Added
			made, err = s.make(tx, wanted)
			return err
		}
		made, change, err = s.upsert(tx, old, wanted)
		return err
	})
	return made, change, err
}

// placed resolves the session "current" to the one of whoever asks; without one
// the automation has a session of its own (spec/heartbeat-automations.md 2.1).
func (s *Scheduler) placed(a automation.Automation) automation.Automation {
	if a.SessionTarget != "current" {
		return a
	}
	a.SessionTarget, a.SessionKey = "isolated", ""
	if s.Session != "" {
		a.SessionKey = s.Session
		a.SessionTarget = "session:" + strings.TrimPrefix(s.Session, "session:")
	}
	return a
}

// make writes a new automation.
func (s *Scheduler) make(tx *state.Tx, a automation.Automation) (automation.Automation, error) {
	a, err := s.makeable(a, tx.Now())
	if err == nil {
		err = nameFree(tx, a)
	}
	if err != nil {
		return a, err
	}
	if a.ID, err = nextID(tx); err != nil {
		return a, err
	}
	a = automation.New(a, tx.Now())
	return a, state.Automations.Add(tx, a.ID, a)
}

// nextID is an id that sorts behind those of what was made just before, so that
// a list has what a script or an import makes in its order.
func nextID(tx *state.Tx) (string, error) {
	rows, err := state.Automations.All(tx)
	at := tx.Now()
	for _, row := range rows {
		if made, ok := ulid.Time(row.ID); ok && made.Sub(at).Abs() < time.Second && !made.Before(at.Truncate(time.Millisecond)) {
			at = made.Add(time.Millisecond)
		}
	}
	return ulid.New(at), err
}

// makeable is a new automation that may be made, its name aside.
func (s *Scheduler) makeable(a automation.Automation, now time.Time) (automation.Automation, error) {
	a, err := s.allowed(nil, a)
	if err == nil {
		err = automation.Validate(a, now, s.Zone)
	}
	return a, err
}

// upsert makes an automation what was written under its key.
func (s *Scheduler) upsert(tx *state.Tx, old state.Row[automation.Automation], a automation.Automation) (automation.Automation, automation.Change, error) {
	if err := s.mayEdit(old.Rec); err != nil {
		return a, "", err
	}
	a.ID = old.ID
	a, err := s.allowed(&old.Rec, a)
	if err == nil {
		err = s.valid(old.Rec, a, tx.Now())
	}
	if err == nil {
		err = nameFree(tx, a)
	}
	if err != nil {
		return a, "", err
	}
	a, runs, change := automation.Upsert(&old.Rec, a, tx.Now(), s.Zone)
	if change == automation.Unchanged {
		return old.Rec, change, nil
	}
	return a, change, s.put(tx, old, a, runs)
}

// valid checks a changed automation. The time of a one-shot that is past is no
// reason against another change.
func (s *Scheduler) valid(old, a automation.Automation, now time.Time) error {
	if a.Schedule.Kind == automation.KindAt && automation.SameSchedule(old.Schedule, a.Schedule) {
		a.Schedule.At = now
	}
	return automation.Validate(a, now, s.Zone)
}

// byKey is the automation with a declaration key; revision 0 when there is
// none.
func byKey(tx *state.Tx, key string) (state.Row[automation.Automation], error) {
	if key == "" {
		return state.Row[automation.Automation]{}, nil
	}
	rows, err := state.Automations.All(tx)
	for _, row := range rows {
		if row.Rec.DeclarationKey == key {
			return row, err
		}
	}
	return state.Row[automation.Automation]{}, err
}

// nameFree refuses a name, and a declaration key, that another automation has.
func nameFree(tx *state.Tx, a automation.Automation) error {
	rows, err := state.Automations.All(tx)
	for _, row := range rows {
		if row.ID != a.ID && a.DeclarationKey != "" && row.Rec.DeclarationKey == a.DeclarationKey {
			return keyTaken(row.Rec)
		}
		if row.ID != a.ID && strings.EqualFold(row.Rec.Name, a.Name) {
			return nameTaken(row.Rec)
		}
	}
	return err
}

func keyTaken(by automation.Automation) error {
	return &Refused{Text: "the declaration key " + by.DeclarationKey + " is that of " + by.Name, Hint: "give another --declaration-key"}
}

func nameTaken(by automation.Automation) error {
	return &Refused{Text: "there is an automation called " + by.Name + " already", Hint: "give another --name, or change that one: claw cron edit " + by.Name}
}

// Edit changes an automation as change does it; the ID, the state and the time
// of creation stay. Only a changed schedule moves its slots. change is given a
// copy, and may be called more than once. An automation that is changed during
// its run keeps the change. The error is the one of change, an
// *automation.Error or a *Refused.
func (s *Scheduler) Edit(ctx context.Context, query string, change func(*automation.Automation) error) (a automation.Automation, err error) {
	err = s.manage(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err != nil {
			return err
		}
		if err := s.mayEdit(row.Rec); err != nil {
			return err
		}
		a, err = s.edited(tx, row, change)
		return err
	})
	return a, err
}

func (s *Scheduler) edited(tx *state.Tx, row state.Row[automation.Automation], change func(*automation.Automation) error) (automation.Automation, error) {
	next, err := s.editable(row, change, tx.Now())
	if err == nil {
		err = nameFree(tx, next)
	}
	if err != nil {
		return next, err
	}
	a, runs := automation.Edit(row.Rec, next, tx.Now(), s.Zone)
	return a, s.put(tx, row, a, runs)
}

// editable is an automation after a change that may be made, its name aside.
func (s *Scheduler) editable(row state.Row[automation.Automation], change func(*automation.Automation) error, now time.Time) (automation.Automation, error) {
	next, err := clone(row.Rec)
	if err == nil {
		err = change(&next)
	}
	if err != nil {
		return next, err
	}
	next.ID, next.Owner, next.Declared = row.ID, row.Rec.Owner, row.Rec.Declared
	next, err = s.allowed(&row.Rec, s.placed(next))
	if err == nil {
		err = s.valid(row.Rec, next, now)
	}
	return next, err
}

// clone is a copy that shares nothing.
func clone(a automation.Automation) (automation.Automation, error) {
	var out automation.Automation
	raw, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// put writes a changed automation, and what became of the slots that it was
// owed.
func (s *Scheduler) put(tx *state.Tx, old state.Row[automation.Automation], a automation.Automation, runs []automation.Run) error {
	if err := putRuns(tx, runs); err != nil {
		return err
	}
	return state.Automations.Put(tx, a.ID, old.Rev, a)
}

// manage is a transaction in which somebody changes automations: what claw.toml
// declares is there, and the next pass looks at everything.
func (s *Scheduler) manage(ctx context.Context, do func(tx *state.Tx) error) error {
	return s.Store.Update(ctx, func(tx *state.Tx) error {
		if _, err := s.converge(tx); err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return err
		}
		return stale(tx)
	})
}

// Enable switches an automation on, which also forgets its failures, or off.
// False when it stood so already.
func (s *Scheduler) Enable(ctx context.Context, query string, on bool) (a automation.Automation, changed bool, err error) {
	err = s.manage(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err == nil {
			err = s.mayTouch(row.Rec)
		}
		if err != nil {
			return err
		}
		if a, changed = row.Rec, row.Rec.Enabled != on; !changed {
			return nil
		}
		next := a
		next.Enabled = on
		var runs []automation.Run
		a, runs = automation.Edit(row.Rec, next, tx.Now(), s.Zone)
		return s.put(tx, row, a, runs)
	})
	return a, changed, err
}

// Remove takes an automation away, and its reminders that have not been told
// (openclaw 18880). A run that goes on ends as it would; what waits does not
// begin. The records of its runs stay.
func (s *Scheduler) Remove(ctx context.Context, query string) (a automation.Automation, err error) {
	err = s.manage(ctx, func(tx *state.Tx) error {
		row, err := resolve(tx, query)
		if err == nil {
			err = s.mayRemove(row.Rec)
		}
		if err != nil {
			return err
		}
		a = row.Rec
		if err := state.Automations.Delete(tx, row.ID, row.Rev); err != nil {
			return err
		}
		return retire(tx, ContextKey(a.ID))
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
