package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/process"
	"claw/state/session"
)

type automationsAdd struct {
	When string   `arg:"" optional:"" name:"schedule" help:"A cron expression, \"every 6h\", a time, or 20m for in 20 minutes." placeholder:"SCHEDULE"`
	Argv []string `arg:"" optional:"" name:"program" help:"Behind --: a program with its arguments." placeholder:"PROGRAM"`

	At      string `help:"Once, at this time: 2026-12-01T09:00 (UTC unless --tz says otherwise), or +20m." placeholder:"TIME"`
	Every   string `help:"At this interval: 30m, 6h, 1h30m." placeholder:"INTERVAL"`
	Cron    string `help:"By a cron expression of 5, 6 (seconds first) or 7 fields, or a nickname such as @daily." placeholder:"EXPR"`
	TZ      string `name:"tz" help:"Time zone of the schedule; default the host's, for times UTC." placeholder:"ZONE"`
	Stagger string `help:"Spread it over so long a time after the expression." placeholder:"DURATION"`
	Exact   bool   `help:"Run at the second: expressions for each full hour are spread over 5 minutes otherwise."`

	Name        string `help:"What it is called; default from what it does." placeholder:"NAME"`
	Description string `help:"What it is for." placeholder:"TEXT"`
	Disabled    bool   `help:"Make it switched off."`

	Command  string   `help:"Run a command line, by sh -lc." placeholder:"TEXT"`
	Message  string   `help:"Ask an agent this, in a turn of its own." placeholder:"TEXT"`
	Reminder string   `help:"Tell the agent's main session this, and wake it." placeholder:"TEXT"`
	Event    string   `help:"Tell the agent's main session this in its next turn." placeholder:"TEXT"`
	Cwd      string   `help:"Directory of the command; default this one." placeholder:"DIR"`
	Env      []string `help:"Variable of the command; may be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Agent    string   `help:"Which agent; default main, else the first configured." placeholder:"NAME"`
	Session  string   `help:"Where the agent is asked: isolated (each time anew), current, session:ID or a key." placeholder:"KEY"`
	Model    string   `help:"Model, for agents whose command has {model}." placeholder:"NAME"`

	Missed       string   `help:"What becomes of times that passed while nothing was at work: skip, once or all." enum:",skip,once,all" default:"" placeholder:"POLICY"`
	MissedLimit  int      `help:"With --missed all, at most so many (default 10)." placeholder:"N"`
	MissedWindow string   `help:"What is later than this is not made up." placeholder:"DURATION"`
	Overlap      string   `help:"While a run goes on: skip, queue, replace or allow." enum:",skip,queue,replace,allow" default:"" placeholder:"POLICY"`
	Timeout      *float64 `help:"End a run after so many seconds; 0 never (default 600, of agents 3600)." placeholder:"SEC"`

	Announce  string `help:"Send what comes of it there; default where the agent was last spoken to, else the default channel." placeholder:"CHANNEL[:TO]"`
	NoDeliver bool   `help:"Send nothing; the runs are on record."`
	KeepAfter bool   `name:"keep-after-run" help:"Keep a one-shot when it has run, switched off."`
	JSON      bool   `name:"json" help:"Print the automation as one JSON object."`
}

// Help shows examples.
func (automationsAdd) Help() string {
	return "A command gets CLAW_AUTOMATION, CLAW_RUN_ID and CLAW_SLOT, the time it was due. A failure is sent when it is the first in a row; ten in a row switch the automation off.\n\n" +
		examples(
			`claw cron add "0 9 * * 1-5" --tz Europe/Berlin -- ./standup.sh`,
			`claw cron add --every 6h --name backup --command 'restic backup ~'`,
			`claw cron add +20m --reminder 'look at the oven'`)
}

// Run makes the automation.
func (c *automationsAdd) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	made, err := c.automation(a, s)
	if err == nil {
		made, _, err = s.Add(a.ctx, made)
	}
	if err != nil {
		return cronError("add", err)
	}
	e, err := s.Find(made.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.io.JSON(e)
	} else {
		_, err = fmt.Fprintln(a.io.Out, a.addedLine(e))
	}
	a.nobodyRuns(s)
	if !e.Next.After(a.now()) && e.Enabled {
		return errors.Join(err, a.wake())
	}
	return err
}

// addedLine is tour.md "Give it a rhythm"; in a pipe the same between tabs.
func (a *app) addedLine(e scheduler.Entry) string {
	if !a.io.OutTTY {
		return strings.Join([]string{output.Escape(e.Name), e.Words, e.Next.UTC().Format(time.RFC3339)}, "\t")
	}
	next := "off"
	if e.Enabled {
		loc, err := scheduler.Zones()(e.Schedule.TZ)
		if err != nil {
			loc = time.Local
		}
		next = e.Next.In(loc).Format("Mon 2 Jan 15:04") + " (" + output.Ago(e.Next, a.now()) + ")"
	}
	return e.Name + "   " + e.Words + "   next: " + next
}

// automation is what was typed.
func (c *automationsAdd) automation(a *app, s *scheduler.Scheduler) (automation.Automation, error) {
	when, argv := c.words(a.args)
	made := automation.Automation{
		Description: c.Description, AgentID: c.Agent, Enabled: !c.Disabled, Owner: "operator",
		Missed:  automation.MissedRule{Policy: automation.MissedPolicy(c.Missed), Limit: c.MissedLimit},
		Overlap: automation.Overlap(c.Overlap),
	}
	if agent := a.env("AGENT"); a.env("TURN_ID") != "" {
		made.Owner = "agent:" + agent
	}
	for _, step := range []func(*automation.Automation) error{
		func(m *automation.Automation) error { return c.schedule(a, s, m, when) },
		func(m *automation.Automation) error { return c.payload(a, m, argv) },
		func(m *automation.Automation) error { return c.target(a, m) },
		func(m *automation.Automation) error { return c.rules(m) },
		func(m *automation.Automation) error { return c.delivery(a, s, m) },
		func(m *automation.Automation) error { return c.name(s, m) },
	} {
		if err := step(&made); err != nil {
			return made, err
		}
	}
	return made, nil
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

// refused is a mistake of add, with what to type instead.
func refusedAdd(text string, remedy ...string) error {
	return usagef("automations add: "+text, remedy...)
}

func (c *automationsAdd) schedule(a *app, s *scheduler.Scheduler, made *automation.Automation, when string) (err error) {
	given := nonBlank(when, c.At, c.Every, c.Cron)
	if len(given) != 1 {
		text := "no schedule is given"
		if len(given) > 1 {
			text = fmt.Sprintf("there are %d schedules: %q", len(given), given)
		}
		return refusedAdd(text, `one of "0 9 * * 1-5", --at +20m, --every 6h and --cron '0 9 * * 1-5'`)
	}
	now := a.now()
	switch {
	case c.Every != "":
		made.Schedule, err = automation.ParseEvery(c.Every)
		made.Schedule.TZ = c.TZ
	case c.Cron != "":
		made.Schedule = automation.Schedule{Kind: automation.KindCron, Expr: c.Cron, TZ: c.TZ}
	case c.At != "":
		made.Schedule, err = parseOnce(c.At, c.TZ, now, s.Zone)
	default:
		made.Schedule, err = automation.ParseSchedule(when, c.TZ, now, s.Zone)
	}
	if err != nil {
		return err
	}
	made.DeleteAfterRun = made.Schedule.Kind == automation.KindAt && !c.KeepAfter
	return c.stagger(made)
}

// parseOnce is a time alone: what is an expression or an interval is none.
func parseOnce(text, tz string, now time.Time, zone automation.Zones) (automation.Schedule, error) {
	loc := time.UTC
	if tz != "" {
		var err error
		if loc, err = zone(tz); err != nil {
			return automation.Schedule{}, &automation.Error{Field: "time zone", Value: tz, Why: "is not known here", Hint: "write an IANA name such as Europe/Berlin"}
		}
	}
	at, err := automation.ParseAt(text, now, loc)
	return automation.Schedule{Kind: automation.KindAt, At: at}, err
}

func (c *automationsAdd) stagger(made *automation.Automation) error {
	var ms int64
	switch {
	case c.Exact && c.Stagger != "":
		return refusedAdd("--exact and --stagger exclude one another", "leave one of them out")
	case c.Stagger != "":
		d, err := automation.ParseEvery(c.Stagger)
		if err != nil {
			return refusedAdd(fmt.Sprintf("--stagger %q is no duration", c.Stagger), "write 30s or 5m")
		}
		ms = d.EveryMs
	case !c.Exact:
		return nil
	}
	made.Schedule.StaggerMs = &ms
	return nil
}

func nonBlank(values ...string) []string {
	return slices.DeleteFunc(values, func(s string) bool { return s == "" })
}

func (c *automationsAdd) payload(a *app, made *automation.Automation, argv []string) error {
	given := nonBlank(strings.Join(argv, " "), c.Command, c.Message, c.Reminder, c.Event)
	if len(given) != 1 {
		text := "nothing is given to do"
		if len(given) > 1 {
			text = fmt.Sprintf("there are %d things to do: %q", len(given), given)
		}
		return refusedAdd(text, "a program and its arguments behind --, or one of --command, --message, --reminder and --event")
	}
	p := &made.Payload
	switch {
	case c.Message != "":
		p.Kind, p.Message, p.Model = automation.PayloadTurn, c.Message, c.Model
		if made.Owner == "operator" {
			p.ToolsAllow = []string{"*"}
		}
		return nil
	case c.Reminder != "":
		p.Kind, p.Text, made.WakeMode = automation.PayloadEvent, c.Reminder, "now"
		return nil
	case c.Event != "":
		p.Kind, p.Text, made.WakeMode = automation.PayloadEvent, c.Event, "next-heartbeat"
		return nil
	case c.Command != "":
		argv = []string{"sh", "-lc", c.Command}
	}
	p.Kind, p.Argv = automation.PayloadCommand, argv
	return c.command(a, made)
}

// command is what a command needs besides its argv. Only a person may make
// one: it runs without anybody's leave (seed 003 section 10).
func (c *automationsAdd) command(a *app, made *automation.Automation) (err error) {
	if made.Owner != "operator" {
		return &failure{code: exitRefused, text: "automations add: an agent cannot make an automation that runs a command", remedy: []string{"--message has an agent asked", "claw exec runs a command now"}}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	made.Payload.Cwd = cwd
	if c.Cwd != "" {
		if made.Payload.Cwd, err = filepath.Abs(c.Cwd); err != nil {
			return err
		}
	}
	if info, err := os.Stat(made.Payload.Cwd); err != nil || !info.IsDir() {
		return refusedAdd(fmt.Sprintf("--cwd %q is no directory", c.Cwd), "name one that exists")
	}
	return c.environment(made)
}

func (c *automationsAdd) environment(made *automation.Automation) error {
	if err := process.CheckEnv(c.Env); err != nil {
		return refusedAdd(err.Error())
	}
	for _, kv := range c.Env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			return refusedAdd(fmt.Sprintf("--env %q has no =", kv), "--env NAME=VALUE")
		}
		if made.Payload.Env == nil {
			made.Payload.Env = map[string]string{}
		}
		made.Payload.Env[name] = value
	}
	return nil
}

// target is the session that is asked.
func (c *automationsAdd) target(a *app, made *automation.Automation) error {
	switch key := c.Session; {
	case key == "" || key == "isolated" || key == "main":
		made.SessionTarget = key
	case key == "current":
		made.SessionTarget, made.SessionKey = "isolated", a.env("SESSION")
	case strings.HasPrefix(key, "session:"):
		made.SessionTarget = key
	default:
		if _, err := session.Parse(key); err != nil {
			return refusedAdd("--session: "+err.Error(), remedyOf(err)...)
		}
		made.SessionKey = key
	}
	return nil
}

func (c *automationsAdd) rules(made *automation.Automation) error {
	if c.MissedWindow != "" {
		d, err := automation.ParseEvery(c.MissedWindow)
		if err != nil {
			return refusedAdd(fmt.Sprintf("--missed-window %q is no duration", c.MissedWindow), "write 30m or 6h")
		}
		made.Missed.WindowMs = d.EveryMs
	}
	if c.Timeout != nil {
		if *c.Timeout < 0 {
			return refusedAdd(fmt.Sprintf("--timeout %v is less than nothing", *c.Timeout), "0 is no limit")
		}
		seconds := int(*c.Timeout + 0.999)
		made.Payload.TimeoutSeconds = &seconds
	}
	return nil
}

// delivery is where results go. What an agent's main session is told is
// answered there.
func (c *automationsAdd) delivery(a *app, s *scheduler.Scheduler, made *automation.Automation) error {
	switch {
	case c.NoDeliver && c.Announce != "":
		return refusedAdd("--announce and --no-deliver exclude one another", "leave one of them out")
	case c.NoDeliver:
		made.Delivery = &automation.Delivery{Mode: "none"}
		return nil
	case c.Announce == "":
		return nil
	}
	channel, to, named := strings.Cut(c.Announce, ":")
	if where := s.Post.Resolve(channel, to, "", delivery.Route{}); channel == "" || channel == "none" || where.Reason != "" || named && to == "" {
		return refusedAdd(fmt.Sprintf("--announce %q: there is no such channel or recipient", c.Announce), "known are "+strings.Join(s.Post.Names(), ", "))
	}
	made.Delivery = &automation.Delivery{Mode: "announce", Channel: channel, To: to}
	return nil
}

// name makes one where none is given: from what is done, with a number when it
// is taken.
func (c *automationsAdd) name(s *scheduler.Scheduler, made *automation.Automation) error {
	made.Name = strings.TrimSpace(c.Name)
	if c.Name != "" {
		return nil
	}
	base := nameFor(made.Payload)
	taken := map[string]bool{}
	all, err := s.List()
	for _, e := range all {
		taken[strings.ToLower(e.Name)] = true
	}
	made.Name = base
	for n := 2; taken[made.Name]; n++ {
		made.Name = base + "-" + itoa(n)
	}
	return err
}

// nameFor is the first words of what is done, as a word.
func nameFor(p automation.Payload) string {
	text := p.Message + p.Text
	if p.Kind == automation.PayloadCommand {
		argv := slices.Clone(p.Argv)
		if argv[0] == "sh" && len(argv) == 3 {
			argv = strings.Fields(argv[2])
		} else {
			argv[0] = filepath.Base(argv[0])
		}
		text = strings.Join(argv[:min(2, len(argv))], " ")
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words[:min(3, len(words))], "-")
	return firstOf(name[:min(len(name), 40)], "automation")
}
