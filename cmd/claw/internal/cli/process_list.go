package cli

import (
	"path/filepath"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/state/process"
)

type processList struct {
	Agent     string `help:"Only the processes of this agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	AllAgents bool   `help:"The processes of all agents."`
	Cwd       string `help:"Only those that run in this directory." placeholder:"DIR"`
	Name      string `help:"Only those whose name or id contains this." placeholder:"TEXT"`
	State     string `help:"Only those in this state: running, succeeded, failed, timed_out, cancelled, lost." placeholder:"STATE"`
	All       bool   `help:"Also those that have left the list: cleared, or finished longer ago than tools.exec.cleanupMs."`
	JSON      bool   `name:"json" help:"Print {\"sessions\": […]}."`
}

// Help shows examples.
func (processList) Help() string {
	return examples("claw process list --state running", "claw process list --json | jq '.sessions[] | select(.waitingForInput)'")
}

// Run prints the list.
func (c *processList) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	ctl, err := a.control(c.Agent, c.AllAgents)
	if err != nil {
		return err
	}
	f := control.Filter{Name: c.Name, State: c.State, All: c.All}
	if c.Cwd != "" {
		if f.Cwd, err = filepath.Abs(c.Cwd); err != nil {
			return err
		}
	}
	r, err := ctl.List(f)
	if err != nil {
		return err
	}
	list := r.Details.(control.List)
	if c.JSON {
		return a.io.JSON(list)
	}
	if len(list.Sessions) == 0 {
		a.io.Note(r.Text)
		return nil
	}
	return a.io.Table(c.table(a, list.Sessions))
}

func (c *processList) check() error {
	switch c.State {
	case "", "running", "succeeded", "failed", "timed_out", "cancelled", "lost", "completed":
		return nil
	}
	return usagef("process list: --state \""+c.State+"\": no such state", "running, succeeded, failed, timed_out, cancelled or lost")
}

// table is the list for people: what it is, how it stands, since when, and
// the last thing it said.
func (c *processList) table(a *app, sessions []control.Session) output.Table {
	t := output.Table{Columns: []output.Column{
		{Name: "PROCESS"}, {Name: "STATE", State: true}, {Name: "TIME", Right: true}, {Name: "COMMAND", Flex: true}, {Name: "LAST LINE", Flex: true},
	}}
	for _, s := range sessions {
		t.Rows = append(t.Rows, []string{s.SessionID, s.State, runTime(s), s.Command, a.lastLine(s)})
	}
	return t
}

func runTime(s control.Session) string {
	return process.HumanDuration(time.Duration(s.RuntimeMs) * time.Millisecond)
}

// lastLine is the last line that is not blank, or what is to be known instead.
func (a *app) lastLine(s control.Session) string {
	line := lastOf(s.Tail)
	switch {
	case s.Running != nil && s.WaitingForInput:
		quiet := process.HumanDuration(time.Duration(s.IdleMs) * time.Millisecond)
		return joinNonEmpty(line, "⌛ waiting for input ("+quiet+" quiet)")
	case s.Finished == nil || line != "":
	case s.TimedOut:
		return "(timed out)"
	case s.ExitSignal != "":
		return "(" + s.ExitSignal + ")"
	case s.ExitCode != nil && *s.ExitCode != 0:
		return "(exit code " + itoa(*s.ExitCode) + ")"
	}
	return line
}
