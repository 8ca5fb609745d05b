package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner/scheduler"
	"claw/state/automation"
)

type automationsEdit struct {
	Called string   `arg:"" name:"which" help:"Its name or id." placeholder:"NAME"`
	Argv   []string `arg:"" optional:"" name:"program" help:"Behind --: a program with its arguments, in place of what it does." placeholder:"PROGRAM"`

	automationFlags
	automationClear
	Enable  bool `help:"Switch it on too."`
	Disable bool `help:"Switch it off too."`
	JSON    bool `name:"json" help:"Print {\"automation\", \"changes\": [{\"key\", \"old\", \"new\"}], \"moved\"}."`
}

// automationClear are the flags that take something away.
type automationClear struct {
	ClearAgent           bool `help:"The usual agent is asked again."`
	ClearSession         bool `help:"The usual session again."`
	ClearTools           bool `help:"The agent may use all tools again."`
	ClearModel           bool `help:"No model of its own."`
	ClearFallbacks       bool `help:"No further models."`
	ClearThinking        bool `help:"No thinking of its own."`
	ClearDisplayName     bool `help:"No display name."`
	ClearDescription     bool `help:"No description."`
	ClearTZ              bool `name:"clear-tz" help:"The host's zone again."`
	ClearStagger         bool `help:"Neither --stagger nor --exact: what is usual for the expression."`
	ClearPacing          bool `help:"No pacing."`
	ClearTrigger         bool `help:"No trigger script."`
	ClearEnv             bool `help:"No variables."`
	ClearInput           bool `help:"Nothing on stdin."`
	ClearTimeout         bool `help:"The usual timeout again."`
	ClearNoOutputTimeout bool `help:"A command may be silent."`
	ClearOutputMaxBytes  bool `help:"The usual amount of output again."`
	ClearMissed          bool `help:"What is usual for missed times again."`
	ClearOverlap         bool `help:"What is usual while a run goes on again."`
	ClearDelivery        bool `help:"Results go where they usually do again."`
	ClearWebhook         bool `help:"Nothing is posted any more; what was only posted goes where results usually do."`
	ClearFailureAlert    bool `help:"Failures are told as usual again."`
}

// Help shows examples.
func (automationsEdit) Help() string {
	return "Only what is given changes, and what has changed is printed: the key, what it was, and what it is, with tabs between them in a pipe. Only another schedule moves the times at which it is due; a run that goes on ends as it would. What claw.toml declares is changed there.\n\n" +
		examples(
			`claw cron edit standup --cron "30 9 * * 1-5"`,
			`claw cron edit backup --overlap queue --clear-timeout`,
			`claw cron edit backup -- ./backup.sh --full`)
}

// Run changes the automation.
func (c *automationsEdit) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	if c.Enable && c.Disable {
		return usagef("automations edit: --enable and --disable exclude one another", "leave one of them out")
	}
	before, err := s.Find(c.Called)
	if err != nil {
		return cronError("edit", err)
	}
	made, err := s.Edit(a.ctx, before.ID, func(to *automation.Automation) error { return c.change(a, s, to) })
	if err != nil {
		return cronError("edit", err)
	}
	after, err := s.Find(made.ID)
	if err != nil {
		return err
	}
	if err := c.report(a, before, after); err != nil {
		return err
	}
	a.aboutWatching(s, made)
	a.aboutWebhook(made)
	sources := !before.Schedule.Kind.Timed() || !after.Schedule.Kind.Timed()
	return a.atOnce(nil, sources || after.Enabled && !after.Next.IsZero() && !after.Next.After(a.now()))
}

// change is what was typed, done to an automation.
func (c *automationsEdit) change(a *app, s *scheduler.Scheduler, to *automation.Automation) error {
	written := config.AutomationOf(*to)
	was := written
	c.clear(&written)
	t := typed{automationFlags: &c.automationFlags, command: "edit", argv: c.Argv}
	if err := t.onto(a, s, &written); err != nil {
		return err
	}
	written.Enabled = written.Enabled && !c.Disable || c.Enable
	if written.Commands() && !was.Commands() && written.Cwd == "" {
		if err := here(&written.Cwd); err != nil {
			return err
		}
	}
	if len(config.Differences(was, written)) == 0 && c.nothing() {
		return usagef("automations edit: nothing is given to change", "claw cron edit --help lists what can be")
	}
	return become(a, s, to, written)
}

// become gives an automation the definition that is written.
func become(a *app, s *scheduler.Scheduler, to *automation.Automation, written config.Automation) error {
	made, err := written.Make(a.now(), s.Zone)
	if err != nil {
		return err
	}
	made = automation.New(made, a.now())
	if written.Anchor == "" && automation.SameSchedule(made.Schedule, withoutAnchor(to.Schedule)) {
		made.Schedule.AnchorMs = to.Schedule.AnchorMs // which nobody wrote
	}
	if made.Payload.Kind == automation.PayloadTurn && made.Payload.ToolsAllow == nil {
		made.Payload.ToolsAllow = s.Actor.Tools // all are not written
		if s.Actor.Operator() {
			made.Payload.ToolsAllow = slices.Clone(automation.AllTools)
		}
	}
	made.ID, made.Owner, made.Declared, made.System = to.ID, to.Owner, to.Declared, to.System
	made.CreatedAt, made.UpdatedAt, made.State = to.CreatedAt, to.UpdatedAt, to.State
	*to = made
	return nil
}

