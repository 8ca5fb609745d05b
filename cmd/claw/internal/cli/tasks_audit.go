package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/tasks"
	"claw/state/task"
)

type tasksAudit struct {
	Severity string `help:"Only findings of this severity: warn, error." enum:",warn,error" default:"" placeholder:"SEVERITY"`
	Code     string `help:"Only findings with this code: stale_queued, stale_running, lost, delivery_failed, missing_cleanup, inconsistent_timestamps; of flows also restore_failed, stale_waiting, stale_blocked, cancel_stuck, missing_linked_tasks, blocked_task_missing." placeholder:"CODE"`
	Limit    int    `help:"At most so many; default all." placeholder:"N"`
	JSON     bool   `name:"json" help:"Print {\"count\", \"filteredCount\", \"displayed\", \"filters\", \"summary\", \"findings\": […]}."`
}

// Help shows examples.
func (tasksAudit) Help() string {
	return "Errors come first, then what is older. It exits 0 whatever it finds, and writes nothing.\n\n" +
		examples("claw tasks audit", "claw tasks audit --severity error", "claw tasks audit --json | jq -r '.findings[].hint'")
}

// Run shows what was found.
func (c *tasksAudit) Run(a *app) error {
	if c.Code != "" && !slices.Contains(tasks.FindCodes(), c.Code) {
		return usagef("tasks audit: there is no code "+c.Code, strings.Join(tasks.FindCodes(), ", "))
	}
	k, err := a.keeper()
	if err != nil {
		return err
	}
	audit, err := k.Audit(tasks.AuditFilter{Severity: task.Severity(c.Severity), Code: c.Code, Limit: c.Limit})
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return a.io.JSON(audit)
	case audit.Count == 0:
		a.io.Note("no task needs a look")
		return nil
	case audit.FilteredCount == 0:
		a.io.Note(fmt.Sprintf("no such findings; %d of other kinds", audit.Count))
		return nil
	}
	if err := a.io.Table(c.table(a, audit.Findings)); err != nil {
		return err
	}
	if a.io.OutTTY {
		c.explain(a, audit)
	}
	return nil
}

// table has the columns of spec/tasks-recovery.md 1.7. A pipe gets the id in
// front and the remedy behind.
func (c *tasksAudit) table(a *app, found []task.Finding) output.Table {
	t := output.Table{Columns: []output.Column{
		{Name: "SCOPE"}, {Name: "SEVERITY", State: true}, {Name: "CODE"}, {Name: "ITEM"}, {Name: "STATUS", State: true}, {Name: "AGE", Right: true}, {Name: "DETAIL", Flex: true},
	}}
	if !a.io.OutTTY {
		t.Columns = append(append([]output.Column{{Name: "ID"}}, t.Columns...), output.Column{Name: "HINT"})
	}
	for _, f := range found {
		row := []string{f.Kind, string(f.Severity), f.Code, f.Token, string(f.Status), ageOf(f), f.Detail}
		if !a.io.OutTTY {
			row = append(append([]string{firstOf(f.Task.ID, f.Token)}, row...), f.Hint)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func ageOf(f task.Finding) string {
	return task.Age(time.Duration(*f.AgeMs) * time.Millisecond)
}

// explained is how many findings are told in full under the table.
const explained = 8

// explain says of each finding what it is, for which the table may have had no
// room, and what to do.
func (c *tasksAudit) explain(a *app, audit tasks.Audit) {
	for i, f := range audit.Findings {
		if i == explained {
			a.io.Note(fmt.Sprintf("and %d more; claw tasks audit --json has all of them", len(audit.Findings)-i))
			break
		}
		a.io.Say(f.Token+": "+f.Detail, f.Hint)
	}
	if audit.Displayed < audit.Count {
		a.io.Note(fmt.Sprintf("%d of %d findings", audit.Displayed, audit.Count))
	}
}

type tasksMaintenance struct {
	Apply bool `help:"Write it down; without, only what would be done is shown."`
	JSON  bool `name:"json" help:"Print {\"mode\", \"maintenance\", \"tasks\", \"auditBefore\", \"auditAfter\", \"changes\", \"flowChanges\", \"retained\"}."`
}

// Help shows examples.
func (tasksMaintenance) Help() string {
	return "A task is lost when whoever carried it out has provably died, or five minutes after the last that was heard of it when nobody can be found. What has ended is kept for seven days, what was lost for one. Nothing that runs is touched.\n\n" +
		examples("claw tasks maintenance", "claw tasks maintenance --apply", "claw tasks maintenance --json | jq '.changes'")
}

// Run previews or does it.
func (c *tasksMaintenance) Run(a *app) error {
	k, err := a.keeper()
	if err != nil {
		return err
	}
	r, err := k.Maintain(a.ctx, c.Apply)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(r)
	}
	if len(r.Changes)+len(r.FlowChanges) > 0 {
		if err := a.io.Table(changesTable(r)); err != nil {
			return err
		}
	}
	a.tellMaintenance(r)
	return nil
}

func changesTable(r tasks.Report) output.Table {
	t := output.Table{Columns: []output.Column{{Name: "TASK"}, {Name: "WHAT"}, {Name: "FROM", State: true}, {Name: "TO", State: true}, {Name: "WHY", Flex: true}}}
	for _, c := range r.Changes {
		t.Rows = append(t.Rows, []string{c.Name, actWords(c.Act), string(c.From), string(c.To), string(c.Code)})
	}
	for _, c := range r.FlowChanges {
		t.Rows = append(t.Rows, []string{c.FlowID, string(c.Act), string(c.From), string(c.To), "flow"})
	}
	return t
}

// actWords is an act as a table has it.
func actWords(act task.Act) string {
	if act == task.ActStamp {
		return "stamped"
	}
	return string(act)
}

// tellMaintenance sums it up.
func (a *app) tellMaintenance(r tasks.Report) {
	n := r.Maintenance.Tasks
	what := fmt.Sprintf("%d lost, %d recovered, %d stamped, %d put in order, %d removed", n.Reconciled, n.Recovered, n.CleanupStamped, n.Normalised, n.Pruned)
	if f := r.Maintenance.TaskFlows; f != (tasks.FlowCounts{}) {
		what += fmt.Sprintf("; flows: %d set right, %d removed", f.Reconciled, f.Pruned)
	}
	switch {
	case len(r.Changes)+len(r.FlowChanges) == 0:
		a.io.Note("nothing to do: " + pressure(r.Tasks))
	case r.Mode == tasks.ModePreview:
		a.io.Say("would be: "+what, "nothing was written; claw tasks maintenance --apply does it")
	default:
		a.io.Note(what)
	}
	left := r.AuditAfter
	if r.Mode == tasks.ModeApply && left.Total > 0 {
		a.io.Say(fmt.Sprintf("%d errors and %d warnings are left", left.Errors, left.Warnings), "claw tasks audit shows them")
	}
}
