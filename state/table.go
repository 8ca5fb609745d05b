package state

import (
	"encoding/json"
	"fmt"
	"time"

	"claw/state/automation"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/external"
	"claw/state/flow"
	"claw/state/heartbeat"
	"claw/state/internal/ledger"
	"claw/state/process"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

// Ledger is one kind of record, kept in ledgers/NAME.jsonl.
type Ledger[T any] struct {
	name string
	// memo: its records are kept decoded. They hold nothing that could be
	// changed through a copy (no slice, map or pointer), or are cloned.
	memo  bool
	clone func(T) T
}

// The ledgers.
var (
	Processes = Ledger[process.Process]{name: "processes", memo: true, clone: process.Process.Clone}
	Tasks     = Ledger[task.Task]{name: "tasks"}
	Flows     = Ledger[flow.Flow]{name: "flows"}
	Events    = Ledger[event.Event]{name: "events", memo: true}

	Sessions   = Ledger[session.Session]{name: "sessions"}
	Turns      = Ledger[session.Turn]{name: "turns"}
	Deliveries = Ledger[delivery.Delivery]{name: "deliveries"}
	Inbox      = Ledger[delivery.Message]{name: "inbox"}
	Heartbeats = Ledger[heartbeat.Monitor]{name: "heartbeats"}
	Switches   = Ledger[heartbeat.Switch]{name: "switches"}
	Scratches  = Ledger[heartbeat.Scratch]{name: "scratch"}

	Automations = Ledger[automation.Automation]{name: "automations", memo: true, clone: automation.Automation.Clone}
	Runs        = Ledger[automation.Run]{name: "runs", memo: true, clone: automation.Run.Clone}
	Agendas     = Ledger[automation.Agenda]{name: "agenda"}
	Sources     = Ledger[automation.Source]{name: "sources"}

	// Dispatches are the turns that were asked for from outside.
	Dispatches = Ledger[external.Dispatch]{name: "hooks", memo: true, clone: external.Dispatch.Clone}

	// Subagents is the work that one agent, or a person, has given to an agent.
	Subagents = Ledger[subagent.Run]{name: "subagents", memo: true, clone: subagent.Run.Clone}

	Boots         = Ledger[boot.Boot]{name: "boots", memo: true}
	Continuations = Ledger[boot.Continuation]{name: "continuations"}
)

// Named is the ledger of a kind of record that has no name above.
func Named[T any](name string) Ledger[T] { return Ledger[T]{name: name} }

// Name is the name of the ledger's file without its ending.
func (l Ledger[T]) Name() string { return l.name }

// Row is one record at one revision. Time is when that revision was written.
type Row[T any] struct {
	ID   string
	Rev  int64
	Time time.Time
	Rec  T
}

// Get gives the live record with an id; false when there is none. Records that
// have moved to the archive are not seen here, see Find.
func (l Ledger[T]) Get(tx *Tx, id string) (Row[T], bool, error) {
	t, err := tx.table(l.name)
	if err != nil {
		return Row[T]{}, false, err
	}
	e, ok := t.rows[id]
	if !ok || !e.live() {
		return Row[T]{}, false, nil
	}
	r, err := l.decode(tx, id, e)
	return r, err == nil, err
}

// All gives the live records in order of id, which for ULIDs is the order of
// creation. A record that cannot be decoded is left out and is among the
// transaction's Problems.
func (l Ledger[T]) All(tx *Tx) ([]Row[T], error) {
	t, err := tx.table(l.name)
	if err != nil {
		return nil, err
	}
	ids := t.ids()
	rows := make([]Row[T], 0, len(ids))
	for _, id := range ids {
		r, err := l.decode(tx, id, t.rows[id])
		if err != nil {
			tx.problems = append(tx.problems, Problem{
				Path: "ledgers/" + l.name + ".jsonl", Why: err.Error(), Hint: "correct the record by hand, or use the claw that wrote it", Bytes: t.rows[id].line.Raw,
			})
			continue
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// Add writes a record under an id that was made for it just now (package
// ulid). Such an id cannot exist, so that the ledger need not be read: a queue
// that nobody empties costs whoever adds to it nothing.
func (l Ledger[T]) Add(tx *Tx, id string, rec T) error {
	record, err := l.encode(id, nil, rec)
	if err != nil {
		return err
	}
	return tx.add(l.name, ledger.Draft{ID: id, Rev: 1, Record: record})
}

// Put writes a record whose current revision is rev, 0 for one that must not
// exist yet; otherwise it returns a *ConflictError. The record's new revision
// is rev+1. Fields of the current record that T does not know are kept. A
// record that has been archived comes back by being put.
func (l Ledger[T]) Put(tx *Tx, id string, rev int64, rec T) error {
	return tx.change(l.name, id, rev, func(prev []byte) ([]byte, error) { return l.encode(id, prev, rec) })
}

// encode is rec as it is written, with the fields of prev that T does not know.
func (l Ledger[T]) encode(id string, prev []byte, rec T) ([]byte, error) {
	next, err := ledger.Encode(rec)
	if err != nil {
		return nil, fmt.Errorf("write %s/%s: %w", l.name, id, err)
	}
	if prev != nil {
		next = ledger.Carry[T](prev, next)
	}
	if len(next) > ledger.MaxRecord {
		return nil, &Error{Op: "write", Path: l.name + "/" + id, Why: fmt.Sprintf("the record has %d bytes, at most %d are allowed", len(next), ledger.MaxRecord), Hint: "shorten what is to be kept", Err: ErrTooLarge}
	}
	return next, nil
}

// Delete removes a record whose current revision is rev, else it returns a
// *ConflictError.
func (l Ledger[T]) Delete(tx *Tx, id string, rev int64) error {
	if rev == 0 {
		return fmt.Errorf("delete %s/%s: revision 0 does not exist", l.name, id)
	}
	return tx.change(l.name, id, rev, func([]byte) ([]byte, error) { return nil, nil })
}

// decode is decode, from memory where a ledger has one. A ledger of more than
// memoMost records is too large for that.
func (l Ledger[T]) decode(tx *Tx, id string, e entry) (Row[T], error) {
	if !l.memo || e.draft != nil || len(tx.tables[l.name].rows) > memoMost {
		return decode[T](l.name, id, e, tx.now)
	}
	if k, ok := tx.s.memo.get(l.name, id, e); ok {
		return Row[T]{ID: id, Rev: k.rev, Time: k.when, Rec: l.own(*k.rec.(*T))}, nil
	}
	r, err := decode[T](l.name, id, e, tx.now)
	if err == nil {
		kept := l.own(r.Rec)
		tx.s.memo.put(l.name, id, e, r.Time, &kept)
	}
	return r, err
}

// own is a record that its reader may change.
func (l Ledger[T]) own(rec T) T {
	if l.clone == nil {
		return rec
	}
	return l.clone(rec)
}

func decode[T any](name, id string, e entry, now time.Time) (Row[T], error) {
	r := Row[T]{ID: id, Rev: e.rev(), Time: now}
	if e.draft == nil {
		r.Time = e.line.Time()
	}
	record, _, err := e.open()
	if err == nil {
		err = json.Unmarshal(record, &r.Rec)
	}
	if err != nil {
		return r, ledger.Damaged("read", name+"/"+id, err.Error())
	}
	return r, nil
}
