package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
)

// owned is a claimed run, as a pass gives it.
func owned(id string, o automation.Owner) automation.Run {
	return automation.Run{ID: id, Status: automation.Running, Owner: &o}
}

// Commands are started some at a time and in their order; a turn or a trigger
// script, which takes long or is asked first, never shares a group.
func TestGroups(t *testing.T) {
	var w scheduler.Work
	for i := range 40 {
		o := automation.Owner{ProcessID: "p"}
		switch i {
		case 3:
			o = automation.Owner{} // a turn
		case 20:
			o = automation.Owner{CheckID: "c"}
		}
		w.Start = append(w.Start, owned(fmt.Sprint(i), o))
	}
	seen := map[string]bool{}
	var commands []string
	for _, g := range w.Groups() {
		for _, r := range g {
			if seen[r.ID] {
				t.Errorf("run %s is in two groups", r.ID)
			}
			seen[r.ID] = true
			if r.Owner.ProcessID == "" && len(g) != 1 {
				t.Errorf("run %s shares a group of %d", r.ID, len(g))
			}
			if r.Owner.ProcessID != "" {
				commands = append(commands, r.ID)
			}
		}
		if len(g) > 16 {
			t.Errorf("a group of %d", len(g))
		}
	}
	var want []string
	for i := range 40 {
		if i != 3 && i != 20 {
			want = append(want, fmt.Sprint(i))
		}
	}
	if len(seen) != 40 || !slices.Equal(commands, want) {
		t.Errorf("%d runs are in groups; commands in the order %v", len(seen), commands)
	}
}

// Of several commands that are started together, one that cannot be started is
// the failure of its own run and of no other.
func TestOneOfAGroupCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.add(fmt.Sprint("job", i), "1m", func(a *automation.Automation) {
			sh("echo ran >> " + w.dir + "/lines")(a)
			if i == 2 {
				a.Payload.Argv = []string{"/no/such/program"}
			}
		})
	}
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil || len(work.Groups()) != 1 || len(work.Start) != 5 {
		t.Fatalf("%d claims in %d groups, %v", len(work.Start), len(work.Groups()), err)
	}
	if err := w.StartAll(t.Context(), work.Groups()[0]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	for _, r := range w.runs() {
		want := automation.Succeeded
		if r.Name == "job2" {
			want = automation.Failed
		}
		if r.Status != want {
			t.Errorf("%s %s: %s", r.Name, r.Status, r.Error)
		}
	}
	if n := len(w.lines("lines")); n != 4 {
		t.Errorf("%d commands have run", n)
	}
}

// What is due next finds its supervisor waiting; the claim has its ULID.
func TestSpares(t *testing.T) {
	w := newWorld(t)
	w.Spares = new(scheduler.Spares)
	defer w.Spares.Close()
	for i := range 3 {
		w.add(fmt.Sprint("job", i), "1m", sh("echo ran >> "+w.dir+"/lines"))
	}
	w.add("told", "1m", func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "x"}
	})
	due := w.clock.Now().Add(time.Minute)
	if _, err := w.Prepare(due); err != nil {
		t.Fatal(err)
	}
	ids := w.Spares.IDs()
	if len(ids) != 3 {
		t.Fatalf("%d supervisors wait for 3 commands", len(ids))
	}
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range work.Start {
		if !slices.Contains(ids, r.Owner.ProcessID) {
			t.Errorf("%s is claimed for process %s, which does not wait", r.Name, r.Owner.ProcessID)
		}
	}
	for _, g := range work.Groups() {
		if err := w.StartAll(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	w.settle()
	if n := len(w.lines("lines")); n != 3 {
		t.Errorf("%d commands have run", n)
	}
	if left := w.Spares.IDs(); len(left) != 0 {
		t.Errorf("%v still wait", left)
	}
}

// A spare that has died is not claimed; the run has a supervisor all the same.
func TestASpareThatDied(t *testing.T) {
	w := newWorld(t)
	w.Spares = new(scheduler.Spares)
	defer w.Spares.Close()
	w.add("job", "1m", sh("echo ran >> "+w.dir+"/lines"))
	if _, err := w.Prepare(w.clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	ids, pids := w.Spares.IDs(), w.Spares.PIDs()
	for _, pid := range pids {
		id, ok := proc.Identify(pid)
		if !ok {
			t.Fatal("a spare is not there")
		}
		if err := proc.Signal(id, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); proc.Alive(id); {
			if time.Now().After(end) {
				t.Fatal("it does not die")
			}
		}
	}
	w.clock.Advance(time.Minute)
	work := w.pass()
	if len(work.Start) != 1 || work.Start[0].Owner.ProcessID == ids[0] {
		t.Fatalf("claimed %+v; the dead spare was %s", work.Start, ids[0])
	}
	w.settle()
	w.tells("12:01 succeeded")
}

// A claim that was not written gives its spare back, and starts nothing.
func TestAClaimThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.add("job", "1m", sh("echo ran >> "+w.dir+"/lines"))
	store, err := state.Open(w.Store.Dir(), state.Options{Now: w.clock.Now, ReadOnly: true, Boot: proc.Boot()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w.open(store)
	w.Spares = new(scheduler.Spares)
	defer w.Spares.Close()
	if _, err := w.Prepare(w.clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	before := w.Spares.IDs()
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err == nil || len(work.Start) != 0 {
		t.Errorf("%d claims, %v", len(work.Start), err)
	}
	if !slices.Equal(before, w.Spares.IDs()) || len(before) != 1 {
		t.Errorf("spares %v, then %v", before, w.Spares.IDs())
	}
}
