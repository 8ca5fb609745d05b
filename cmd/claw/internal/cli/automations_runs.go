package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/clock"
	"claw/runner/poke"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
)

type automationsRuns struct {
	Name   string `arg:"" optional:"" help:"Its name or id; default all." placeholder:"NAME"`
	Status string `help:"Only runs in this status: queued, running, succeeded, failed, timed_out, cancelled, interrupted, unknown, skipped, missed, replaced." enum:",queued,running,succeeded,failed,timed_out,cancelled,interrupted,unknown,skipped,missed,replaced" default:"" placeholder:"STATUS"`
	RunID  string `name:"run-id" help:"Only the run with this id." placeholder:"ID"`
	Limit  int    `help:"At most so many, the newest (default 20); 0 all that are kept." default:"20" placeholder:"N"`
	JSON   bool   `name:"json" help:"Print {\"runs\": [{\"id\", \"automationId\", \"slot\", \"status\", \"why\", \"error\", …}]}."`
}

// Help shows examples.
func (automationsRuns) Help() string {
	return "A run is what became of one time: also when it was missed or skipped, with the reason. Several that were missed in a row are one line.\n\n" +
		examples("claw cron runs backup --limit 4", "claw cron runs --status missed --json | jq -r '.runs[].why'")
}

// Run prints the runs.
func (c *automationsRuns) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	f := scheduler.RunFilter{Status: automation.Status(c.Status)}
	if c.Name != "" {
		if f.AutomationID, err = runsOf(s, c.Name); err != nil {
			return cronError("runs", err)
		}
	}
	runs, err := s.Runs(f)
	if err != nil {
		return err
	}
	if c.RunID != "" {
		runs = slices.DeleteFunc(runs, func(r automation.Run) bool { return r.ID != c.RunID })
		if len(runs) == 0 {
			return &failure{code: exitNotFound, text: fmt.Sprintf("automations runs: there is no run %q", c.RunID), remedy: []string{"claw cron runs --json | jq -r '.runs[].id'"}}
		}
	}
	total := len(runs)
	if c.Limit > 0 {
		runs = runs[:min(total, c.Limit)]
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"runs": runs, "total": total})
	}
	if total == 0 {
		a.io.Note("No runs yet.")
		return nil
	}
	if err := a.io.Table(runTable(a, runs, c.Name == "")); err != nil {
		return err
	}
	if len(runs) < total {
		a.io.Note(fmt.Sprintf("the newest %d of %d; --limit shows more", len(runs), total))
	}
	return nil
}

// runsOf is the id of an automation, also of one that was removed.
func runsOf(s *scheduler.Scheduler, name string) (string, error) {
	e, err := s.Find(name)
	if refused, ok := err.(*scheduler.Refused); ok && refused.Missing {
		id, goneErr := s.Gone(name)
		if goneErr != nil || id != "" {
			return id, goneErr
		}
	}
	return e.ID, err
}

