package scheduler_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
)

func declaredJob(key string) automation.Automation {
	a := everyMinute("backup", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
	a.DeclarationKey = key
	return a
}

// openclaw 86451: what is added at each boot is there once.
func TestAddByDeclarationKey(t *testing.T) {
	w := newWorld(t)
	first, change, err := w.Add(t.Context(), declaredJob("backup-key"))
	if err != nil || change != automation.Added {
		t.Fatal(change, err)
	}
	before := w.position()
	again, change, err := w.Add(t.Context(), declaredJob("backup-key"))
	if err != nil || change != automation.Unchanged || again.ID != first.ID {
		t.Errorf("again: %q %v, id %s", change, err, again.ID)
	}
	_ = before
	w.clock.Advance(90 * time.Second)
	w.settle()
	w.settle()
	changed := declaredJob("backup-key")
	changed.Payload.Argv = []string{"sh", "-c", "true"}
	got, change, err := w.Add(t.Context(), changed)
	if err != nil || change != automation.Changed {
		t.Fatal(change, err)
	}
	now := w.autos()
	if len(now) != 1 || got.ID != first.ID || !now[0].CreatedAt.Equal(first.CreatedAt) || now[0].State.LastStatus != automation.Succeeded || len(now[0].Payload.Argv) != 3 {
		t.Errorf("it keeps its history: %+v", now)
	}
	if next, _ := w.Find("backup"); !next.Next.Equal(noon.Add(2 * time.Minute)) {
		t.Errorf("its slot moved to %v", next.Next)
	}
	other := declaredJob("other-key")
	if _, _, err := w.Add(t.Context(), other); !refused(err, func(r *scheduler.Refused) bool { return strings.Contains(r.Text, "already") }) {
		t.Errorf("the name of another: %v", err)
	}
}

func TestEdit(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1h", nil)
	w.clock.Advance(30 * time.Minute)
	next := func() time.Time {
		t.Helper()
		e, err := w.Find("backup")
		if err != nil {
			t.Fatal(err)
		}
		return e.Next
	}
	edit := func(change func(*automation.Automation)) error {
		_, err := w.Edit(t.Context(), "backup", func(a *automation.Automation) error { change(a); return nil })
		return err
	}
	if err := edit(func(a *automation.Automation) {
		a.Description, a.Payload.Argv[0], a.Payload.Env = "nightly", "false", map[string]string{"A": "1"}
	}); err != nil {
		t.Fatal(err)
	}
	a := w.autos()[0]
	if a.Description != "nightly" || a.Payload.Argv[0] != "false" || a.Payload.Env["A"] != "1" || !next().Equal(noon.Add(time.Hour)) {
		t.Errorf("another description leaves the slot where it is: %+v, next %v", a, next())
	}
	if err := edit(func(a *automation.Automation) { a.Schedule.EveryMs, a.Schedule.AnchorMs = 600000, 0 }); err != nil {
		t.Fatal(err)
	}
	if want := noon.Add(40 * time.Minute); !next().Equal(want) {
		t.Errorf("another schedule begins now: next %v, want %v", next(), want)
	}
	if err := edit(func(a *automation.Automation) { a.Name = " " }); err == nil {
		t.Error("a blank name was taken")
	}
	oops := errors.New("oops")
	before := w.position()
	if _, err := w.Edit(t.Context(), "backup", func(a *automation.Automation) error { a.Name = "x"; return oops }); !errors.Is(err, oops) || w.position() != before {
		t.Errorf("the error of the change: %v", err)
	}
	w.add("other", "1h", nil)
	if err := edit(func(a *automation.Automation) { a.Name = "OTHER" }); !refused(err, func(r *scheduler.Refused) bool { return strings.Contains(r.Text, "other") }) {
		t.Errorf("the name of another: %v", err)
	}
	if err := edit(func(a *automation.Automation) { a.ID, a.Owner, a.CreatedAt = "x", "agent:x", time.Time{} }); err != nil {
		t.Fatal(err)
	}
	if now := w.autos()[0]; now.ID != a.ID || now.Owner != automation.Operator || !now.CreatedAt.Equal(a.CreatedAt) {
		t.Errorf("what is claw's own can be edited: %+v", now)
	}
}

// openclaw 111383: an automation that is rescheduled during its run is not
// deleted or overwritten at the end of it.
func TestEditDuringARun(t *testing.T) {
	w := newWorld(t)
	a := w.once("once", noon.Add(time.Minute), func(a *automation.Automation) {
		sh(`touch begun; while test ! -f go; do sleep 0.02; done`)(a)
		a.DeleteAfterRun = true
	})
	w.clock.Advance(time.Minute)
	w.pass()
	w.until("it runs", func() bool { return exists(w, "begun") })
	later := noon.Add(time.Hour)
	if _, err := w.Edit(t.Context(), "once", func(a *automation.Automation) error { a.Schedule.At = later; return nil }); err != nil {
		t.Fatal(err)
	}
	w.write("go")
	w.settle()
	w.tells("12:01 succeeded")
	now := w.autos()
	if len(now) != 1 || now[0].ID != a.ID || !now[0].Enabled || !now[0].Schedule.At.Equal(later) {
		t.Fatalf("after its run: %+v", now)
	}
	w.clock.Advance(later.Sub(w.clock.Now()))
	w.settle()
	w.settle()
	w.tells("12:01 succeeded, 13:00 succeeded")
	if n := len(w.autos()); n != 0 {
		t.Errorf("%d automations are left", n)
	}
}

// once makes a one-shot.
func (w *world) once(name string, at time.Time, change func(a *automation.Automation)) automation.Automation {
	w.t.Helper()
	return w.add(name, "1m", func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindAt, At: at}
		if change != nil {
			change(a)
		}
	})
}

