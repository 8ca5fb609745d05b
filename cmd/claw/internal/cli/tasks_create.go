package cli

import (
	"fmt"
	"strings"

	"claw/runner/tasks"
	"claw/state/delivery"
	"claw/state/session"
	"claw/state/task"
)

type tasksCreate struct {
	owned
	Text     []string `arg:"" help:"What the task is." placeholder:"TEXT"`
	PID      int      `name:"execution-pid" help:"The process that carries it out and will say how it ended; in a shell, $$$$. Without one it must say progress within every five minutes." placeholder:"PID"`
	Runtime  string   `help:"What carries it out: cli (the default), acp or subagent." enum:"cli,acp,subagent" default:"cli" placeholder:"RUNTIME"`
	Kind     string   `help:"What kind of work it is." placeholder:"KIND"`
	RunID    string   `name:"run-id" help:"The id of its run: created once more, it is the same task." placeholder:"RUN"`
	SourceID string   `name:"source-id" help:"What has made it." placeholder:"ID"`
	Child    string   `name:"child-session" help:"The session that the work runs in." placeholder:"KEY"`
	Label    string   `help:"A short name." placeholder:"TEXT"`
	Status   string   `help:"running (the default) or queued." enum:"running,queued" default:"running" placeholder:"STATUS"`
	Policy   string   `name:"policy" help:"When somebody is told: done_only (the default), state_changes or silent." placeholder:"done_only|state_changes|silent"`
	Notify   *string  `help:"Tell this channel instead of the session." placeholder:"CHANNEL[:TO]"`
	JSON     bool     `name:"json" help:"Print the task as one JSON object."`
}

// Help shows examples.
func (tasksCreate) Help() string {
	return "A row for work that claw did not start: the program that carries it out says how it goes (claw tasks progress) and how it ended (claw tasks finish). When that program has provably died the task is lost at once; when nothing is known of it, five minutes after the last that was heard. Prints the task's id.\n\n" +
		examples("claw tasks create --execution-pid 4711 import the mail", "claw tasks create --run-id job-17 --label gpu train the model")
}

// Run writes the row.
func (c *tasksCreate) Run(a *app) error {
	t, err := c.task(a)
	if err != nil {
		return err
	}
	k, err := a.keeper()
	if err != nil {
		return err
	}
	row, made, err := k.Create(a.ctx, t)
	if err != nil {
		return err
	}
	if !made {
		a.io.Note("that run has a task already")
	}
	if c.JSON {
		return a.io.JSON(row)
	}
	_, err = fmt.Fprintln(a.io.Out, row.ID)
	return err
}

// task is what the flags say.
func (c *tasksCreate) task(a *app) (t task.Task, err error) {
	book, err := c.book(a)
	if err != nil {
		return t, err
	}
	k, _ := session.Parse(book.Owner)
	t = task.Task{
		Runtime: task.Runtime(c.Runtime), Kind: c.Kind, SourceID: c.SourceID, RunID: c.RunID, OwnerKey: book.Owner, ChildSessionKey: c.Child,
		AgentID: firstOf(k.Agent, a.agent("")), Label: c.Label, Task: strings.Join(c.Text, " "), Status: task.Status(c.Status),
	}
	if c.Policy != "" {
		if t.NotifyPolicy, err = task.ParseNotifyPolicy(c.Policy); err != nil {
			return t, usagef("tasks create: there is no policy "+c.Policy, "done_only, state_changes or silent")
		}
	}
	if t.RequesterOrigin, err = c.origin(a); err != nil {
		return t, err
	}
	if c.PID != 0 {
		t.Executor, err = tasks.Capture(c.PID)
	}
	return t, err
}

func (c *tasksCreate) origin(a *app) (delivery.Route, error) {
	cfg, store, err := a.opened()
	if err != nil || c.Notify == nil {
		return delivery.Route{}, err
	}
	return (&execCmd{Notify: c.Notify}).origin(a, cfg, store)
}

type tasksProgress struct {
	Lookup string   `arg:"" help:"Id of the task or its run, or the first four or more characters." placeholder:"ID"`
	Text   []string `arg:"" optional:"" help:"How it goes; - reads it from stdin." placeholder:"TEXT"`
	JSON   bool     `name:"json" help:"Print the task as one JSON object."`
}

// Help shows examples.
func (tasksProgress) Help() string {
	return "A task that was queued runs from then on. With the policy state_changes whoever asked for it is told. What has ended takes no progress: exit 4.\n\n" +
		examples("claw tasks progress $T '40 of 100 files'", "claw tasks progress job-17")
}

// Run writes it down.
func (c *tasksProgress) Run(a *app) error {
	words, err := a.textOf(strings.Join(c.Text, " "))
	if err != nil {
		return err
	}
	k, err := a.keeper()
	if err != nil {
		return err
	}
	t, err := k.Progress(a.ctx, c.Lookup, strings.ToValidUTF8(string(words), "\uFFFD"))
	return a.saidOf(t, err, c.JSON)
}

type tasksFinish struct {
	Lookup  string `arg:"" help:"Id of the task or its run, or the first four or more characters." placeholder:"ID"`
	Status  string `help:"succeeded (the default), failed, timed_out or cancelled." enum:"succeeded,failed,timed_out,cancelled" default:"succeeded" placeholder:"STATUS"`
	Summary string `help:"What came of it." placeholder:"TEXT"`
	Error   string `help:"Why it did not succeed." placeholder:"TEXT"`
	Blocked bool   `help:"It ended well, but what it was for did not happen."`
	JSON    bool   `name:"json" help:"Print the task as one JSON object."`
}

// Help shows examples.
func (tasksFinish) Help() string {
	return "Whoever asked for it is told, as its policy says. An end that is written already stays, unless a success turns out to be none: exit 4.\n\n" +
		examples("claw tasks finish $T --summary '100 files, 2 skipped'", "claw tasks finish job-17 --status failed --error 'out of memory'")
}

// Run writes the end.
func (c *tasksFinish) Run(a *app) error {
	k, err := a.keeper()
	if err != nil {
		return err
	}
	end := task.End{Status: task.Status(c.Status), Summary: c.Summary, Error: c.Error}
	if c.Blocked {
		if end.Status != task.Succeeded {
			return usagef("tasks finish: --blocked is for what succeeded", "leave --status out")
		}
		end.Outcome = task.OutcomeBlocked
	}
	t, err := k.Finish(a.ctx, c.Lookup, end)
	return a.saidOf(t, err, c.JSON)
}

// saidOf prints a task after its producer has said something of it.
func (a *app) saidOf(t task.Task, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	if asJSON {
		return a.io.JSON(t)
	}
	text := task.Name(t) + ": " + string(t.Status)
	if t.Status.Active() && t.ProgressSummary != "" {
		text += ", " + t.ProgressSummary
	}
	a.io.Note(text)
	return nil
}
