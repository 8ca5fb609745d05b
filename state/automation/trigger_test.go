package automation_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// 3.6: what a trigger script may say.
func TestParseTrigger(t *testing.T) {
	big := strings.Repeat("x", 16<<10-2) // with its quotes, 16 KiB
	for _, tt := range []struct {
		rule, stdout string
		fire         bool
		message      string
		state        string
		refused      string
	}{
		{"quiet", `{"fire": false}`, false, "", "", ""},
		{"fire", `{"fire": true}`, true, "", "", ""},
		{"all of it", `{"fire": true, "message": "new mail", "state": {"seen": 7}}` + "\n", true, "new mail", `{"seen": 7}`, ""},
		{"over several lines", "{\n  \"fire\": true,\n  \"state\": [1,\n 2]\n}\n", true, "", "[1,\n 2]", ""},
		{"as the last line", "checking\n3 found\n{\"fire\": true}\n", true, "", "", ""},
		{"with blank lines after it", "checking\r\n{\"fire\": false}\r\n\r\n", false, "", "", ""},
		{"quiet, with a state", `{"fire": false, "state": 3}`, false, "", "3", ""},
		{"to forget", `{"fire": false, "state": null}`, false, "", "null", ""},
		{"more than is known", `{"fire": true, "cost": 3}`, true, "", "", ""},
		{"a state of 16 KiB", `{"fire": false, "state": "` + big + `"}`, false, "", `"` + big + `"`, ""},
		{"a larger one", `{"fire": false, "state": "` + big + `x"}`, false, "", "", "the most is 16384"},
		{"nothing", "", false, "", "", "wrote nothing"},
		{"blank", " \n\n", false, "", "", "wrote nothing"},
		{"no JSON", "yes", false, "", "", "is no answer"},
		{"not the last line", "{\"fire\": true}\nbye", false, "", "", "is no answer"},
		{"half of it", `{"fire": tr`, false, "", "", "is no answer"},
		{"not whether", `{"message": "x"}`, false, "", "", "does not say whether to fire"},
		{"null", `{"fire": null}`, false, "", "", "does not say whether to fire"},
		{"a word for it", `{"fire": "yes"}`, false, "", "", "is no answer"},
		{"no object", `true`, false, "", "", "is no answer"},
		{"a list", `[true]`, false, "", "", "is no answer"},
		{"no message", `{"fire": true, "message": 3}`, false, "", "", "is no answer"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := automation.ParseTrigger(tt.stdout)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || err.Remedy() == "" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Fire != tt.fire || got.Message != tt.message || string(got.State) != tt.state {
				t.Errorf("%v %q %.40q, %v", got.Fire, got.Message, got.State, err)
			}
		})
	}
}

