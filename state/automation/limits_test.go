package automation_test

import (
	"fmt"
	"strings"
	"testing"

	"claw/state/automation"
)

// Turns and commands have limits of their own, and reminders none: a long
// command holds up no other, and a long turn no command.
func TestLimitsOfKinds(t *testing.T) {
	event := func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
	}
	kinds := []struct {
		letter string
		change []func(*automation.Automation)
	}{
		{"t", []func(*automation.Automation){agent}},
		{"c", nil},
		{"e", []func(*automation.Automation){event}},
		{"T", []func(*automation.Automation){agent, script}},
		{"C", []func(*automation.Automation){script}}, // with a trigger script
	}
	for _, tt := range []struct {
		rule            string
		due             string // which come due, a letter each
		running         string // which run: t with a turn, c with a process, k while their script decides
		turns, commands int
		want            string // which start
	}{
		{"no limits", "ttccee", "", 0, 0, "ttccee"},
		{"one turn", "tttccc", "", 1, 0, "tccc"},
		{"one command", "tttccc", "", 0, 1, "tttc"},
		{"both", "tttccceee", "", 1, 2, "tcceee"},
		{"a turn goes on", "ttccee", "t", 1, 0, "ccee"},
		{"a command goes on", "ttccee", "c", 1, 1, "tee"},
		{"a script that decides is a command", "ttcc", "k", 1, 1, "t"},
		{"asking a script takes no turn", "TT", "t", 1, 0, "TT"},
		{"asking a script is a command", "TTCC", "", 1, 1, "T"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			in := automation.Input{Now: day("09:00"), Zone: zone, MaxTurns: tt.turns, MaxCommands: tt.commands}
			letters := map[string]string{}
			for i, l := range tt.due {
				for _, k := range kinds {
					if k.letter == string(l) {
						a := hourly(k.change...)
						a.ID = fmt.Sprintf("due%02d", i)
						letters[a.ID], in.Automations = k.letter, append(in.Automations, a)
					}
				}
			}
			for i, l := range tt.running {
				owner := map[rune]*automation.Owner{'t': {TurnID: "t"}, 'c': {ProcessID: "c"}, 'k': {CheckID: "k"}}[l]
				r := run("08:00", automation.Running, func(r *automation.Run) { r.AutomationID, r.Owner = fmt.Sprintf("gone%d", i), owner })
				in.Runs = append(in.Runs, r)
			}
			in.Life = func(automation.Run) automation.Life { return automation.Alive }
			got := ""
			p := automation.Decide(in)
			for _, r := range p.Start {
				got += letters[r.AutomationID]
			}
			if got != tt.want {
				t.Errorf("%s start; want %s", got, tt.want)
			}
			for _, r := range p.Runs {
				if r.Status == automation.Queued && (r.Code != automation.CodeConcurrency || !strings.Contains(r.Why, "(cron.maxConcurrent")) {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// A run whose script has decided waits for a turn like any other.
func TestACheckedRunWaitsForATurn(t *testing.T) {
	a, r := checking(t, agent, script)
	c := automation.Checked(a, r, automation.TriggerAnswer{Fire: true}, day("09:00:02"))
	busy := run("08:00", automation.Running, func(r *automation.Run) { r.AutomationID, r.Owner = "other", &automation.Owner{TurnID: "t"} })
	in := input("09:00:02", c.Automation, c.Run, busy)
	in.MaxTurns, in.Life = 1, func(automation.Run) automation.Life { return automation.Alive }
	if p := automation.Decide(in); len(p.Start) != 0 {
		t.Errorf("%+v", p.Start)
	}
	in.Runs = in.Runs[:1]
	if p := automation.Decide(in); len(p.Start) != 1 || !p.Start[0].Checked {
		t.Errorf("%+v", p.Start)
	}
}