// runTable is tour.md "Give it a rhythm"; a pipe gets the id in front.
func runTable(a *app, runs []automation.Run, named bool) output.Table {
	t := output.Table{Columns: []output.Column{{Name: "SLOT"}, {Name: "OUTCOME", State: true}, {Name: "WHY", Flex: true}}}
	if named {
		t.Columns = append([]output.Column{{Name: "NAME"}}, t.Columns...)
	}
	if !a.io.OutTTY {
		t.Columns = append([]output.Column{{Name: "ID"}}, t.Columns...)
	}
	for _, r := range runs {
		row := []string{a.slotWords(r), string(r.Status), runWhy(r)}
		if named {
			row = append([]string{r.Name}, row...)
		}
		if !a.io.OutTTY {
			row = append([]string{r.ID}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// slotWords is when a run was due: "today 12:00".
func (a *app) slotWords(r automation.Run) string {
	at := r.Slot
	if at.IsZero() {
		at = r.QueuedAt
	}
	words := a.dayWords(at)
	switch {
	case r.Slot.IsZero() && r.Manual && a.io.OutTTY:
		words += " by hand"
	case !r.Through.IsZero():
		words += " - " + a.dayWords(r.Through)
	}
	return words
}

func (a *app) dayWords(t time.Time) string {
	if !a.io.OutTTY {
		return t.UTC().Format(time.RFC3339)
	}
	t, now := t.Local(), a.now().Local()
	layout := "15:04"
	if t.Second() != 0 {
		layout = "15:04:05"
	}
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	switch day(t) {
	case day(now):
		return "today " + t.Format(layout)
	case day(now.AddDate(0, 0, -1)):
		return "yesterday " + t.Format(layout)
	}
	return t.Format("2 Jan " + layout)
}

// runWhy is the reason of what became of a run, or how long it took.
func runWhy(r automation.Run) string {
	var words []string
	if r.Count > 1 {
		n := itoa(r.Count)
		if r.AtLeast {
			n = "at least " + n
		}
		words = append(words, n+" times")
	}
	switch {
	case r.Error != "":
		words = append(words, process.Collapse(output.Safe(r.Error)))
	case r.Status == automation.Succeeded:
		words = append(words, process.HumanDuration(r.EndedAt.Sub(r.StartedAt)))
	}
	if r.Why != "" && r.Why != r.Error && r.Status != automation.Succeeded {
		words = append(words, r.Why)
	}
	if r.Delivery == automation.NotDelivered || r.Delivery == automation.DeliveryLost {
		words = append(words, "message "+toldWords(r))
	}
	return strings.Join(words, "; ")
}

// messageFailed says what stands against the message of a run that succeeded.
func messageFailed(r automation.Run) string {
	words := "its message was not delivered"
	if r.Delivery == automation.DeliveryLost {
		words = "nobody knows whether its message was delivered"
	}
	if r.DeliveryError != "" {
		words += ": " + process.Collapse(output.Safe(r.DeliveryError))
	}
	return words
}

// toldWords is what became of a run's message.
func toldWords(r automation.Run) string {
	words := strings.ReplaceAll(string(r.Delivery), "-", " ")
	if r.DeliveryError != "" {
		words += ": " + process.Collapse(output.Safe(r.DeliveryError))
	}
	return words
}

type automationsRun struct {
	Name    string  `arg:"" help:"Its name or id." placeholder:"NAME"`
	Due     bool    `help:"Only if a time has come at which it was due."`
	Wait    bool    `help:"Wait for its end, and for that of its message; exit 0 only if both are well."`
	Timeout float64 `help:"With --wait, for at most so many seconds (default 600)." default:"600" placeholder:"SEC"`
	JSON    bool    `name:"json" help:"Print {\"ok\", \"enqueued\", \"runId\", \"run\"}, or {\"ok\", \"ran\": false, \"reason\": \"already-running\" or \"not-due\"}."`
}

// Help shows examples.
func (automationsRun) Help() string {
	return "It prints the id of the run. A run by hand takes no slot and shifts no cadence; it runs also when the automation is off. While another one goes on it is refused; with --due, when it is not due, nothing is done and nothing printed.\n\n" +
		examples("claw cron run backup", "claw cron run backup --wait && echo done")
}

// Run queues a run and has it started.
func (c *automationsRun) Run(a *app) error {
	if err := a.admitted("automations run"); err != nil {
		return err
	}
	s, err := a.cron()
	if err != nil {
		return err
	}
	r, why, err := s.Run(a.ctx, c.Name, scheduler.RunOptions{Due: c.Due})
	if err != nil {
		return cronError("run", err)
	}
	if why != "" {
		return c.notRun(a, r, why)
	}
	if err := poke.Act(s.Store.Dir(), poke.Auto, a.environ); err != nil {
		return err
	}
	ended := true
	if c.Wait {
		if r, ended, err = c.wait(a, s, r); err != nil {
			return err
		}
	}
	if c.JSON {
		err = a.io.JSON(map[string]any{"ok": true, "enqueued": true, "runId": r.ID, "run": r})
	} else {
		_, err = fmt.Fprintln(a.io.Out, r.ID)
	}
	if err != nil || !c.Wait {
		return err
	}
	return runVerdict(r, ended)
}

// notRun says why nothing was queued (2.12).
func (c *automationsRun) notRun(a *app, r automation.Run, why automation.Code) error {
	if c.JSON {
		if err := a.io.JSON(map[string]any{"ok": true, "ran": false, "reason": why}); err != nil {
			return err
		}
	}
	switch {
	case why == scheduler.NotDue:
		if !c.JSON {
			a.io.Note(firstOf(r.Name, c.Name) + " is not due")
		}
		return nil
	case c.JSON:
		return silent(exitRefused)
	}
	name := firstOf(r.Name, c.Name)
	return &failure{code: exitRefused, text: "automations run: " + name + " has a run that has not ended", remedy: []string{"look at it: claw cron runs " + name}}
}

// again is how often whoever works is told anew while one waits: a command's
// end tells nobody when wake.onExit is off.
const again = 2 * time.Second

func (c *automationsRun) wait(a *app, s *scheduler.Scheduler, r automation.Run) (automation.Run, bool, error) {
	until := a.clock.Elapsed() + time.Duration(c.Timeout*float64(time.Second))
	for told := a.clock.Elapsed(); ; {
		now, ok, err := s.RunOf(r.ID)
		switch {
		case err != nil:
			return r, false, err
		case ok && now.Completion() != "":
			return now, true, nil
		case a.clock.Elapsed() >= until:
			return now, false, nil
		}
		if a.clock.Elapsed()-told >= again {
			told = a.clock.Elapsed()
			if err := poke.Act(s.Store.Dir(), poke.Auto, a.environ); err != nil {
				return r, false, err
			}
		}
		if err := clock.Sleep(a.ctx, a.clock, 50*time.Millisecond); err != nil {
			return r, false, err
		}
	}
}

func runVerdict(r automation.Run, ended bool) error {
	look := "claw cron runs " + r.Name
	switch {
	case !ended && !r.Status.Open():
		return &failure{code: exitRunning, text: "automations run: " + r.Name + " has ended; its message has not been sent yet", remedy: []string{"claw deliveries list"}}
	case !ended:
		return &failure{code: exitRunning, text: "automations run: " + r.Name + " has not ended", remedy: []string{look}}
	case r.Completion() != automation.CompletionSucceeded && r.Status == automation.Succeeded:
		return &failure{code: exitFailed, text: "automations run: " + messageFailed(r) + "; " + r.Name + " itself succeeded", remedy: []string{"claw deliveries list", look}}
	case r.Completion() != automation.CompletionSucceeded:
		return &failure{code: exitFailed, text: "automations run: " + r.Name + " " + strings.ReplaceAll(string(r.Status), "_", " ") + ": " + runWhy(r), remedy: []string{look}}
	}
	return nil
}
