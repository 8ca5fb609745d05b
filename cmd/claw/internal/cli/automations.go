package cli

import (
	"errors"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/cron"
)

// automationsCmd is `claw automations`, also `claw cron`;
// spec/heartbeat-automations.md 2.16.
type automationsCmd struct {
	Add     automationsAdd     `cmd:"" aliases:"create" help:"Make an automation: when, and what."`
	Edit    automationsEdit    `cmd:"" help:"Change one; what is not given stays."`
	Import  automationsImport  `cmd:"" help:"Take over a crontab, or what export has written; first show what would change."`
	Export  automationsExport  `cmd:"" help:"Print automations as tables of claw.toml, as JSON or as a crontab."`
	List    automationsList    `cmd:"" default:"withargs" aliases:"ls" help:"Show automations, when each runs next, and how it went last."`
	Show    automationsShow    `cmd:"" help:"Show everything that is known about one automation."`
	Next    automationsNext    `cmd:"" help:"Say a schedule in words and show when it is due."`
	Run     automationsRun     `cmd:"" help:"Run one now, whatever the clock says."`
	Runs    automationsRuns    `cmd:"" help:"Show what became of each time, also when it did not run, and why."`
	Enable  automationsEnable  `cmd:"" help:"Switch one on again; its failures are forgotten."`
	Disable automationsDisable `cmd:"" help:"Switch one off until it is switched on again."`
	Status  automationsStatus  `cmd:"" help:"Show whether automations run, and when the next one does."`
	Rm      automationsRm      `cmd:"" aliases:"remove,delete" help:"Take one away; the records of its runs stay."`
}

// Help shows examples.
func (automationsCmd) Help() string {
	return "An automation is a schedule with something to do: a command, a message to an agent, or a reminder. It runs when claw runner is at work, or at the next claw heartbeat tick; each time it was due has a record, also when it did not run. A name, an id, or four or more characters from the beginning of one say which is meant. Without an action, list.\n\n" +
		examples(`claw cron add "0 9 * * 1-5" --name standup -- ./standup.sh`, "claw cron runs standup")
}

// cron is what acts on automations.
func (a *app) cron() (*scheduler.Scheduler, error) {
	r, err := a.runner(nil)
	if err != nil {
		return nil, err
	}
	return r.Scheduler, nil
}

// cronError gives the errors of automations their codes.
func cronError(command string, err error) error {
	command = "automations " + command + ": "
	if r, ok := errors.AsType[*scheduler.Refused](err); ok {
		code := exitRefused
		switch {
		case r.Missing:
			code = exitNotFound
		case r.Ambiguous:
			code = exitUsage
		}
		return &failure{code: code, text: command + r.Text, remedy: nonEmpty(r.Hint), err: err}
	}
	if typed, ok := fieldError(command, err); ok {
		return typed
	}
	if e, ok := errors.AsType[*automation.Error](err); ok {
		return &failure{code: exitUsage, text: command + e.Error(), remedy: nonEmpty(e.Remedy()), err: err}
	}
	return err
}

type automationsList struct {
	All  bool `help:"Also those that are switched off."`
	JSON bool `name:"json" help:"Print {\"automations\": [{\"id\", \"name\", \"enabled\", \"schedule\", \"payload\", \"state\", \"scheduleWords\", \"nextRunAt\", …}]}, and \"refused\", tables of claw.toml that count for nothing, and \"held\", why nothing begins by the clock."`
}

// Help shows examples.
func (automationsList) Help() string {
	return "Those that claw has switched off after failures are always shown.\n\n" +
		examples("claw cron list", "claw cron list --all --json | jq -r '.automations[].name'")
}

// Run prints the list.
func (c *automationsList) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	shown := make([]scheduler.Entry, 0, len(all))
	for _, e := range all {
		if c.All || e.Enabled || e.State.AutoDisabled != nil || len(e.Open) > 0 {
			shown = append(shown, e)
		}
	}
	refused, err := a.refusedTables(s)
	if err != nil {
		return err
	}
	held := a.heldBack(s)
	if c.JSON {
		out := map[string]any{"automations": shown}
		if held.why != "" {
			out["held"] = held.why
		}
		if len(refused) > 0 {
			out["refused"] = refused
		}
		return a.io.JSON(out)
	}
	if len(shown) == 0 && len(refused) == 0 {
		a.io.Note(emptyList(len(all)))
		return nil
	}
	if err := a.io.Table(automationTable(a, shown, refused, held)); err != nil {
		return err
	}
	a.brokenTables(refused)
	a.sayHeld(held)
	return nil
}

func emptyList(off int) string {
	if off > 0 {
		return "No automation is switched on; --all shows those that are off."
	}
	return "No automations. claw cron add makes one."
}

func automationTable(a *app, rows []scheduler.Entry, refused []refusedTable, held hold) output.Table {
	t := output.Table{Columns: []output.Column{
		{Name: "NAME"}, {Name: "SCHEDULE", Flex: true}, {Name: "NEXT"}, {Name: "LAST"}, {Name: "OUTCOME", Flex: true},
	}}
	if !a.io.OutTTY {
		t.Columns = append([]output.Column{{Name: "ID"}}, t.Columns...)
	}
	for _, e := range rows {
		next := a.ago(e.Next)
		if e.Next.IsZero() {
			next = "-"
		}
		row := []string{e.Name, a.scheduleWords(e), next, firstOf(a.ago(e.State.LastRunAt), "-"), joinDots(held.overdue(e, a.now()), automationOutcome(e, a.now()))}
		if !a.io.OutTTY {
			row = append([]string{e.ID}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, r := range refused {
		row := []string{r.Name, "-", "-", "-", "its table is refused: " + r.problem.Rule}
		if !a.io.OutTTY {
			row = append([]string{"-"}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// scheduleWords is a schedule for a narrow column; in a pipe it is whole.
func (a *app) scheduleWords(e scheduler.Entry) string {
	if !a.io.OutTTY {
		return e.Words
	}
	return briefSchedule(e, a.now(), config.Home(a.getenv))
}

// briefSchedule says a schedule so that what tells it from others comes first:
// "weekdays 09:00", "at 1 Dec 12:00 EST", "when ~/in changes". Times are in the
// zone of now unless the schedule has its own.
func briefSchedule(e scheduler.Entry, now time.Time, home string) string {
	loc, err := scheduler.Zones()(e.Schedule.TZ)
	if err != nil {
		return e.Words
	}
	switch e.Schedule.Kind {
	case automation.KindCron:
		if parsed, err := cron.Parse(e.Schedule.Expr); err == nil {
			return cron.Brief(parsed, loc)
		}
	case automation.KindAt:
		layout := "2 Jan 15:04"
		if e.Schedule.TZ == "" {
			loc = now.Location()
		} else {
			layout += " MST"
		}
		at := e.Schedule.At.In(loc)
		if at.Year() != now.In(loc).Year() {
			layout = strings.Replace(layout, "Jan", "Jan 2006", 1)
		}
		return "at " + at.Format(layout)
	case automation.KindWatch:
		if home != "" && home != "/" {
			return strings.Replace(e.Words, " "+home+"/", " ~/", 1)
		}
	}
	return e.Words
}