func withoutAnchor(s automation.Schedule) automation.Schedule {
	s.AnchorMs = 0
	return s
}

// nothing tells that no flag was typed; one that says what is so already is
// no mistake.
func (c *automationsEdit) nothing() bool {
	return !c.Enable && !c.Disable && c.automationClear == automationClear{} && c.automationWhen == automationWhen{} &&
		c.bare() && c.automationHow == automationHow{}
}

func (c *automationsEdit) bare() bool {
	w := c.automationWhat
	return len(c.Argv)+len(w.Env)+len(w.Fallbacks) == 0 && w.Tools == nil && w.Timeout == nil && w.NoOutputTimeout == 0 && !w.LightContext &&
		firstOf(w.Name, w.DisplayName, w.DeclarationKey, w.Description, w.Command, w.Message, w.Reminder, w.Event, w.Cwd, w.Input,
			w.OutputMaxBytes, w.Agent, w.Session, w.Model, w.Thinking) == ""
}

// clear takes away what is to go, before what was typed takes its place.
func (c *automationClear) clear(w *config.Automation) {
	none := config.NewAutomation()
	for _, f := range [...]struct {
		on bool
		do func()
	}{
		{c.ClearAgent, func() { w.Agent = "" }},
		{c.ClearSession, func() { w.Session = "" }},
		{c.ClearTools, func() { w.Tools = nil }},
		{c.ClearModel, func() { w.Model = "" }},
		{c.ClearFallbacks, func() { w.Fallbacks = nil }},
		{c.ClearThinking, func() { w.Thinking = "" }},
		{c.ClearDisplayName, func() { w.DisplayName = "" }},
		{c.ClearDescription, func() { w.Description = "" }},
		{c.ClearTZ, func() { w.TZ = "" }},
		{c.ClearStagger, func() { w.Stagger, w.Exact = 0, false }},
		{c.ClearPacing, func() { w.PacingMin, w.PacingMax = 0, 0 }},
		{c.ClearTrigger, func() { w.TriggerScript, w.TriggerOnce = "", false }},
		{c.ClearEnv, func() { w.Env = nil }},
		{c.ClearInput, func() { w.Input = "" }},
		{c.ClearTimeout, func() { w.TimeoutSeconds = none.TimeoutSeconds }},
		{c.ClearNoOutputTimeout, func() { w.NoOutputTimeoutSeconds = 0 }},
		{c.ClearOutputMaxBytes, func() { w.OutputMaxBytes = 0 }},
		{c.ClearMissed, func() { w.Missed, w.MissedLimit, w.MissedWindow = "", 0, 0 }},
		{c.ClearOverlap, func() { w.Overlap = "" }},
		{c.ClearDelivery, func() { clearDelivery(w) }},
		{c.ClearWebhook, func() {
			if w.DeliveryURL = ""; w.DeliveryMode == "webhook" {
				w.DeliveryMode = ""
			}
		}},
		{c.ClearFailureAlert, func() { clearAlert(w) }},
	} {
		if f.on {
			f.do()
		}
	}
}

// report says what has changed, and whether the next time has moved.
func (c *automationsEdit) report(a *app, before, after scheduler.Entry) error {
	changes := config.Differences(config.AutomationOf(before.Automation), config.AutomationOf(after.Automation))
	moved := !before.Next.Equal(after.Next)
	if c.JSON {
		if changes == nil {
			changes = []config.Difference{}
		}
		return a.io.JSON(map[string]any{"automation": after, "changes": changes, "moved": moved})
	}
	var b strings.Builder
	for _, d := range changes {
		b.WriteString(a.changeLine(d) + "\n")
	}
	if _, err := a.io.Out.Write([]byte(b.String())); err != nil {
		return err
	}
	if len(changes) == 0 {
		a.io.Note(after.Name + " is as it was")
		return nil
	}
	a.io.Note(movedWords(a, after, before.Next, moved))
	return nil
}

// changeLine is one key, as it was and as it is.
func (a *app) changeLine(d config.Difference) string {
	if !a.io.OutTTY {
		return d.Key + "\t" + output.Escape(d.Old) + "\t" + output.Escape(d.New)
	}
	return d.Key + "  " + firstOf(output.Safe(d.Old), "-") + "  →  " + firstOf(output.Safe(d.New), "-")
}

func movedWords(a *app, after scheduler.Entry, was time.Time, moved bool) string {
	words := after.Name + ": "
	switch {
	case !moved && after.Next.IsZero():
		return words + "changed"
	case !moved:
		return words + "the next time is as before, " + output.Ago(after.Next, a.now())
	case after.Next.IsZero():
		return words + "no next time any more"
	case was.IsZero():
		return words + a.nextLine(after)
	}
	return words + a.nextLine(after) + ", was " + output.Ago(was, a.now())
}

// fieldError is a mistake that config has found, as one of what was typed.
func fieldError(command string, err error) (error, bool) {
	e, ok := errors.AsType[*config.FieldError](err)
	if !ok {
		return nil, false
	}
	return &failure{code: exitUsage, text: command + e.Error(), remedy: nonEmpty(e.Hint), err: err}, true
}
