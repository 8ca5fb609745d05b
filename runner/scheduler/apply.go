package scheduler

import (
	"context"
	"strings"
	"time"

	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// Wish is one of many things to be done to automations at once, see Apply.
type Wish struct {
	// ID of the automation that is changed; empty: a new one is made.
	ID string
	// New is the new automation, as for Add; with an ID it is not looked at.
	New automation.Automation
	// Change is what is done to the one with the ID, as for Edit.
	Change func(*automation.Automation) error
}

// Apply carries wishes out in their order, all in one transaction: whoever dies
// meanwhile has done nothing. What is refused is left out, and the others are
// done all the same: refused has an error for each wish, nil for those that were
// granted. A new one whose key exists already is refused. The error err is one of
// the state directory; nothing has changed then.
func (s *Scheduler) Apply(ctx context.Context, wishes []Wish) (refused []error, err error) {
	err = s.manage(ctx, func(tx *state.Tx) error {
		refused = make([]error, len(wishes))
		b, err := newBook(tx)
		if err != nil {
			return err
		}
		for i, w := range wishes {
			do := s.applyNew
			if w.ID != "" {
				do = s.applyChange
			}
			if refused[i], err = do(tx, b, w, i); err != nil {
				return err
			}
		}
		return nil
	})
	return refused, err
}

// applyNew makes the i-th wish, a new automation. No two have the same time of
// their ids: they keep their order.
func (s *Scheduler) applyNew(tx *state.Tx, b *book, w Wish, i int) (refused, err error) {
	a, refused := s.makeable(s.placed(w.New), tx.Now())
	if refused == nil {
		refused = b.free(a)
	}
	if refused != nil {
		return refused, nil
	}
	a.ID = ulid.New(tx.Now().Add(time.Duration(i) * time.Millisecond))
	a = automation.New(a, tx.Now())
	b.enter(a)
	return nil, state.Automations.Add(tx, a.ID, a)
}

// applyChange changes an automation.
func (s *Scheduler) applyChange(tx *state.Tx, b *book, w Wish, _ int) (refused, err error) {
	row, ok, err := state.Automations.Get(tx, w.ID)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return &Refused{Missing: true, Text: "there is no automation " + w.ID, Hint: "claw cron list shows what there is"}, nil
	}
	if refused := s.mayEdit(row.Rec); refused != nil {
		return refused, nil
	}
	next, refused := s.editable(row, w.Change, tx.Now())
	if refused == nil {
		refused = b.free(next)
	}
	if refused != nil {
		return refused, nil
	}
	a, runs := automation.Edit(row.Rec, next, tx.Now(), s.Zone)
	b.leave(row.Rec)
	b.enter(a)
	return nil, s.put(tx, row, a, runs)
}

// book knows who has which name and which key.
type book struct {
	names, keys map[string]automation.Automation
}

func newBook(tx *state.Tx) (*book, error) {
	rows, err := state.Automations.All(tx)
	b := &book{make(map[string]automation.Automation, len(rows)), make(map[string]automation.Automation, len(rows))}
	for _, row := range rows {
		b.enter(row.Rec)
	}
	return b, err
}

func (b *book) enter(a automation.Automation) {
	b.names[strings.ToLower(a.Name)] = a
	if a.DeclarationKey != "" {
		b.keys[a.DeclarationKey] = a
	}
}

func (b *book) leave(a automation.Automation) {
	delete(b.names, strings.ToLower(a.Name))
	delete(b.keys, a.DeclarationKey)
}

// free is nameFree.
func (b *book) free(a automation.Automation) error {
	if by, taken := b.keys[a.DeclarationKey]; taken && by.ID != a.ID {
		return keyTaken(by)
	}
	if by, taken := b.names[strings.ToLower(a.Name)]; taken && by.ID != a.ID {
		return nameTaken(by)
	}
	return nil
}
