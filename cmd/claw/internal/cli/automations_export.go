package cli

import (
	"fmt"
	"slices"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/crontab"
	"claw/state/process"
)

type automationsExport struct {
	Names  []string `arg:"" optional:"" name:"name" help:"Names or ids; default all." placeholder:"NAME"`
	Format string   `help:"toml, [[automation]] tables for claw.toml; json, which claw cron import reads; or crontab." enum:"toml,json,crontab" default:"toml" placeholder:"FORMAT"`
}

// Help shows examples.
func (automationsExport) Help() string {
	return "The values of variables are among what is printed. A table that is pasted into claw.toml means the same, and takes the place of the automation when that is removed. A crontab says less: what it cannot say is a comment.\n\n" +
		examples("claw cron export backup >> ~/.config/claw/claw.toml", "claw cron export --format json > automations.json")
}

// Run prints them.
func (c *automationsExport) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	list, err := c.chosen(s)
	if err != nil {
		return cronError("export", err)
	}
	if len(list) == 0 {
		a.io.Note("No automations. claw cron add makes one.")
	}
	if c.Format == "crontab" {
		text, lost := asCrontab(list)
		if lost > 0 {
			a.io.Note(counted(lost, "automation") + " cannot be said in a crontab, and are comments")
		}
		_, err = fmt.Fprint(a.io.Out, text)
		return err
	}
	written := make([]config.Automation, len(list))
	for i, e := range list {
		written[i] = config.AutomationOf(e.Automation)
	}
	return config.WriteAutomations(a.io.Out, written, c.Format)
}

// chosen are those that are named, each once, or all.
func (c *automationsExport) chosen(s *scheduler.Scheduler) ([]scheduler.Entry, error) {
	if len(c.Names) == 0 {
		return s.List()
	}
	var list []scheduler.Entry
	for _, name := range c.Names {
		e, err := s.Find(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(o scheduler.Entry) bool { return o.Name == e.Name }) {
			list = append(list, e)
		}
	}
	return list, nil
}

// asCrontab writes what a crontab can say: commands at times of five fields.
// Those of other zones come last, for a zone holds to the end.
func asCrontab(list []scheduler.Entry) (text string, lost int) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y scheduler.Entry) int { return strings.Compare(x.Schedule.TZ, y.Schedule.TZ) })
	var b strings.Builder
	zone := ""
	for _, e := range list {
		line, why := crontabLine(e.Automation)
		if why != "" {
			lost++
			fmt.Fprintf(&b, "# %s: %s\n", process.Collapse(e.Name), why)
			continue
		}
		if e.Schedule.TZ != zone {
			zone = e.Schedule.TZ
			fmt.Fprintf(&b, "# not every cron knows this variable\nCRON_TZ=%s\n", zone)
		}
		for text := range strings.Lines(firstOf(e.Description, e.Name)) {
			b.WriteString("# " + strings.TrimRight(text, "\n") + "\n")
		}
		if !e.Enabled {
			line = "# " + line
		}
		b.WriteString(line + "\n")
	}
	return b.String(), lost
}

// crontabLine is one automation as a line, or why it is none.
func crontabLine(m automation.Automation) (line, why string) {
	expr := m.Schedule.Expr
	switch {
	case m.Schedule.Kind == automation.KindBoot:
		expr = "@reboot"
	case m.Schedule.Kind != automation.KindCron || !plainExpr(expr):
		return "", "a crontab has no such schedule"
	}
	if m.Payload.Kind != automation.PayloadCommand {
		return "", "a crontab has only commands"
	}
	line, ok := crontab.Line(expr, shellLine(m.Payload), m.Payload.Input)
	if !ok {
		return "", "its command does not fit into one line of a crontab"
	}
	return line, ""
}

// plainExpr tells an expression that cron(8) knows: five fields of numbers,
// names, ranges, lists and steps, or a nickname.
func plainExpr(expr string) bool {
	fields := strings.Fields(expr)
	if len(fields) == 1 {
		return true
	}
	for _, f := range fields {
		for _, part := range strings.FieldsFunc(f, func(r rune) bool { return r == ',' || r == '-' || r == '/' }) {
			word := strings.Trim(part, "0123456789") == "" || part == "*" || len(part) == 3 && strings.Trim(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz") == ""
			if !word {
				return false
			}
		}
	}
	return len(fields) == 5
}

// shellLine is a command as a shell is given it, with its directory and its
// variables.
func shellLine(p automation.Payload) string {
	line := process.QuoteArgv(p.Argv)
	if len(p.Argv) == 3 && (p.Argv[0] == "sh" || p.Argv[0] == "/bin/sh") && (p.Argv[1] == "-c" || p.Argv[1] == "-lc") && len(p.Env) == 0 && p.Cwd == "" {
		return p.Argv[2]
	}
	if len(p.Env) > 0 {
		set := []string{"env"}
		for name, value := range p.Env {
			set = append(set, name+"="+value)
		}
		slices.Sort(set[1:])
		line = process.QuoteArgv(set) + " " + line
	}
	if p.Cwd != "" {
		line = "cd " + process.QuoteArgv([]string{p.Cwd}) + " && " + line
	}
	return line
}