func FuzzParseTrigger(f *testing.F) {
	for _, s := range []string{`{"fire":true}`, "x\n{\"fire\":false,\"state\":null}", "{", "", "\xff", `{"fire":1e999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := automation.ParseTrigger(s)
		if err != nil && (got.Fire || got.State != nil) {
			t.Errorf("refused, and %+v", got)
		}
		if len(got.State) > automation.MaxTriggerState {
			t.Errorf("%d bytes of state", len(got.State))
		}
	})
}

func script(a *automation.Automation) { a.Trigger = &automation.Trigger{Script: "check"} }

func scriptOnce(a *automation.Automation) {
	a.Trigger = &automation.Trigger{Script: "check", Once: true}
}

// checking is an automation and its run while the script decides, as Decide has
// claimed it.
func checking(t *testing.T, change ...func(*automation.Automation)) (automation.Automation, automation.Run) {
	t.Helper()
	a := hourly(change...)
	a.State.TriggerState = `"old"`
	p := automation.Decide(input("09:00", a))
	if len(p.Start) != 1 || !p.Automations[0].Checks(p.Start[0]) {
		t.Fatalf("%+v", p)
	}
	r := p.Start[0]
	r.Owner = &automation.Owner{CheckID: "C"}
	return p.Automations[0], r
}

func TestChecks(t *testing.T) {
	a := hourly(script)
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		r    automation.Run
		want bool
	}{
		{"a slot", a, automation.Run{}, true},
		{"it has said so already", a, automation.Run{Checked: true}, false},
		{"by hand", a, automation.Run{Manual: true}, false},
		{"no script", hourly(), automation.Run{}, false},
	} {
		if got := tt.a.Checks(tt.r); got != tt.want {
			t.Errorf("%s: %v", tt.rule, got)
		}
	}
}

// 3.6: what follows from an answer.
func TestChecked(t *testing.T) {
	t.Run("quiet: no run; the state is saved, and what failed before is over", func(t *testing.T) {
		a, r := checking(t, script)
		a.State.ConsecutiveErrors, a.State.BackoffUntil, a.State.Incident = 3, day("09:30"), "unknown: x"
		c := automation.Checked(a, r, automation.TriggerAnswer{State: []byte("7")}, day("09:00:02"))
		st := c.Automation.State
		if !c.Quiet || st.TriggerState != "7" || st.Quiet != 1 || !st.CheckedAt.Equal(day("09:00:02")) {
			t.Errorf("%+v", c)
		}
		if st.ConsecutiveErrors != 0 || !st.BackoffUntil.IsZero() || st.Incident != "" {
			t.Errorf("%+v", st)
		}
		if !st.LastRunAt.IsZero() || st.LastStatus != "" {
			t.Errorf("a check is taken for a run: %+v", st)
		}
		c = automation.Checked(c.Automation, r, automation.TriggerAnswer{}, day("10:00:02"))
		if st := c.Automation.State; st.Quiet != 2 || st.TriggerState != "7" {
			t.Errorf("nothing said about the state: %+v", st)
		}
		c = automation.Checked(c.Automation, r, automation.TriggerAnswer{State: []byte("null")}, day("10:00:02"))
		if st := c.Automation.State; st.TriggerState != "" {
			t.Errorf("to be forgotten: %+v", st)
		}
	})
	t.Run("fire: the payload runs, with the message; the state waits for its success", func(t *testing.T) {
		a, r := checking(t, script)
		a.State.Quiet = 4
		c := automation.Checked(a, r, automation.TriggerAnswer{Fire: true, Message: "new mail", State: []byte("8")}, day("09:00:02"))
		if c.Quiet || c.Automation.State.TriggerState != `"old"` || c.Automation.State.Quiet != 0 {
			t.Errorf("%+v", c)
		}
		p := automation.Decide(input("09:00:02", c.Automation, c.Run))
		if len(p.Start) != 1 || p.Start[0].ID != r.ID || !p.Start[0].Checked || p.Start[0].Input != "new mail" || p.Start[0].Owner != nil || !p.Start[0].StartedAt.Equal(day("09:00:02")) {
			t.Fatalf("%+v", p)
		}
		if at := p.Automations[0].State.LastRunAt; !at.Equal(day("09:00:02")) {
			t.Errorf("last run at %s", at)
		}
		good := automation.Finish(p.Automations[0], p.Start[0], automation.End{Status: automation.Succeeded, At: day("09:05")}, automation.Retry{}, zone)
		if st := good.Automation.State; st.TriggerState != "8" || !good.Automation.Enabled {
			t.Errorf("succeeded: %+v", st)
		}
		for _, bad := range []automation.Status{automation.Failed, automation.TimedOut, automation.Interrupted, automation.Unknown, automation.Cancelled, automation.Skipped} {
			f := automation.Finish(p.Automations[0], p.Start[0], automation.End{Status: bad, At: day("09:05")}, automation.Retry{}, zone)
			if f.Automation.State.TriggerState != `"old"` {
				t.Errorf("%s: it would not fire again: %+v", bad, f.Automation.State)
			}
		}
	})
	t.Run("an attempt after a failure is decided anew", func(t *testing.T) {
		a, r := checking(t, script)
		c := automation.Checked(a, r, automation.TriggerAnswer{Fire: true, State: []byte("8")}, day("09:00:02"))
		f := automation.Finish(c.Automation, c.Run, failed("09:05", automation.Network), automation.Retry{}, zone)
		if f.Retry == nil || f.Retry.Checked || f.Retry.TriggerState != "" || !f.Automation.Checks(*f.Retry) {
			t.Errorf("%+v", f.Retry)
		}
	})
	t.Run("once: after the first success it is off", func(t *testing.T) {
		a, r := checking(t, scriptOnce)
		c := automation.Checked(a, r, automation.TriggerAnswer{Fire: true}, day("09:00:02"))
		f := automation.Finish(c.Automation, c.Run, automation.End{Status: automation.Succeeded, At: day("09:05")}, automation.Retry{}, zone)
		if f.Automation.Enabled || f.Automation.State.AutoDisabled != nil || f.Delete {
			t.Errorf("%+v", f)
		}
		if f := automation.Finish(c.Automation, c.Run, failed("09:05", automation.Other), automation.Retry{}, zone); !f.Automation.Enabled {
			t.Error("off after a failure")
		}
		byHand := automation.Run{ID: "x", AutomationID: "job", Manual: true, Status: automation.Running, StartedAt: day("09:00")}
		if f := automation.Finish(a, byHand, automation.End{Status: automation.Succeeded, At: day("09:05")}, automation.Retry{}, zone); !f.Automation.Enabled {
			t.Error("off after a run by hand")
		}
	})
	t.Run("a script that was changed meanwhile begins anew", func(t *testing.T) {
		a, r := checking(t, scriptOnce)
		edited := edit(a, "09:00:01", func(a *automation.Automation) { a.Trigger = &automation.Trigger{Script: "other", Once: true} })
		if edited.State.TriggerState != "" {
			t.Errorf("another script is given the state of the old one: %+v", edited.State)
		}
		if c := automation.Checked(edited, r, automation.TriggerAnswer{State: []byte("7")}, day("09:00:02")); c.Automation.State.TriggerState != "" {
			t.Errorf("quiet: %+v", c.Automation.State)
		}
		c := automation.Checked(edited, r, automation.TriggerAnswer{Fire: true, State: []byte("7")}, day("09:00:02"))
		f := automation.Finish(c.Automation, c.Run, automation.End{Status: automation.Succeeded, At: day("09:05")}, automation.Retry{}, zone)
		if f.Automation.State.TriggerState != "" || !f.Automation.Enabled {
			t.Errorf("succeeded: %+v", f.Automation)
		}
	})
	t.Run("a name that was changed meanwhile does not", func(t *testing.T) {
		a, r := checking(t, script)
		edited := edit(a, "09:00:01", func(a *automation.Automation) { a.Name = "x" })
		if c := automation.Checked(edited, r, automation.TriggerAnswer{State: []byte("7")}, day("09:00:02")); c.Automation.State.TriggerState != "7" {
			t.Errorf("%+v", c.Automation.State)
		}
	})
	t.Run("what a source says comes first", func(t *testing.T) {
		a, r := checking(t, script)
		r.Input = "a.csv\n"
		c := automation.Checked(a, r, automation.TriggerAnswer{Fire: true, Message: "two rows"}, day("09:00:02"))
		if c.Run.Input != "a.csv\n\ntwo rows" {
			t.Errorf("%q", c.Run.Input)
		}
	})
}

// A script that fails is a run that failed.
func TestTriggerScriptFails(t *testing.T) {
	a, r := checking(t, script)
	f := automation.Finish(a, r, failed("09:00:30", automation.Validation), automation.Retry{}, zone)
	if st := f.Automation.State; st.ConsecutiveErrors != 1 || st.LastStatus != automation.Failed || st.TriggerState != `"old"` {
		t.Errorf("%+v", st)
	}
}

// What a run is told, and what its command reads.
func TestTold(t *testing.T) {
	for _, tt := range []struct {
		own, input, want string
	}{
		{"look", "", "look"},
		{"look", "a\nb", "look\n\na\nb"},
		{"look\n", "a", "look\n\na"},
		{"", "a", "a"},
		{"", "", ""},
	} {
		r := automation.Run{Input: tt.input}
		for what, got := range map[string]string{
			"message": automation.Automation{Payload: automation.Payload{Message: tt.own}}.Told(r),
			"event":   automation.Automation{Payload: automation.Payload{Text: tt.own}}.Told(r),
			"stdin":   automation.Automation{Payload: automation.Payload{Input: tt.own}}.Stdin(r),
		} {
			if got != tt.want {
				t.Errorf("%s of %q and %q: %q", what, tt.own, tt.input, got)
			}
		}
	}
}

// Fairness counts checks too, or one that is asked often would wait for ever.
func TestChecksWaitTheirTurn(t *testing.T) {
	a, b := hourly(script), hourly(script)
	b.ID, b.Name = "other", "other"
	a.State.CheckedAt, b.State.LastRunAt = day("08:59"), day("08:58")
	in := input("09:00", a)
	in.Automations = append(in.Automations, b)
	in.MaxCommands = 1
	if p := automation.Decide(in); len(p.Start) != 1 || p.Start[0].AutomationID != "other" {
		t.Errorf("%+v", p.Start)
	}
	if automation.TriggerBudget != 30*time.Second {
		t.Error(automation.TriggerBudget)
	}
}
