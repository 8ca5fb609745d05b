package state

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"time"

	"claw/state/internal/ledger"
	"claw/state/internal/lock"
)

// checkPatience is how long Check waits for others to have written.
const checkPatience = 5 * time.Second

// Check reads the whole directory and lists what is not as it should be; it
// writes nothing. What it finds may be the half-done work of somebody who
// writes: it then looks again while nobody can.
func (s *Store) Check() ([]Problem, error) {
	found, err := s.dir.Check()
	if err != nil || len(found) == 0 {
		return found, err
	}
	path := filepath.Join(s.dir.Path, ledger.LockName)
	if _, err := os.Lstat(path); err != nil {
		return found, nil // nobody has written yet, and this must not make a file
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkPatience)
	defer cancel()
	unlock, err := lock.Acquire(ctx, path)
	if err != nil {
		return found, nil //nolint:nilerr // the lock is one of the things that may be wrong
	}
	defer unlock()
	return s.dir.Check()
}

// Repair sets right what Check finds, and returns that. It moves what it takes
// away to quarantine/ and deletes nothing; what is missing stays missing.
func (s *Store) Repair(ctx context.Context) ([]Problem, error) {
	var found []Problem
	err := s.lockedFor(ctx, true, func() (err error) {
		if found, err = s.dir.Check(); err != nil {
			return err
		}
		if err := s.dir.Repair(s.archivable, s.o.Now()); err != nil {
			return err
		}
		return s.inspect()
	})
	return found, err
}

// Prune deletes the days of the archives that end before the day of before.
func (s *Store) Prune(ctx context.Context, before time.Time) error {
	return s.locked(ctx, func() error {
		_, err := s.dir.Prune(before)
		return err
	})
}

// Checkpoint moves the journal into the ledgers now, and finished records past
// their retention to the archive. Update does it by itself when it is due.
func (s *Store) Checkpoint(ctx context.Context) error {
	return s.locked(ctx, func() error {
		j, err := s.prepare()
		if err != nil {
			return err
		}
		return s.dir.Checkpoint(j, s.archivable, s.o.Now())
	})
}

// Archived yields the archived records, the newest day first and within a day
// the greatest id first. A record that is live is not among them. The first
// error ends it.
func (l Ledger[T]) Archived(tx *Tx) iter.Seq2[Row[T], error] {
	return func(yield func(Row[T], error) bool) {
		t, err := tx.table(l.name)
		if err != nil {
			yield(Row[T]{}, err)
			return
		}
		days, err := tx.s.dir.Days(l.name)
		if err != nil {
			yield(Row[T]{}, err)
			return
		}
		for _, day := range days {
			if !l.day(tx, t, day, yield) {
				return
			}
		}
	}
}

// day yields one day of the archive.
func (l Ledger[T]) day(tx *Tx, t *table, day string, yield func(Row[T], error) bool) bool {
	lines, bad, err := tx.s.dir.ReadDay(l.name, day)
	if err != nil {
		return yield(Row[T]{}, err)
	}
	tx.problems = append(tx.problems, bad...)
	for i := len(lines) - 1; i >= 0; i-- {
		line := lines[i]
		if _, ok := t.rows[line.ID]; ok {
			continue
		}
		r, err := decode[T](l.name, line.ID, entry{line: line}, tx.now)
		if !yield(r, err) || err != nil {
			return false
		}
	}
	return true
}

// Find gives a record wherever it is: live, else in the archive.
func (l Ledger[T]) Find(tx *Tx, id string) (Row[T], bool, error) {
	t, err := tx.table(l.name)
	if err != nil {
		return Row[T]{}, false, err
	}
	if _, ok := t.rows[id]; ok {
		return l.Get(tx, id)
	}
	line, ok, err := tx.s.dir.FindArchived(l.name, id)
	if err != nil || !ok {
		return Row[T]{}, false, err
	}
	r, err := decode[T](l.name, id, entry{line: line}, tx.now)
	return r, err == nil, err
}
