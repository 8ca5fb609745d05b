package automation

import (
	"encoding/json"
	"strings"
	"time"

	"claw/state/internal/digest"
)

// Digest is a fingerprint of a definition: of everything a person can write,
// and of nothing that claw keeps. Equal ones mean the same.
func Digest(a Automation) string {
	a.ID, a.Owner, a.Declared, a.CreatedAt, a.UpdatedAt, a.State = "", "", "", time.Time{}, time.Time{}, State{}
	line, err := json.Marshal(a)
	if err != nil {
		return "" // a record has nothing that could not be written; nothing equals this
	}
	return digest.Hex(string(line))
}

// DigestAll is the fingerprint of all tables, see Agenda.Declared. It is never
// empty.
func DigestAll(wanted []Automation) string {
	var all strings.Builder
	for _, a := range wanted {
		all.WriteString(Digest(keyed(a)))
		all.WriteByte('\n')
	}
	return digest.Hex(all.String())
}

// keyed is a table with its key: its name when it has no other.
func keyed(a Automation) Automation {
	if a.DeclarationKey == "" {
		a.DeclarationKey = a.Name
	}
	return a
}

// Change is what came of adding an automation.
type Change string

// The changes.
const (
	Added     Change = "added"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
)

// Declared is what makes the ledger say what the tables of claw.toml say. The
// caller writes it in one transaction, and adds IDs to those that have none.
type Declared struct {
	Put    []Automation // added, without an ID, or changed
	Runs   []Run        // what became of slots that a change ended
	Remove []string     // ids of those whose tables are gone
	Errors []DeclareError
}

// DeclareError refuses one table; the others are converged all the same, and
// what it was before stays.
type DeclareError struct {
	Key  string
	Name string
	Err  *Error
}

// Declare converges the automations of tables, by their keys. A table that has
// not changed since is not written: who was switched off by a person, or by
// claw for its failures, stays off until the table changes. An automation keeps
// its history when its table changes, and goes with its table. Tables are
// checked here with Validate.
//
// A table never removes itself: a one-shot that has run stays, switched off, or
// it would be made anew.
func Declare(existing, wanted []Automation, now time.Time, zone Zones) Declared {
	tables := make([]declared, 0, len(wanted))
	keys := map[string]bool{}
	for _, table := range wanted {
		d := declared{table: keyed(table)}
		if key := d.table.DeclarationKey; keys[key] {
			d.err = refuse("automation", key, "is declared twice in claw.toml", "give one of the tables another key or name")
		} else {
			keys[key] = true
			d.old = byKey(existing, key)
			d.next, d.runs, d.change, d.err = declare(d.old, d.table, now, zone)
		}
		tables = append(tables, d)
	}
	for more := true; more; {
		more = giveNames(existing, tables)
	}
	out := outcome(tables)
	for _, a := range existing {
		if a.Owner == OwnerConfig && !keys[a.DeclarationKey] {
			out.Remove = append(out.Remove, a.ID)
		}
	}
	return out
}

// declared is what becomes of one table.
type declared struct {
	table  Automation
	old    *Automation // what it has been so far
	next   Automation
	runs   []Run
	change Change
	err    *Error
}

// keeps tells a table that has its name already.
func (d declared) keeps() bool { return d.old != nil && strings.EqualFold(d.old.Name, d.table.Name) }

// giveNames refuses the tables whose names are taken: by what no table has
// made, by what a refused table has been and stays, by tables that have the
// name already, and by earlier ones. True: one was refused that has been
// something, whose name has to be looked at again.
func giveNames(existing []Automation, tables []declared) (again bool) {
	by := map[string]string{}
	take := func(name string) { by[strings.ToLower(name)] = name }
	for _, a := range existing {
		if a.Owner != OwnerConfig {
			take(a.Name)
		}
	}
	for _, d := range tables {
		switch {
		case d.err != nil && d.old != nil:
			take(d.old.Name)
		case d.err == nil && d.keeps():
			take(d.table.Name)
		}
	}
	for i := range tables {
		d := &tables[i]
		if d.err != nil || d.keeps() {
			continue
		}
		if other, taken := by[strings.ToLower(d.table.Name)]; taken {
			d.err = refuse("name", d.table.Name, "is taken by another automation", "give the table another name, or: claw cron rm "+other)
			again = again || d.old != nil
			continue
		}
		take(d.table.Name)
	}
	return again
}

// outcome gathers what is to be written.
func outcome(tables []declared) Declared {
	var out Declared
	for _, d := range tables {
		switch {
		case d.err != nil:
			out.Errors = append(out.Errors, DeclareError{Key: d.table.DeclarationKey, Name: d.table.Name, Err: d.err})
		case d.change != Unchanged:
			out.Put, out.Runs = append(out.Put, d.next), append(out.Runs, d.runs...)
		}
	}
	return out
}

func byKey(list []Automation, key string) *Automation {
	for i := range list {
		if list[i].DeclarationKey == key {
			return &list[i]
		}
	}
	return nil
}

// declare is one table.
func declare(old *Automation, a Automation, now time.Time, zone Zones) (Automation, []Run, Change, *Error) {
	sum := Digest(a)
	if old != nil && old.Owner != OwnerConfig {
		return a, nil, "", refuse("declaration key", a.DeclarationKey, "is that of "+old.Name+", which no table of claw.toml has made", "give the table another key, or: claw cron rm "+old.Name)
	}
	if old != nil && old.Declared == sum {
		return *old, nil, Unchanged, nil
	}
	a, err := Actor{}.Authorise(nil, a)
	if err == nil {
		err = asError(Validate(timeless(old, a), now, zone))
	}
	if err != nil {
		return a, nil, "", err
	}
	a.Owner, a.Declared, a.DeleteAfterRun = OwnerConfig, sum, false
	if old == nil {
		a.ID = ""
		return New(a, now), nil, Added, nil
	}
	next, runs := Edit(*old, completed(a), now, zone)
	return next, runs, Changed, nil
}

// timeless is a to be validated: the time of a one-shot that stays what it was
// may have passed.
func timeless(old *Automation, a Automation) Automation {
	a.DeleteAfterRun = false
	if old != nil && a.Schedule.Kind == KindAt && SameSchedule(old.Schedule, a.Schedule) {
		a.Schedule = Schedule{Kind: KindEvery, EveryMs: maxEveryMs}
	}
	return a
}

func asError(err error) *Error {
	if err == nil {
		return nil
	}
	return err.(*Error) //nolint: Validate says so
}

// Upsert is an automation after it was added: a new one, or with existing, the
// one that has its DeclarationKey already, that one with the definition of a. It
// keeps its ID, its state and its time of creation, and only a changed schedule
// moves its slots. Where nothing but Enabled would change to true, nothing
// does: what adds an automation at each start does not switch it on again.
// Validate and Authorise a first; a new one has no ID yet unless a has.
func Upsert(existing *Automation, a Automation, now time.Time, zone Zones) (Automation, []Run, Change) {
	if existing == nil {
		return New(a, now), nil, Added
	}
	old := *existing
	a = completed(a)
	same := a
	same.Schedule = Keep(old.Schedule, a.Schedule)
	if a.Enabled {
		same.Enabled = old.Enabled
	}
	if Digest(same) == Digest(old) {
		return old, nil, Unchanged
	}
	a, runs := Edit(old, a, now, zone)
	return a, runs, Changed
}