// A one-shot that has run can still be edited in another respect.
func TestEditAfterAOneShot(t *testing.T) {
	w := newWorld(t)
	w.once("once", noon.Add(time.Minute), nil)
	w.clock.Advance(time.Hour)
	w.settle()
	w.settle()
	if _, err := w.Edit(t.Context(), "once", func(a *automation.Automation) error { a.Description = "done"; return nil }); err != nil {
		t.Error(err)
	}
	w.clock.Advance(time.Hour)
	w.settle()
	w.tells("12:01 succeeded")
}

func TestRunIfDue(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1h", nil)
	if r, why, err := w.Run(t.Context(), "backup", scheduler.RunOptions{Due: true}); why != scheduler.NotDue || r.Name != "backup" || r.ID != "" || err != nil {
		t.Errorf("%+v %q %v", r, why, err)
	}
	if n := len(w.runs()); n != 0 {
		t.Errorf("%d runs", n)
	}
	w.clock.Advance(time.Hour)
	if r, why, err := w.Run(t.Context(), "backup", scheduler.RunOptions{Due: true}); why != "" || !r.Manual || err != nil {
		t.Errorf("%+v %q %v", r, why, err)
	}
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	empty, err := w.Status()
	if err != nil || empty.Jobs != 0 || !empty.Enabled || !empty.Next.IsZero() || !strings.HasSuffix(empty.StorePath, "/ledgers/automations.jsonl") {
		t.Errorf("%+v, %v", empty, err)
	}
	w.add("one", "1h", nil)
	w.add("two", "2h", nil)
	w.add("off", "1m", nil)
	if _, _, err := w.Enable(t.Context(), "off", false); err != nil {
		t.Fatal(err)
	}
	st, err := w.Status()
	if err != nil || st.Jobs != 3 || st.On != 2 || st.Off != 1 || st.AutoDisabled != 0 || !st.Next.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", st, err)
	}
	w.Enabled = false
	if st, _ = w.Status(); st.Enabled || !st.Next.IsZero() {
		t.Errorf("without a clock: %+v", st)
	}
}

// "current" is the session of whoever makes the automation, from then on.
func TestCurrentSession(t *testing.T) {
	for _, tt := range []struct{ session, target, key string }{
		{"", "isolated", ""},
		{"session:notes", "session:notes", "session:notes"},
		{"agent:main:main", "session:agent:main:main", "agent:main:main"},
	} {
		t.Run(tt.session, func(t *testing.T) {
			w := newWorld(t)
			w.Session = tt.session
			a := w.asks("echo hi", func(a *automation.Automation) { a.SessionTarget = "current" })
			if a.SessionTarget != tt.target || a.SessionKey != tt.key {
				t.Errorf("target %q, key %q", a.SessionTarget, a.SessionKey)
			}
			w.Session = "session:elsewhere"
			w.clock.Advance(time.Minute)
			w.pass()
			want := tt.key
			if want == "" {
				want = scheduler.Session(a.ID)
			}
			if turns := w.turns(); len(turns) != 1 || turns[0].SessionKey != want {
				t.Errorf("turns %+v", turns)
			}
		})
	}
}

// Seed 003 section 10: an agent makes what speaks for itself, and changes its
// own only.
func TestAgentsHaveTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.add("operators", "1h", nil)
	w.Actor = automation.Actor{Agent: "main", Tools: []string{"read", "exec"}}
	isForbidden := func(r *scheduler.Refused) bool { return r.Forbidden && r.Hint != "" }
	for name, do := range map[string]func() error{
		"a command": func() error {
			_, _, err := w.Add(t.Context(), everyMinute("evil", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}}))
			return err
		},
		"more tools than it has": func() error {
			_, _, err := w.Add(t.Context(), everyMinute("wide", automation.Payload{Kind: automation.PayloadTurn, Message: "hi", ToolsAllow: []string{"browser"}}))
			return err
		},
		"remove":  func() error { _, err := w.Remove(t.Context(), "operators"); return err },
		"disable": func() error { _, _, err := w.Enable(t.Context(), "operators", false); return err },
		"run":     func() error { _, _, err := w.Run(t.Context(), "operators", scheduler.RunOptions{}); return err },
		"edit": func() error {
			_, err := w.Edit(t.Context(), "operators", func(a *automation.Automation) error { a.Description = "x"; return nil })
			return err
		},
	} {
		if err := do(); !refused(err, isForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	made, _, err := w.Add(t.Context(), everyMinute("mine", automation.Payload{Kind: automation.PayloadTurn, Message: "hi"}))
	if err != nil || made.Owner != "agent:main" || strings.Join(made.Payload.ToolsAllow, ",") != "read,exec" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := w.Edit(t.Context(), "mine", func(a *automation.Automation) error { a.Payload.ToolsAllow = []string{"*"}; return nil }); !refused(err, isForbidden) {
		t.Errorf("it widened its tools: %v", err)
	}
	w.Actor = automation.Actor{}
	if _, err := w.Edit(t.Context(), "mine", func(a *automation.Automation) error { a.Payload.ToolsAllow = []string{"*"}; return nil }); err != nil {
		t.Errorf("an operator may: %v", err)
	}
}

// What is made in one millisecond is listed in the order of its making.
func TestListedInOrder(t *testing.T) {
	w := newWorld(t)
	var want, got []string
	for i := range 30 {
		want = append(want, w.add("job"+strconv.Itoa(i), "1h", nil).Name)
	}
	list, err := w.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got = append(got, e.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed as %v", got)
	}
}
