package state

import (
	"fmt"
	"slices"
	"time"

	"claw/state/internal/ledger"
	"claw/state/internal/vfs"
)

// Tx is one consistent state, in an Update with what fn has put so far. It
// belongs to one goroutine.
type Tx struct {
	s        *Store
	j        *ledger.Journal
	now      time.Time
	write    bool
	pins     map[string]vfs.File
	tables   map[string]*table
	changes  []ledger.Change
	problems []Problem
}

// Now is the time at which this transaction began, the same for all of it.
func (tx *Tx) Now() time.Time { return tx.now }

// Position is the number of the last transaction that this one sees. It grows
// with every Update: whoever has seen it knows what is new.
func (tx *Tx) Position() int64 { return tx.j.Tx }

// Problems lists the damage met in what has been read so far.
func (tx *Tx) Problems() []Problem {
	return append(tx.j.Problems(), tx.problems...)
}

// table is one ledger as this transaction sees it.
type table struct {
	name string
	rows map[string]entry // by id; an entry that is not live hides an older one
}

// entry is the latest revision of one record: a line, or a draft of this
// transaction.
type entry struct {
	line  ledger.Line
	draft *ledger.Draft
}

func (e entry) rev() int64 {
	if e.draft != nil {
		return e.draft.Rev
	}
	return e.line.Rev
}

func (e entry) live() bool {
	if e.draft != nil {
		return e.draft.Record != nil
	}
	return e.line.Live()
}

// open gives the record and the unknown fields of its envelope.
func (e entry) open() (record, extra []byte, err error) {
	if e.draft != nil {
		return e.draft.Record, e.draft.Extra, nil
	}
	return e.line.Open()
}

// table reads a ledger the first time it is asked for.
func (tx *Tx) table(name string) (*table, error) {
	if t := tx.tables[name]; t != nil {
		return t, nil
	}
	base, err := tx.s.dir.Rows(tx.j, name, tx.pins[name])
	if err != nil {
		return nil, err
	}
	tx.problems = append(tx.problems, base.Bad...)
	over := tx.j.Overlay(name)
	t := &table{name: name, rows: make(map[string]entry, len(base.Lines)+len(over))}
	for _, lines := range [][]ledger.Line{base.Lines, over} {
		for _, l := range lines {
			t.rows[l.ID] = entry{line: l}
		}
	}
	for i := range tx.changes { // what was added before anything was read
		if c := &tx.changes[i]; c.Ledger == name {
			t.rows[c.Draft.ID] = entry{draft: &c.Draft}
		}
	}
	if tx.tables == nil {
		tx.tables = make(map[string]*table, 4)
	}
	tx.tables[name] = t
	return t, nil
}

// ids lists the live ids in order.
func (t *table) ids() []string {
	ids := make([]string, 0, len(t.rows))
	for id, e := range t.rows {
		if e.live() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// current finds the record that a change to id replaces: the live one, else
// the archived one, which a change brings back. The zero entry has revision 0.
func (tx *Tx) current(t *table, id string, rev int64) (entry, error) {
	e, ok := t.rows[id]
	if ok || rev == 0 {
		return e, nil
	}
	l, found, err := tx.s.dir.FindArchived(t.name, id)
	if err != nil || !found {
		return entry{}, err
	}
	return entry{line: l}, nil
}

// add takes one line of a new record into the transaction.
func (tx *Tx) add(name string, d ledger.Draft) error {
	if err := tx.mayWrite(name, d.ID); err != nil {
		return err
	}
	if t := tx.tables[name]; t != nil {
		t.rows[d.ID] = entry{draft: &d}
	}
	tx.changes = append(tx.changes, ledger.Change{Ledger: name, Draft: d})
	return nil
}

func (tx *Tx) mayWrite(name, id string) error {
	if !tx.write {
		return &Error{Op: "write", Path: tx.s.dir.Path, Why: "a View cannot write", Hint: "use Update", Err: ErrReadOnly}
	}
	if id == "" || len(id) > 512 {
		return fmt.Errorf("write %s: %q cannot be the id of a record", name, id)
	}
	return nil
}

// change checks the revision and takes one new line into the transaction.
func (tx *Tx) change(name, id string, rev int64, record func(prev []byte) ([]byte, error)) error {
	if err := tx.mayWrite(name, id); err != nil {
		return err
	}
	t, err := tx.table(name)
	if err != nil {
		return err
	}
	e, err := tx.current(t, id, rev)
	if err != nil {
		return err
	}
	prev, extra, err := e.open()
	if err != nil {
		return ledger.Damaged("write", name+"/"+id, err.Error())
	}
	have := int64(0)
	if e.live() && e.rev() > 0 {
		have = e.rev()
	}
	if have != rev {
		return &ConflictError{Ledger: name, ID: id, Want: rev, Have: have, Current: slices.Clone(prev)}
	}
	next, err := record(prev)
	if err != nil {
		return err
	}
	d := ledger.Draft{ID: id, Rev: e.rev() + 1, Record: next, Extra: extra}
	t.rows[id] = entry{draft: &d}
	tx.changes = append(tx.changes, ledger.Change{Ledger: name, Draft: d})
	return nil
}
