package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/statetest"
)

// table is one [[automation]] of claw.toml.
func table(name string, argv ...string) automation.Automation {
	return everyMinute(name, automation.Payload{Kind: automation.PayloadCommand, Argv: argv})
}

// declare makes another program of the world, with other tables.
func (w *world) declare(tables ...automation.Automation) {
	w.t.Helper()
	old := w.Scheduler
	w.open(w.Store)
	w.Scheduler.Post, w.Scheduler.Turns = old.Post, old.Turns
	w.Turns.OnEnd = w.TurnEnded
	w.Declared = tables
}

func (w *world) names() string {
	var names []string
	for _, a := range w.autos() {
		name := a.Name
		if !a.Enabled {
			name += " (off)"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestDeclared(t *testing.T) {
	w := newWorld(t)
	w.declare(table("one", "true"), table("two", "true"))

	// a list shows them before anything is written
	before := w.position()
	list, err := w.List()
	if err != nil || len(list) != 2 || !list[0].Declared || list[0].Name != "one" || list[0].Owner != automation.OwnerConfig {
		t.Errorf("before: %+v, %v", list, err)
	}
	if e, err := w.Find("two"); err != nil || !e.Declared || !e.Next.Equal(noon.Add(time.Minute)) {
		t.Errorf("before: %+v, %v", e, err)
	}
	if w.position() != before {
		t.Error("looking has written something")
	}

	w.pass()
	if got := w.names(); got != "one, two" {
		t.Fatalf("after a pass: %s", got)
	}
	w.clock.Advance(time.Minute)
	w.settle()
	w.settle()
	w.tells("12:01 succeeded, 12:01 succeeded")
	quiet := w.position()
	w.clock.Advance(time.Second)
	w.pass()
	if w.position() != quiet {
		t.Error("a pass with nothing to do has written something")
	}

	// who is switched off stays off until the table changes, and keeps its history
	if _, changed, err := w.Enable(t.Context(), "one", false); !changed || err != nil {
		t.Fatal(err)
	}
	w.declare(table("one", "true"), table("two", "false"))
	w.pass()
	if got := w.names(); got != "one (off), two" {
		t.Errorf("another table has changed: %s", got)
	}
	if a := w.autos()[1]; a.Payload.Argv[0] != "false" || a.State.LastStatus != automation.Succeeded {
		t.Errorf("%+v", a)
	}
	w.declare(table("one", "sh", "-c", "true"), table("two", "false"))
	w.pass()
	if got := w.names(); got != "one, two" {
		t.Errorf("its table has changed: %s", got)
	}

	// the table is gone, and so is the automation
	w.declare(table("two", "false"))
	w.pass()
	if got := w.names(); got != "two" {
		t.Errorf("a table is gone: %s", got)
	}
	w.declare()
	w.pass()
	if got := w.names(); got != "" {
		t.Errorf("all tables are gone: %s", got)
	}
	quiet = w.position()
	w.pass()
	if w.position() != quiet {
		t.Error("with no tables left a pass writes something")
	}
}

func TestDeclaredIsChangedInItsTable(t *testing.T) {
	w := newWorld(t)
	w.declare(table("one", "true"))
	way := func(r *scheduler.Refused) bool { return strings.Contains(r.Hint, "table") }
	if _, err := w.Edit(t.Context(), "one", func(a *automation.Automation) error { a.Description = "x"; return nil }); !refused(err, way) {
		t.Errorf("edit: %v", err)
	}
	if _, err := w.Remove(t.Context(), "one"); !refused(err, way) {
		t.Errorf("rm: %v", err)
	}
	if _, _, err := w.Run(t.Context(), "one", scheduler.RunOptions{}); err != nil { // before any pass
		t.Errorf("run: %v", err)
	}
	w.pass()
	w.settle()
	w.tells("by hand succeeded")
}

// A table that cannot be converged is told once, stops no other, and is tried
// again when the reason is gone.
func TestDeclaredNameIsTaken(t *testing.T) {
	w := newWorld(t)
	w.add("one", "1h", nil)
	w.declare(table("one", "true"), table("two", "true"))
	w.pass()
	if got := w.names(); got != "one, two" {
		t.Errorf("automations %s", got)
	}
	refusedTables, err := w.DeclaredErrors()
	if err != nil || len(refusedTables) != 1 || refusedTables[0].Name != "one" {
		t.Errorf("%+v, %v", refusedTables, err)
	}
	for range 3 {
		w.clock.Advance(time.Second)
		w.pass()
	}
	if sent := w.sent(); len(sent) != 1 || !strings.Contains(sent[0].Text, "table one of claw.toml counts for nothing") {
		t.Errorf("told %+v", sent)
	}
	if _, err := w.Remove(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	w.pass()
	if got := w.names(); got != "one, two" {
		t.Errorf("automations %s", got)
	}
}

// Wherever the machine stops while tables are converged, the next program ends
// with each of them once.
func TestCrashDeclared(t *testing.T) {
	tables := []automation.Automation{table("one", "true"), table("two", "true")}
	once := func(fs state.FS, dir string, now time.Time, tables []automation.Automation) (*world, error) {
		w, err := at(t, clocktest.New(now), dir, fs)
		if err != nil {
			return nil, err
		}
		w.Declared = tables
		_, err = w.Pass(t.Context(), nobody)
		return w, err
	}
	statetest.Crash(t, func(fs state.FS, dir string) error {
		w, err := once(fs, dir, noon, tables)
		if w != nil {
			defer w.Store.Close()
		}
		if err != nil {
			return err
		}
		next, err := once(fs, dir, noon.Add(time.Second), []automation.Automation{table("one", "false"), tables[1]})
		if next != nil {
			defer next.Store.Close()
		}
		return err
	}, func(dir string) error {
		w, err := once(state.OS(), dir, noon.Add(2*time.Second), []automation.Automation{table("one", "false"), tables[1]})
		if w != nil {
			defer w.Store.Close()
		}
		if err != nil {
			return err
		}
		if got := w.names(); got != "one, two" || w.autos()[0].Payload.Argv[0] != "false" {
			return fmt.Errorf("automations %s", got)
		}
		if _, refusedTables := w.DeclaredErrors(); refusedTables != nil {
			return errors.New("refused")
		}
		return nil
	})
}
