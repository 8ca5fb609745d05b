package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state/process"
	"claw/state/task"
)

// tasksCmd is `claw tasks`; spec/tasks-recovery.md 1.7.
type tasksCmd struct {
	List        tasksList        `cmd:"" default:"withargs" aliases:"ls" help:"Show tasks, newest first."`
	Show        tasksShow        `cmd:"" help:"Show everything that is known about one task."`
	Log         tasksLog         `cmd:"" help:"Show the output of a task, as long as it is kept."`
	Cancel      tasksCancel      `cmd:"" help:"End what carries a task out, and wait for it."`
	Notify      tasksNotify      `cmd:"" help:"Say when somebody is told about a task."`
	Create      tasksCreate      `cmd:"" help:"Write down work that claw did not start."`
	Progress    tasksProgress    `cmd:"" help:"Say how work goes that claw did not start."`
	Finish      tasksFinish      `cmd:"" help:"Say how work has ended that claw did not start."`
	Flow        tasksFlow        `cmd:"" help:"Look at the flows of all owners, and cancel one."`
	Audit       tasksAudit       `cmd:"" help:"Find the tasks that need a look, and say what to do."`
	Maintenance tasksMaintenance `cmd:"" help:"Settle what nobody carries out any more, and remove what is past its time."`
}

// Help shows examples.
func (tasksCmd) Help() string {
	return "A task is the record of a piece of work that goes on beside you: a command that was started with claw exec -b or went on in the background, or a run of an automation. It outlives the process in process list. Without an action, list.\n\n" +
		examples("claw tasks list --status failed", "claw tasks log tide-orbit", "claw tasks cancel tide-orbit", "claw tasks audit")
}

type tasksList struct {
	Status  string `help:"Only tasks in this status: queued, running, succeeded, failed, timed_out, cancelled, lost." placeholder:"STATUS"`
	Runtime string `help:"Only tasks of this runtime: cli, cron, acp, subagent." placeholder:"RUNTIME"`
	Limit   int    `help:"At most so many." default:"50" placeholder:"N"`
	All     bool   `help:"All that are kept, the archive included."`
	JSON    bool   `name:"json" help:"Print {\"count\", \"total\", \"runtime\", \"status\", \"tasks\": […]}."`
}

// Help shows examples.
func (tasksList) Help() string {
	return examples("claw tasks list --status failed", "claw tasks list --all --json | jq -r '.tasks[].status' | sort | uniq -c")
}

// Run prints the list.
func (c *tasksList) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	keeper, err := a.keeper()
	if err != nil {
		return err
	}
	limit := c.Limit
	if c.All {
		limit = 0
	}
	list, err := keeper.List(tasks.Filter{Status: task.Status(c.Status), Runtime: task.Runtime(c.Runtime), Limit: limit, Archived: c.All})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(list)
	}
	if len(list.Tasks) == 0 {
		a.noTasks(c.Status != "" || c.Runtime != "")
		return nil
	}
	if err := a.io.Table(c.table(a, list.Tasks)); err != nil {
		return err
	}
	if a.io.OutTTY {
		a.io.Note(pressure(list.Summary))
	}
	if list.Count < list.Total {
		a.io.Note(fmt.Sprintf("the newest %d of %d; --limit and --all show more", list.Count, list.Total))
	}
	return nil
}

func (a *app) noTasks(filtered bool) {
	if filtered {
		a.io.Note("No such tasks; claw tasks list --all looks in the archive too.")
		return
	}
	a.io.Note("No tasks. A command started with claw exec -b is one.")
}

// pressure is what goes on and what did not go well, in one line.
func pressure(s task.Summary) string {
	text := fmt.Sprintf("%d queued · %d running · %d failed or lost", s.ByStatus[task.Queued], s.ByStatus[task.Running], s.Failures)
	if s.Failures > 0 {
		text += "; claw tasks audit says what needs a look"
	}
	return text
}

func (c *tasksList) check() error {
	if c.Status != "" {
		if _, err := task.ParseStatus(c.Status); err != nil {
			return usagef("tasks list: "+err.Error(), remedyOf(err)...)
		}
	}
	if c.Runtime != "" {
		if _, err := task.ParseRuntime(c.Runtime); err != nil {
			return usagef("tasks list: "+err.Error(), remedyOf(err)...)
		}
	}
	return nil
}

