package cli

import (
	"errors"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/cron"
	"claw/state/process"
)

// automationsCmd is `claw automations`, also `claw cron`;
// spec/heartbeat-automations.md 2.16.
type automationsCmd struct {
	Add     automationsAdd     `cmd:"" aliases:"create" help:"Make an automation: when, and what."`
	List    automationsList    `cmd:"" default:"withargs" aliases:"ls" help:"Show automations, when each runs next, and how it went last."`
	Show    automationsShow    `cmd:"" help:"Show everything that is known about one automation."`
	Next    automationsNext    `cmd:"" help:"Say a schedule in words and show when it is due."`
	Run     automationsRun     `cmd:"" help:"Run one now, whatever the clock says."`
	Runs    automationsRuns    `cmd:"" help:"Show what became of each time, also when it did not run, and why."`
	Enable  automationsEnable  `cmd:"" help:"Switch one on again; its failures are forgotten."`
	Disable automationsDisable `cmd:"" help:"Switch one off until it is switched on again."`
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
	if e, ok := errors.AsType[*automation.Error](err); ok {
		return &failure{code: exitUsage, text: command + e.Error(), remedy: nonEmpty(e.Remedy()), err: err}
	}
	return err
}

// nobodyRuns says, to people, that nothing will start an automation.
func (a *app) nobodyRuns(s *scheduler.Scheduler) {
	if !s.Enabled {
		a.io.Say("cron.enabled is false: nothing runs by the clock", "claw cron run NAME runs one by hand")
		return
	}
	st, err := runner.Look(s.Store.Dir())
	if err != nil || st.Running || st.TickAtWork || a.now().Sub(st.LastTick).Abs() < 5*time.Minute || !a.io.ErrTTY {
		return
	}
	a.io.Say("no runner is at work, and no tick was called lately: nothing starts it", "claw runner run", "crontab -e:  * * * * * claw heartbeat tick")
}

type automationsList struct {
	All  bool `help:"Also those that are switched off."`
	JSON bool `name:"json" help:"Print {\"automations\": [{\"id\", \"name\", \"enabled\", \"schedule\", \"payload\", \"state\", \"scheduleWords\", \"nextRunAt\", …}]}."`
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
	if c.JSON {
		return a.io.JSON(map[string]any{"automations": shown})
	}
	if len(shown) == 0 {
		a.io.Note(emptyList(len(all)))
		return nil
	}
	if err := a.io.Table(automationTable(a, shown)); err != nil {
		return err
	}
	a.nobodyRuns(s)
	return nil
}

func emptyList(off int) string {
	if off > 0 {
		return "No automation is switched on; --all shows those that are off."
	}
	return "No automations. claw cron add makes one."
}

func automationTable(a *app, rows []scheduler.Entry) output.Table {
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
		row := []string{e.Name, a.briefly(e), next, firstOf(a.ago(e.State.LastRunAt), "-"), automationOutcome(e, a.now())}
		if !a.io.OutTTY {
			row = append([]string{e.ID}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// briefly is a schedule for a narrow column; in a pipe it is whole.
func (a *app) briefly(e scheduler.Entry) string {
	if e.Schedule.Kind != automation.KindCron || !a.io.OutTTY {
		return e.Words
	}
	parsed, err := cron.Parse(e.Schedule.Expr)
	loc, zoneErr := scheduler.Zones()(e.Schedule.TZ)
	if err != nil || zoneErr != nil {
		return e.Words
	}
	return cron.Brief(parsed, loc)
}

// automationOutcome is how an automation stands, and what can be done about it.
func automationOutcome(e scheduler.Entry, now time.Time) string {
	st := e.State
	for _, r := range e.Open {
		if r.Status == automation.Running {
			return "running for " + process.HumanDuration(max(0, now.Sub(r.StartedAt)))
		}
	}
	switch {
	case st.AutoDisabled != nil && st.AutoDisabled.Reason == automation.ReasonSchedule:
		return "disabled: its schedule cannot be computed · claw cron enable " + e.Name
	case st.AutoDisabled != nil:
		return "disabled after " + counted(st.AutoDisabled.Errors, "failure") + " · claw cron enable " + e.Name
	}
	words := lastWords(st)
	for _, r := range e.Open {
		words = joinDots(words, "waits: "+firstOf(r.Why, "for its turn"))
	}
	if !e.Enabled {
		words = joinDots("disabled", words)
	} else if st.ScheduleError != "" {
		words = joinDots(words, st.ScheduleError)
	}
	return words
}

func joinDots(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}

// lastWords is how the last run ended: "succeeded in 2s", "failed (exit 2)".
func lastWords(st automation.State) string {
	if st.LastStatus == "" {
		return ""
	}
	words := strings.ReplaceAll(string(st.LastStatus), "_", " ")
	if st.LastStatus == automation.Succeeded {
		return words + " in " + process.HumanDuration(time.Duration(st.LastDurationMs)*time.Millisecond)
	}
	if how, _, _ := strings.Cut(st.LastError, ":"); how != "" {
		words += " (" + how + ")"
	}
	return words
}

type automationsShow struct {
	Name string `arg:"" help:"Its name or id." placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help shows examples.
func (automationsShow) Help() string {
	return examples("claw cron show backup", "claw cron show backup --json | jq .state")
}

// Run shows one automation.
func (c *automationsShow) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	e, err := s.Find(c.Name)
	if err != nil {
		return cronError("show", err)
	}
	if c.JSON {
		return a.io.JSON(e)
	}
	return a.io.Pairs(automationPairs(a, e))
}

func automationPairs(a *app, e scheduler.Entry) [][2]string {
	next := "nothing will come"
	if !e.Next.IsZero() {
		next = exact(e.Next)
	}
	state := "on"
	if !e.Enabled {
		state = "off"
	}
	pairs := [][2]string{
		{"id", e.ID},
		{"name", e.Name},
		{"state", state},
		{"schedule", e.Words},
		{"expression", e.Schedule.Expr},
		{"does", payloadWords(e.Payload)},
		{"directory", e.Payload.Cwd},
		{"session", e.SessionTarget},
		{"delivery", deliveryWords(e.Delivery)},
		{"missed", string(e.MissedPolicy())},
		{"overlap", firstOf(string(e.Overlap), string(automation.OverlapSkip))},
		{"next", next},
		{"last", exact(e.State.LastRunAt)},
		{"outcome", automationOutcome(e, a.now())},
		{"error", e.State.LastError},
		{"made by", e.Owner},
	}
	kept := pairs[:0]
	for _, p := range pairs {
		if p[1] != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func payloadWords(p automation.Payload) string {
	switch p.Kind {
	case automation.PayloadCommand:
		return process.QuoteArgv(p.Argv)
	case automation.PayloadTurn:
		return "asks the agent: " + p.Message
	}
	return "tells the agent: " + p.Text
}

func deliveryWords(d *automation.Delivery) string {
	switch {
	case d == nil || d.Mode == "none":
		return "none"
	case d.To != "":
		return d.Mode + " to " + d.Channel + ":" + d.To
	}
	return joinNonEmpty(d.Mode+" to", firstOf(d.Channel, "where it was last spoken, else the default channel"))
}
