package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner/scheduler"
	"claw/runner/source"
	"claw/state/automation"
)

type automationsAdd struct {
	When string   `arg:"" optional:"" name:"schedule" help:"A cron expression, \"every 6h\", a time, 20m for in 20 minutes, or @reboot." placeholder:"SCHEDULE"`
	Argv []string `arg:"" optional:"" name:"program" help:"Behind --: a program with its arguments." placeholder:"PROGRAM"`

	automationFlags
	Disabled bool `help:"Make it switched off."`
	JSON     bool `name:"json" help:"Print the automation as one JSON object, with \"change\": added, changed or unchanged."`
}

// Help shows examples.
func (automationsAdd) Help() string {
	return "A command gets CLAW_AUTOMATION, CLAW_RUN_ID and CLAW_SLOT, the time it was due; a run by hand, and what no clock sets off, has no CLAW_SLOT. What a stream, a directory, a command that ended or a trigger script has to say follows a message after a blank line, and is the stdin of a command. A stream cannot start commands. From within an agent's turn no commands can be made, and no more tools given than that turn has.\n\n" +
		examples(
			`claw cron add "0 9 * * 1-5" --tz Europe/Berlin -- ./standup.sh`,
			`claw cron add --every 6h --name backup --command 'restic backup ~'`,
			`claw cron add +20m --reminder 'look at the oven'`,
			`claw cron add --watch ~/in --glob '*.csv' -- ./load.sh`,
			`claw cron add --on-exit 'make -j4' --message 'what went wrong?'`)
}

// Run makes the automation.
func (c *automationsAdd) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	wanted, err := c.automation(a, s)
	if err != nil {
		return cronError("add", err)
	}
	made, change, err := s.Add(a.ctx, wanted)
	if err != nil {
		return cronError("add", err)
	}
	e, err := s.Find(made.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.io.JSON(struct {
			scheduler.Entry
			Change automation.Change `json:"change"`
		}{e, change})
	} else {
		_, err = fmt.Fprintln(a.io.Out, a.addedLine(e))
	}
	if change != automation.Added {
		a.io.Note(e.Name + " was there already, and is " + string(change))
	}
	a.aboutWatching(s, made)
	a.aboutAgents(made)
	a.aboutWebhook(made)
	a.nobodyRuns(s)
	if e.Enabled && (!e.Schedule.Kind.Timed() || !e.Next.After(a.now())) {
		return errors.Join(err, a.wake())
	}
	return err
}

// addedLine is tour.md "Give it a rhythm"; in a pipe the same between tabs.
func (a *app) addedLine(e scheduler.Entry) string {
	if !a.io.OutTTY {
		next := ""
		if !e.Next.IsZero() {
			next = e.Next.UTC().Format(time.RFC3339)
		}
		return strings.Join([]string{output.Escape(e.Name), output.Escape(e.Words), next}, "\t")
	}
	return e.Name + "   " + a.scheduleWords(e) + "   " + a.nextLine(e)
}

// nextLine says when an automation runs next.
func (a *app) nextLine(e scheduler.Entry) string {
	switch {
	case !e.Enabled:
		return "off"
	case e.Next.IsZero() && !e.Schedule.Kind.Timed():
		return "from now on"
	case e.Next.IsZero():
		return "never"
	}
	loc, err := scheduler.Zones()(e.Schedule.TZ)
	if err != nil {
		loc = time.Local
	}
	return "next: " + e.Next.In(loc).Format("Mon 2 Jan 15:04") + " (" + output.Ago(e.Next, a.now()) + ")"
}

// automation is what was typed.
func (c *automationsAdd) automation(a *app, s *scheduler.Scheduler) (automation.Automation, error) {
	if words, ok := inWords(append([]string{c.When}, c.Argv...)); ok && !slices.Contains(a.args, "--") {
		return automation.Automation{}, quoteIt(words, nil)
	}
	when, argv := c.words(a.args)
	t := typed{automationFlags: &c.automationFlags, command: "add", when: when, argv: argv}
	wanted := config.NewAutomation()
	wanted.Enabled = !c.Disabled
	if err := t.onto(a, s, &wanted); err != nil {
		return automation.Automation{}, err
	}
	if wanted.Commands() && wanted.Cwd == "" {
		if err := here(&wanted.Cwd); err != nil {
			return automation.Automation{}, err
		}
	}
	if wanted.Name == "" {
		if err := nameIt(s, &wanted); err != nil {
			return automation.Automation{}, err
		}
	}
	return wanted.Build(a.now(), s.Zone)
}

func here(dir *string) (err error) {
	*dir, err = filepath.Abs(".")
	return err
}

// words takes what was typed apart: the schedule, and behind -- the argv, which
// the grammar takes for the schedule where that is given by a flag.
func (c *automationsAdd) words(args []string) (when string, argv []string) {
	typed := slices.DeleteFunc([]string{c.When}, func(s string) bool { return s == "" })
	typed = append(typed, c.Argv...)
	i := slices.Index(args, "--")
	if i >= 0 && len(args)-i-1 >= len(typed) || len(typed) == 0 {
		return "", typed
	}
	return typed[0], typed[1:]
}

// nameIt makes a name where none is given: from what is done, with a number
// when it is taken. What has a key that exists keeps its name.
func nameIt(s *scheduler.Scheduler, wanted *config.Automation) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, e := range all {
		if wanted.Key != "" && e.DeclarationKey == wanted.Key {
			wanted.Name = e.Name
			return nil
		}
		taken[strings.ToLower(e.Name)] = true
	}
	wanted.Name = freeName(nameFor(*wanted), taken)
	return nil
}

func freeName(base string, taken map[string]bool) string {
	name := base
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = base + "-" + itoa(n)
	}
	return name
}

// nameFor is the first words of what is done, as a word.
func nameFor(w config.Automation) string {
	text := w.Message + w.Reminder + w.Event
	switch {
	case w.Command != "":
		argv := strings.Fields(w.Command)
		text = strings.Join(argv[:min(2, len(argv))], " ")
	case len(w.Argv) > 0:
		argv := slices.Clone(w.Argv)
		argv[0] = filepath.Base(argv[0])
		text = strings.Join(argv[:min(2, len(argv))], " ")
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words[:min(3, len(words))], "-")
	return firstOf(name[:min(len(name), 40)], "automation")
}

// aboutWatching says what stands against watching a directory as it is now.
func (a *app) aboutWatching(s *scheduler.Scheduler, made automation.Automation) {
	if made.Schedule.Kind != automation.KindWatch {
		return
	}
	dir := made.Schedule.Dir
	err := source.Check(source.Spec{Dir: dir, Recursive: made.Schedule.Recursive, Glob: made.Schedule.Glob, Skip: s.Store.Dir()})
	if err != nil {
		a.io.Say(made.Name+": "+dir+" cannot be watched as it is: "+err.Error(), remedyOf(err)...)
	}
}

// aboutAgents says, to people, that nobody is there to be asked. It may be
// configured later.
func (a *app) aboutAgents(made automation.Automation) {
	cfg, err := a.config()
	if err != nil || made.Payload.Kind != automation.PayloadTurn || !a.io.ErrTTY {
		return
	}
	if len(cfg.Agents.Entries) == 0 && len(cfg.Agents.Defaults.Command) == 0 {
		a.io.Say("no agent is configured: its runs will fail until one is", a.configuringAgents()...)
	}
}
