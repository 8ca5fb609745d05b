package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
)

// asks gives an automation a trigger script, and a command that keeps what it
// is told.
func asks(script string, change func(a *automation.Automation)) func(a *automation.Automation) {
	return func(a *automation.Automation) {
		keeps("told")(a)
		a.Trigger = &automation.Trigger{Script: script}
		if change != nil {
			change(a)
		}
	}
}

// checks makes rounds until the script has been asked so often.
func (w *world) checks(n int) {
	w.t.Helper()
	w.rounds("the script was asked", func() bool {
		for _, r := range w.runs() {
			if r.Status.Open() {
				return false
			}
		}
		return len(w.lines("asked")) == n
	})
}

// A check with nothing to do is no run; what the script wants to remember it is
// given again.
func TestQuietCheck(t *testing.T) {
	w := newWorld(t)
	a := w.add("mail", "1m", asks(`echo x >> asked; read before; echo "$before" >> given; echo "{\"fire\":false,\"state\":$(wc -l < asked)}"`, nil))
	for n := range 3 {
		w.clock.Advance(time.Minute)
		w.checks(n + 1)
	}
	w.tells("")
	if st := w.row(a.ID).State; st.Quiet != 3 || st.TriggerState != "3" || !st.CheckedAt.Equal(w.clock.Now()) || !st.LastRunAt.IsZero() {
		t.Errorf("state %+v", st)
	}
	if got := strings.Join(w.lines("given"), " "); got != "null 1 2" {
		t.Errorf("it was given %q", got)
	}
	if len(w.tasks()) != 0 {
		t.Errorf("tasks %+v", w.tasks())
	}
}

func TestCheckThatFires(t *testing.T) {
	w := newWorld(t)
	a := w.add("mail", "1m", asks(`echo x >> asked; echo '{"fire":true,"message":"two letters","state":{"seen":2}}'`, func(a *automation.Automation) {
		a.Payload.Input, a.Trigger.Once = "read this:", true
	}))
	w.clock.Advance(time.Minute)
	w.checks(1)
	w.tells("12:01 succeeded")
	if got := w.text("told"); got != "read this:\n\ntwo letters" {
		t.Errorf("it was told %q", got)
	}
	if row := w.row(a.ID); row.State.TriggerState != `{"seen":2}` || row.Enabled {
		t.Errorf("after its first success: %+v", row)
	}
}

// A run that failed has not been done: the script is given the same again.
func TestCheckBeforeARunThatFails(t *testing.T) {
	w := newWorld(t)
	a := w.add("mail", "1m", func(a *automation.Automation) {
		sh("exit 1")(a)
		a.Trigger = &automation.Trigger{Script: `echo x >> asked; echo '{"fire":true,"state":1}'`}
	})
	w.clock.Advance(time.Minute)
	w.checks(1)
	w.tells("12:01 failed")
	if got := w.row(a.ID).State.TriggerState; got != "" {
		t.Errorf("it remembers %q", got)
	}
}

func TestScriptsThatDoNotAnswer(t *testing.T) {
	for name, tt := range map[string]struct{ script, error string }{
		"an exit code":     {"echo x >> asked; echo no >&2; exit 2", "its trigger script: exit 2: no"},
		"nothing":          {"echo x >> asked", "its trigger script: trigger wrote nothing to stdout"},
		"no JSON":          {"echo x >> asked; echo yes", "its trigger script: trigger \"yes\" is no answer"},
		"too much to keep": {`echo x >> asked; printf '{"fire":false,"state":"'; head -c 20000 /dev/zero | tr '\0' a; echo '"}'`, "its trigger script: trigger state"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.add("mail", "1m", asks(tt.script, nil))
			w.clock.Advance(time.Minute)
			w.checks(1)
			w.tells("12:01 failed")
			if r := w.runs()[0]; !strings.HasPrefix(r.Error, tt.error) {
				t.Errorf("error %q, want %q", r.Error, tt.error)
			}
			if w.row(a.ID).State.ConsecutiveErrors != 1 || w.text("told") != "" {
				t.Errorf("state %+v; told %q", w.row(a.ID).State, w.text("told"))
			}
		})
	}
}

// Whoever is removed or switched off while its script decides is not run.
func TestCheckedTooLate(t *testing.T) {
	for name, act := range map[string]func(w *world, name string) error{
		"switched off": func(w *world, name string) error {
			_, _, err := w.Enable(w.t.Context(), name, false)
			return err
		},
		"removed": func(w *world, name string) error {
			_, err := w.Remove(w.t.Context(), name)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.add("mail", "1m", asks(`echo x >> asked; until test -f go; do sleep 0.02; done; echo '{"fire":true}'`, nil))
			w.clock.Advance(time.Minute)
			w.round()
			w.until("it is asked", func() bool { return len(w.lines("asked")) == 1 })
			if err := act(w, a.Name); err != nil {
				t.Fatal(err)
			}
			w.write("go")
			w.checks(1)
			w.tells("12:01 skipped")
			if w.text("told") != "" {
				t.Error("it ran")
			}
		})
	}
}

// By hand the payload runs without being asked about.
func TestManualRunIsNotChecked(t *testing.T) {
	w := newWorld(t)
	w.add("mail", "1m", asks(`echo x >> asked; echo '{"fire":false}'`, nil))
	if _, _, err := w.Run(t.Context(), "mail", scheduler.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	w.rounds("it has run", w.has(automation.Succeeded, 1))
	if n := len(w.lines("asked")); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}

// A reminder with a script is queued when the script says so, and not before.
func TestReminderIsChecked(t *testing.T) {
	w := newWorld(t)
	w.add("oven", "1m", func(a *automation.Automation) {
		reminds(a)
		a.Trigger = &automation.Trigger{Script: `echo x >> asked; if test -f hot; then echo '{"fire":true,"message":"it is hot"}'; else echo '{"fire":false}'; fi`}
	})
	w.clock.Advance(time.Minute)
	w.checks(1)
	if len(w.events()) != 0 {
		t.Errorf("events %+v", w.events())
	}
	w.write("hot")
	w.clock.Advance(time.Minute)
	w.checks(2)
	if events := w.events(); len(events) != 1 || events[0].Text != "look\n\nit is hot" {
		t.Errorf("events %+v", events)
	}
}

// The claim of a check is taken back when provably nothing was started.
func TestClaimOfACheck(t *testing.T) {
	w := newWorld(t)
	w.add("mail", "1m", asks(`echo x >> asked; echo '{"fire":true}'`, nil))
	w.clock.Advance(time.Minute)
	work, err := w.Pass(t.Context(), nobody)
	if err != nil || len(work.Start) != 1 || work.Start[0].Owner.CheckID == "" || work.Start[0].Owner.ProcessID != "" {
		t.Fatalf("%+v, %v", work, err)
	}
	w.clock.Advance(time.Second)
	w.checks(1)
	w.tells("12:01 succeeded")
}