// table names a task by its process where it has one: that is what people
// type. A pipe gets the id as well, in front.
func (c *tasksList) table(a *app, rows []task.Task) output.Table {
	t := output.Table{Columns: []output.Column{
		{Name: "TASK"}, {Name: "STATUS", State: true}, {Name: "STARTED"}, {Name: "TOOK", Right: true}, {Name: "COMMAND", Flex: true}, {Name: "SUMMARY", Flex: true},
	}}
	if !a.io.OutTTY {
		t.Columns = append([]output.Column{{Name: "ID"}}, t.Columns...)
	}
	for _, x := range rows {
		row := []string{task.Name(x), string(x.Status), a.ago(x.CreatedAt), took(x, a.now()), x.Task, summary(x)}
		if !a.io.OutTTY {
			row = append([]string{x.ID}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func took(t task.Task, now time.Time) string {
	end := t.EndedAt
	if end.IsZero() {
		end = now
	}
	start := t.StartedAt
	if start.IsZero() {
		start = t.CreatedAt
	}
	return process.HumanDuration(max(0, end.Sub(start)))
}

func summary(t task.Task) string {
	for _, s := range []string{t.Error, t.TerminalSummary, t.ProgressSummary} {
		if s != "" {
			return process.Collapse(s)
		}
	}
	return ""
}

type tasksShow struct {
	Lookup string `arg:"" help:"Id of the task or its process, or the first four or more characters." placeholder:"ID"`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Help shows examples.
func (tasksShow) Help() string {
	return examples("claw tasks show tide-orbit", "claw tasks show 01JE8 --json | jq .status")
}

// Run shows one task.
func (c *tasksShow) Run(a *app) error {
	t, err := a.task(c.Lookup)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(t)
	}
	return a.io.Pairs(taskPairs(t, a.now()))
}

// keeper looks after the tasks of all agents. It ends nothing: see ender.
func (a *app) keeper() (*tasks.Keeper, error) {
	cfg, store, err := a.opened()
	if err != nil {
		return nil, err
	}
	return &tasks.Keeper{
		Store: store, Clock: a.clock, Keep: retainOf(cfg).Keep, OnLoss: cfg.Tools.Exec.OnSupervisorLoss, Wake: cfg.Wake.OnExit, Environ: a.environ,
		Wedged: resume.Wedged,
	}, nil
}

// task finds one task of any agent.
func (a *app) task(lookup string) (task.Task, error) {
	keeper, err := a.keeper()
	if err != nil {
		return task.Task{}, err
	}
	return keeper.Find(lookup)
}

// taskPairs is what a person reads about one task; what is unknown is n/a.
func taskPairs(t task.Task, now time.Time) [][2]string {
	pairs := [][2]string{
		{"task", t.ID},
		{"process", t.Slug},
		{"kind", strings.TrimSpace(string(t.Runtime) + " " + t.Kind)},
		{"source", t.SourceID},
		{"status", string(t.Status)},
		{"result", t.TerminalOutcome},
		{"delivery", string(t.DeliveryStatus)},
		{"notify", string(t.NotifyPolicy)},
		{"owner", t.OwnerKey},
		{"child", t.ChildSessionKey},
		{"flow", t.ParentFlowID},
		{"agent", t.AgentID},
		{"run", t.RunID},
		{"label", t.Label},
		{"command", t.Task},
		{"created", exact(t.CreatedAt)},
		{"started", exact(t.StartedAt)},
		{"ended", exact(t.EndedAt)},
		{"took", took(t, now)},
		{"kept until", exact(t.CleanupAfter)},
	}
	for _, p := range [][2]string{{"error", t.Error}, {"progress", t.ProgressSummary}, {"summary", t.TerminalSummary}} {
		if p[1] != "" {
			pairs = append(pairs, p)
		}
	}
	for i := range pairs {
		if pairs[i][1] == "" {
			pairs[i][1] = "n/a"
		}
	}
	return pairs
}

func exact(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.RFC3339)
}

type tasksLog struct {
	Lookup string   `arg:"" help:"Id of the task or its process, or the first four or more characters." placeholder:"ID"`
	Raw    bool     `help:"The bytes as they were written."`
	Limit  *float64 `help:"How many of the last lines; default 200." placeholder:"N"`
}

// Help shows examples.
func (tasksLog) Help() string {
	return examples("claw tasks log tide-orbit", "claw tasks log 01JE8 --raw > old-build.log")
}

// Run shows the output of a task's process.
func (c *tasksLog) Run(a *app) error {
	t, err := a.task(c.Lookup)
	if err != nil {
		return err
	}
	if t.RunID == "" {
		return &failure{code: exitNotFound, text: fmt.Sprintf("tasks log: task %s has no output of its own", t.ID)}
	}
	log := processLog{who: who{ID: t.RunID, AllAgents: true}, Raw: c.Raw, Limit: c.Limit}
	return log.Run(a)
}

// remedyOf collects what an error says about the way out.
func remedyOf(err error) []string {
	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) {
		case interface{ Remedy() string }:
			return nonEmpty(e.Remedy())
		case interface{ Hint() string }:
			return nonEmpty(e.Hint())
		}
	}
	return nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
